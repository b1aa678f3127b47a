use retry_runtime::retryable;

#[retryable(doc = 1)]
fn f0() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(doc = "false")]
fn f1() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(doc)]
fn f2() -> Result<u32, std::io::Error> {
    Ok(1)
}

const SHOWN: bool = false;

#[retryable(doc = SHOWN)]
fn f3() -> Result<u32, std::io::Error> {
    Ok(1)
}

fn main() {}
