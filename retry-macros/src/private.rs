//! The path into the runtime that the expansion takes.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::Path;

use crate::{
    args::{Args, value},
    values::CratePath,
};

/// The module of the runtime that is made for the expansion.
pub(crate) struct Private {
    path: TokenStream,
    /// A path from the user keeps its spans: `$crate` is resolved by them
    given: bool,
}

impl Private {
    pub(crate) fn new(args: &Args) -> Self {
        Self::of(value(args.krate.as_ref()).map(|CratePath(path)| path))
    }

    /// In the crate of this path, or where it is found.
    pub(crate) fn of(krate: Option<&Path>) -> Self {
        match krate {
            Some(path) => Self {
                path: quote! { #path::__private },
                given: true,
            },
            None => {
                let name = crate_name();
                Self {
                    path: quote! { ::#name::__private },
                    given: false,
                }
            }
        }
    }

    /// A call of a function of the runtime, reported at `span` from its first token on.
    pub(crate) fn call(
        &self,
        span: Span,
        function: TokenStream,
        arguments: impl ToTokens,
    ) -> TokenStream {
        let function = self.function(span, function);
        quote_spanned! {span=> #function(#arguments) }
    }

    /// A function of the runtime, reported at `span`.
    pub(crate) fn function(&self, span: Span, function: TokenStream) -> TokenStream {
        let path = if self.given {
            self.path.clone()
        } else {
            respanned(self.path.clone(), span)
        };
        let function = respanned(function, span);
        quote_spanned! {span=> #path::#function }
    }
}

fn respanned(tokens: TokenStream, span: Span) -> TokenStream {
    let respanned = tokens.into_iter().map(|mut token| {
        token.set_span(span);
        token
    });
    respanned.collect()
}

impl ToTokens for Private {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.path.to_tokens(tokens);
    }
}

/// The name under which the user's crate depends on the runtime.
fn crate_name() -> Ident {
    #[cfg(feature = "renamed")]
    if let Ok(proc_macro_crate::FoundCrate::Name(name)) =
        proc_macro_crate::crate_name("retry-runtime")
    {
        return Ident::new(&name, Span::call_site());
    }
    Ident::new("retry_runtime", Span::call_site())
}
