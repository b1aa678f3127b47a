use retry_runtime::retryable;

struct Client<const RETRIES: u32>;

impl<const RETRIES: u32> Client<RETRIES> {
    #[retryable(max = RETRIES)]
    fn fetch(&self) -> Result<u32, std::io::Error> {
        Ok(1)
    }
}

fn main() {}
