use retry_runtime::retryable;

#[retryable]
fn nothing() {}

#[retryable]
fn unit() -> () {}

#[retryable]
async fn nothing_async() {}

fn main() {}
