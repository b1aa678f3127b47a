use retry_runtime::retryable;

trait Fetch {
    #[retryable]
    fn fetch(&self) -> Result<u32, std::io::Error>;
}

fn main() {}
