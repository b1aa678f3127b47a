use retry_runtime::retryable;

#[retryable(backoff = "quadratic")]
fn f0() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(backoff = fixed)]
fn f1() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(backoff = "")]
fn f2() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(backoff = 2)]
fn f3() -> Result<u32, std::io::Error> {
    Ok(1)
}

fn main() {}
