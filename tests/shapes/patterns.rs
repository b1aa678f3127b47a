//! Patterns in the place of an argument's name.

use crate::support::{Busy, Calls, run};
use retry_runtime::retryable;

#[derive(Clone, Copy, Debug, PartialEq)]
struct Point {
    x: u32,
    y: u32,
}

#[derive(Clone, Debug)]
struct Named(String);

fn pair() -> (u32, String) {
    (1, String::from("b"))
}

#[test]
fn tuple_sync() {
    #[retryable(backoff = "none")]
    fn shape(calls: &Calls, (a, b): (u32, String)) -> Result<u32, Busy> {
        calls.fail_twice((a, &b))
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls, pair()), Ok(3));
    calls.each_saw((1, "b"));
}

#[test]
fn tuple_async() {
    #[retryable(backoff = "none")]
    async fn shape(calls: &Calls, (a, b): (u32, String)) -> Result<u32, Busy> {
        calls.fail_twice((a, &b))
    }
    let calls = Calls::new();
    assert_eq!(run(shape(&calls, pair())), Ok(3));
    calls.each_saw((1, "b"));
}

#[test]
fn tuple_on_a_method_async() {
    struct Client;
    impl Client {
        #[retryable(backoff = "none")]
        async fn shape(&self, calls: &Calls, (a, b): (u32, String)) -> Result<u32, Busy> {
            calls.fail_twice((a, &b))
        }
    }
    let calls = Calls::new();
    assert_eq!(run(Client.shape(&calls, pair())), Ok(3));
    calls.each_saw((1, "b"));
}

#[test]
fn tuple_with_mut_is_fresh_sync() {
    #[retryable(backoff = "none")]
    fn shape(calls: &Calls, (mut a, mut b): (u32, String)) -> Result<String, Busy> {
        a += 1;
        b.push('!');
        calls.fail_twice((a, &b))?;
        Ok(b)
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls, pair()).unwrap(), "b!");
    calls.each_saw((2, "b!"));
}

#[test]
fn tuple_with_mut_is_fresh_async() {
    #[retryable(backoff = "none")]
    async fn shape(calls: &Calls, (mut a, mut b): (u32, String)) -> Result<String, Busy> {
        a += 1;
        b.push('!');
        calls.fail_twice((a, &b))?;
        Ok(b)
    }
    let calls = Calls::new();
    assert_eq!(run(shape(&calls, pair())).unwrap(), "b!");
    calls.each_saw((2, "b!"));
}

#[test]
fn tuple_with_a_part_consumed_with_clone_sync() {
    #[retryable(backoff = "none", clone(b))]
    fn shape(calls: &Calls, (a, b): (u32, String)) -> Result<String, Busy> {
        let taken = b;
        calls.fail_twice((a, &taken))?;
        Ok(taken)
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls, pair()).unwrap(), "b");
    calls.each_saw((1, "b"));
}

#[test]
fn tuple_with_a_part_kept_async() {
    #[retryable(backoff = "none", keep(a))]
    async fn shape(calls: &Calls, (mut a, mut b): (u32, String)) -> Result<u32, Busy> {
        a += 1;
        b.push('!');
        calls.fail_twice((a, &b))
    }
    let calls = Calls::new();
    assert_eq!(run(shape(&calls, pair())), Ok(3));
    calls.saw([(1, "b!"), (2, "b!"), (3, "b!")].map(|(a, b)| (a + 1, b)));
}

#[test]
fn struct_sync() {
    #[retryable(backoff = "none")]
    fn shape(calls: &Calls, Point { x, y: down }: Point) -> Result<u32, Busy> {
        calls.fail_twice((x, down))
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls, Point { x: 1, y: 2 }), Ok(3));
    calls.each_saw((1, 2));
}

#[test]
fn struct_with_mut_is_fresh_sync() {
    #[retryable(backoff = "none")]
    fn shape(calls: &Calls, Point { mut x, y: mut down }: Point) -> Result<u32, Busy> {
        x += 1;
        down += 1;
        calls.fail_twice((x, down))
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls, Point { x: 1, y: 2 }), Ok(3));
    calls.each_saw((2, 3));
}

#[test]
fn struct_with_mut_and_rest_is_fresh_async() {
    #[retryable(backoff = "none")]
    async fn shape(calls: &Calls, Point { mut x, .. }: Point) -> Result<u32, Busy> {
        x += 1;
        calls.fail_twice(x)
    }
    let calls = Calls::new();
    assert_eq!(run(shape(&calls, Point { x: 1, y: 2 })), Ok(3));
    calls.each_saw(2);
}

