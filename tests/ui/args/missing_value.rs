use retry_runtime::retryable;

#[retryable(max)]
fn f0() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(max =)]
fn f1() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(max = , base_ms = 5)]
fn f2() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(on)]
fn f3() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(clone)]
fn f4() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(max(3))]
fn f5() -> Result<u32, std::io::Error> {
    Ok(1)
}

fn main() {}
