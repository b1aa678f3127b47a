use retry_runtime::retryable;

#[retryable(mx = 3)]
fn f0() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(base = 3)]
fn f1() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(jiter = "full")]
fn f2() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(attempts_total = 3)]
fn f3() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(cap = 5000)]
fn f4() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(max_retries = 3)]
fn f5() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(multiplier = 2.0)]
fn f6() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(attempts_in_total = 5)]
fn f7() -> Result<u32, std::io::Error> {
    Ok(1)
}

fn main() {}
