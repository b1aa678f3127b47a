use retry_runtime::retryable;

#[retryable]
#[retryable(max = 5)]
fn fetch() -> Result<u32, std::io::Error> {
    Ok(1)
}

fn main() {}
