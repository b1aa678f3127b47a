use retry_runtime::retryable;

#[derive(Clone, Debug)]
struct Counter(u32);

impl Counter {
    #[retryable(on = "any")]
    fn count(mut self) -> Result<u32, String> {
        self.0 += 1;
        Err(format!("{self:?} is not enough"))
    }
}

fn main() {}
