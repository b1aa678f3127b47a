use retry_runtime::Transient;

#[derive(Transient)]
enum ApiError {
    #[transient(inner)]
    Text(String),
}

fn main() {}
