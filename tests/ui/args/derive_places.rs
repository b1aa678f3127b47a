use retry_runtime::Transient;
use std::io;

#[derive(Transient)]
#[permanent]
enum Failed {
    Io(#[transient(inner)] io::Error),
    #[transient(crate = ::retry_runtime)]
    Busy,
}

#[derive(Transient)]
#[permanent]
struct Refused {
    #[transient]
    code: u16,
}

fn main() {}
