use retry_runtime::retryable;

fn main() {
    #[retryable]
    let answer = || Ok::<u32, std::io::Error>(1);
}
