use retry_runtime::retryable;

struct Pool {
    connection: String,
}

struct Lease<'a>(&'a mut String);

impl Pool {
    #[retryable]
    fn get(&mut self) -> Result<Lease<'_>, std::io::Error> {
        Ok(Lease(&mut self.connection))
    }
}

fn main() {}
