//! Attribute text -> `Args`. Knows names, forms and literals; nothing of the function.

use proc_macro2::TokenStream;
use syn::{
    Error, Ident, Result, Token,
    ext::IdentExt as _,
    parse::{ParseStream, Parser as _},
};

use crate::{
    errors::Errors,
    values::{
        Callback, Count, CratePath, Delays, Factor, Flag, Jitter, Level, Millis, Name, Names,
        Predicate, Shape, Shared, SleepPath, Text, TokenExpr, Value,
    },
};

/// A value with the key it was given for.
pub(crate) struct Keyed<T> {
    pub(crate) key: Ident,
    pub(crate) value: T,
}

/// The value for a key, if it was given.
pub(crate) fn value<T>(keyed: Option<&Keyed<T>>) -> Option<&T> {
    keyed.map(|keyed| &keyed.value)
}

/// Declares the keys: a line here, a value type in `values.rs` and its use in `expand.rs` make one.
macro_rules! keys {
    ($($name:literal => $field:ident: $value:ty,)+) => {
        /// The keys that were given. `None` also stands for one that was given wrongly.
        #[derive(Default)]
        pub(crate) struct Args {
            $(pub(crate) $field: Option<Keyed<$value>>,)+
        }

        impl Args {
            /// These values, and the defaults for keys that were not given.
            fn or_each(self, defaults: Self) -> Self {
                Self { $($field: self.$field.or(defaults.$field),)+ }
            }
        }

        const KEYS: &[&str] = &[$($name),+];

        /// Which keys were seen, for the error about a second one.
        #[derive(Default)]
        struct Seen {
            $($field: Option<Ident>,)+
        }

        fn set(args: &mut Args, seen: &mut Seen, key: Ident, input: ParseStream<'_>) -> Result<()> {
            match key.unraw().to_string().as_str() {
                $($name => {
                    once(&mut seen.$field, &key)?;
                    let value = <$value as Value>::parse(&key, input)?;
                    args.$field = Some(Keyed { key, value });
                })+
                name => return Err(unknown(&key, name)),
            }
            Ok(())
        }
    };
}

keys! {
    "max" => max: Count,
    "base_ms" => base: Millis,
    "factor" => factor: Factor,
    "backoff" => backoff: Shape,
    "delays_ms" => delays: Delays,
    "cap_ms" => cap: Millis,
    "jitter" => jitter: Jitter,
    "on" => on: Predicate,
    "except" => except: Predicate,
    "until" => until: Predicate,
    "deadline_ms" => deadline: Millis,
    "timeout_ms" => timeout: Millis,
    "hint_cap_ms" => hint_cap: Millis,
    "budget" => budget: Shared,
    "breaker" => breaker: Shared,
    "cancel" => cancel: TokenExpr,
    "notify" => notify: Callback,
    "level" => level: Level,
    "span" => span: Flag,
    "recover" => recover: Callback,
    "recover_all" => recover_all: Callback,
    "attempt" => attempt: Name,
    "clone" => clone: Names,
    "keep" => keep: Names,
    "policy" => policy: Shared,
    "name" => name: Text,
    "sleep" => sleep: SleepPath,
    "doc" => doc: Flag,
    "crate" => krate: CratePath,
}

impl Args {
    /// Goes on after a mistake, so that all are reported.
    pub(crate) fn parse(tokens: TokenStream, errors: &mut Errors) -> Self {
        let mut args = Self::default();
        let pairs = |input: ParseStream<'_>| {
            let mut seen = Seen::default();
            while !input.is_empty() {
                let pair = input
                    .call(Ident::parse_any)
                    .map_err(|error| Error::new(error.span(), "expected `key = value`"))
                    .and_then(|key| set(&mut args, &mut seen, key, input));
                if errors.value(pair).is_none() {
                    skip_to_comma(input);
                } else if !input.is_empty() && !input.peek(Token![,]) {
                    errors.add(input.error("expected `,` before the next key"));
                    // what follows may well be the next key
                    if !input.peek(Ident::peek_any) {
                        skip_to_comma(input);
                    }
                }
                input.parse::<Option<Token![,]>>()?;
            }
            Ok(())
        };
        let rest = pairs.parse2(tokens);
        errors.value(rest);
        args
    }
}

/// Keys on an `impl` block and on its methods.
impl Args {
    /// A method's own values, and its block's for the other keys, except for those of the block
    /// that have no effect beside the method's.
    pub(crate) fn or(self, mut block: Self) -> Self {
        let never_waits = value(self.backoff.as_ref()).is_some_and(|shape| shape.name == "none");
        let no_base = value(self.base.as_ref()).is_some_and(|base| base.0.literal == Some(0));
        let grows_by_itself = matches!(value(self.jitter.as_ref()), Some(Jitter::Named(name)) if name == "Decorrelated");
        if self.recover.is_some() || self.recover_all.is_some() {
            (block.recover, block.recover_all) = (None, None);
        }
        if self.delays.is_some() || never_waits {
            (block.base, block.factor, block.backoff) = (None, None, None);
        }
        if never_waits {
            block.cap = None;
        }
        if never_waits || no_base {
            block.jitter = None;
        }
        if self.backoff.is_some() || grows_by_itself {
            block.factor = None;
        }
        if grows_by_itself {
            block.backoff = None;
        }
        if self.base.is_some() || self.factor.is_some() || self.backoff.is_some() || grows_by_itself
        {
            block.delays = None;
        }
        self.or_each(block)
    }

