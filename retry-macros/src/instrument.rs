//! What `#[tracing::instrument]` makes of a body, and where in it the body is.
//!
//! | | written as |
//! |---|---|
//! | async | `let __tracing_instrument_future = async move { body }; ..` |
//! | async, `err` or `ret` | the same, around `match async move { body }.await { .. }` or `let x = ..;` |
//! | sync | `{ let __tracing_attr_guard; .. { body } }` |
//! | sync, `err` or `ret` | `let __tracing_attr_guard; .. match (move \|\| { body })() { .. }` or `let x = ..;` |

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

use crate::shape::{Around, Part, is_word, mentions};

/// The body among the tokens that the attribute has made of it.
pub(crate) fn body(tokens: TokenStream) -> Option<Part> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let is = |word: &'static str| move |token: &TokenTree| is_word(token, word);
    if let Some(future) = tokens.iter().position(is("__tracing_instrument_future")) {
        // `= async move { .. }`
        let body = |block: &Group| looked_at(block).or_else(|| itself(block));
        return inside(&tokens, future.saturating_add(4), body);
    }
    if tokens.iter().any(is("__tracing_attr_guard")) {
        return inside(&tokens, tokens.iter().position(is_closure)?, last);
    }
    let holds_guard = |token: &TokenTree| match token {
        TokenTree::Group(group) => group
            .stream()
            .into_iter()
            .any(|token| is("__tracing_attr_guard")(&token)),
        _ => false,
    };
    inside(&tokens, tokens.iter().position(holds_guard)?, last)
}

/// The body where its value is looked at: `match async move { body }.await { .. }`.
fn looked_at(block: &Group) -> Option<Part> {
    let tokens: Vec<TokenTree> = block.stream().into_iter().collect();
    let begins = tokens
        .first()
        .is_some_and(|first| is_word(first, "match") || is_word(first, "let"));
    let keyword = tokens
        .windows(2)
        .position(|pair| matches!(pair, [a, b] if is_word(a, "async") && is_word(b, "move")))?;
    // the user's own body may begin like this too
    let is_instruments = begins && keyword <= 3 && mentions(&block.stream(), "tracing");
    is_instruments
        .then(|| inside(&tokens, keyword.saturating_add(2), itself))
        .flatten()
}

/// `(move || { body })`
fn is_closure(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis
        && group.stream().into_iter().next().is_some_and(|first| is_word(&first, "move")))
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "one of the answers to what is inside"
)]
fn itself(block: &Group) -> Option<Part> {
    Some(Part {
        block: block.clone(),
        before: TokenStream::new(),
        around: Box::new(|retry| retry),
    })
}

/// The block at the end.
fn last(block: &Group) -> Option<Part> {
    let tokens: Vec<TokenTree> = block.stream().into_iter().collect();
    inside(&tokens, tokens.len().checked_sub(1)?, itself)
}

/// A part of the group at `index`, as a part of the tokens.
fn inside(
    tokens: &[TokenTree],
    index: usize,
    part: impl FnOnce(&Group) -> Option<Part>,
) -> Option<Part> {
    let (before, [TokenTree::Group(group), after @ ..]) = tokens.split_at_checked(index)? else {
        return None;
    };
    let Part {
        block,
        before: inside,
        around,
    } = part(group)?;
    let [before, after]: [TokenStream; 2] =
        [before, after].map(|tokens| tokens.iter().cloned().collect());
    let run_before = before.clone();
    let (delimiter, span) = (group.delimiter(), group.span());
    let around: Around = Box::new(move |retry| {
        let mut changed = Group::new(delimiter, around(retry));
        changed.set_span(span);
        [
            before.clone(),
            TokenTree::Group(changed).into(),
            after.clone(),
        ]
        .into_iter()
        .collect()
    });
    Some(Part {
        block,
        before: [run_before, inside].into_iter().collect(),
        around,
    })
}
