use retry_runtime::Transient;

#[derive(Transient)]
enum Unmarked {
    #[transient]
    Timeout,
    Status(u16),
}

#[derive(Transient)]
enum Twice {
    #[transient]
    #[permanent]
    Timeout,
}

#[derive(Transient)]
struct NoMark;

#[derive(Transient)]
enum Inner {
    #[transient(inner)]
    Two(u32, u32),
    #[transient(maybe)]
    Unknown,
}

#[derive(Transient)]
union Union {
    a: u32,
}

fn main() {}
