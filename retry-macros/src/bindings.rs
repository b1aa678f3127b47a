//! Signature, `clone` and `keep` -> what each attempt binds anew, so that it sees the arguments as
//! the caller passed them.

use proc_macro2::{Group, Spacing, TokenStream, TokenTree};
use quote::{quote, quote_spanned};
use syn::{
    Attribute, FnArg, GenericParam, Generics, Ident, Local, Pat, PatIdent, PatType, Receiver,
    ReceiverKind, ReturnType, Signature, Stmt, Token, Type, TypeParamBound, WherePredicate,
    punctuated::Punctuated,
    visit_mut::{self, VisitMut},
};

use crate::{
    args::{Args, value},
    errors::{Errors, under},
    item::Function,
    private::Private,
    shape::{Kind, Prelude, Shape, mentions, rebinds, visible},
    values::{Callback, Names},
};

/// A `let` at the start of each attempt.
pub(crate) struct Binding {
    /// Conditions and lints of the argument
    attrs: Vec<Attribute>,
    mutability: Option<Token![mut]>,
    name: Ident,
    /// What it is made from, if not from the argument of the same name
    receiver: Option<Token![self]>,
    from: From,
    /// The argument is changed before the attempts, so that they may not need to
    changed_before: bool,
}

#[derive(Clone, Copy)]
enum From {
    Clone,
    Reborrow,
    ReborrowPinned,
    /// Not bound anew, but borrowed as if it were changed: a shared borrow in a future makes that
    /// one `Send` only where the type is `Sync`
    Unique,
    /// The same for what is itself a `&mut`
    UniqueBorrow,
}

impl From {
    fn is_unique(self) -> bool {
        matches!(self, Self::Unique | Self::UniqueBorrow)
    }
}

impl Binding {
    fn new(name: Ident, from: From) -> Self {
        Self {
            attrs: Vec::new(),
            mutability: None,
            name,
            receiver: None,
            from,
            changed_before: false,
        }
    }

    /// Made inside of the attempt.
    pub(crate) fn inside(&self, private: &Private) -> TokenStream {
        self.bound(self.mutability, &self.value(private))
    }

