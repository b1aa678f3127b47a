use retry_runtime::retryable;

#[retryable(jitter = "some")]
fn f0() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(jitter = 1.5)]
fn f1() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(jitter = -0.1)]
fn f2() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(jitter = true)]
fn f3() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(jitter = "")]
fn f4() -> Result<u32, std::io::Error> {
    Ok(1)
}

fn main() {}
