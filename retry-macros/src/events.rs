//! What a call is called, and who is told of its retries and its end.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens as _, quote};
use syn::LitStr;

use crate::{
    args::value,
    check::Plan,
    errors::under,
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
    let span = value(args.span.as_ref())
        .is_some_and(|Flag(span)| *span)
        .then(|| quote! { span });
    let returns = &plan.returns;
    let notify = value(args.notify.as_ref()).map(|notify| {
        let (at, function, notify) = match notify {
            Callback::Path(path) => (under(path), quote! { notifier }, path.to_token_stream()),
            Callback::Callable(callable) => (
                under(callable),
                quote! { notifier_by },
                callable.to_token_stream(),
            ),
        };
        let notifier = private.function(at, function);
        quote! { #returns, #notifier, #notify }
    });
    quote! { #name, #level [#span] [#notify] }
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
