use retry_runtime::retryable;

#[retryable(timeout_ms = 500)]
fn f0() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(deadline_ms = 0)]
fn f1() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(recover = 5)]
fn f2() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(recover = a, recover_all = b)]
fn f3() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(attempt = 5)]
fn f4() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(attempt = a::b)]
fn f5() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(cancel = "token")]
fn f6() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(cancel = token, sleep = pause)]
fn f7() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(timeout_ms = 500, deadline_ms = 400)]
async fn longer_than_the_call() -> Result<u32, std::io::Error> {
    Ok(1)
}

fn main() {}
