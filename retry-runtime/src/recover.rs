//! What a call returns when it has failed for good.

use crate::limits::Failure;

/// A function given as `recover`: takes the failure, and the arguments of the retried function or
/// none of them.
///
/// `M` tells the implementations apart: a function fits one of them.
#[diagnostic::on_unimplemented(
    message = "`recover` expects a function that takes the failure, and all arguments or none",
    label = "expected `fn(Failure<E>) -> R` or `fn(Failure<E>, arguments..) -> R`, with the error and the return type of the retried function",
    note = "for anything else give a closure, which sees the arguments: `recover = |failure| fallback(id, failure.error)`"
)]
pub trait Recover<E, A, R, M> {
    /// What the call returns.
    fn recover(self, failure: Failure<E>, arguments: A) -> R;
}

impl<F: FnOnce(Failure<E>) -> R, E, A, R> Recover<E, A, R, ()> for F {
    fn recover(self, failure: Failure<E>, _arguments: A) -> R {
        self(failure)
    }
}

macro_rules! with_arguments {
    ($(($($argument:ident $name:ident),+))+) => {
        $(
            impl<F, E, R, $($argument),+> Recover<E, ($($argument,)+), R, ($($argument,)+)> for F
            where
                F: FnOnce(Failure<E>, $($argument),+) -> R,
            {
                fn recover(self, failure: Failure<E>, ($($name,)+): ($($argument,)+)) -> R {
                    self(failure, $($name),+)
                }
            }
        )+
    };
}

with_arguments! {
    (A a)
    (A a, B b)
    (A a, B b, C c)
    (A a, B b, C c, D d)
    (A a, B b, C c, D d, G g)
    (A a, B b, C c, D d, G g, H h)
}

/// What the function given as `recover` returns.
pub fn recover<E, A, R, M>(by: impl Recover<E, A, R, M>, failure: Failure<E>, arguments: A) -> R {
    by.recover(failure, arguments)
}

/// What the closure given as `recover` returns.
pub fn recover_by<E, R>(by: impl FnOnce(Failure<E>) -> R, failure: Failure<E>) -> R {
    by(failure)
}
