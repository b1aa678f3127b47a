use retry_runtime::retryable;

const MAX: u32 = 0;
const MANY: i64 = -3;
const BASE: u64 = 60_000;
const SMALL: u64 = 100;
const FACTOR: f64 = 0.5;
const RATIO: f64 = 1.5;
const NONE: [u64; 0] = [];
const BAD: retry_runtime::Policy = retry_runtime::Policy::new().max(0);

#[retryable(max = MAX, factor = FACTOR)]
fn two_mistakes() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(max = MANY)]
fn negative() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(base_ms = BASE)]
fn above_the_default_cap() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(cap_ms = SMALL)]
fn below_the_default_base() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(jitter = RATIO)]
fn ratio() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(delays_ms = NONE)]
fn no_delays() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(policy = BAD)]
fn policy() -> Result<u32, std::io::Error> {
    Ok(1)
}

fn main() {}
