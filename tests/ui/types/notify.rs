use retry_runtime::{Event, retryable};

fn of_another_error(_: &Event<'_, String>) {}

fn of_nothing() {}

fn by_value(_: Event<'_, std::io::Error>) {}

#[retryable(notify = of_another_error)]
fn f0() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(notify = of_nothing)]
fn f1() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(notify = by_value)]
fn f2() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(notify = lgo)]
fn f3() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(notify = |event| event.missing())]
fn f4() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(notify = |event| calls.push(event.attempt))]
fn f5(calls: &mut Vec<u32>) -> Result<u32, std::io::Error> {
    calls.push(0);
    Ok(1)
}

struct Client {
    listener: u32,
}

impl Client {
    #[retryable(notify = self.listener)]
    fn f6(&self) -> Result<u32, std::io::Error> {
        Ok(1)
    }
}

fn main() {}