    /// Made before the future of the attempt, and moved into it. So a copy that is `Send` but not
    /// `Sync` leaves that future `Send`, which would not be so if it held a borrow to copy from.
    pub(crate) fn before(&self, private: &Private) -> (TokenStream, TokenStream) {
        match self.from {
            From::Clone => {
                let name = &self.name;
                (
                    self.bound(None, &self.value(private)),
                    self.bound(self.mutability, &quote! { #name }),
                )
            }
            _ => (TokenStream::new(), self.inside(private)),
        }
    }

    fn value(&self, private: &Private) -> TokenStream {
        let Self {
            name,
            receiver,
            from,
            ..
        } = self;
        let source = receiver.map_or_else(|| quote! { #name }, |receiver| quote! { #receiver });
        let at = under(name);
        match from {
            From::Clone => quote_spanned! {at=> #private::Clone::clone(&#source) },
            From::Reborrow | From::UniqueBorrow => quote_spanned! {at=> &mut *#source },
            From::ReborrowPinned => quote_spanned! {at=> #source.as_mut() },
            From::Unique => quote_spanned! {at=> &mut #source },
        }
    }

    fn bound(&self, mutability: Option<Token![mut]>, value: &TokenStream) -> TokenStream {
        let Self {
            attrs,
            name,
            changed_before,
            ..
        } = self;
        if self.from.is_unique() {
            return quote! { #(#attrs)* #[allow(clippy::used_underscore_binding)] let _ = #value; };
        }
        let unused_mut = changed_before.then(|| quote! { unused_mut, });
        quote! {
            #(#attrs)*
            #[allow(
                #unused_mut
                clippy::redundant_locals,
                clippy::shadow_reuse,
                clippy::shadow_same,
                clippy::shadow_unrelated,
                clippy::used_underscore_binding
            )]
            let #mutability #name = #value;
        }
    }
}

/// What becomes of the arguments.
pub(crate) struct Bindings {
    pub(crate) per_attempt: Vec<Binding>,
    /// Stands for `self` in the body, where `self` is bound anew
    pub(crate) renamed_self: Option<Ident>,
    /// The names that exist when the function begins
    pub(crate) arguments: Vec<Ident>,
    /// Whether each of them is a whole argument
    pub(crate) are_whole: bool,
}

impl Bindings {
    /// Takes `mut` off the arguments that are bound anew: the attempts' copies are `mut` instead.
    pub(crate) fn plan(
        function: &mut Function,
        shape: &mut Shape,
        args: &Args,
        errors: &mut Errors,
    ) -> Self {
        let generics = function.generics().map(Generics::clone);
        let mut planner = Planner {
            generics,
            cloned: names(value(args.clone.as_ref())),
            kept: names(value(args.keep.as_ref())),
            attrs: Vec::new(),
            ty: None,
            reborrows: !borrows(&function.sig.output, shape),
            body: shape.body.stream(),
            held: held(args),
            before: shape.before.clone(),
            changed_before: false,
            by_reference: false,
            first: 0,
            is_task: shape.kind == Kind::Task,
            bindings: Self {
                per_attempt: Vec::new(),
                renamed_self: None,
                arguments: Vec::new(),
                are_whole: true,
            },
        };
        match &mut shape.prelude {
            Some(prelude) => planner.rewritten(prelude, &mut function.sig),
            None => planner.inputs(&mut function.sig.inputs),
        }
        let Planner {
            cloned,
            kept,
            bindings,
            ..
        } = planner;
        for (name, key) in cloned
            .iter()
            .map(|name| (name, "clone"))
            .chain(kept.iter().map(|name| (name, "keep")))
        {
            if !bindings.arguments.contains(name) {
                errors.at(
                    name,
                    format!("`{key}` lists `{name}`, which is not an argument"),
                );
            }
        }
        let copies = bindings
            .per_attempt
            .iter()
            .any(|binding| matches!(binding.from, From::Clone));
        if copies && shape.kind == Kind::Blocking {
            // the attempts consume copies of it
            function
                .attrs
                .push(syn::parse_quote! { #[allow(clippy::needless_pass_by_value)] });
        }
        if bindings.renamed_self.is_some() {
            if let Some(text) = mentions_self_in_text(shape.body.stream()) {
                let message = "`{self}` is not the `self` of this attempt: pass it as an argument, `{}` and `self`";
                errors.at(text, message);
            }
        }
        for name in cloned.iter().filter(|name| kept.contains(name)) {
            errors.at(
                name,
                format!("`{name}` is listed by `keep` too: it is either cloned or kept"),
            );
        }
        bindings
    }
}

fn held(args: &Args) -> TokenStream {
    let cancel = value(args.cancel.as_ref()).map(|token| &token.0);
    let [budget, breaker] =
        [&args.budget, &args.breaker].map(|keyed| value(keyed.as_ref()).map(|shared| &shared.0));
    let notify = value(args.notify.as_ref()).and_then(|notify| match notify {
        Callback::Callable(closure) => Some(closure),
        Callback::Path(_) => None,
    });
    quote! { #cancel #budget #breaker #notify }
}

fn names(listed: Option<&Names>) -> Vec<Ident> {
    listed.map(|names| names.0.clone()).unwrap_or_default()
}

#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact about the argument at hand"
)]
struct Planner {
    generics: [Generics; 2],
    cloned: Vec<Ident>,
    kept: Vec<Ident>,
    attrs: Vec<Attribute>,
    /// The argument's, where the whole argument is one name
    ty: Option<Type>,
    /// Whether `&mut` arguments may be lent to each attempt by name, because nothing that is
    /// returned borrows from them
    reborrows: bool,
    /// Looked at where `self` may be moved into a closure or a block
    body: TokenStream,
    /// Expressions whose values are held during the attempts
    held: TokenStream,
    /// What is run before the part that is retried, with the arguments as they are
    before: TokenStream,
    /// Whether that may change the argument, or its `mut` says more
    changed_before: bool,
    /// Whether the argument is a pattern behind a reference, where `mut` means a copy before
    /// edition 2024
    by_reference: bool,
    /// The argument's first binding
    first: usize,
    /// Whether each attempt is a future, which holds the arguments while it is awaited
    is_task: bool,
    bindings: Bindings,
}

impl Planner {
    fn inputs(&mut self, inputs: &mut Punctuated<FnArg, Token![,]>) {
        for input in inputs {
            match input {
                FnArg::Receiver(receiver) => self.receiver(receiver),
                FnArg::Typed(argument) => self.argument(argument),
            }
        }
    }

    fn argument(&mut self, argument: &mut PatType) {
        let words = ["cfg", "allow", "expect", "warn", "deny", "forbid"];
        let is_for_both = |attr: &&Attribute| words.iter().any(|word| attr.path().is_ident(word));
        self.attrs = argument.attrs.iter().filter(is_for_both).cloned().collect();
        self.by_reference =
            matches!(&*argument.ty, Type::Reference(_)) && !matches!(&*argument.pat, Pat::Ident(_));
        self.first = self.bindings.per_attempt.len();
        self.ty = matches!(&*argument.pat, Pat::Ident(_)).then(|| (*argument.ty).clone());
        self.bindings.are_whole &= matches!(&*argument.pat, Pat::Ident(_));
        self.changed_before = false;
        self.visit_pat_mut(&mut argument.pat);
        if self.bindings.per_attempt.len() > self.first {
            // an expectation is met by the attempt's variable
            argument
                .attrs
                .retain(|attr| !attr.path().is_ident("expect"));
        }
        if self.changed_before {
            argument
                .attrs
                .push(syn::parse_quote! { #[allow(unused_mut)] });
        }
    }

    /// `#[async_trait]` binds every argument but references in a statement of its own, `mut`
    /// included.
    fn rewritten(&mut self, prelude: &mut Prelude, sig: &mut Signature) {
        let mut locals = prelude.statements.iter_mut().filter_map(|statement| {
            let Stmt::Local(local) = statement else {
                return None;
            };
            Some(local)
        });
        for input in &mut sig.inputs {
            match input {
                FnArg::Typed(argument) if matches!(&*argument.ty, Type::Reference(_)) => {
                    self.argument(argument);
                }
                FnArg::Typed(argument) => {
                    if let Some(local) = locals.next() {
                        self.ty =
                            matches!(&local.pat, Pat::Ident(_)).then(|| (*argument.ty).clone());
                        self.attrs = local.attrs.clone();
                        self.first = self.bindings.per_attempt.len();
                        self.bindings.are_whole &= matches!(&local.pat, Pat::Ident(_));
                        self.visit_pat_mut(&mut local.pat);
                    }
                }
                FnArg::Receiver(receiver) => {
                    if let Some(Local {
                        pat: Pat::Ident(pat),
                        ..
                    }) = locals.next()
                    {
                        self.rewritten_receiver(pat, receiver);
                    }
                }
            }
        }
    }

    /// Whether `&mut self` is lent to each attempt by another name: only where `self` itself could
    /// not be used again, because errors about it are easier to read without.
    fn lends_self(&self) -> bool {
        self.reborrows && (mentions(&self.body, "move") || takes_self(&self.body))
    }

    fn rewritten_receiver(&mut self, pat: &mut PatIdent, receiver: &Receiver) {
        let name = Ident::new("self", pat.ident.span());
        self.bindings.arguments.push(name.clone());
        let by_value = matches!(receiver.kind, ReceiverKind::Value);
        let is_lent = is_mut_reference(&receiver.kind);
        let is_shared = match &receiver.kind {
            ReceiverKind::Reference(_, _, mutable) => mutable.is_none(),
            ReceiverKind::Typed(_, ty) => is_borrow(ty),
            _ => false,
        };
        let fresh = by_value && pat.mutability.is_some() && !self.kept.contains(&name);
        let from = if fresh || self.cloned.contains(&name) {
            From::Clone
        } else if is_lent && self.lends_self() {
            From::Reborrow
        } else if self.is_task
            && !is_shared
            && (self.reborrows || !is_lent)
            && !mentions(&self.held, "self")
            && mentions(&self.body, &pat.ident.to_string())
        {
            From::Unique
        } else {
            return;
        };
        if from.is_unique() {
            pat.mutability.get_or_insert(added_mut(&pat.ident));
            return self.push(pat.ident.clone(), from);
        }
        let mutability = pat.mutability.take();
        let binding = Binding {
            mutability,
            ..Binding::new(pat.ident.clone(), from)
        };
        self.bindings.per_attempt.push(binding);
    }

    fn receiver(&mut self, receiver: &mut Receiver) {
        let token = receiver.self_token;
        let name = Ident::from(token);
        self.bindings.arguments.push(name.clone());
        let Some(from) = self.receiver_source(receiver, &name) else {
            return;
        };
        if receiver.mutability.is_some() && matches!(receiver.kind, ReceiverKind::Typed(..)) {
            // without its `mut` it could be written shorter
            receiver
                .attrs
                .push(syn::parse_quote! { #[allow(clippy::needless_arbitrary_self_type)] });
        }
        let mutability = match from {
            From::Clone | From::Reborrow => receiver.mutability.take(),
            From::ReborrowPinned => receiver.mutability.replace(added_mut(&name)),
            From::Unique => {
                receiver.mutability.get_or_insert(added_mut(&name));
                return self.push(name, from);
            }
            From::UniqueBorrow => return self.push(name, from),
        };
        let renamed = Ident::new("__self", under(&token));
        let binding = Binding::new(renamed.clone(), from);
        self.bindings.per_attempt.push(Binding {
            mutability,
            receiver: Some(token),
            ..binding
        });
        self.bindings.renamed_self = Some(renamed);
    }

    /// What `self` is made from for each attempt, if it is.
    fn receiver_source(&self, receiver: &Receiver, name: &Ident) -> Option<From> {
        let ty = match &receiver.kind {
            ReceiverKind::Typed(_, ty) => Some(&**ty),
            _ => None,
        };
        let is_kept = self.kept.contains(name);
        let is_mut = receiver.mutability.is_some() && !is_kept;
        let is_lent = is_mut_reference(&receiver.kind);
        if ty.is_some_and(is_pinned_borrow) {
            Some(From::ReborrowPinned)
        } else if self.cloned.contains(name) {
            Some(From::Clone)
        } else if is_lent && self.lends_self() {
            Some(From::Reborrow)
        } else if is_mut {
            Some(if ty.is_some_and(is_mut_borrow) {
                From::Reborrow
            } else {
                From::Clone
            })
        } else if self.is_task && self.is_read_alone("self") {
            let is_borrow =
                matches!(receiver.kind, ReceiverKind::Reference(..)) || ty.is_some_and(is_borrow);
            let unique = if is_lent {
                From::UniqueBorrow
            } else {
                From::Unique
            };
            let is_possible = if is_lent { self.reborrows } else { !is_borrow };
            is_possible.then_some(unique)
        } else {
            None
        }
    }
}

impl VisitMut for Planner {
    fn visit_pat_ident_mut(&mut self, pat: &mut PatIdent) {
        visit_mut::visit_pat_ident_mut(self, pat);
        let name = pat.ident.clone();
        self.bindings.arguments.push(name.clone());
        let Some(from) = self.source(pat) else {
            return;
        };
        if from.is_unique() {
            pat.mutability.get_or_insert(added_mut(&pat.ident));
            return self.push(name, from);
        }
        let mutability = if pat.by_ref.is_some() {
            None
        } else {
            pat.mutability.take()
        };
        let changed_before = mutability.is_some()
            && (self.by_reference || mentions(&self.before, &name.to_string()));
        if changed_before {
            pat.mutability = mutability;
            self.changed_before = true;
        }
        if let From::ReborrowPinned = from {
            pat.mutability = Some(added_mut(&pat.ident));
        }
        // a name in several alternatives is one variable
        let of_this_argument = self.bindings.per_attempt.iter().skip(self.first);
        if of_this_argument
            .into_iter()
            .any(|binding| binding.name == name)
        {
            return;
        }
        let binding = Binding::new(name, from);
        self.bindings.per_attempt.push(Binding {
            attrs: self.attrs.clone(),
            mutability,
            changed_before,
            ..binding
        });
    }

    fn visit_pat_mut(&mut self, pat: &mut Pat) {
        let had_mut = matches!(pat, Pat::Paren(inner) if is_mut_name(&inner.pat));
        visit_mut::visit_pat_mut(self, pat);
        match pat {
            // parentheses that were there for the `mut`
            Pat::Paren(inner) if had_mut && !is_mut_name(&inner.pat) => *pat = (*inner.pat).clone(),
            _ => {}
        }
    }
}

/// A `mut` that the expansion needs, with the span of the name: errors about the variable name it
/// only where all of it is the user's.
fn added_mut(name: &Ident) -> Token![mut] {
    Token![mut](name.span())
}

fn is_mut_name(pat: &Pat) -> bool {
    matches!(pat, Pat::Ident(name) if name.mutability.is_some())
}

impl Planner {
    fn push(&mut self, name: Ident, from: From) {
        let attrs = self.attrs.clone();
        self.bindings.per_attempt.push(Binding {
            attrs,
            ..Binding::new(name, from)
        });
    }

    /// Whether the body reads it, and nothing else does at the same time.
    fn is_read_alone(&self, name: &str) -> bool {
        mentions(&self.body, name) && !mentions(&self.held, name)
    }

    /// What is done with an argument whose attempts share it.
    fn shared(&self, pat: &PatIdent) -> Option<From> {
        let name = &pat.ident;
        let is_owned = self
            .ty
            .as_ref()
            .is_some_and(|ty| !matches!(ty, Type::Reference(_)));
        let is_read = || self.is_read_alone(&name.to_string());
        (self.is_task && is_owned && pat.by_ref.is_none() && is_read()).then_some(From::Unique)
    }

    /// What a name is made from for each attempt, if it is.
    fn source(&self, pat: &PatIdent) -> Option<From> {
        let name = &pat.ident;
        if rebinds(&self.before, &name.to_string()) {
            // what the attempts see is not the argument
            return None;
        }
        if self.kept.contains(name) {
            return self.shared(pat);
        }
        let is_mut = pat.mutability.is_some();
        // an argument that is not used is not asked for either
        let is_lent = || self.reborrows && mentions(&self.body, &name.to_string());
        if pat.by_ref.is_some() {
            return (is_mut && is_lent()).then_some(From::Reborrow);
        }
        let ty = self.ty.as_ref();
        if self.cloned.contains(name) {
            Some(From::Clone)
        } else if ty.is_some_and(is_mut_borrow) {
            (is_mut || is_lent()).then_some(From::Reborrow)
        } else if ty.is_some_and(is_pinned_borrow) {
            (is_mut || is_lent()).then_some(From::ReborrowPinned)
        } else {
            let called = |ty| {
                self.generics
                    .iter()
                    .any(|generics| is_called_mutably(ty, generics))
            };
            let is_fresh = is_mut && !ty.is_some_and(called);
            if is_fresh {
                Some(From::Clone)
            } else {
                self.shared(pat)
            }
        }
    }
}

/// Whether `self` stands by itself, neither borrowed nor asked for a field or a method.
fn takes_self(tokens: &TokenStream) -> bool {
    let mut tokens = tokens.clone().into_iter().peekable();
    let mut before = None;
    while let Some(token) = tokens.next() {
        let is_part = matches!(tokens.peek(), Some(TokenTree::Punct(punct)) if matches!(punct.as_char(), '.' | ':'));
        let is_borrowed = match &before {
            Some(TokenTree::Punct(punct)) => matches!(punct.as_char(), '*' | '&'),
            Some(TokenTree::Ident(word)) => word == "mut",
            _ => false,
        };
        match &token {
            TokenTree::Ident(ident) if ident == "self" && !is_part && !is_borrowed => return true,
            TokenTree::Group(group) if takes_self(&group.stream()) => return true,
            _ => {}
        }
        before = Some(token);
    }
    false
}

/// `&mut self`
fn is_mut_reference(kind: &ReceiverKind) -> bool {
    matches!(kind, ReceiverKind::Reference(_, _, Some(_)))
}

/// Whether the value that is returned may borrow from an argument.
fn borrows(output: &ReturnType, shape: &Shape) -> bool {
    fn lifetimes(tokens: TokenStream) -> bool {
        let mut tokens = tokens.into_iter().peekable();
        while let Some(token) = tokens.next() {
            let found = match &token {
                // before a lifetime it is that which tells
                TokenTree::Punct(punct) if punct.as_char() == '&' => {
                    !matches!(tokens.peek(), Some(TokenTree::Punct(next)) if next.as_char() == '\'')
                }
                TokenTree::Punct(punct) if punct.as_char() == '\'' => {
                    !matches!(tokens.peek(), Some(TokenTree::Ident(name)) if name == "static")
                }
                // what it stands for may hold any borrow
                TokenTree::Ident(word) => word == "impl",
                TokenTree::Group(group) => lifetimes(group.stream()),
                _ => false,
            };
            if found {
                return true;
            }
        }
        false
    }
    match &shape.returns {
        // the future itself may borrow, and is not the value
        Some(value) if shape.makes_future => lifetimes(quote! { #value }),
        _ => lifetimes(quote! { #output }),
    }
}

/// A text with `{self}` in it among the arguments of a macro, which the name for `self` does not
/// reach.
fn mentions_self_in_text(tokens: TokenStream) -> Option<TokenTree> {
    let mut is_macro = false;
    tokens.into_iter().find_map(|token| {
        let of_macro = std::mem::replace(
            &mut is_macro,
            matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '!'),
        );
        match token {
            TokenTree::Group(group) => {
                let texts = group
                    .stream()
                    .into_iter()
                    .find(is_text_with_self)
                    .filter(|_| of_macro);
                texts.or_else(|| mentions_self_in_text(group.stream()))
            }
            _ => None,
        }
    })
}

fn is_text_with_self(token: &TokenTree) -> bool {
    let TokenTree::Literal(literal) = token else {
        return false;
    };
    // doubled braces are braces, and no place for a value
    let text = literal.to_string().replace("{{", "");
    text.contains('"') && (text.contains("{self}") || text.contains("{self:"))
}

fn is_borrow(ty: &Type) -> bool {
    matches!(visible(ty), Type::Reference(_))
}

fn is_mut_borrow(ty: &Type) -> bool {
    matches!(visible(ty), Type::Reference(reference) if reference.mutability.is_some())
}

/// `Pin<&mut ..>`
fn is_pinned_borrow(ty: &Type) -> bool {
    let Type::Path(path) = visible(ty) else {
        return false;
    };
    let Some(last) = path.path.segments.last() else {
        return false;
    };
    let syn::PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return false;
    };
    last.ident == "Pin"
        && matches!(arguments.args.first(), Some(syn::GenericArgument::Type(pointee)) if is_mut_borrow(pointee))
}

/// A closure that changes when it is called, and so can not be started afresh.
fn is_called_mutably(ty: &Type, generics: &Generics) -> bool {
    match visible(ty) {
        Type::ImplTrait(bounds) => has_mutable_call(&bounds.bounds),
        Type::Path(path) => path.path.get_ident().is_some_and(|name| {
            let declared = generics.params.iter().any(|param| {
                matches!(param, GenericParam::Type(param) if param.ident == *name && has_mutable_call(&param.bounds))
            });
            let required = generics.where_clause.iter().flat_map(|clause| &clause.predicates).any(|predicate| {
                matches!(predicate, WherePredicate::Type(predicate)
                    if matches!(&predicate.bounded_ty, Type::Path(bounded) if bounded.path.is_ident(name))
                        && has_mutable_call(&predicate.bounds))
            });
            declared || required
        }),
        _ => false,
    }
}

fn has_mutable_call(bounds: &Punctuated<TypeParamBound, Token![+]>) -> bool {
    bounds.iter().any(|bound| {
        matches!(bound, TypeParamBound::Trait(bound)
            if bound.path.segments.last().is_some_and(|last| last.ident == "FnMut" || last.ident == "AsyncFnMut"))
    })
}

/// Tokens with another name for `self`. Items in a body have a `self` of their own.
pub(crate) fn rename_self(tokens: TokenStream, renamed: &Ident) -> TokenStream {
    let mut tokens = tokens.into_iter().peekable();
    let mut changed = TokenStream::new();
    // up to its braces, or to its semicolon
    let mut inside_item = false;
    let mut inside_use = false;
    let mut after = String::new();
    while let Some(token) = tokens.next() {
        let word = match &token {
            TokenTree::Ident(ident) => ident.to_string(),
            _ => String::new(),
        };
        let before = std::mem::replace(&mut after, word);
        let token = match token {
            TokenTree::Ident(ident) if ident == "self" && !inside_item && !inside_use => {
                // `self::name` is a path
                if matches!(tokens.peek(), Some(TokenTree::Punct(colon)) if colon.as_char() == ':' && colon.spacing() == Spacing::Joint)
                {
                    TokenTree::Ident(ident)
                } else {
                    TokenTree::Ident(Ident::new(
                        &renamed.to_string(),
                        renamed.span().located_at(ident.span()),
                    ))
                }
            }
            TokenTree::Ident(ident) => {
                // `fn name` and not the type `fn(..)`
                inside_item |= ident == "impl" || ident == "trait" || before == "fn";
                inside_use |= ident == "use";
                TokenTree::Ident(ident)
            }
            TokenTree::Group(group) if inside_item || inside_use || before == "pub" => {
                inside_item &= group.delimiter() != proc_macro2::Delimiter::Brace;
                TokenTree::Group(group)
            }
            TokenTree::Group(group) => {
                let mut inside =
                    Group::new(group.delimiter(), rename_self(group.stream(), renamed));
                inside.set_span(group.span());
                TokenTree::Group(inside)
            }
            TokenTree::Punct(punct) => {
                inside_use &= punct.as_char() != ';';
                TokenTree::Punct(punct)
            }
            literal @ TokenTree::Literal(_) => literal,
        };
        changed.extend([token]);
    }
    changed
}

/// The return type as a closure or an async block may name it: `impl Trait` can not be written
/// there, and is left to be inferred.
pub(crate) fn nameable(output: &ReturnType) -> Option<Type> {
    struct Erase;
    impl VisitMut for Erase {
        fn visit_type_mut(&mut self, ty: &mut Type) {
            if matches!(ty, Type::ImplTrait(_)) {
                *ty = syn::parse_quote! { _ };
            } else {
                visit_mut::visit_type_mut(self, ty);
            }
        }
    }
    let ReturnType::Type(_, ty) = output else {
        return None;
    };
    let mut ty = (**ty).clone();
    Erase.visit_type_mut(&mut ty);
    Some(ty)
}
