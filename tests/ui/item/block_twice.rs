use retry_runtime::retryable;

struct Client;

#[retryable]
#[retryable(max = 5)]
impl Client {
    #[cfg_attr(all(), retryable(max = 5))]
    fn fetch(&self) -> Result<u32, std::io::Error> {
        Ok(1)
    }
}

fn main() {}