    /// The keys given that make no sense for several functions.
    pub(crate) fn of_one_function(&self) -> impl Iterator<Item = &Ident> {
        let names = [&self.clone, &self.keep]
            .into_iter()
            .flatten()
            .map(|keyed| &keyed.key);
        names.chain(self.name.as_ref().map(|keyed| &keyed.key))
    }
}

fn skip_to_comma(input: ParseStream<'_>) {
    while !input.is_empty() && !input.peek(Token![,]) {
        // a token tree always parses where the input is not at its end
        if input.parse::<proc_macro2::TokenTree>().is_err() {
            break;
        }
    }
}

/// Every key at most once; a second one is shown together with the first.
fn once(seen: &mut Option<Ident>, key: &Ident) -> Result<()> {
    let Some(first) = seen.replace(key.clone()) else {
        return Ok(());
    };
    let mut error = Error::new(key.span(), format!("`{key}` is given twice"));
    error.combine(Error::new(
        first.span(),
        format!("`{key}` is first given here"),
    ));
    Err(error)
}

/// What other libraries call a key, and what that is here.
const ELSEWHERE: &[(&str, &str)] = &[
    ("attempts", "`max`, which counts calls"),
    ("max_attempts", "`max`, which counts calls"),
    (
        "max_retries",
        "`max`, which counts calls: one more than the retries",
    ),
    (
        "retries",
        "`max`, which counts calls: one more than the retries",
    ),
    ("times", "`max`, which counts calls"),
    ("delay", "`base_ms`"),
    ("initial_delay", "`base_ms`"),
    ("min_delay", "`base_ms`"),
    ("wait", "`base_ms`"),
    ("max_delay", "`cap_ms`"),
    ("max_interval", "`cap_ms`"),
    ("multiplier", "`factor`"),
    ("retry_if", "`on`"),
    ("retry_for", "`on`"),
    ("retry_on", "`on`"),
    ("predicate", "`on`"),
    ("when", "`on`"),
    ("no_retry_for", "`except`"),
    ("on_retry", "`notify`"),
    ("before_sleep", "`notify`"),
    ("listener", "`notify`"),
    ("listeners", "`notify`"),
    ("log", "`level`"),
    ("label", "`name`"),
];

fn unknown(key: &Ident, name: &str) -> Error {
    if name == "skip" {
        let message =
            "`skip` stands alone on a method, and leaves it out of a `#[retryable]` impl block";
        return Error::new(key.span(), message);
    }
    let elsewhere = ELSEWHERE.iter().find(|(known, _)| *known == name);
    let shared = |known: &&str| known.starts_with(name) || name.starts_with(known);
    let nearest = KEYS
        .iter()
        .map(|known| (distance(name, known), *known))
        .min();
    let suggestion = elsewhere
        .map(|(_, here)| String::from(*here))
        .or_else(|| {
            KEYS.iter()
                .copied()
                .find(shared)
                .map(|known| format!("`{known}`"))
        })
        .or_else(|| {
            nearest
                .filter(|(distance, _)| *distance <= 2)
                .map(|(_, known)| format!("`{known}`"))
        });
    let message = match suggestion {
        Some(suggestion) => format!("unknown key `{name}`, did you mean {suggestion}?"),
        None => format!("unknown key `{name}`, the keys are {}", KEYS.join(", ")),
    };
    Error::new(key.span(), message)
}

/// Insertions, deletions and substitutions that make one word of the other (Levenshtein).
fn distance(from: &str, to: &str) -> usize {
    let mut row: Vec<usize> = (0..=to.chars().count()).collect();
    for (above, a) in from.chars().enumerate() {
        let mut diagonal = above;
        let mut left = above.saturating_add(1);
        if let Some(first) = row.first_mut() {
            *first = left;
        }
        for (b, cell) in to.chars().zip(row.iter_mut().skip(1)) {
            let substituted = diagonal.saturating_add(usize::from(a != b));
            diagonal = *cell;
            left = substituted
                .min(left.saturating_add(1))
                .min(cell.saturating_add(1));
            *cell = left;
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::str::FromStr as _;

    use proc_macro2::TokenStream;

    use super::{Args, KEYS, distance};
    use crate::errors::Errors;

    #[test]
    fn a_flag_without_a_value_is_shown_with_the_one_that_is_not_the_default() {
        for (key, other) in [("doc", "false"), ("span", "true")] {
            let mut errors = Errors::default();
            Args::parse(TokenStream::from_str(key).unwrap(), &mut errors);
            let message = errors.into_compile_errors().unwrap().to_string();
            assert!(message.contains(&format!("`{key} = {other}`")), "{message}");
        }
    }

    #[test]
    fn every_key_is_documented() {
        let table = include_str!("retryable.md");
        for key in KEYS {
            assert!(
                table.contains(&format!("\n| `{key}` | ")),
                "no row for `{key}`"
            );
        }
    }

    #[test]
    fn the_readme_has_the_same_table() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../README.md");
        // not part of the published crate
        let Ok(readme) = std::fs::read_to_string(path) else {
            return;
        };
        let rows = include_str!("retryable.md")
            .lines()
            .filter(|line| line.starts_with("| `"));
        for row in rows.take(KEYS.len()) {
            assert!(readme.contains(row), "README.md differs: {row}");
        }
    }

    #[test]
    fn distance_counts_edits() {
        let cases = [
            ("max", "max", 0),
            ("mx", "max", 1),
            ("bas_ms", "base_ms", 1),
            ("", "on", 2),
            ("jiter", "factor", 4),
        ];
        for (from, to, edits) in cases {
            assert_eq!(distance(from, to), edits, "{from} -> {to}");
        }
    }
}
