// What the compiler finds fault with in a function without the attribute, it still does with it.
#![deny(unused)]

use retry_runtime::retryable;

#[must_use]
struct Guard;

#[retryable(on = "any")]
fn unused_argument(unused: u32) -> Result<u32, String> {
    Ok(1)
}

#[retryable(on = "any")]
async fn unused_argument_async(unused: u32, (left, _): (u32, u32)) -> Result<u32, String> {
    Ok(1)
}

#[retryable(on = "any")]
fn unused_mut(mut number: u32, mut list: Vec<u32>) -> Result<usize, String> {
    Ok(number as usize + list.len())
}

#[retryable(on = "any")]
async fn unused_mut_async(mut number: u32) -> Result<u32, String> {
    let mut local = number;
    Ok(local)
}

#[retryable(on = "any")]
fn unused_mut_argument(mut unused: u32) -> Result<u32, String> {
    Ok(1)
}

#[retryable(on = "any", clone(text))]
fn unused_cloned_argument(text: String) -> Result<u32, String> {
    Ok(1)
}

#[retryable(on = "any")]
fn unused_value(number: u32) -> Result<u32, String> {
    let local = number;
    Guard;
    number + 1;
    Ok(1)
}

#[retryable(on = "any")]
fn unreachable_statement(mut number: u32) -> Result<u32, String> {
    number = 2;
    return Ok(1);
    Ok(number)
}

#[retryable(on = "any")]
fn dead_function() -> Result<u32, String> {
    Ok(1)
}

struct Client;

impl Client {
    #[retryable(on = "any")]
    async fn dead_method(&self) -> Result<u32, String> {
        Ok(1)
    }
}

#[retryable(on = "any")]
impl Client {
    fn dead_method_of_a_block(&self, unused: u32) -> Result<u32, String> {
        Ok(1)
    }
}

#[retryable(on = "any")]
fn unused_label_and_parentheses() -> Result<u32, String> {
    'unused: loop {
        if (true) {
            return Ok(1);
        }
    }
}

fn main() {
    unused_argument(1);
    unused_argument_async(1, (2, 3));
    let _ = (
        unused_mut(1, vec![]),
        unused_mut_async(1),
        unused_mut_argument(1),
        unused_cloned_argument(String::new()),
        unused_value(1),
        unreachable_statement(1),
        unused_label_and_parentheses(),
        Client,
    );
}
