use retry_runtime::retryable;

#[retryable]
fn plain() -> u32 {
    1
}

#[retryable]
async fn option() -> Option<u32> {
    None
}

fn main() {}