#[test]
fn struct_borrowed_async() {
    #[retryable(backoff = "none")]
    async fn shape(
        calls: &Calls,
        Point { x, y }: &Point,
        Named(name): &mut Named,
    ) -> Result<u32, Busy> {
        name.push('!');
        calls.fail_twice((x, y, &name))
    }
    let calls = Calls::new();
    let mut named = Named(String::new());
    assert_eq!(run(shape(&calls, &Point { x: 1, y: 2 }, &mut named)), Ok(3));
    calls.saw([(1, 2, "!"), (1, 2, "!!"), (1, 2, "!!!")]);
}

#[test]
fn tuple_struct_sync() {
    #[retryable(backoff = "none")]
    fn shape(calls: &Calls, Named(name): Named, Named(mut other): Named) -> Result<u32, Busy> {
        other.push_str(&name);
        calls.fail_twice(other)
    }
    let calls = Calls::new();
    let named = |name| Named(String::from(name));
    assert_eq!(shape(&calls, named("a"), named("b")), Ok(3));
    calls.each_saw("ba");
}

#[test]
fn slices_sync() {
    #[retryable(backoff = "none")]
    fn shape(
        calls: &Calls,
        [a, mut b]: [u32; 2],
        &[c, ref d]: &[u32; 2],
        [e, .., f]: &[u32; 4],
        [g, rest @ ..]: [u32; 3],
    ) -> Result<u32, Busy> {
        b += 10;
        calls.fail_twice((a, b, c, d, e, f, g, rest))
    }
    let calls = Calls::new();
    assert_eq!(
        shape(&calls, [1, 2], &[3, 4], &[5, 0, 0, 6], [7, 8, 9]),
        Ok(3)
    );
    calls.each_saw((1, 12, 3, 4, 5, 6, 7, [8, 9]));
}

#[test]
fn wildcards_sync() {
    #[retryable(backoff = "none")]
    fn shape(calls: &Calls, _: u32, (..): (u32, Named), (): ()) -> Result<u32, Busy> {
        calls.fail_twice(())
    }
    let calls = Calls::new();
    let named = Named(String::new());
    assert_eq!(shape(&calls, 1, (2, named), ()), Ok(3));
    calls.each_saw(());
}

#[test]
fn wildcards_async() {
    #[retryable(backoff = "none")]
    async fn shape(calls: &Calls, _: u32, _: String) -> Result<u32, Busy> {
        calls.fail_twice(())
    }
    let calls = Calls::new();
    assert_eq!(run(shape(&calls, 1, String::new())), Ok(3));
    calls.each_saw(());
}

#[test]
fn ref_bindings_sync() {
    #[retryable(backoff = "none")]
    fn shape(calls: &Calls, ref a: String, (ref b, c): (String, u32)) -> Result<usize, Busy> {
        let borrowed: &String = b;
        calls.fail_twice((a, borrowed, c))?;
        Ok(a.len())
    }
    let calls = Calls::new();
    let text = String::from;
    assert_eq!(shape(&calls, text("a"), (text("b"), 1)), Ok(1));
    calls.each_saw(("a", "b", 1));
}

#[test]
fn ref_bindings_async() {
    #[retryable(backoff = "none")]
    async fn shape(calls: &Calls, ref a: String, (ref b, c): (String, u32)) -> Result<usize, Busy> {
        calls.fail_twice((a, b, c))?;
        Ok(a.len())
    }
    let calls = Calls::new();
    let text = String::from;
    assert_eq!(run(shape(&calls, text("a"), (text("b"), 1))), Ok(1));
    calls.each_saw(("a", "b", 1));
}

#[test]
fn ref_mut_bindings_keep_their_state_as_mut_borrows_do_sync() {
    #[retryable(backoff = "none")]
    fn shape(calls: &Calls, ref mut a: String, (ref mut b, _): (u32, u32)) -> Result<u32, Busy> {
        a.push('!');
        *b += 1;
        calls.fail_twice((&a, &b))
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls, String::new(), (0, 0)), Ok(3));
    calls.saw([("!", 1), ("!!", 2), ("!!!", 3)]);
}

