//! The macros of `retry-runtime`: an implementation detail of that crate, which re-exports and
//! documents them. Depend on `retry-runtime`.
//!
//! One pass: attribute text -> `args` -> `check` -> `expand`; `errors` collects what is wrong on
//! the way.

#![forbid(unsafe_code)]

mod args;
mod bindings;
mod block;
mod check;
mod constants;
mod derive;
mod doc;
mod errors;
mod events;
mod expand;
#[cfg(test)]
mod expansion;
#[cfg(test)]
mod fuzz;
mod instrument;
mod item;
mod limits;
mod policy;
mod private;
mod schedule;
mod shape;
mod values;
mod written;

use proc_macro::TokenStream;

use crate::{
    args::Args,
    check::Plan,
    errors::Errors,
    item::{Function, Item},
};

#[doc = include_str!("retryable.md")]
#[proc_macro_attribute]
pub fn retryable(args: TokenStream, item: TokenStream) -> TokenStream {
    attribute(args.into(), &item.into()).into()
}

fn attribute(
    args: proc_macro2::TokenStream,
    item: &proc_macro2::TokenStream,
) -> proc_macro2::TokenStream {
    let item = match syn::parse2::<Item>(item.clone()) {
        Ok(Item::Block(block)) => return block.expand(&args),
        Ok(Item::Function(function)) => Ok(function),
        Err(error) => Err((item, error)),
    };
    let mut errors = Errors::default();
    let args = Args::parse(args, &mut errors);
    match item {
        Ok(function) => {
            let written = function.with_body(&function.body.stream());
            let retried = retried(args, *function, &mut errors);
            match (errors.into_compile_errors(), retried) {
                (None, Some(retried)) => retried,
                (found, _) => errors::beside(&written, &found.unwrap_or_default()),
            }
        }
        Err((item, error)) => {
            errors.add(error);
            errors::beside(item, &errors.into_compile_errors().unwrap_or_default())
        }
    }
}

/// The function that retries itself; of no use if there are errors.
fn retried(
    args: Args,
    function: Function,
    errors: &mut Errors,
) -> Option<proc_macro2::TokenStream> {
    let mut plan = Plan::check(args, function, errors)?;
    plan.function.attrs.extend(doc::retries(&plan));
    Some(expand::expand(&plan))
}

/// Implements `Transient` for an error by marks on its variants.
///
/// | mark | on a variant, or on a struct |
/// |---|---|
/// | `#[transient]` | worth a retry |
/// | `#[permanent]` | not worth a retry |
/// | `#[transient(inner)]` | as the inner error says: the only field, or that marked `#[from]` or `#[source]`, or named `source` |
/// | `#[transient(crate = ::name)]` | on the type only: the path of `retry_runtime` where it is renamed or re-exported |
///
/// A mark on an enum is that of the variants without one. Without it, every variant needs its
/// own: a new variant is a decision to take, not one to forget.
#[proc_macro_derive(Transient, attributes(transient, permanent))]
pub fn derive_transient(item: TokenStream) -> TokenStream {
    derive::transient(item.into()).into()
}
