use retry_runtime::retryable;

#[retryable(clone(id, oder))]
fn not_an_argument(id: u32) -> Result<u32, std::io::Error> {
    Ok(id)
}

#[retryable(clone())]
fn empty(id: u32) -> Result<u32, std::io::Error> {
    Ok(id)
}

#[retryable(clone(id), keep(id))]
fn both(mut id: u32) -> Result<u32, std::io::Error> {
    id += 1;
    Ok(id)
}

#[retryable(clone = id)]
fn no_list(id: u32) -> Result<u32, std::io::Error> {
    Ok(id)
}

#[retryable(clone(self))]
fn no_receiver(id: u32) -> Result<u32, std::io::Error> {
    Ok(id)
}

fn main() {}
