use retry_runtime::retryable;

#[retryable(on = "")]
fn f0() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(on = "is transient")]
fn f1() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(on = "module::")]
fn f2() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(on = 5)]
fn f3() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(on())]
fn f4() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(on = "any", except = "any")]
fn f5() -> Result<u32, std::io::Error> {
    Ok(1)
}

fn main() {}
