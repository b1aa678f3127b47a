//! Every shape of function that `#[retryable]` takes: each fails twice and succeeds at the third
//! call, and is checked for the number of calls, for what each saw of its arguments, and for what
//! comes out. The async ones must be `Send` too, unless their name says otherwise.
//!
//! Shapes that can not be made to work are behind `#[cfg(any())]`, with a comment that starts with
//! LIMIT.

#![deny(warnings)]
#![allow(non_local_definitions, reason = "each method stands in its test")]
#![allow(
    clippy::boxed_local,
    clippy::needless_arbitrary_self_type,
    clippy::ptr_arg,
    clippy::too_many_arguments,
    clippy::toplevel_ref_arg,
    reason = "unusual shapes are the point"
)]

mod arguments;
mod async_trait;
mod attributes;
mod bodies;
mod errors;
mod generics;
mod hygiene;
mod impl_blocks;
mod lent;
mod macros;
mod patterns;
mod predicates;
mod receivers;
mod returned_futures;
mod returns;
mod send;
mod support;
mod traits;
