use retry_runtime::retryable;

#[retryable(budget = 5)]
fn f0() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(breaker = "")]
fn f1() -> Result<u32, std::io::Error> {
    Ok(1)
}

fn main() {}
