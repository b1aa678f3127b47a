//! `Plan` -> tokens: the signature, and one call into the runtime. Can not fail.

use proc_macro2::{Group, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{GenericArgument, PathArguments, Type};

use crate::{
    args::value,
    bindings::{nameable, rename_self},
    check::Plan,
    errors::{local, under},
    events, limits,
    policy::policy,
    private::Private,
    shape::Kind,
    values::{Millis, Predicate, SleepPath},
};

pub(crate) fn expand(plan: &Plan) -> TokenStream {
    let private = Private::new(&plan.args);
    let attempt = attempt(plan, &private);
    let judge = in_place(plan, judge(plan, &private));
    let policy = in_place(plan, policy(plan, &private));
    let wait = wait(plan, &private);
    let limits = in_place(plan, limits::parts(plan, &private));
    let events = in_place(plan, events::part(plan, &private));
    let retry = quote! {
        attempt(#attempt)
        judge(#judge)
        policy(#policy)
        wait(#wait)
        #limits
        events(#events)
    };
    let retry = quote! { #private::retry! { #retry } };
    plan.function
        .with_body(&plan.shape.with_retry(&retry, &private))
}

/// `self` in the attribute's expressions is where `#[async_trait]` has moved it.
fn in_place(plan: &Plan, tokens: TokenStream) -> TokenStream {
    match plan
        .shape
        .prelude
        .as_ref()
        .and_then(|prelude| prelude.receiver.as_ref())
    {
        Some(receiver) => rename_self(tokens, receiver),
        None => tokens,
    }
}

fn attempt(plan: &Plan, private: &Private) -> TokenStream {
    let returns = match plan.shape.kind {
        Kind::Future { .. } => {
            &nameable(&plan.function.sig.output).unwrap_or_else(|| plan.returns.clone())
        }
        Kind::Blocking | Kind::Task | Kind::Straight => &plan.returns,
    };
    let mut body = plan.shape.body.clone();
    if let Some(renamed) = &plan.bindings.renamed_self {
        let mut changed = Group::new(body.delimiter(), rename_self(body.stream(), renamed));
        changed.set_span(body.span());
        body = changed;
    }
    let bindings = &plan.bindings.per_attempt;
    let inside = bindings.iter().map(|binding| binding.inside(private));
    let attempt = match plan.shape.kind {
        Kind::Straight => quote! { straight [#returns] [#(#inside)*] #body },
        Kind::Blocking => quote! { blocking [#returns] [#(#inside)*] #body },
        Kind::Future { .. } => quote! { future [#returns] [#(#inside)*] #body },
        Kind::Task => {
            let (before, inside): (Vec<_>, Vec<_>) = bindings
                .iter()
                .map(|binding| binding.before(private))
                .unzip();
            quote! { task [#returns] [#(#before)*] [#(#inside)*] #body }
        }
    };
    let Some(Millis(timeout)) = value(plan.args.timeout.as_ref()) else {
        return attempt;
    };
    let at = plan
        .args
        .timeout
        .as_ref()
        .map_or_else(Span::mixed_site, |keyed| under(&keyed.key));
    let limit = local("limit", at);
    let timeout = limits::milliseconds(timeout, plan, private);
    let remaining = limits::remaining(plan, private);
    let time = in_place(plan, quote! { #private::limit(#timeout, #remaining) });
    let timed_out = private.call(at, quote! { timed_out }, &limit);
    let timer = value(plan.args.sleep.as_ref()).map(|SleepPath(path)| {
        let at = under(path);
        let limit = local("limit", at);
        quote_spanned! {at=> #path(#limit) }
    });
    quote! { within [#limit = #time, #timed_out] by [#timer] #attempt }
}

fn wait(plan: &Plan, private: &Private) -> TokenStream {
    let blocks = plan.shape.kind == Kind::Blocking;
    let kind = if blocks {
        quote! { blocking }
    } else {
        quote! { task }
    };
    let late = limits::late(plan, private).map(|late| in_place(plan, late));
    let token = value(plan.args.cancel.as_ref()).map(limits::token);
    let unless =
        (late.is_some() || token.is_some()).then(|| quote! { unless [#token] late [#late] });
    if let Some(SleepPath(path)) = value(plan.args.sleep.as_ref()) {
        let at = under(path);
        let wait = local("wait", at);
        // a blocking function that returns a future would not wait at all
        let call = if blocks {
            quote_spanned! {at=> let () = #path(#wait); }
        } else {
            quote_spanned! {at=> #path(#wait).await }
        };
        return quote! { #kind #unless with |#wait| #call };
    }
    quote! { #kind #unless }
}

/// The mistakes of a predicate are reported under it, those of the return type under that.
fn judge(plan: &Plan, private: &Private) -> TokenStream {
    let args = &plan.args;
    let returns = &plan.returns;
    let error = |at: Span| local("error", at);
    let on = value(args.on.as_ref());
    let stops = quote! { #private::Decision::Stop };
    let decision = match on {
        Some(Predicate::Any(_)) => quote! { #private::Decision::Retry },
        Some(Predicate::Callable(predicate)) => {
            let at = under(predicate);
            let error = error(at);
            private.call(at, quote! { decision_by }, quote! { #error, #predicate })
        }
        Some(predicate) => {
            let said = said(predicate, "error", private);
            quote! { #private::decision(#said) }
        }
        None if args.until.is_some() => stops.clone(),
        None => {
            let at = error_span(returns);
            let error = error(at);
            private.call(at, quote! { Transient::decision }, error)
        }
    };
    let decision = match args
        .except
        .as_ref()
        .map(|except| said(&except.value, "error", private))
    {
        Some(excepted) => quote! { if #excepted { #stops } else { #decision } },
        None => decision,
    };
    let error = error(Span::mixed_site());
    match &args.until {
        Some(until) => {
            let value = local("value", Span::mixed_site());
            let is_final = said(&until.value, "value", private);
            quote! { |#value| #is_final, |#error| #decision }
        }
        None => {
            let at = under(returns);
            let outcome = local("outcome", at);
            let failure = private.call(at, quote! { Fallible::failure }, &outcome);
            quote! { [#outcome => #failure] |#error| #decision }
        }
    }
}

/// Of the error type, as far as it is written in the return type.
fn error_span(returns: &Type) -> Span {
    let Type::Path(path) = returns else {
        return under(returns);
    };
    let Some(last) = path.path.segments.last() else {
        return under(returns);
    };
    match &last.arguments {
        PathArguments::AngleBracketed(arguments) if arguments.args.len() == 2 => {
            match arguments.args.last() {
                Some(GenericArgument::Type(error)) => under(error),
                _ => under(&last.ident),
            }
        }
        _ => under(&last.ident),
    }
}

/// What a predicate says of the reference named `subject`.
fn said(predicate: &Predicate, subject: &str, private: &Private) -> TokenStream {
    match predicate {
        Predicate::Any(_) => quote! { true },
        Predicate::Path(path) => {
            let at = under(path);
            let subject = local(subject, at);
            quote_spanned! {at=> #path(#subject) }
        }
        Predicate::Callable(predicate) => {
            let at = under(predicate);
            let subject = local(subject, at);
            private.call(at, quote! { holds }, quote! { #subject, #predicate })
        }
        Predicate::Pattern {
            tokens,
            by_value,
            names,
        } => {
            let subject = local(subject, under(tokens));
            let dereferenced = by_value.then(|| quote! { * });
            let matches = quote! { #private::matches!(#dereferenced #subject, #tokens) };
            if names.is_empty() {
                return matches;
            }
            // not a variable, which would match everything
            quote! { { if false { #(let _ = &#names;)* } #matches } }
        }
    }
}