#[test]
fn at_bindings_sync() {
    #[retryable(backoff = "none")]
    fn shape(
        calls: &Calls,
        whole @ Point { x, .. }: Point,
        mut changed @ Point { y, .. }: Point,
        all @ [first, ..]: &[u32; 2],
        number @ (..): (u32, u32),
    ) -> Result<u32, Busy> {
        changed.x += 1;
        calls.fail_twice((whole, x, changed, y, all, first, number))
    }
    let (calls, point) = (Calls::new(), Point { x: 1, y: 2 });
    assert_eq!(shape(&calls, point, point, &[3, 4], (5, 6)), Ok(3));
    calls.each_saw((point, 1, Point { x: 2, y: 2 }, 2, [3, 4], 3, (5, 6)));
}

#[test]
fn at_bindings_async() {
    #[retryable(backoff = "none")]
    async fn shape(calls: &Calls, mut whole @ Point { mut x, .. }: Point) -> Result<u32, Busy> {
        whole.y += 1;
        x += 10;
        calls.fail_twice((whole, x))
    }
    let (calls, point) = (Calls::new(), Point { x: 1, y: 2 });
    assert_eq!(run(shape(&calls, point)), Ok(3));
    calls.each_saw((Point { x: 1, y: 3 }, 11));
}

#[test]
fn references_sync() {
    #[retryable(backoff = "none")]
    fn shape(calls: &Calls, &a: &u32, &(b, mut c): &(u32, u32)) -> Result<u32, Busy> {
        c += 1;
        calls.fail_twice((a, b, c))
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls, &1, &(3, 4)), Ok(3));
    calls.each_saw((1, 3, 5));
}

mod mut_in_parentheses {
    use super::*;

    #[test]
    fn reference_to_a_mut_name_is_fresh_async() {
        #[retryable(backoff = "none")]
        async fn shape(calls: &Calls, &(mut number): &u32) -> Result<u32, Busy> {
            number += 1;
            calls.fail_twice(number)
        }
        let calls = Calls::new();
        assert_eq!(run(shape(&calls, &1)), Ok(3));
        calls.each_saw(2);
    }
}

mod ref_mut_moved {
    use super::*;

    #[test]
    fn ref_mut_bindings_moved_sync() {
        #[retryable(backoff = "none")]
        fn shape(
            calls: &Calls,
            ref mut a: String,
            (ref mut b, _): (u32, u32),
        ) -> Result<u32, Busy> {
            a.push('!');
            *b += 1;
            calls.fail_twice((a, b))
        }
        let calls = Calls::new();
        assert_eq!(shape(&calls, String::new(), (0, 0)), Ok(3));
        calls.saw([("!", 1), ("!!", 2), ("!!!", 3)]);
    }
}

#[test]
fn nested_async() {
    #[retryable(backoff = "none", clone(name))]
    async fn shape(
        calls: &Calls,
        (Point { mut x, .. }, [Named(name), _], &(mut y, _)): (Point, [Named; 2], &(u32, ())),
    ) -> Result<String, Busy> {
        x += 1;
        y += 1;
        let taken = name;
        calls.fail_twice((x, &taken, y))?;
        Ok(taken)
    }
    let (calls, named) = (Calls::new(), Named(String::from("n")));
    let done = run(shape(
        &calls,
        (Point { x: 1, y: 0 }, [named.clone(), named], &(5, ())),
    ));
    assert_eq!(done.unwrap(), "n");
    calls.each_saw((2, "n", 6));
}

#[test]
fn alternatives_sync() {
    #[retryable(backoff = "none")]
    fn shape(calls: &Calls, (Ok(number) | Err(number)): Result<u32, u32>) -> Result<u32, Busy> {
        calls.fail_twice(number)
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls, Err(1)), Ok(3));
    calls.each_saw(1);
}

mod alternatives_with_mut {
    use super::*;

    #[test]
    fn alternatives_with_mut_are_fresh_sync() {
        #[retryable(backoff = "none")]
        fn shape(
            calls: &Calls,
            (Ok(mut number) | Err(mut number)): Result<u32, u32>,
        ) -> Result<u32, Busy> {
            number += 1;
            calls.fail_twice(number)
        }
        let calls = Calls::new();
        assert_eq!(shape(&calls, Err(1)), Ok(3));
        calls.each_saw(2);
    }
}

#[test]
fn macro_for_a_pattern_sync() {
    macro_rules! point {
        ($x:ident, $y:ident) => {
            Point { x: $x, y: $y }
        };
    }
    #[retryable(backoff = "none")]
    fn shape(calls: &Calls, point!(a, b): Point) -> Result<u32, Busy> {
        calls.fail_twice((a, b))
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls, Point { x: 1, y: 2 }), Ok(3));
    calls.each_saw((1, 2));
}
