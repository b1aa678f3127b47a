use retry_runtime::retryable;

const TOO_SOON: u64 = 2_000;

#[retryable(max = 5, base_ms = 1_000, jitter = "none", on = "any", deadline_ms = 5_000)]
fn four_waits_of_15_s() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(max = 3, base_ms = 1_500, backoff = "fixed", jitter = 0.1, on = "any", deadline_ms = TOO_SOON)]
fn two_waits_of_2700_ms() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(delays_ms = [500, 600], jitter = "none", on = "any", deadline_ms = 1_000)]
fn two_waits_of_1100_ms() -> Result<u32, std::io::Error> {
    Ok(1)
}

// a predicate may ask for a retry without a wait
#[retryable(max = 5, base_ms = 1_000, jitter = "none", deadline_ms = 5_000)]
fn may_fit() -> Result<u32, std::io::Error> {
    Ok(1)
}

// full jitter may wait for no time at all
#[retryable(max = 5, base_ms = 1_000, on = "any", deadline_ms = 5_000)]
fn fits() -> Result<u32, std::io::Error> {
    Ok(1)
}

fn main() {}
