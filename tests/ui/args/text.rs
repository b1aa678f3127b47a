use retry_runtime::retryable;

#[retryable(name = "")]
fn f0() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(name = 5)]
fn f1() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(policy = 5)]
fn f2() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(policy = "")]
fn f3() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(sleep = 5)]
fn f4() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(sleep = "")]
fn f5() -> Result<u32, std::io::Error> {
    Ok(1)
}

fn main() {}
