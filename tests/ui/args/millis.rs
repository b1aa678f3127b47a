use retry_runtime::retryable;

#[retryable(base_ms = -1)]
fn f0() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(base_ms = 0.5)]
fn f1() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(base_ms = "200")]
fn f2() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(cap_ms = 0)]
fn f3() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(base_ms = 100000000000000000000)]
fn f4() -> Result<u32, std::io::Error> {
    Ok(1)
}

fn main() {}
