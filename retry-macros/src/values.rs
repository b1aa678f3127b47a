//! The forms a value can take, each with the message that says what is allowed.

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::{
    Error, Expr, ExprLit, ExprPath, ExprUnary, Ident, Lit, LitStr, Pat, Path, Result, Token, UnOp,
    ext::IdentExt as _,
    parenthesized,
    parse::{Parse as _, ParseStream},
    punctuated::Punctuated,
};

/// What can stand after a key.
pub(crate) trait Value: Sized {
    /// Parses what follows `key`, its `=` or parentheses included.
    fn parse(key: &Ident, input: ParseStream<'_>) -> Result<Self>;
}

/// Without the invisible group around what a `macro_rules!` passes on.
fn visible(expr: Expr) -> Expr {
    match expr {
        Expr::Group(group) if group.attrs.is_empty() => visible(*group.expr),
        expr => expr,
    }
}

/// The expression after `=`.
fn expression(key: &Ident, input: ParseStream<'_>, allowed: &str) -> Result<Expr> {
    let missing = || {
        Error::new(
            key.span(),
            format!("`{key}` needs a value: `{key} = {allowed}`"),
        )
    };
    if input.is_empty() || input.peek(Token![,]) {
        return Err(missing());
    }
    if !input.peek(Token![=]) {
        return Err(input.error(format!("expected `{key} = {allowed}`")));
    }
    input.parse::<Token![=]>()?;
    if input.is_empty() || input.peek(Token![,]) {
        return Err(missing());
    }
    Expr::parse(input).map(visible)
}

fn literal(expr: &Expr) -> Option<&Lit> {
    match expr {
        Expr::Lit(ExprLit { lit, .. }) => Some(lit),
        Expr::Group(group) => literal(&group.expr),
        Expr::Paren(paren) => literal(&paren.expr),
        _ => None,
    }
}

fn is_negative(expr: &Expr) -> bool {
    matches!(expr, Expr::Unary(ExprUnary { op: UnOp::Neg(_), expr, .. }) if literal(expr).is_some())
}

/// A number that is a literal, or else an expression whose value is not known here.
pub(crate) struct Number<T> {
    pub(crate) expr: Expr,
    pub(crate) literal: Option<T>,
}

fn integer(key: &Ident, expr: Expr, allowed: &str) -> Result<Number<u64>> {
    if is_negative(&expr) {
        return Err(Error::new_spanned(
            expr,
            format!("`{key}` must not be negative, expected {allowed}"),
        ));
    }
    let literal = match literal(&expr) {
        None => None,
        Some(Lit::Int(digits)) => Some(digits.base10_parse().map_err(|_| {
            Error::new_spanned(
                digits,
                format!("`{key}` is out of range, expected {allowed}"),
            )
        })?),
        Some(other) => {
            return Err(Error::new_spanned(
                other,
                format!("`{key}` expects {allowed}"),
            ));
        }
    };
    Ok(Number { expr, literal })
}

fn float(key: &Ident, expr: Expr, allowed: &str) -> Result<Number<f64>> {
    let wrong = |tokens: &dyn ToTokens| {
        Error::new_spanned(
            tokens.to_token_stream(),
            format!("`{key}` expects {allowed}"),
        )
    };
    if is_negative(&expr) {
        return Err(wrong(&expr));
    }
    let literal = match literal(&expr) {
        None => None,
        Some(Lit::Int(digits)) => Some(digits.base10_parse().map_err(|_| wrong(digits))?),
        Some(Lit::Float(digits)) => Some(digits.base10_parse().map_err(|_| wrong(digits))?),
        Some(other) => return Err(wrong(other)),
    };
    Ok(Number { expr, literal })
}

/// `max`
pub(crate) enum Count {
    Unlimited,
    Calls(Number<u64>),
}

impl Value for Count {
    fn parse(key: &Ident, input: ParseStream<'_>) -> Result<Self> {
        const ALLOWED: &str =
            "a number of calls of at least 1, the first included, or \"unlimited\"";
        let expr = expression(key, input, "3")?;
        if let Some(Lit::Str(text)) = literal(&expr) {
            return match text.value().as_str() {
                "unlimited" => Ok(Self::Unlimited),
                _ => Err(Error::new(
                    text.span(),
                    format!("`{key}` expects {ALLOWED}"),
                )),
            };
        }
        let calls = integer(key, expr, ALLOWED)?;
        match calls.literal {
            Some(0) => Err(Error::new_spanned(
                &calls.expr,
                format!("`{key}` expects {ALLOWED}"),
            )),
            Some(many) if u32::try_from(many).is_err() => Err(Error::new_spanned(
                &calls.expr,
                format!("`{key}` must be below 2^32, or \"unlimited\""),
            )),
            _ => Ok(Self::Calls(calls)),
        }
    }
}

/// `base_ms`, `cap_ms`
pub(crate) struct Millis(pub(crate) Number<u64>);

impl Value for Millis {
    fn parse(key: &Ident, input: ParseStream<'_>) -> Result<Self> {
        let expr = expression(key, input, "200")?;
        let millis = integer(key, expr, "a whole number of milliseconds")?;
        if millis.literal == Some(0) && key != "base_ms" {
            let instead = match key.to_string().as_str() {
                "cap_ms" => "for no wait at all write `backoff = \"none\"`",
                _ => "for no such limit leave the key away",
            };
            let message = format!("`{key}` must be above 0; {instead}");
            return Err(Error::new_spanned(&millis.expr, message));
        }
        Ok(Self(millis))
    }
}

/// `factor`
pub(crate) struct Factor(pub(crate) Number<f64>);

impl Value for Factor {
    fn parse(key: &Ident, input: ParseStream<'_>) -> Result<Self> {
        const ALLOWED: &str = "a finite number of at least 1";
        let factor = float(key, expression(key, input, "2.0")?, ALLOWED)?;
        match factor.literal {
            Some(value) if !(value.is_finite() && value >= 1.0) => Err(Error::new_spanned(
                &factor.expr,
                format!("`{key}` expects {ALLOWED}"),
            )),
            _ => Ok(Self(factor)),
        }
    }
}

/// `backoff`
pub(crate) struct Shape {
    pub(crate) variant: Ident,
    pub(crate) name: String,
}

impl Value for Shape {
    fn parse(key: &Ident, input: ParseStream<'_>) -> Result<Self> {
        const ALLOWED: &str =
            "one of \"exponential\", \"linear\", \"fibonacci\", \"fixed\", \"none\"";
        let expr = expression(key, input, "\"exponential\"")?;
        let Some(Lit::Str(text)) = literal(&expr) else {
            return Err(Error::new_spanned(
                expr,
                format!("`{key}` expects {ALLOWED}"),
            ));
        };
        let name = text.value();
        let variant = match name.as_str() {
            "exponential" => "Exponential",
            "linear" => "Linear",
            "fibonacci" => "Fibonacci",
            "fixed" => "Fixed",
            "none" => "None",
            _ => {
                return Err(Error::new(
                    text.span(),
                    format!("`{key}` expects {ALLOWED}"),
                ));
            }
        };
        Ok(Self {
            variant: Ident::new(variant, text.span()),
            name,
        })
    }
}

/// `jitter`
pub(crate) enum Jitter {
    Named(Ident),
    Ratio(Number<f64>),
}

impl Value for Jitter {
    fn parse(key: &Ident, input: ParseStream<'_>) -> Result<Self> {
        const ALLOWED: &str =
            "\"full\", \"equal\", \"decorrelated\", \"none\" or a ratio within 0.0..=1.0";
        let expr = expression(key, input, "\"full\"")?;
        if let Some(Lit::Str(text)) = literal(&expr) {
            let variant = match text.value().as_str() {
                "full" => "Full",
                "equal" => "Equal",
                "decorrelated" => "Decorrelated",
                "none" => "None",
                _ => {
                    return Err(Error::new(
                        text.span(),
                        format!("`{key}` expects {ALLOWED}"),
                    ));
                }
            };
            return Ok(Self::Named(Ident::new(variant, text.span())));
        }
        let ratio = float(key, expr, ALLOWED)?;
        match ratio.literal {
            Some(value) if !(0.0..=1.0).contains(&value) => Err(Error::new_spanned(
                &ratio.expr,
                format!("`{key}` expects {ALLOWED}"),
            )),
            _ => Ok(Self::Ratio(ratio)),
        }
    }
}

/// `delays_ms`
pub(crate) enum Delays {
    List(Vec<Number<u64>>),
    Constant(Expr),
}

impl Value for Delays {
    fn parse(key: &Ident, input: ParseStream<'_>) -> Result<Self> {
        const ALLOWED: &str = "a list of milliseconds such as [100, 500, 2000], or a constant of type [u64; N] or &[u64]";
        match expression(key, input, "[100, 500]")? {
            Expr::Array(array) if array.elems.is_empty() => Err(Error::new_spanned(
                array,
                format!("`{key}` must have at least one entry"),
            )),
            Expr::Array(array) => {
                let entry = |expr| integer(key, expr, "whole milliseconds");
                array
                    .elems
                    .into_iter()
                    .map(entry)
                    .collect::<Result<_>>()
                    .map(Self::List)
            }
            constant @ (Expr::Path(_) | Expr::Reference(_) | Expr::Const(_)) => {
                Ok(Self::Constant(constant))
            }
            other => Err(Error::new_spanned(
                other,
                format!("`{key}` expects {ALLOWED}"),
            )),
        }
    }
}

/// `on`, `except`, `until`
pub(crate) enum Predicate {
    Any(Span),
    /// Called with the error, so that it is coerced as in any call
    Path(Path),
    /// A closure, or an expression that gives something to call
    Callable(Expr),
    /// With the names in it that are constants or variants, unless they are misspelt
    Pattern {
        tokens: TokenStream,
        by_value: bool,
        names: Vec<Ident>,
    },
}

impl Value for Predicate {
    fn parse(key: &Ident, input: ParseStream<'_>) -> Result<Self> {
        if input.peek(syn::token::Paren) {
            let pattern;
            parenthesized!(pattern in input);
            let parsed = Self::pattern(key, &pattern);
            if parsed.is_err() {
                // what is left would be reported too
                pattern.parse::<TokenStream>()?;
            }
            return parsed;
        }
        let expr = expression(key, input, "is_transient")?;
        match expr {
            Expr::Path(ExprPath {
                path, qself: None, ..
            }) => called(key, path),
            Expr::Call(call) if is_variant(&call.func) => Err(in_parentheses(key, &call)),
            Expr::Lit(ExprLit {
                lit: Lit::Str(text),
                ..
            }) if text.value() == "any" => Ok(Self::Any(text.span())),
            Expr::Lit(ExprLit {
                lit: Lit::Str(text),
                ..
            }) => path_in(key, &text).and_then(|path| called(key, path)),
            Expr::Lit(other) => Err(Error::new_spanned(
                other,
                format!(
                    "`{key}` expects the path of a function, a closure, or a pattern in parentheses"
                ),
            )),
            Expr::Binary(binary) if matches!(binary.op, syn::BinOp::BitOr(_)) => {
                Err(Error::new_spanned(
                    binary,
                    format!("patterns go in parentheses: `{key}(.. | ..)`"),
                ))
            }
            callable => Ok(Self::Callable(callable)),
        }
    }
}

impl Predicate {
    fn pattern(key: &Ident, input: ParseStream<'_>) -> Result<Self> {
        if input.is_empty() {
            return Err(input.error(format!(
                "`{key}(..)` needs a pattern, such as `{key}(MyError::Timeout)`"
            )));
        }
        let parsed = Pat::parse_multi_with_leading_vert(input)?;
        let guard = input.parse::<Option<Token![if]>>()?;
        let condition = guard.is_some().then(|| input.parse::<Expr>()).transpose()?;
        if !input.is_empty() {
            return Err(input.error("expected one pattern; alternatives are joined by `|`"));
        }
        if let Some(name) = variable(&parsed).filter(|_| guard.is_none()) {
            return Err(Error::new_spanned(
                name,
                format!("a variable matches everything: to call a function write `{key} = {name}`"),
            ));
        }
        let by_value = is_value(&parsed);
        let tokens = quote::quote! { #parsed #guard #condition };
        let mut names = Vec::new();
        capitalised(&parsed, &mut names);
        Ok(Self::Pattern {
            tokens,
            by_value,
            names,
        })
    }
}

/// A path to something to call, and not to a variant.
fn called(key: &Ident, path: Path) -> Result<Predicate> {
    if is_camel_case(&path) {
        return Err(in_parentheses(key, &path));
    }
    Ok(Predicate::Path(path))
}

fn is_variant(function: &Expr) -> bool {
    matches!(function, Expr::Path(path) if is_camel_case(&path.path))
}

fn is_camel_case(path: &Path) -> bool {
    let Some(last) = path.segments.last() else {
        return false;
    };
    let name = last.ident.to_string();
    // a constant may hold a function; one letter says nothing
    name.starts_with(char::is_uppercase) && name.contains(char::is_lowercase)
}

fn in_parentheses(key: &Ident, pattern: &impl ToTokens) -> Error {
    Error::new_spanned(
        pattern,
        format!("a pattern goes in parentheses: `{key}(..)`"),
    )
}

/// A variable that is the whole of a pattern.
fn variable(pattern: &Pat) -> Option<&Ident> {
    match pattern {
        Pat::Ident(name) => {
            let is_variable =
                name.subpat.is_none() && !name.ident.to_string().starts_with(char::is_uppercase);
            is_variable.then_some(&name.ident)
        }
        Pat::Or(cases) => cases.cases.iter().find_map(variable),
        Pat::Paren(pattern) => variable(&pattern.pat),
        Pat::Reference(pattern) => variable(&pattern.pat),
        _ => None,
    }
}

/// Names by themselves that look like constants or variants. One that is not there would be taken
/// for a variable, and match everything.
fn capitalised(pattern: &Pat, names: &mut Vec<Ident>) {
    let mut all = |patterns: &Punctuated<Pat, Token![,]>| {
        patterns.iter().for_each(|part| capitalised(part, names));
    };
    match pattern {
        Pat::Ident(name) => match &name.subpat {
            Some((_, pattern)) => capitalised(pattern, names),
            None if name.ident.to_string().starts_with(char::is_uppercase) => {
                names.push(name.ident.clone());
            }
            None => {}
        },
        Pat::Or(cases) => cases.cases.iter().for_each(|case| capitalised(case, names)),
        Pat::Paren(pattern) => capitalised(&pattern.pat, names),
        Pat::Reference(pattern) => capitalised(&pattern.pat, names),
        Pat::Slice(pattern) => all(&pattern.elems),
        Pat::Struct(pattern) => pattern
            .fields
            .iter()
            .for_each(|field| capitalised(&field.pat, names)),
        Pat::Tuple(pattern) => all(&pattern.elems),
        Pat::TupleStruct(pattern) => all(&pattern.elems),
        _ => {}
    }
}

/// Whether a pattern names values and binds nothing. A constant is not matched through a reference.
fn is_value(pattern: &Pat) -> bool {
    match pattern {
        Pat::Lit(_) | Pat::Path(_) | Pat::Range(_) => true,
        Pat::Ident(name) => {
            let is_binding =
                name.by_ref.is_some() || name.mutability.is_some() || name.subpat.is_some();
            !is_binding
                && name
                    .ident
                    .to_string()
                    .starts_with(|c: char| c.is_uppercase())
        }
        Pat::Or(cases) => cases.cases.iter().all(is_value),
        Pat::Paren(pattern) => is_value(&pattern.pat),
        _ => false,
    }
}

fn path_in(key: &Ident, text: &LitStr) -> Result<Path> {
    if text.value().trim().is_empty() {
        return Err(Error::new(
            text.span(),
            format!("`{key}` is empty, expected a path"),
        ));
    }
    text.parse().map_err(|error| {
        Error::new(
            error.span(),
            format!("`{key}` expects a path, such as \"module::function\""),
        )
    })
}

/// A path, bare or in a string.
fn path(key: &Ident, input: ParseStream<'_>) -> Result<Path> {
    match expression(key, input, "path")? {
        Expr::Path(ExprPath {
            path, qself: None, ..
        }) => Ok(path),
        Expr::Lit(ExprLit {
            lit: Lit::Str(text),
            ..
        }) => path_in(key, &text),
        other => Err(Error::new_spanned(other, format!("`{key}` expects a path"))),
    }
}

/// `sleep`
pub(crate) struct SleepPath(pub(crate) Path);

impl Value for SleepPath {
    fn parse(key: &Ident, input: ParseStream<'_>) -> Result<Self> {
        path(key, input).map(Self)
    }
}

/// `crate`
pub(crate) struct CratePath(pub(crate) Path);

impl Value for CratePath {
    fn parse(key: &Ident, input: ParseStream<'_>) -> Result<Self> {
        let path = if input.peek(Token![=]) && !input.peek2(Lit) {
            // a path of types, because `crate` alone is not an expression
            input.parse::<Token![=]>()?;
            input.call(Path::parse_mod_style)?
        } else {
            path(key, input)?
        };
        let first = path.segments.first().map(|first| first.ident.to_string());
        let starts_at_a_crate =
            path.leading_colon.is_some() || matches!(first.as_deref(), Some("crate" | "$crate"));
        if starts_at_a_crate {
            Ok(Self(path))
        } else {
            let message = "`crate` expects a path that holds everywhere: `::name` or `crate::name`";
            Err(Error::new_spanned(path, message))
        }
    }
}

/// `clone`, `keep`
pub(crate) struct Names(pub(crate) Vec<Ident>);

impl Value for Names {
    fn parse(key: &Ident, input: ParseStream<'_>) -> Result<Self> {
        if !input.peek(syn::token::Paren) {
            return Err(Error::new(
                key.span(),
                format!("`{key}` lists arguments: `{key}(name, other)`"),
            ));
        }
        let names;
        parenthesized!(names in input);
        if names.is_empty() {
            return Err(Error::new(
                key.span(),
                format!("`{key}()` lists no argument"),
            ));
        }
        let names =
            Punctuated::<Ident, Token![,]>::parse_terminated_with(&names, Ident::parse_any)?;
        Ok(Self(names.into_iter().collect()))
    }
}

/// `policy`, `budget`, `breaker`
pub(crate) struct Shared(pub(crate) Expr);

impl Value for Shared {
    fn parse(key: &Ident, input: ParseStream<'_>) -> Result<Self> {
        let (name, ty) = match key.to_string().as_str() {
            "budget" => ("BUDGET", "RetryBudget"),
            "breaker" => ("BREAKER", "CircuitBreaker"),
            _ => ("POLICY", "Policy"),
        };
        let expr = expression(key, input, name)?;
        match literal(&expr) {
            None => Ok(Self(expr)),
            Some(Lit::Str(text)) => {
                let path = path_in(key, text)?;
                Ok(Self(Expr::Path(ExprPath {
                    attrs: Vec::new(),
                    qself: None,
                    path,
                })))
            }
            Some(other) => Err(Error::new_spanned(
                other,
                format!("`{key}` expects a `{ty}`"),
            )),
        }
    }
}

/// `cancel`
pub(crate) struct TokenExpr(pub(crate) Expr);

impl Value for TokenExpr {
    fn parse(key: &Ident, input: ParseStream<'_>) -> Result<Self> {
        let expr = expression(key, input, "token")?;
        match literal(&expr) {
            None => Ok(Self(expr)),
            Some(other) => Err(Error::new_spanned(
                other,
                format!("`{key}` expects an expression for a cancel token"),
            )),
        }
    }
}

/// `attempt`
pub(crate) struct Name(pub(crate) Ident);

impl Value for Name {
    fn parse(key: &Ident, input: ParseStream<'_>) -> Result<Self> {
        match expression(key, input, "name")? {
            Expr::Path(ExprPath {
                path, qself: None, ..
            }) if path.get_ident().is_some_and(|name| name != "self") => {
                path.require_ident().cloned().map(Self)
            }
            other => Err(Error::new_spanned(
                other,
                format!("`{key}` expects a name for the attempt in the body"),
            )),
        }
    }
}

/// `recover`, `recover_all`
pub(crate) enum Callback {
    Path(Path),
    Callable(Expr),
}

impl Value for Callback {
    fn parse(key: &Ident, input: ParseStream<'_>) -> Result<Self> {
        match expression(key, input, "path")? {
            Expr::Path(ExprPath {
                path, qself: None, ..
            }) => Ok(Self::Path(path)),
            Expr::Lit(ExprLit {
                lit: Lit::Str(text),
                ..
            }) => path_in(key, &text).map(Self::Path),
            Expr::Lit(other) => Err(Error::new_spanned(
                other,
                format!("`{key}` expects a path or a closure"),
            )),
            callable => Ok(Self::Callable(callable)),
        }
    }
}

/// `level`
pub(crate) struct Level(pub(crate) Ident);

impl Value for Level {
    fn parse(key: &Ident, input: ParseStream<'_>) -> Result<Self> {
        let expr = expression(key, input, "\"warn\"")?;
        let named = match literal(&expr) {
            Some(Lit::Str(text)) => match text.value().as_str() {
                "warn" => Some(("Warn", text.span())),
                "debug" => Some(("Debug", text.span())),
                _ => None,
            },
            _ => None,
        };
        match named {
            Some((variant, span)) => Ok(Self(Ident::new(variant, span))),
            None => Err(Error::new_spanned(
                expr,
                format!("`{key}` expects \"warn\" or \"debug\""),
            )),
        }
    }
}

/// `name`
pub(crate) struct Text(pub(crate) LitStr);

impl Value for Text {
    fn parse(key: &Ident, input: ParseStream<'_>) -> Result<Self> {
        let expr = expression(key, input, "\"text\"")?;
        match literal(&expr) {
            Some(Lit::Str(text)) if !text.value().is_empty() => Ok(Self(text.clone())),
            _ => Err(Error::new_spanned(
                expr,
                format!("`{key}` expects a text that is not empty"),
            )),
        }
    }
}

/// `doc`, `span`
pub(crate) struct Flag(pub(crate) bool);

impl Value for Flag {
    fn parse(key: &Ident, input: ParseStream<'_>) -> Result<Self> {
        // what is not the default
        let other = if key == "doc" { "false" } else { "true" };
        let expr = expression(key, input, other)?;
        match literal(&expr) {
            Some(Lit::Bool(flag)) => Ok(Self(flag.value)),
            _ => Err(Error::new_spanned(
                expr,
                format!("`{key}` expects true or false"),
            )),
        }
    }
}
