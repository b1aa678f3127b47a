//! `docs/expansion.md` shows what the attribute makes of a function. These tests keep it true.

use std::str::FromStr as _;

use proc_macro2::TokenStream;

use crate::attribute;

/// Beside this crate in the repository; a published crate does not have it.
fn file(path: &str) -> Option<String> {
    std::fs::read_to_string(format!("{}/../{path}", env!("CARGO_MANIFEST_DIR"))).ok()
}

/// The code blocks of the page below a heading.
fn blocks(page: &str, heading: &str) -> Vec<String> {
    let section = page
        .split("\n## ")
        .find(|section| section.starts_with(heading))
        .unwrap_or_default();
    let code = section
        .split(
            "```rust
",
        )
        .skip(1)
        .filter_map(|rest| rest.split("```").next());
    code.map(String::from).collect()
}

fn tokens(code: &str) -> TokenStream {
    TokenStream::from_str(code).unwrap()
}

/// The item around `#[retryable(..)]`, and what is in the parentheses.
fn annotated(code: &str) -> (TokenStream, TokenStream) {
    let (above, rest) = code.split_once("#[retryable").unwrap();
    let (line, below) = rest.split_once('\n').unwrap();
    let args = line.trim_end_matches(']');
    let args = args
        .strip_prefix('(')
        .and_then(|args| args.strip_suffix(')'))
        .unwrap_or_default();
    (tokens(args), tokens(&format!("{above}{below}")))
}

#[test]
fn the_page_shows_what_the_attribute_emits() {
    let Some(page) = file("docs/expansion.md") else {
        return;
    };
    for heading in ["A sync function", "An async method"] {
        let blocks = blocks(&page, heading);
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
    let (Some(page), Some(code)) = (
        file("docs/expansion.md"),
        file("retry-runtime/src/drive.rs"),
    ) else {
        return;
    };
    let blocks = blocks(&page, "The loop");
    let [shown] = blocks.as_slice() else {
        panic!("{} code blocks", blocks.len())
    };
    let lines = |code: &str| -> Vec<String> {
        code.lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .map(String::from)
            .collect()
    };
    let (all, shown) = (lines(&code), lines(shown));
    assert!(
        all.windows(shown.len()).any(|window| window == shown),
        "not in drive.rs as it is shown"
    );
}

#[test]
fn the_expansion_is_the_same_each_time() {
    let (args, item) = (
        tokens("max = self.retries, on(Error::Busy), clone(order)"),
        tokens(
            "async fn send(&self, order: Order, mut n: u32) -> Result<Receipt, Error> { self.post(order, n).await }",
        ),
    );
    let first = attribute(args.clone(), &item).to_string();
    for _ in 0..100 {
        assert_eq!(attribute(args.clone(), &item).to_string(), first);
    }
}
