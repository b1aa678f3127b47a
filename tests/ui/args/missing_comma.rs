use retry_runtime::retryable;

#[retryable(max = 3 base_ms = 100)]
fn f0() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(max = 3; base_ms = 100)]
fn f1() -> Result<u32, std::io::Error> {
    Ok(1)
}

fn main() {}
