//! Whatever the tokens, the answer is code or errors with spans, and never a panic.

use proc_macro2::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};
use proptest::prelude::*;

use crate::{attribute, derive};

/// Words and values that lead deep into the parsers.
const WORDS: &[&str] = &[
    "max",
    "base_ms",
    "factor",
    "backoff",
    "delays_ms",
    "cap_ms",
    "jitter",
    "on",
    "except",
    "until",
    "clone",
    "keep",
    "policy",
    "name",
    "sleep",
    "doc",
    "crate",
    "skip",
    "any",
    "self",
    "Self",
    "mut",
    "ref",
    "fn",
    "async",
    "move",
    "unsafe",
    "const",
    "extern",
    "pub",
    "impl",
    "trait",
    "struct",
    "enum",
    "mod",
    "for",
    "where",
    "dyn",
    "let",
    "return",
    "if",
    "else",
    "match",
    "Result",
    "Option",
    "Box",
    "pin",
    "Pin",
    "Future",
    "Output",
    "FnMut",
    "u32",
    "x",
    "MAX",
    "N",
    "__ret",
    "__self",
    "retryable",
    "transient",
    "permanent",
    "inner",
    "true",
    "_",
];
const TEXTS: &[&str] = &[
    "",
    "any",
    "full",
    "none",
    "decorrelated",
    "linear",
    "unlimited",
    "a::b",
    "a b",
    "::",
    "\u{e9}",
];

fn word() -> impl Strategy<Value = TokenTree> {
    (0..WORDS.len()).prop_map(|at| TokenTree::Ident(Ident::new(WORDS[at], Span::call_site())))
}

fn literal() -> impl Strategy<Value = TokenTree> {
    prop_oneof![
        any::<u64>().prop_map(Literal::u64_unsuffixed),
        (0..9_u32).prop_map(Literal::u32_suffixed),
        any::<f64>()
            .prop_filter("literals are finite", |float| float.is_finite()
                && *float >= 0.0)
            .prop_map(Literal::f64_unsuffixed),
        (0..TEXTS.len()).prop_map(|at| Literal::string(TEXTS[at])),
        any::<char>().prop_map(Literal::character),
        Just(Literal::byte_string(b"bytes")),
    ]
    .prop_map(TokenTree::Literal)
}

fn punct() -> impl Strategy<Value = TokenTree> {
    let signs: Vec<char> = "=,;:|&<>-.#!?*+@'"
        .chars()
        .filter(|sign| *sign != '\'')
        .collect();
    (0..signs.len(), any::<bool>()).prop_map(move |(at, joint)| {
        TokenTree::Punct(Punct::new(
            signs[at],
            if joint {
                Spacing::Joint
            } else {
                Spacing::Alone
            },
        ))
    })
}

fn tokens() -> impl Strategy<Value = TokenStream> {
    let leaf = prop_oneof![4 => word(), 2 => literal(), 3 => punct()];
    let tree = leaf.prop_recursive(3, 48, 8, |inside| {
        let delimiter = prop_oneof![
            Just(Delimiter::Parenthesis),
            Just(Delimiter::Brace),
            Just(Delimiter::Bracket),
            Just(Delimiter::None)
        ];
        (delimiter, prop::collection::vec(inside, 0..8)).prop_map(|(delimiter, trees)| {
            TokenTree::Group(Group::new(delimiter, trees.into_iter().collect()))
        })
    });
    prop::collection::vec(tree, 0..16).prop_map(|trees| trees.into_iter().collect())
}

/// `key = value` pairs that are well formed, of whatever value.
fn arguments() -> impl Strategy<Value = TokenStream> {
    let value = prop_oneof![
        literal().prop_map(TokenStream::from),
        word().prop_map(TokenStream::from),
        tokens()
    ];
    prop::collection::vec((word(), value), 0..4).prop_map(|pairs| {
        pairs
            .into_iter()
            .flat_map(|(key, value)| {
                let equals = TokenTree::Punct(Punct::new('=', Spacing::Alone));
                let comma = TokenTree::Punct(Punct::new(',', Spacing::Alone));
                TokenStream::from_iter([key, equals])
                    .into_iter()
                    .chain(value)
                    .chain([comma])
            })
            .collect()
    })
}

/// A function around arbitrary tokens.
fn functions() -> impl Strategy<Value = TokenStream> {
    (tokens(), tokens(), any::<bool>()).prop_map(|(inside, inputs, asynchronous)| {
        let keyword = asynchronous.then(|| quote::quote! { async });
        quote::quote! { #keyword fn f(#inputs) -> Result<u32, E> { #inside } }
    })
}

/// An item that parses, or errors.
fn is_answer(answer: &TokenStream) -> bool {
    answer.to_string().contains("compile_error") || syn::parse2::<syn::File>(answer.clone()).is_ok()
}

proptest! {
    #[test]
    fn arguments_never_panic(arguments in prop_oneof![arguments(), tokens()]) {
        let item = quote::quote! { fn f(x: u32, mut y: String) -> Result<u32, E> { Ok(x) } };
        let answer = attribute(arguments, &item);
        prop_assert!(answer.to_string().contains("fn f"), "the function is gone: {answer}");
        prop_assert!(is_answer(&answer), "{answer}");
    }

    #[test]
    fn items_never_panic(item in prop_oneof![functions(), tokens()]) {
        let block = quote::quote! { impl X { #item } };
        attribute(TokenStream::new(), &item);
        attribute(quote::quote! { clone(self, x), max = x }, &item);
        attribute(TokenStream::new(), &block);
    }

    #[test]
    fn derives_never_panic(inside in tokens()) {
        derive::transient(inside.clone());
        derive::transient(quote::quote! { enum E { #inside } });
        derive::transient(quote::quote! { #[transient(#inside)] struct E; });
    }
}
