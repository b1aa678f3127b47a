use retry_runtime::retryable;

#[retryable(crate = retry_runtime)]
fn f0() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(crate = "retry_runtime")]
fn f1() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(crate = 5)]
fn f2() -> Result<u32, std::io::Error> {
    Ok(1)
}

fn main() {}
