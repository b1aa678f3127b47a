use retry_runtime::retryable;

#[retryable(max = 0, bse_ms = 100, factor = 0.5, jitter = "big", max = 2)]
const fn fetch() -> Result<u32, std::io::Error> {
    Ok(1)
}

fn main() {
    // still there, with its type: no further error here
    let _: Result<u32, std::io::Error> = fetch();
}
