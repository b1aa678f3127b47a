use retry_runtime::retryable;

#[retryable(delays_ms = [])]
fn f0() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(delays_ms = 100)]
fn f1() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(delays_ms = [100, "200"])]
fn f2() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(delays_ms = [1.5])]
fn f3() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(delays_ms = [-1])]
fn f4() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(delays_ms = [50_000], cap_ms = 1_000)]
fn f5() -> Result<u32, std::io::Error> {
    Ok(1)
}

fn main() {}
