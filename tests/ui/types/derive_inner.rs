use retry_runtime::Transient;

#[derive(Transient)]
enum ApiError {
    #[transient(inner)]
    Text(String),
}

#[derive(Transient)]
enum Wrapped<E> {
    #[transient(inner)]
    Inner(E),
    #[transient(inner)]
    Text(String),
}

fn main() {}
