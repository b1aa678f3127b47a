use retry_runtime::retryable;

struct Client;

#[retryable(max = 0, clone(id), name = "client")]
impl Client {
    #[retryable(bse_ms = 5)]
    fn unknown_key(&self) -> Result<u32, std::io::Error> {
        Ok(1)
    }

    const fn constant(&self) -> Result<u32, std::io::Error> {
        Ok(1)
    }

    #[retryable(skip, max = 5)]
    fn skipped_and_not(&self) -> Result<u32, std::io::Error> {
        Ok(1)
    }

    #[retryable]
    fn nothing(&self) {}

    // not touched: not a `Result`
    fn plain(&self) -> u32 {
        1
    }
}

#[retryable(skip)]
fn alone() -> Result<u32, std::io::Error> {
    Ok(1)
}

fn main() {}
