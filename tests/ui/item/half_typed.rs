#[retry_runtime::retryable]
fn half(name: &str) -> Result<usize, std::io::Error> {
    let length = name.
    Ok(length)
}
#[retry_runtime::retryable]
fn half2(name: &str) -> Result<usize, std::io::Error> {
    let length = name.;
    Ok(length)
}
#[retry_runtime::retryable]
fn half3(name: &str) -> Result<usize, std::io::Error> {
    let length = name.len(1 2);
    Ok(length)
}
#[retry_runtime::retryable]
fn half4(name: &str) -> Result<usize, std::io::Error> {
    let length = 
}
#[retry_runtime::retryable]
fn half5(name: &str) -> Result<usize, std::io::Error> {
    if name.len() > {
        return Ok(1);
    }
    Ok(2)
}
fn main() {}
