//! Function -> the part that is retried, its kind, and its type.
//!
//! Usually that is the body. In a function that returns a future it is the async block at the
//! end of the body, and in one that `#[async_trait]` has rewritten it is the block inside that
//! block which was the body once.

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use quote::quote;
use syn::{
    AngleBracketedGenericArguments, AssocType, Expr, GenericArgument, Local, Pat, Path,
    PathArguments, ReturnType, Signature, Stmt, Type, TypeParamBound, parse::Parser as _,
};

use crate::{bindings::nameable, instrument, item::Function, private::Private};

/// How an attempt is made.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The body is run, and the thread blocks between attempts
    Blocking,
    /// The body is awaited
    Task,
    /// The body is a part of the loop of an async function, because nothing leaves it early
    Straight,
    /// The body gives a future, which is awaited
    Future { boxed: bool },
}

pub(crate) struct Shape {
    pub(crate) kind: Kind,
    /// The type of an attempt, if it has one to judge
    pub(crate) returns: Option<Type>,
    pub(crate) body: Group,
    /// Whether the function returns a future, and is not async itself
    pub(crate) makes_future: bool,
    /// What is run once, before the part that is retried
    pub(crate) before: TokenStream,
    /// What `#[async_trait]` binds before its body
    pub(crate) prelude: Option<Prelude>,
    around: Around,
}

/// The statements of `#[async_trait]` that stand for the arguments.
pub(crate) struct Prelude {
    pub(crate) statements: Vec<Stmt>,
    /// Its name for `self`
    pub(crate) receiver: Option<Ident>,
}

pub(crate) type Around = Box<dyn Fn(TokenStream) -> TokenStream>;

impl Shape {
    pub(crate) fn of(function: &Function) -> Self {
        let Function { sig, body, .. } = function;
        if sig.asyncness.is_some() {
            return Self::task(nameable(&sig.output), Part::whole(body.clone()));
        }
        let Some((boxed, output)) = returned_future(sig) else {
            let Part {
                block,
                before,
                around,
            } = Part::whole(body.clone()).instrumented();
            let whole = Self::whole(Kind::Blocking, nameable(&sig.output), &block);
            return Self {
                before,
                around,
                ..whole
            };
        };
        let returns = Some(nameable_type(output));
        let found = async_block(body.stream());
        // a future that is returned before the block would not be retried
        match found.filter(|found| !mentions(&found.before, "return")) {
            Some(found) => Self {
                makes_future: true,
                ..Self::task(returns, found)
            },
            None => Self::whole(Kind::Future { boxed }, returns, body),
        }
    }

    /// Each attempt is a future of its own, which can be dropped at a limit or be put in a span.
    pub(crate) fn with_futures(self) -> Self {
        let kind = match self.kind {
            Kind::Straight => Kind::Task,
            kind => kind,
        };
        Self { kind, ..self }
    }

    fn task(returns: Option<Type>, found: Part) -> Self {
        let Part {
            block,
            before,
            around,
        } = found.instrumented();
        let (prelude, body) = match async_trait_body(&block) {
            Some((prelude, body)) => (Some(prelude), body),
            None => (None, block),
        };
        let kind = if may_leave(&body.stream()) {
            Kind::Task
        } else {
            Kind::Straight
        };
        Self {
            kind,
            returns,
            body,
            makes_future: false,
            before,
            prelude,
            around,
        }
    }

    fn whole(kind: Kind, returns: Option<Type>, body: &Group) -> Self {
        Self {
            kind,
            returns,
            body: body.clone(),
            makes_future: matches!(kind, Kind::Future { .. }),
            before: TokenStream::new(),
            prelude: None,
            around: Box::new(|retry| retry),
        }
    }

