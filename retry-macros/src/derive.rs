//! `#[derive(Transient)]`: marks on variants -> an implementation of `Transient`.

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens as _, quote};
use syn::{
    Attribute, Data, DeriveInput, Error, Field, Fields, Ident, Index, Member, Meta, Path, Result,
};

use crate::{
    errors::{Errors, local, under},
    private::Private,
};

pub(crate) fn transient(item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let implementation = errors
        .value(syn::parse2(item))
        .map(|input: DeriveInput| implementation(&input, &mut errors));
    match errors.into_compile_errors() {
        Some(errors) => errors,
        None => implementation.unwrap_or_default(),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    Transient,
    Permanent,
    Inner,
}

/// The mark among the attributes, and where it stands.
fn mark<'a>(attrs: &'a [Attribute], errors: &mut Errors) -> Option<(Mark, &'a Attribute)> {
    let mut found = None;
    for attr in attrs {
        let is = |name: &str| attr.path().is_ident(name);
        let mark = match &attr.meta {
            Meta::Path(_) if is("transient") => Mark::Transient,
            Meta::Path(_) if is("permanent") => Mark::Permanent,
            Meta::List(list) if is("transient") && list.tokens.to_string() == "inner" => {
                Mark::Inner
            }
            Meta::List(_) if is("transient") && attr.parse_args_with(crate_path).is_ok() => {
                continue;
            }
            _ if is("transient") || is("permanent") => {
                errors.at(
                    attr,
                    "expected `#[transient]`, `#[permanent]` or `#[transient(inner)]`",
                );
                // marked, if wrongly
                Mark::Permanent
            }
            _ => continue,
        };
        if found.is_some() {
            errors.at(attr, "marked twice");
        } else {
            found = Some((mark, attr));
        }
    }
    found
}

fn crate_path(input: syn::parse::ParseStream<'_>) -> Result<Path> {
    input.parse::<syn::Token![crate]>()?;
    input.parse::<syn::Token![=]>()?;
    input.call(Path::parse_mod_style)
}

