use retry_runtime::retryable;

#[retryable(max = limit)]
fn text(limit: &str) -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(factor = factor)]
fn ratio(factor: &str) -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(policy = policy)]
fn policy(policy: u32) -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(delays_ms = delays)]
fn delays(delays: &[u64]) -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(max = self.retries)]
fn no_self() -> Result<u32, std::io::Error> {
    Ok(1)
}

fn main() {}