    /// The function's body, with the retry in the place of the part that is retried.
    pub(crate) fn with_retry(&self, retry: &TokenStream, private: &Private) -> TokenStream {
        let statements = self.prelude.iter().flat_map(|prelude| &prelude.statements);
        let retry = quote! { #(#statements)* #retry };
        match self.kind {
            Kind::Future { boxed: true } => quote! { #private::Box::pin(async move { #retry }) },
            // as an argument, so that no lint asks for an `async fn`
            Kind::Future { boxed: false } => quote! { #private::identity(async move { #retry }) },
            Kind::Blocking | Kind::Task | Kind::Straight => (self.around)(retry),
        }
    }
}

fn nameable_type(ty: &Type) -> Type {
    let output = ReturnType::Type(syn::token::RArrow::default(), Box::new(ty.clone()));
    nameable(&output).unwrap_or_else(|| ty.clone())
}

/// A type without parentheses, and without the invisible group around what a `macro_rules!` passes on.
pub(crate) fn visible(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => visible(&group.elem),
        Type::Paren(paren) => visible(&paren.elem),
        ty => ty,
    }
}

/// Whether the future is boxed, and its output.
fn returned_future(sig: &Signature) -> Option<(bool, &Type)> {
    let ReturnType::Type(_, ty) = &sig.output else {
        return None;
    };
    match visible(ty) {
        Type::ImplTrait(future) => future
            .bounds
            .iter()
            .find_map(output)
            .map(|output| (false, output)),
        Type::Path(path) => {
            let (name, arguments) = last_segment(&path.path)?;
            let types = arguments.args.iter().filter_map(|argument| match argument {
                GenericArgument::Type(ty) => Some(ty),
                _ => None,
            });
            if name == "BoxFuture" || name == "LocalBoxFuture" {
                return types.last().map(|output| (true, output));
            }
            let boxed = types.last().filter(|_| name == "Pin").and_then(pointee)?;
            boxed
                .bounds
                .iter()
                .find_map(output)
                .map(|output| (true, output))
        }
        _ => None,
    }
}

/// The `dyn Future` in a `Box<dyn Future>`.
fn pointee(ty: &Type) -> Option<&syn::TypeTraitObject> {
    let Type::Path(path) = ty else { return None };
    let (name, arguments) = last_segment(&path.path)?;
    match arguments.args.first() {
        Some(GenericArgument::Type(Type::TraitObject(object))) if name == "Box" => Some(object),
        _ => None,
    }
}

/// The output in the bound `Future<Output = ..>`.
fn output(bound: &TypeParamBound) -> Option<&Type> {
    let TypeParamBound::Trait(bound) = bound else {
        return None;
    };
    let (name, arguments) = last_segment(&bound.path)?;
    arguments.args.iter().find_map(|argument| match argument {
        GenericArgument::AssocType(AssocType { ident, ty, .. })
            if name == "Future" && ident == "Output" =>
        {
            Some(ty)
        }
        _ => None,
    })
}

fn last_segment(path: &Path) -> Option<(&Ident, &AngleBracketedGenericArguments)> {
    let last = path.segments.last()?;
    match &last.arguments {
        PathArguments::AngleBracketed(arguments) => Some((&last.ident, arguments)),
        _ => None,
    }
}

/// The part of a body that is retried.
pub(crate) struct Part {
    pub(crate) block: Group,
    /// What is run once, before it
    pub(crate) before: TokenStream,
    /// The body, with something in the place of the block's statements
    pub(crate) around: Around,
}

/// The async block at the end of a body, by itself or in `Box::pin(..)`.
fn async_block(tokens: TokenStream) -> Option<Part> {
    let mut before: Vec<TokenTree> = tokens.into_iter().collect();
    let Some(TokenTree::Group(last)) = before.pop() else {
        return None;
    };
    let is = |token: Option<&TokenTree>, name: &str| matches!(token, Some(TokenTree::Ident(ident)) if *ident == name);
    let delimiter = last.delimiter();
    let (block, inside): (Group, Around) = match delimiter {
        Delimiter::Brace => {
            let keyword = if is(before.last(), "move") {
                before.iter().nth_back(1)
            } else {
                before.last()
            };
            if !is(keyword, "async") {
                return None;
            }
            (last.clone(), Box::new(|retry| retry))
        }
        Delimiter::Parenthesis if is(before.last(), "pin") => {
            let mut argument: Vec<TokenTree> = last.stream().into_iter().collect();
            if matches!(argument.last(), Some(TokenTree::Punct(comma)) if comma.as_char() == ',') {
                argument.pop();
            }
            let inside = async_block(argument.into_iter().collect())?;
            (inside.block, inside.around)
        }
        _ => return None,
    };
    let before: TokenStream = before.into_iter().collect();
    let kept = before.clone();
    let around = move |retry| {
        let mut changed = Group::new(delimiter, inside(retry));
        changed.set_span(last.span());
        let mut tokens = kept.clone();
        tokens.extend([TokenTree::Group(changed)]);
        tokens
    };
    Some(Part {
        block,
        before,
        around: Box::new(around),
    })
}

impl Part {
    fn whole(block: Group) -> Self {
        Self {
            block,
            before: TokenStream::new(),
            around: Box::new(|retry| retry),
        }
    }

    /// The body in what `#[tracing::instrument]`, where it stands above, has made of this one. So
    /// its span is around all attempts, as where it stands below, and it takes the arguments once.
    fn instrumented(self) -> Self {
        let Some(found) = instrument::body(self.block.stream()) else {
            return self;
        };
        let (outside, inside) = (self.around, found.around);
        Self {
            block: found.block,
            before: [self.before, found.before].into_iter().collect(),
            around: Box::new(move |retry| outside(inside(retry))),
        }
    }
}

pub(crate) fn is_word(token: &TokenTree, word: &str) -> bool {
    matches!(token, TokenTree::Ident(ident) if ident == word)
}

/// Whether a word is among the tokens, or in their groups, or a text takes it in as `{word}`.
pub(crate) fn mentions(tokens: &TokenStream, word: &str) -> bool {
    tokens.clone().into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == word,
        TokenTree::Group(group) => mentions(&group.stream(), word),
        TokenTree::Punct(_) => false,
        TokenTree::Literal(literal) => {
            let text = literal.to_string();
            text.contains('{')
                && (text.contains(&format!("{{{word}}}")) || text.contains(&format!("{{{word}:")))
        }
    })
}

