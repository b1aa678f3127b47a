use retry_runtime::retryable;

struct Pool {
    connection: String,
}

impl Pool {
    #[retryable]
    fn get(&mut self) -> Result<&mut String, std::io::Error> {
        Ok(&mut self.connection)
    }

    #[retryable]
    async fn get_async<'a>(&'a mut self, key: &str) -> Result<&'a mut String, std::io::Error> {
        Ok(&mut self.connection)
    }
}

#[retryable]
fn first(list: &mut Vec<u32>) -> Result<Option<&mut u32>, std::io::Error> {
    Ok(list.first_mut())
}

fn main() {}
