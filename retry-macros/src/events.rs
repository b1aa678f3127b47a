//! What a call is called, and who is told of its retries and its end.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens as _, quote, quote_spanned};
use syn::{Expr, LitStr};

use crate::{
    args::{Args, value},
    check::Plan,
    errors::{local, under},
    private::Private,
    values::{Callback, Flag, Level, Text},
};

pub(crate) fn part(plan: &Plan, private: &Private) -> TokenStream {
    let args = &plan.args;
    let name = name(plan, private);
    let level = match value(args.level.as_ref()) {
        Some(Level(level)) => level.to_token_stream(),
        None => quote! { Warn },
    };
    let span = has_spans(args).then(|| quote! { span });
    let returns = &plan.returns;
    let notify = value(args.notify.as_ref()).map(|notify| {
        let (at, closure) = notifier(notify);
        let notifier = private.function(at, quote! { notifier });
        quote! { #returns, #notifier, #closure }
    });
    quote! { #name, #level [#span] [#notify] }
}

/// Whether each attempt is in a span of its own.
pub(crate) fn has_spans(args: &Args) -> bool {
    value(args.span.as_ref()).is_some_and(|Flag(span)| *span)
}

/// A closure of the right type in any case, so that a function of another one is one error.
fn notifier(notify: &Callback) -> (Span, TokenStream) {
    match notify {
        Callback::Path(path) => {
            let at = under(path);
            let event = local("event", at);
            (at, quote_spanned! {at=> |#event| #path(#event) })
        }
        Callback::Callable(closure @ Expr::Closure(_)) => {
            (under(closure), closure.to_token_stream())
        }
        Callback::Callable(callable) => {
            let at = under(callable);
            let [event, notify] = ["event", "notify"].map(|name| local(name, at));
            let closure = quote_spanned! {at=> move |#event| #notify(#event) };
            // it may be an `FnMut`, as a closure that is written here may
            let callable = quote! { let mut #notify = #callable; };
            (at, quote! { { #callable #closure } })
        }
    }
}

fn name(plan: &Plan, private: &Private) -> TokenStream {
    match value(plan.args.name.as_ref()) {
        Some(Text(name)) => name.to_token_stream(),
        None => {
            let function = format!("::{}", plan.function.sig.ident);
            let function = LitStr::new(&function, Span::mixed_site());
            quote! { #private::concat!(#private::module_path!(), #function) }
        }
    }
}
