//! An `impl` block: each method is retried with the keys of the block, overridden by its own.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::{TokenStreamExt as _, quote};
use syn::{
    Attribute, Generics, Meta, Result, Token, Type, Visibility,
    parse::{Parse, ParseStream, Parser as _},
};

use crate::{
    args::Args,
    errors::{self, Errors},
    item::Function,
    retried,
    shape::{Shape, mentions, visible},
};

/// An `impl` block, inherent or of a trait.
pub(crate) struct Block {
    attrs: Vec<Attribute>,
    /// All that stands before the braces
    header: TokenStream,
    inner_attrs: Vec<Attribute>,
    members: Vec<Member>,
    braces: Group,
}

enum Member {
    /// With its own `#[retryable]`, taken off
    Method(Box<(Function, Option<Attribute>)>),
    Other(TokenStream),
}

impl Block {
    pub(crate) fn starts(input: ParseStream<'_>) -> bool {
        let ahead = input.fork();
        ahead.call(Attribute::parse_outer).is_ok()
            && ahead.parse::<Option<Token![unsafe]>>().is_ok()
            && ahead.peek(Token![impl])
    }

    pub(crate) fn expand(&self, args: &TokenStream) -> TokenStream {
        let mut errors = Errors::default();
        for again in self.attrs.iter().filter(|attr| is_retryable(attr)) {
            errors.at(
                again,
                "`#[retryable]` is given twice: one would retry the other, and the calls multiply",
            );
        }
        let block_args = Args::parse(args.clone(), &mut errors);
        for key in block_args.of_one_function() {
            errors.at(
                key,
                format!("`{key}` is about one function: put it on the method"),
            );
        }
        let retried = self
            .members
            .iter()
            .map(|member| member.retried(args, &mut errors))
            .collect();
        match errors.into_compile_errors() {
            None => self.with_members(retried),
            Some(found) => {
                let plain = self.members.iter().map(Member::plain).collect();
                errors::beside(&self.with_members(plain), &found)
            }
        }
    }

    fn with_members(&self, members: Vec<TokenStream>) -> TokenStream {
        let Self {
            header,
            inner_attrs,
            braces,
            ..
        } = self;
        let mut stream = TokenStream::new();
        stream.append_all(inner_attrs);
        stream.append_all(members);
        let mut group = Group::new(Delimiter::Brace, stream);
        group.set_span(braces.span());
        quote! { #header #group }
    }
}

impl Parse for Block {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let outer = generics(input);
        let attrs = input.fork().call(Attribute::parse_outer)?;
        let mut header: Vec<TokenTree> = input.parse::<TokenStream>()?.into_iter().collect();
        let Some(TokenTree::Group(braces)) = header.pop() else {
            return Err(input.error("expected the methods of the `impl` block"));
        };
        let methods = |input: ParseStream<'_>| {
            let inner_attrs = input.call(Attribute::parse_inner)?;
            let mut members = Vec::new();
            while !input.is_empty() {
                members.push(Member::parse(input, &outer)?);
            }
            Ok((inner_attrs, members))
        };
        let (inner_attrs, members) = methods.parse2(braces.stream())?;
        Ok(Self {
            attrs,
            header: header.into_iter().collect(),
            inner_attrs,
            members,
            braces,
        })
    }
}

/// The block's parameters and conditions.
fn generics(input: ParseStream<'_>) -> Generics {
    let ahead = input.fork();
    let parameters = (|| {
        ahead.call(Attribute::parse_outer)?;
        ahead.parse::<Option<Token![unsafe]>>()?;
        ahead.parse::<Token![impl]>()?;
        ahead.parse::<Generics>()
    })();
    let mut generics = parameters.unwrap_or_default();
    while !ahead.is_empty() && !ahead.peek(Token![where]) {
        // a token tree always parses where the input is not at its end
        if ahead.parse::<TokenTree>().is_err() {
            break;
        }
    }
    generics.where_clause = ahead.parse().unwrap_or_default();
    generics
}

impl Member {
    fn parse(input: ParseStream<'_>, outer: &Generics) -> Result<Self> {
        let ahead = input.fork();
        ahead.call(Attribute::parse_outer)?;
        ahead.parse::<Visibility>()?;
        if !Function::starts(&ahead) {
            return other(input).map(Self::Other);
        }
        let mut function: Function = input.parse()?;
        function.in_block = true;
        function.outer = outer.clone();
        let own = function
            .attrs
            .iter()
            .position(is_retryable)
            .map(|at| function.attrs.remove(at));
        Ok(Self::Method(Box::new((function, own))))
    }

    /// As written, but for the attribute, which would be expanded by itself.
    fn plain(&self) -> TokenStream {
        match self {
            Self::Method(method) => method.0.with_body(&method.0.body.stream()),
            Self::Other(tokens) => tokens.clone(),
        }
    }

    fn retried(&self, block: &TokenStream, errors: &mut Errors) -> TokenStream {
        let Self::Method(method) = self else {
            return self.plain();
        };
        let (function, own) = &**method;
        if let Some(conditional) = own.as_ref().filter(|own| is_conditional(own)) {
            errors.at(
                conditional,
                "in a `#[retryable]` impl block, the attribute of a method can not be conditional",
            );
            return self.plain();
        }
        let own = match own.as_ref().map(|own| &own.meta) {
            None if !returns_result(function) => return self.plain(),
            None | Some(Meta::Path(_)) => TokenStream::new(),
            Some(Meta::List(list)) if list.tokens.to_string() == "skip" => return self.plain(),
            Some(Meta::List(list)) => list.tokens.clone(),
            Some(other @ Meta::NameValue(_)) => {
                errors.at(
                    other,
                    "expected `#[retryable(key = value)]` or `#[retryable(skip)]`",
                );
                return self.plain();
            }
        };
        // the block's mistakes are reported once, for the block
        let block = Args::parse(block.clone(), &mut Errors::default());
        let args = Args::parse(own, errors).or(block);
        retried(args, function.clone(), errors).unwrap_or_else(|| self.plain())
    }
}

/// A member that is not a method: up to its semicolon or braces.
fn other(input: ParseStream<'_>) -> Result<TokenStream> {
    let mut tokens = TokenStream::new();
    loop {
        let token: TokenTree = input.parse()?;
        let ends = match &token {
            TokenTree::Punct(punct) => punct.as_char() == ';',
            TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
            _ => false,
        };
        tokens.append(token);
        if ends || input.is_empty() {
            return Ok(tokens);
        }
    }
}

/// `#[retryable]`, by whatever path, also under a condition.
pub(crate) fn is_retryable(attr: &Attribute) -> bool {
    let named = attr
        .path()
        .segments
        .last()
        .is_some_and(|last| last.ident == "retryable");
    named || is_conditional(attr)
}

/// `#[cfg_attr(.., retryable)]`
fn is_conditional(attr: &Attribute) -> bool {
    matches!(&attr.meta, Meta::List(list) if list.path.is_ident("cfg_attr") && mentions(&list.tokens, "retryable"))
}

/// Whether the name of the type says so: types are not known here.
fn returns_result(function: &Function) -> bool {
    matches!(Shape::of(function).returns.as_ref().map(visible), Some(Type::Path(path))
        if path.path.segments.last().is_some_and(|last| last.ident.to_string().ends_with("Result")))
}
