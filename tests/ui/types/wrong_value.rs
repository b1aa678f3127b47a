use retry_runtime::retryable;

#[retryable]
fn tail() -> Result<u32, std::io::Error> {
    Ok("text")
}

#[retryable]
async fn tail_async() -> Result<u32, std::io::Error> {
    Ok("text")
}

#[retryable]
async fn early() -> Result<u32, std::io::Error> {
    if true {
        return Ok("text");
    }
    Ok(1)
}

#[retryable]
fn semicolon() -> Result<u32, std::io::Error> {
    Ok(1);
}

#[retryable]
async fn semicolon_async() -> Result<u32, std::io::Error> {
    Ok(1);
}

#[retryable]
async fn not_a_result() -> Result<u32, std::io::Error> {
    1
}

#[retryable]
async fn borrow_of_a_local(name: &str) -> Result<&str, std::io::Error> {
    let upper = name.to_uppercase();
    Ok(upper.as_str())
}

fn main() {}
