use retry_runtime::retryable;

#[retryable(max = 3, base_ms = 100, max = 4)]
fn f0() -> Result<u32, std::io::Error> {
    Ok(1)
}

fn main() {}
