use retry_runtime::retryable;

#[retryable(max = 0)]
fn f0() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(max = -1)]
fn f1() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(max = 4294967296)]
fn f2() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(max = 99999999999999999999999)]
fn f3() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(max = 2.5)]
fn f4() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(max = "five")]
fn f5() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(max = "")]
fn f6() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(max = true)]
fn f7() -> Result<u32, std::io::Error> {
    Ok(1)
}

fn main() {}
