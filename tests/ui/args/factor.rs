use retry_runtime::retryable;

#[retryable(factor = 0.5)]
fn f0() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(factor = 0)]
fn f1() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(factor = -2.0)]
fn f2() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(factor = 1e999)]
fn f3() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(factor = "2")]
fn f4() -> Result<u32, std::io::Error> {
    Ok(1)
}

fn main() {}
