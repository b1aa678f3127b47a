use retry_runtime::retryable;

#[retryable(notify = 5)]
fn f0() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(notify = "not a path")]
fn f1() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(level = "loud")]
fn f2() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(level = Warn)]
fn f3() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(span = "yes")]
fn f4() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(on_retry = log)]
fn f5() -> Result<u32, std::io::Error> {
    Ok(1)
}

fn main() {}
