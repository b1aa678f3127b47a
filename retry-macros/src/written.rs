//! Tokens -> a line of text, as it is usually written. The compiler's own printing of tokens
//! differs from version to version.

use std::mem;

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};
use quote::ToTokens;

pub(crate) fn written(tokens: &impl ToTokens) -> String {
    let mut line = Line::default();
    line.all(tokens.to_token_stream());
    line.text
}

#[derive(Default)]
struct Line {
    text: String,
    /// Whether a space goes before what follows
    spaced: bool,
    last: Last,
    /// Whether the parameters of a closure are open
    pipes: bool,
    /// Parameters of types that are open
    angles: u32,
}

/// What stands last, which tells a prefix from an operator between two values.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Last {
    #[default]
    Other,
    Value,
    NameOfType,
}

impl Line {
    fn all(&mut self, tokens: TokenStream) {
        let mut operator = String::new();
        for token in tokens {
            match token {
                TokenTree::Group(group) => self.group(group.delimiter(), group.stream()),
                TokenTree::Ident(name) => self.word(&name.to_string()),
                TokenTree::Literal(literal) => self.word(&literal.to_string()),
                TokenTree::Punct(punct) => {
                    operator.push(punct.as_char());
                    if punct.spacing() == Spacing::Alone || operator == "'" {
                        self.operator(&mem::take(&mut operator));
                    }
                }
            }
        }
        if !operator.is_empty() {
            self.operator(&operator);
        }
    }

    fn push(&mut self, text: &str, space_before: bool, space_after: bool, last: Last) {
        if space_before && self.spaced {
            self.text.push(' ');
        }
        self.text.push_str(text);
        self.spaced = space_after;
        self.last = last;
    }

    fn word(&mut self, word: &str) {
        const KEYWORDS: &[&str] = &[
            "as", "const", "else", "if", "in", "match", "move", "mut", "ref", "return",
        ];
        let last = if word.starts_with(char::is_uppercase) && word.contains(char::is_lowercase) {
            Last::NameOfType
        } else if KEYWORDS.contains(&word) {
            Last::Other
        } else {
            Last::Value
        };
        self.push(word, true, true, last);
    }

    fn group(&mut self, delimiter: Delimiter, inside: TokenStream) {
        let (open, close) = match delimiter {
            Delimiter::None => return self.all(inside),
            Delimiter::Parenthesis => ("(", ")"),
            Delimiter::Bracket => ("[", "]"),
            Delimiter::Brace => ("{", "}"),
        };
        let is_block = delimiter == Delimiter::Brace && !inside.is_empty();
        let is_called = self.last != Last::Other && delimiter != Delimiter::Brace;
        self.push(open, !is_called, is_block, Last::Other);
        self.all(inside);
        self.spaced = is_block;
        self.push(close, true, true, Last::Value);
    }

    fn operator(&mut self, operator: &str) {
        let is_prefix = self.last == Last::Other;
        match operator {
            "," | ";" | ":" => self.push(operator, false, true, Last::Other),
            "?" => self.push(operator, false, true, Last::Value),
            "." => self.push(operator, false, false, Last::Other),
            "::" | ".." | "..=" => self.push(operator, is_prefix, false, Last::Other),
            // of a macro
            "!" if !is_prefix => self.push(operator, false, true, Last::Value),
            "!" | "&" | "&&" | "*" | "-" if is_prefix => {
                self.push(operator, true, false, Last::Other);
            }
            "'" => self.push(operator, true, false, Last::Other),
            "|" if self.pipes => {
                self.pipes = false;
                self.push(operator, false, true, Last::Other);
            }
            "|" if is_prefix => {
                self.pipes = true;
                self.push(operator, true, false, Last::Other);
            }
            "<" if is_prefix || self.last == Last::NameOfType => {
                self.angles = self.angles.saturating_add(1);
                self.push(operator, is_prefix, false, Last::Other);
            }
            ">" if self.angles > 0 => {
                self.angles = self.angles.saturating_sub(1);
                self.push(operator, false, true, Last::Value);
            }
            _ => self.push(operator, true, true, Last::Other),
        }
    }
}

#[cfg(test)]
mod tests {
    use syn::{Expr, Pat, parse::Parser as _};

    use super::written;

    #[test]
    fn expressions_are_written_as_usual() {
        let lines = [
            "MAX",
            "5_u32",
            "crate::limits::MAX",
            "::limits::MAX + 1",
            "self.config.retries",
            "retries(&self.config, [1, 2], -1)?",
            "<T as Limits>::MAX",
            "Limits::<u8, Vec<T>>::MAX * 2 - (LOW << 1)",
            "size_of::<T>() as u32",
            "const { N - 1 }",
            "Policy::new().max(3)",
            "|error| error.is_timeout() && !last",
            "|error: &Error<'_>| *error == Error::Busy",
            "|&(code, _)| (500..=599).contains(&code) || code < 100",
            "move |e| matches!(e, Error::Io { kind: Kind::Timeout, .. })",
            "|| 3",
            "if deep { 3 } else { 5 }",
            "&POLICY",
            "\"a  b\"",
        ];
        for line in lines {
            let expr: Expr = syn::parse_str(line).unwrap();
            assert_eq!(written(&expr), line);
        }
    }

    #[test]
    fn patterns_are_written_as_usual() {
        let lines = [
            "ApiError::Timeout | ApiError::Status(500..=599)",
            "Some(_)",
            "Err(Error::Io { kind: ref k @ Kind::Timeout, .. })",
            "&[first, .., -1]",
            "Wrapper::<T>(..)",
        ];
        for line in lines {
            let pattern = Pat::parse_multi_with_leading_vert.parse_str(line).unwrap();
            assert_eq!(written(&pattern), line);
        }
    }
}
