use retry_runtime::retryable;

const BASE: f64 = 0.9;
const YES: bool = true;
const WAIT: std::time::Duration = std::time::Duration::from_secs(1);

#[retryable(base_ms = BASE)]
fn float() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(max = YES)]
fn boolean() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(max = 1.5 + 1.6)]
fn sum() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(base_ms = WAIT)]
fn duration() -> Result<u32, std::io::Error> {
    Ok(1)
}

fn main() {}
