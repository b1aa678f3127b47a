//! The annotated item: a function whose body stays the tokens that were written.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::{TokenStreamExt as _, quote};
use syn::{
    Attribute, Generics, Ident, Result, Signature, Token, Visibility,
    parse::{Parse, ParseStream, Parser as _},
};

use crate::block::Block;

/// What the attribute can stand on.
pub(crate) enum Item {
    Function(Box<Function>),
    Block(Block),
}

impl Parse for Item {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        if Block::starts(input) {
            return input.parse().map(Self::Block);
        }
        input
            .parse()
            .map(|function| Self::Function(Box::new(function)))
    }
}

/// A function, method or trait method with a body.
#[derive(Clone)]
pub(crate) struct Function {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) sig: Signature,
    /// Attributes at the start of the body, which belong to the function
    pub(crate) inner_attrs: Vec<Attribute>,
    pub(crate) body: Group,
    /// Whether the attribute is on the `impl` block around it
    pub(crate) in_block: bool,
    /// Parameters of that block
    pub(crate) outer: Generics,
}

impl Parse for Function {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let attrs = input.call(Attribute::parse_outer)?;
        let vis = input.parse()?;
        if !Self::starts(input) {
            return Err(
                input.error("`#[retryable]` goes on a function, a method or an `impl` block")
            );
        }
        let sig: Signature = input.parse()?;
        if input.peek(Token![;]) {
            return Err(
                input.error("`#[retryable]` needs a body to retry: put it on the implementation")
            );
        }
        let TokenTree::Group(body) = input.parse()? else {
            return Err(input.error("expected the body of the function"));
        };
        let body = without_invisible(body);
        let (inner_attrs, statements) = split_inner_attributes.parse2(body.stream())?;
        let mut without_attrs = Group::new(Delimiter::Brace, statements);
        without_attrs.set_span(body.span());
        Ok(Self {
            attrs,
            vis,
            sig,
            inner_attrs,
            body: without_attrs,
            in_block: false,
            outer: Generics::default(),
        })
    }
}

/// A body that was a `$body:block` of a `macro_rules!` comes in a group of its own.
fn without_invisible(body: Group) -> Group {
    let mut inside = body.stream().into_iter();
    match (body.delimiter(), inside.next(), inside.next()) {
        (Delimiter::None, Some(TokenTree::Group(inner)), None) => without_invisible(inner),
        _ => body,
    }
}

fn split_inner_attributes(input: ParseStream<'_>) -> Result<(Vec<Attribute>, TokenStream)> {
    Ok((input.call(Attribute::parse_inner)?, input.parse()?))
}

impl Function {
    /// Those of the function, and what is known of those around it.
    pub(crate) fn generics(&self) -> [&Generics; 2] {
        [&self.sig.generics, &self.outer]
    }

    /// Whether a signature follows.
    pub(crate) fn starts(input: ParseStream<'_>) -> bool {
        let ahead = input.fork();
        ahead.parse::<Option<Token![const]>>().is_ok()
            && ahead.parse::<Option<Token![async]>>().is_ok()
            && ahead.parse::<Option<Token![unsafe]>>().is_ok()
            && ahead.parse::<Option<syn::Abi>>().is_ok()
            && ahead.peek(Token![fn])
            && ahead.peek2(Ident)
    }

    /// The function with another body.
    pub(crate) fn with_body(&self, body: &TokenStream) -> TokenStream {
        let Self {
            attrs,
            vis,
            sig,
            inner_attrs,
            body: written,
            ..
        } = self;
        let mut block = TokenStream::new();
        block.append_all(inner_attrs);
        block.extend(body.clone());
        let mut block = Group::new(Delimiter::Brace, block);
        block.set_span(written.span());
        quote! { #(#attrs)* #vis #sig #block }
    }
}
