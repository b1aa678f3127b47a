//! Signature, `clone` and `keep` -> what each attempt binds anew, so that it sees the arguments as
//! the caller passed them.

use proc_macro2::{Group, Span, TokenStream, TokenTree};
use quote::{quote, quote_spanned};
use syn::{
    Attribute, FnArg, GenericParam, Generics, Ident, Pat, PatIdent, Receiver, ReceiverKind,
    ReturnType, Signature, Stmt, Token, Type, TypeParamBound, WherePredicate,
    punctuated::Punctuated,
    visit_mut::{self, VisitMut},
};

use crate::{
    args::{Args, value},
    errors::{Errors, under},
    item::Function,
    private::Private,
    shape::{Prelude, Shape},
    values::Names,
};

/// A `let` at the start of each attempt.
pub(crate) struct Binding {
    cfgs: Vec<Attribute>,
    mutability: Option<Token![mut]>,
    name: Ident,
    /// What it is made from, if not from the argument of the same name
    receiver: Option<Token![self]>,
    from: From,
}

#[derive(Clone, Copy)]
enum From {
    Clone,
    Reborrow,
    ReborrowPinned,
}

impl Binding {
    pub(crate) fn tokens(&self, private: &Private) -> TokenStream {
        let Self {
            cfgs,
            mutability,
            name,
            receiver,
            from,
        } = self;
        let source = receiver.map_or_else(|| quote! { #name }, |receiver| quote! { #receiver });
        let at = under(name);
        let value = match from {
            From::Clone => quote_spanned! {at=> #private::Clone::clone(&#source) },
            From::Reborrow => quote_spanned! {at=> &mut *#source },
            From::ReborrowPinned => quote_spanned! {at=> #source.as_mut() },
        };
        quote! {
            #(#cfgs)*
            #[allow(clippy::shadow_reuse, clippy::shadow_same, clippy::shadow_unrelated)]
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
}

impl Bindings {
    /// Takes `mut` off the arguments that are bound anew: the attempts' copies are `mut` instead.
    pub(crate) fn plan(
        function: &mut Function,
        shape: &mut Shape,
        args: &Args,
        errors: &mut Errors,
    ) -> Self {
        let mut planner = Planner {
            generics: &function.sig.generics,
            cloned: names(value(args.clone.as_ref())),
            kept: names(value(args.keep.as_ref())),
            cfgs: Vec::new(),
            ty: None,
            bindings: Self {
                per_attempt: Vec::new(),
                renamed_self: None,
                arguments: Vec::new(),
            },
        };
        match &mut shape.prelude {
            Some(prelude) => planner.rewritten(prelude, &function.sig),
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
        for name in cloned.iter().filter(|name| kept.contains(name)) {
            errors.at(
                name,
                format!("`{name}` is listed by `keep` too: it is either cloned or kept"),
            );
        }
        bindings
    }
}

fn names(listed: Option<&Names>) -> Vec<Ident> {
    listed.map(|names| names.0.clone()).unwrap_or_default()
}

struct Planner<'a> {
    generics: &'a Generics,
    cloned: Vec<Ident>,
    kept: Vec<Ident>,
    cfgs: Vec<Attribute>,
    /// The argument's, where the whole argument is one name
    ty: Option<Type>,
    bindings: Bindings,
}

impl Planner<'_> {
    fn inputs(&mut self, inputs: &mut Punctuated<FnArg, Token![,]>) {
        for input in inputs {
            match input {
                FnArg::Receiver(receiver) => self.receiver(receiver),
                FnArg::Typed(argument) => {
                    let is_cfg = |attr: &&Attribute| attr.path().is_ident("cfg");
                    self.cfgs = argument.attrs.iter().filter(is_cfg).cloned().collect();
                    self.ty =
                        matches!(&*argument.pat, Pat::Ident(_)).then(|| (*argument.ty).clone());
                    self.visit_pat_mut(&mut argument.pat);
                }
            }
        }
    }

    /// `#[async_trait]` binds every argument in a statement of its own, `mut` included.
    fn rewritten(&mut self, prelude: &mut Prelude, sig: &Signature) {
        for statement in &mut prelude.statements {
            let Stmt::Local(local) = statement else {
                continue;
            };
            if let Pat::Ident(pat) = &mut local.pat {
                if prelude.receiver.as_ref() == Some(&pat.ident) {
                    self.rewritten_receiver(pat, sig);
                    continue;
                }
            }
            self.ty = sig
                .inputs
                .iter()
                .find_map(|input| match (input, &local.pat) {
                    (FnArg::Typed(argument), Pat::Ident(bound)) => {
                        matches!(&*argument.pat, Pat::Ident(pat) if pat.ident == bound.ident)
                            .then(|| (*argument.ty).clone())
                    }
                    _ => None,
                });
            self.visit_pat_mut(&mut local.pat);
        }
    }

    fn rewritten_receiver(&mut self, pat: &mut PatIdent, sig: &Signature) {
        let name = Ident::new("self", pat.ident.span());
        let by_value = sig
            .receiver()
            .is_some_and(|receiver| matches!(receiver.kind, ReceiverKind::Value));
        let fresh = by_value && pat.mutability.is_some() && !self.kept.contains(&name);
        if fresh || self.cloned.contains(&name) {
            let mutability = pat.mutability.take();
            let name = pat.ident.clone();
            self.bindings.per_attempt.push(Binding {
                cfgs: Vec::new(),
                mutability,
                name,
                receiver: None,
                from: From::Clone,
            });
        }
        self.bindings.arguments.push(name);
    }

    fn receiver(&mut self, receiver: &mut Receiver) {
        let token = receiver.self_token;
        let name = Ident::from(token);
        self.bindings.arguments.push(name.clone());
        let ty = match &receiver.kind {
            ReceiverKind::Typed(_, ty) => Some(&**ty),
            _ => None,
        };
        let from = if ty.is_some_and(is_pinned_borrow) {
            From::ReborrowPinned
        } else if self.cloned.contains(&name) {
            From::Clone
        } else if receiver.mutability.is_none() || self.kept.contains(&name) {
            return;
        } else if ty.is_some_and(is_mut_borrow) {
            From::Reborrow
        } else {
            From::Clone
        };
        let mutability = match from {
            From::Clone => receiver.mutability.take(),
            // borrowed mutably from attempt to attempt, and whether the body needs it is not known
            From::Reborrow => receiver.mutability,
            From::ReborrowPinned => receiver.mutability.replace(Token![mut](Span::mixed_site())),
        };
        let renamed = Ident::new("__self", under(&token));
        self.bindings.per_attempt.push(Binding {
            cfgs: Vec::new(),
            mutability,
            name: renamed.clone(),
            receiver: Some(token),
            from,
        });
        self.bindings.renamed_self = Some(renamed);
    }
}

impl VisitMut for Planner<'_> {
    fn visit_pat_ident_mut(&mut self, pat: &mut PatIdent) {
        visit_mut::visit_pat_ident_mut(self, pat);
        let name = pat.ident.clone();
        self.bindings.arguments.push(name.clone());
        if pat.by_ref.is_some() || self.kept.contains(&name) {
            return;
        }
        let ty = self.ty.as_ref();
        let from = if self.cloned.contains(&name) {
            From::Clone
        } else if pat.mutability.is_none()
            || ty.is_some_and(|ty| is_called_mutably(ty, self.generics))
        {
            return;
        } else if ty.is_some_and(is_mut_borrow) {
            From::Reborrow
        } else {
            From::Clone
        };
        let mutability = pat.mutability.take();
        self.bindings.per_attempt.push(Binding {
            cfgs: self.cfgs.clone(),
            mutability,
            name,
            receiver: None,
            from,
        });
    }
}

fn is_mut_borrow(ty: &Type) -> bool {
    matches!(ty, Type::Reference(reference) if reference.mutability.is_some())
}

/// `Pin<&mut ..>`
fn is_pinned_borrow(ty: &Type) -> bool {
    let Type::Path(path) = ty else { return false };
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
    match ty {
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
    let mut inside_item = false;
    let mut after_fn = false;
    tokens
        .into_iter()
        .map(|token| match token {
            TokenTree::Ident(ident) if ident == "self" && !inside_item => {
                TokenTree::Ident(Ident::new(
                    &renamed.to_string(),
                    renamed.span().located_at(ident.span()),
                ))
            }
            TokenTree::Ident(ident) => {
                // `fn name` and not the type `fn(..)`
                inside_item |= ident == "impl" || ident == "trait" || after_fn;
                after_fn = ident == "fn";
                TokenTree::Ident(ident)
            }
            TokenTree::Group(group) => {
                after_fn = false;
                if inside_item {
                    inside_item = group.delimiter() != proc_macro2::Delimiter::Brace;
                    return TokenTree::Group(group);
                }
                let mut inside =
                    Group::new(group.delimiter(), rename_self(group.stream(), renamed));
                inside.set_span(group.span());
                TokenTree::Group(inside)
            }
            TokenTree::Punct(punct) => {
                after_fn = false;
                TokenTree::Punct(punct)
            }
            literal @ TokenTree::Literal(_) => literal,
        })
        .collect()
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