fn implementation(input: &DeriveInput, errors: &mut Errors) -> TokenStream {
    let runtime = input
        .attrs
        .iter()
        .filter(|attr| attr.path().is_ident("transient"))
        .find_map(|attr| attr.parse_args_with(crate_path).ok());
    let private = Private::of(runtime.as_ref());
    let default = mark(&input.attrs, errors);
    misplaced(input, errors);
    let mut asked = Vec::new();
    let arms: Vec<TokenStream> = match &input.data {
        Data::Struct(data) => match default {
            Some((mark, at)) => {
                let pattern = quote! { Self };
                errors
                    .value(arm(&pattern, &data.fields, mark, at, &private, &mut asked))
                    .into_iter()
                    .collect()
            }
            None => {
                errors.at(
                    &input.ident,
                    "mark the type `#[transient]`, `#[permanent]` or `#[transient(inner)]`",
                );
                Vec::new()
            }
        },
        Data::Enum(data) => data
            .variants
            .iter()
            .filter_map(|variant| {
                let Some((mark, at)) = mark(&variant.attrs, errors).or(default) else {
                    errors.at(
                        variant,
                        "mark the variant `#[transient]`, `#[permanent]` or `#[transient(inner)]`, \
                         or the whole enum, for all variants without a mark",
                    );
                    return None;
                };
                let name = &variant.ident;
                errors.value(arm(
                    &quote! { Self::#name },
                    &variant.fields,
                    mark,
                    at,
                    &private,
                    &mut asked,
                ))
            })
            .collect(),
        Data::Union(data) => {
            errors.at(
                data.union_token,
                "`Transient` can be derived for structs and enums",
            );
            Vec::new()
        }
    };
    let name = &input.ident;
    let mut generics = input.generics.clone();
    // known of any other type where it stands; of the type itself it is what is being said
    let depends = |ty: &&syn::Type| {
        let tokens = ty.to_token_stream();
        let mut parameters = input.generics.type_params();
        parameters.any(|parameter| names(&tokens, &parameter.ident)) && !names(&tokens, name)
    };
    let conditions: Vec<syn::WherePredicate> = asked
        .iter()
        .filter(depends)
        .map(|ty| syn::parse_quote! { #ty: #private::Transient })
        .collect();
    if !conditions.is_empty() {
        generics.make_where_clause().predicates.extend(conditions);
    }
    let (parameters, arguments, conditions) = generics.split_for_impl();
    // an enum without variants is matched by value
    let decision = if arms.is_empty() {
        quote! { match *self {} }
    } else {
        quote! { match self { #(#arms)* } }
    };
    quote! {
        #[automatically_derived]
        impl #parameters #private::Transient for #name #arguments #conditions {
            fn decision(&self) -> #private::Decision {
                #decision
            }
        }
    }
}

fn names(tokens: &TokenStream, name: &Ident) -> bool {
    tokens.clone().into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == *name,
        TokenTree::Group(group) => names(&group.stream(), name),
        _ => false,
    })
}

/// Marks where they would not be looked at.
fn misplaced(input: &DeriveInput, errors: &mut Errors) {
    let is_mark =
        |attr: &&Attribute| attr.path().is_ident("transient") || attr.path().is_ident("permanent");
    let (fields, place): (Vec<&Fields>, _) = match &input.data {
        Data::Enum(data) => {
            let variants = data.variants.iter();
            for attr in variants.clone().flat_map(|variant| &variant.attrs) {
                if is_mark(&attr) && attr.parse_args_with(crate_path).is_ok() {
                    errors.at(attr, "`crate` is given once, on the enum");
                }
            }
            (variants.map(|variant| &variant.fields).collect(), "variant")
        }
        Data::Struct(data) => (vec![&data.fields], "type"),
        Data::Union(_) => return,
    };
    let fields = fields.into_iter().flatten();
    for attr in fields.flat_map(|field| field.attrs.iter()).filter(is_mark) {
        errors.at(attr, format!("a mark goes on the {place}, not on a field"));
    }
}

fn arm(
    pattern: &TokenStream,
    fields: &Fields,
    mark: Mark,
    at: &Attribute,
    private: &Private,
    asked: &mut Vec<syn::Type>,
) -> Result<TokenStream> {
    let fixed = match mark {
        Mark::Transient => quote! { Retry },
        Mark::Permanent => quote! { Stop },
        Mark::Inner => {
            let (member, ty) = inner(fields, at)?;
            asked.push(ty.clone());
            let at = under(ty);
            let inner = local("inner", at);
            let ask = private.call(at, quote! { Transient::decision }, &inner);
            return Ok(quote! { #pattern { #member: #inner, .. } => #ask, });
        }
    };
    Ok(quote! { #pattern { .. } => #private::Decision::#fixed, })
}

/// The field that `#[transient(inner)]` asks.
fn inner<'a>(fields: &'a Fields, at: &Attribute) -> Result<(Member, &'a syn::Type)> {
    let is_source = |field: &Field| {
        field.ident.as_ref().is_some_and(|name| name == "source")
            || field
                .attrs
                .iter()
                .any(|attr| attr.path().is_ident("from") || attr.path().is_ident("source"))
    };
    let member = |(index, field): (usize, &Field)| {
        field
            .ident
            .clone()
            .map_or_else(|| Member::Unnamed(Index::from(index)), Member::Named)
    };
    let marked = fields
        .iter()
        .enumerate()
        .find(|(_, field)| is_source(field));
    let only = fields
        .iter()
        .enumerate()
        .next()
        .filter(|_| fields.len() == 1);
    marked
        .or(only)
        .map(|(index, field)| (member((index, field)), &field.ty))
        .ok_or_else(|| {
            Error::new_spanned(
                at.to_token_stream(),
                "`inner` needs one field, or one marked `#[from]` or `#[source]`",
            )
        })
}
