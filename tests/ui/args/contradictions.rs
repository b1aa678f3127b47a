use retry_runtime::retryable;

#[retryable(base_ms = 500, cap_ms = 100)]
fn f0() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(delays_ms = [1, 2], base_ms = 100, factor = 2.0)]
fn f1() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(backoff = "fixed", factor = 3.0)]
fn f2() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(backoff = "none", base_ms = 100)]
fn f3() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(backoff = "none", jitter = "full")]
fn f4() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(base_ms = 0, jitter = 0.5)]
fn f5() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(jitter = "decorrelated", factor = 3.0)]
fn f6() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(jitter = "decorrelated", backoff = "linear")]
fn f7() -> Result<u32, std::io::Error> {
    Ok(1)
}

fn main() {}
