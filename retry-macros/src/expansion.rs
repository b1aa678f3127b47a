//! `docs/expansion.md` shows what the attribute makes of a function. These tests keep it true.

use std::str::FromStr as _;

use proc_macro2::TokenStream;

use crate::attribute;

const PAGE: &str = include_str!("../../docs/expansion.md");
const LOOP: &str = include_str!("../../retry-runtime/src/drive.rs");

/// The code blocks of the page below a heading.
fn blocks(heading: &str) -> Vec<&'static str> {
    let section = PAGE
        .split("\n## ")
        .find(|section| section.starts_with(heading))
        .unwrap_or_default();
    section
        .split("```rust\n")
        .skip(1)
        .filter_map(|rest| rest.split("```").next())
        .collect()
}

fn tokens(code: &str) -> TokenStream {
    TokenStream::from_str(code).unwrap()
}

/// The item below `#[retryable(..)]`, and what is in the parentheses.
fn annotated(code: &str) -> (TokenStream, TokenStream) {
    let (line, item) = code.split_once('\n').unwrap();
    let args = line.trim_start_matches("#[retryable").trim_end_matches(']');
    let args = args
        .strip_prefix('(')
        .and_then(|args| args.strip_suffix(')'))
        .unwrap_or_default();
    (tokens(args), tokens(item))
}

#[test]
fn the_page_shows_what_the_attribute_emits() {
    for heading in ["A sync function", "An async method"] {
        let blocks = blocks(heading);
        let [written, emitted] = blocks.as_slice() else {
            panic!("{heading}: {} code blocks", blocks.len())
        };
        let (args, item) = annotated(written);
        let answer = attribute(args, &item);
        assert_eq!(answer.to_string(), tokens(emitted).to_string(), "{heading}");
    }
}

#[test]
fn the_page_shows_the_loop_as_it_is() {
    let blocks = blocks("The loop");
    let [shown] = blocks.as_slice() else {
        panic!("{} code blocks", blocks.len())
    };
    let lines = |code: &'static str| code.lines().map(str::trim).filter(|line| !line.is_empty());
    let all: Vec<&str> = lines(LOOP).collect();
    let shown: Vec<&str> = lines(shown).collect();
    assert!(
        all.windows(shown.len()).any(|window| window == shown),
        "not in drive.rs as it is shown"
    );
}

#[test]
fn the_expansion_is_the_same_each_time() {
    let (args, item) = annotated(blocks("An async method").first().unwrap());
    let first = attribute(args.clone(), &item).to_string();
    for _ in 0..100 {
        assert_eq!(attribute(args.clone(), &item).to_string(), first);
    }
}
