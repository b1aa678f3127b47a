use retry_runtime::retryable;

#[retryable]
struct Client;

#[retryable]
mod client {}

#[retryable]
enum Kind {
    A,
}

#[retryable]
const LIMIT: u32 = 3;

#[retryable]
use std::fmt as _;

#[retryable]
trait Fetch {}

fn main() {}
