use retry_runtime::retryable;

struct Failed(Kind);

enum Kind {
    Busy,
    Fatal,
}

use Kind::{Busy, Fatal};

#[retryable(on(Failed(Busy)))]
fn right() -> Result<(), Failed> {
    Err(Failed(Fatal))
}

#[retryable(on(Failed(Bussy)))]
fn misspelt() -> Result<(), Failed> {
    Err(Failed(Fatal))
}

fn main() {}
