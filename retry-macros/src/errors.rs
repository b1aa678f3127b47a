//! Mistakes are collected, reported together, and the function is kept beside them.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::{Error, Ident, Result, spanned::Spanned as _};

/// All that is wrong so far.
#[derive(Default)]
pub(crate) struct Errors(Option<Error>);

impl Errors {
    pub(crate) fn add(&mut self, error: Error) {
        match &mut self.0 {
            Some(errors) => errors.combine(error),
            None => self.0 = Some(error),
        }
    }

    /// An error under the given tokens.
    pub(crate) fn at(&mut self, tokens: impl ToTokens, message: impl std::fmt::Display) {
        self.add(Error::new_spanned(tokens, message));
    }

    /// An error under the given span.
    pub(crate) fn span(&mut self, span: Span, message: impl std::fmt::Display) {
        self.add(Error::new(span, message));
    }

    /// The value, unless it is an error, which is kept.
    pub(crate) fn value<T>(&mut self, result: Result<T>) -> Option<T> {
        result.map_err(|error| self.add(error)).ok()
    }

    /// The errors as code, if there are any.
    pub(crate) fn into_compile_errors(self) -> Option<TokenStream> {
        self.0.map(Error::into_compile_error)
    }
}

/// The item as it was written, and the errors. The item comes first: editors take its colours and
/// completions from where a token occurs first.
pub(crate) fn beside(item: &impl ToTokens, errors: &TokenStream) -> TokenStream {
    quote! { #item #errors }
}

/// The span for tokens of the expansion that are reported under the user's tokens `at`.
pub(crate) fn under(at: &impl ToTokens) -> Span {
    Span::mixed_site().located_at(at.span())
}

/// A variable of the expansion. Hygiene keeps it apart from the user's variables, but a constant
/// of the same name would be taken for a pattern: hence the underscores.
pub(crate) fn local(name: &str, at: Span) -> Ident {
    Ident::new(&format!("__{name}"), at)
}
