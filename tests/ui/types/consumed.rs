use retry_runtime::retryable;

fn send(_: String) -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable]
fn owned(order: String) -> Result<u32, std::io::Error> {
    send(order)
}

#[retryable]
async fn owned_async(order: String) -> Result<u32, std::io::Error> {
    send(order)
}

#[retryable]
async fn owned_and_left(order: String) -> Result<u32, std::io::Error> {
    let sent = send(order)?;
    Ok(sent)
}

struct Token;

fn spend(_: Token) -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(clone(token))]
fn not_clone(token: Token) -> Result<u32, std::io::Error> {
    spend(token)
}

#[retryable]
fn mutable(mut token: Token) -> Result<u32, std::io::Error> {
    token = Token;
    spend(token)
}

fn main() {}