/// Whether something may leave the tokens before their end. A macro may, and an attribute, whatever
/// they are called.
fn may_leave(tokens: &TokenStream) -> bool {
    let mut tokens = tokens.clone().into_iter().peekable();
    while let Some(token) = tokens.next() {
        let leaves = match &token {
            TokenTree::Ident(word) => {
                let word = word.to_string();
                matches!(word.as_str(), "return" | "break" | "continue" | "yeet")
            }
            TokenTree::Punct(punct) if punct.as_char() == '!' => {
                matches!(tokens.peek(), Some(TokenTree::Group(_)))
            }
            TokenTree::Punct(punct) => matches!(punct.as_char(), '?' | '#'),
            TokenTree::Group(group) => may_leave(&group.stream()),
            TokenTree::Literal(_) => false,
        };
        if leaves {
            return true;
        }
    }
    false
}

/// Whether a `let` gives the name to something else.
pub(crate) fn rebinds(tokens: &TokenStream, name: &str) -> bool {
    let mut in_pattern = false;
    tokens.clone().into_iter().any(|token| {
        let bound = match &token {
            TokenTree::Ident(ident) => in_pattern && ident == name,
            TokenTree::Group(group) if in_pattern => mentions(&group.stream(), name),
            TokenTree::Group(group) => rebinds(&group.stream(), name),
            _ => false,
        };
        in_pattern = match &token {
            TokenTree::Ident(ident) => in_pattern || ident == "let",
            TokenTree::Punct(punct) => in_pattern && !matches!(punct.as_char(), '=' | ':' | ';'),
            _ => in_pattern,
        };
        bound
    })
}

/// The arguments and the body in what `#[async_trait]` makes of a method:
/// `{ arguments.. let __ret: Ret = { body }; __ret }`.
fn async_trait_body(block: &Group) -> Option<(Prelude, Group)> {
    let tokens: Vec<TokenTree> = block.stream().into_iter().collect();
    let is_result = |window: &[TokenTree]| matches!(window, [TokenTree::Ident(keyword), TokenTree::Ident(name)] if keyword == "let" && name == "__ret");
    let start = tokens.windows(2).rposition(is_result)?;
    let (arguments, result) = tokens.split_at_checked(start)?;
    let body = result.iter().find_map(|token| match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => Some(group.clone()),
        _ => None,
    })?;
    let statements = syn::Block::parse_within
        .parse2(arguments.iter().cloned().collect())
        .ok()?;
    let receiver = statements.iter().find_map(renamed_receiver);
    Some((
        Prelude {
            statements,
            receiver,
        },
        body,
    ))
}

/// `let __self = self;`
fn renamed_receiver(statement: &Stmt) -> Option<Ident> {
    match statement {
        Stmt::Local(Local {
            pat: Pat::Ident(pat),
            init: Some(init),
            ..
        }) => {
            let is_self = matches!(&*init.expr, Expr::Path(path) if path.path.is_ident("self"));
            is_self.then(|| pat.ident.clone())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::may_leave;

    #[test]
    fn what_may_leave_a_body_before_its_end_is_found() {
        for (body, expected) in [
            ("client.get(url).await", false),
            ("let a = !b; if a != c { send(a) } else { Ok(!a) }", false),
            ("loop { step().await; }", false),
            ("let text = \"return?\"; Ok(text)", false),
            ("client.get(url).await?.text()", true),
            ("if late { return Err(Late); } Ok(1)", true),
            ("for n in list { if n > 1 { break; } } Ok(1)", true),
            ("ensure!(ready); Ok(1)", true),
            ("Ok(std::format! [\"a\"])", true),
            ("list.iter().map(|n| { return n; })", true),
            ("#[left] struct Early; Ok(1)", true),
            ("if late { do yeet Late } Ok(1)", true),
        ] {
            assert_eq!(may_leave(&body.parse().unwrap()), expected, "{body}");
        }
    }
}
