use retry_runtime::retryable;

#[retryable]
const fn fetch() -> Result<u32, std::io::Error> {
    Ok(1)
}

fn main() {}
