//! `Plan` -> tokens: the signature, and one call into the runtime. Can not fail.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Expr, Ident, LitStr};

use crate::{
    args::Keyed,
    bindings::rename_self,
    check::Plan,
    constants::Known,
    errors::under,
    values::{Count, Delays, Factor, Jitter, Millis, Number, Predicate},
};

pub(crate) fn expand(plan: &Plan) -> TokenStream {
    let private = private(plan);
    let attempt = attempt(plan, &private);
    let judge = judge(plan, &private);
    let policy = policy(plan, &private);
    let wait = wait(plan, &private);
    let body = quote! {
        #private::retry! {
            attempt(#attempt)
            judge(#judge)
            policy(#policy)
            wait(#wait)
        }
    };
    plan.function.with_body(&body)
}

/// The module of the runtime that is made for the expansion.
fn private(plan: &Plan) -> TokenStream {
    match &plan.args.krate {
        Some(Keyed { value, .. }) => {
            let path = &value.0;
            quote! { #path::__private }
        }
        None => quote! { ::retry_runtime::__private },
    }
}

fn attempt(plan: &Plan, private: &TokenStream) -> TokenStream {
    let kind = kind(plan);
    let returns = &plan.returns;
    let bindings = plan
        .bindings
        .per_attempt
        .iter()
        .map(|binding| binding.tokens(private));
    let body = match &plan.bindings.renamed_self {
        Some(renamed) => &rename_self(&plan.function.body, renamed),
        None => &plan.function.body,
    };
    quote! { #kind [#returns] [#(#bindings)*] #body }
}

fn kind(plan: &Plan) -> TokenStream {
    if plan.function.sig.asyncness.is_some() {
        quote! { task }
    } else {
        quote! { blocking }
    }
}

fn wait(plan: &Plan, private: &TokenStream) -> TokenStream {
    let kind = kind(plan);
    if let Some(sleep) = &plan.args.sleep {
        let path = &sleep.value.0;
        return quote! { #kind with #path };
    }
    if plan.function.sig.asyncness.is_none() {
        return kind;
    }
    let name = match &plan.args.name {
        Some(name) => name.value.0.to_token_stream(),
        None => {
            let function = LitStr::new(
                &format!("::{}", plan.function.sig.ident),
                Span::mixed_site(),
            );
            quote! { #private::concat!(#private::module_path!(), #function) }
        }
    };
    quote! { #kind named #name }
}

/// The mistakes of a predicate are reported under it, those of the return type under that.
fn judge(plan: &Plan, private: &TokenStream) -> TokenStream {
    let args = &plan.args;
    let returns = &plan.returns;
    let error = |at: Span| Ident::new("error", at);
    let on = args.on.as_ref().map(|on| &on.value);
    let stops = quote! { #private::Decision::Stop };
    let decision = match on {
        Some(Predicate::Any(_)) => quote! { #private::Decision::Retry },
        Some(Predicate::Callable(predicate)) => {
            let at = under(predicate);
            let error = error(at);
            quote_spanned! {at=> #private::decision_by(#error, #predicate) }
        }
        Some(predicate) => {
            let said = said(predicate, "error", private);
            quote! { #private::decision(#said) }
        }
        None if args.until.is_some() => stops.clone(),
        None => {
            let at = under(returns);
            let error = error(at);
            quote_spanned! {at=> #private::Transient::decision(#error) }
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
            let value = Ident::new("value", Span::mixed_site());
            let is_final = said(&until.value, "value", private);
            quote! { |#value| #is_final, |#error| #decision }
        }
        None => {
            let at = under(returns);
            let outcome = Ident::new("outcome", at);
            let failure = quote_spanned! {at=> #private::Fallible::failure(#outcome) };
            quote! { [#outcome => #failure] |#error| #decision }
        }
    }
}

/// What a predicate says of the reference named `subject`.
fn said(predicate: &Predicate, subject: &str, private: &TokenStream) -> TokenStream {
    match predicate {
        Predicate::Any(_) => quote! { true },
        Predicate::Path(path) => {
            let at = under(path);
            let subject = Ident::new(subject, at);
            quote_spanned! {at=> #path(#subject) }
        }
        Predicate::Callable(predicate) => {
            let at = under(predicate);
            let subject = Ident::new(subject, at);
            quote_spanned! {at=> #private::holds(#subject, #predicate) }
        }
        Predicate::Pattern(pattern) => {
            let subject = Ident::new(subject, under(pattern));
            quote! { #private::matches!(#subject, #pattern) }
        }
    }
}

/// A call on the policy under construction, and the checks of the part it sets.
struct Setter {
    known: Known,
    call: TokenStream,
    checks: Vec<Check>,
}

struct Check {
    tokens: TokenStream,
    /// Whether it looks at other parts too
    compares: bool,
}

/// An expression for a reference to the policy. What is constant becomes one constant; the rest is
/// set on a copy of it.
fn policy(plan: &Plan, private: &TokenStream) -> TokenStream {
    let setters = setters(plan, private);
    let (constant, at_run_time): (Vec<_>, Vec<_>) = setters
        .into_iter()
        .partition(|setter| setter.known != Known::AtRunTime);
    let default = quote! { #private::Policy::new() };
    let start = plan.args.policy.as_ref().map(|keyed| &keyed.value.0);
    let constant = match start.map(|start| (start, plan.known(start))) {
        None => constant_policy(&default, None, Known::InItem, &constant, private),
        Some((start, Known::AtRunTime)) => {
            let given = quote_spanned! {under(start)=> #private::policy(&#start) };
            let calls = constant
                .iter()
                .chain(&at_run_time)
                .map(|setter| &setter.call);
            // what can be checked without the rest of the policy
            let checks = constant
                .iter()
                .flat_map(|setter| setter.checks.iter().map(move |check| (setter, check)))
                .filter(|(_, check)| !check.compares)
                .map(|(Setter { known, call, .. }, Check { tokens, .. })| {
                    let check = quote! { { let __RETRYABLE = #default #call; #tokens } };
                    match known {
                        Known::InItem => quote! { const _: () = #check; },
                        _ => quote! { const #check; },
                    }
                });
            return quote! { { #(#checks)* &#given #(#calls)* } };
        }
        Some((start, known)) => {
            let check = check(start, "check", private);
            constant_policy(
                &start.to_token_stream(),
                Some(&check),
                known,
                &constant,
                private,
            )
        }
    };
    if at_run_time.is_empty() {
        return constant;
    }
    let calls = at_run_time.iter().map(|setter| &setter.call);
    quote! { &(*#constant) #(#calls)* }
}

fn constant_policy(
    start: &TokenStream,
    start_check: Option<&Check>,
    start_known: Known,
    setters: &[Setter],
    private: &TokenStream,
) -> TokenStream {
    let calls = setters.iter().map(|setter| &setter.call);
    let checks = start_check
        .into_iter()
        .chain(setters.iter().flat_map(|setter| &setter.checks));
    let checks: Vec<_> = checks.map(|check| &check.tokens).collect();
    let known = setters
        .iter()
        .map(|setter| setter.known)
        .fold(start_known, Known::max);
    if known == Known::InItem {
        quote! { {
            const __RETRYABLE: #private::Policy = #start #(#calls)*;
            #(const _: () = #checks;)*
            &__RETRYABLE
        } }
    } else {
        quote! {
            &const {
                let __RETRYABLE = #start #(#calls)*;
                #(#checks;)*
                __RETRYABLE
            }
        }
    }
}

fn check(value: &impl ToTokens, method: &str, private: &TokenStream) -> Check {
    let at = under(value);
    let name = Ident::new(method, at);
    Check {
        tokens: quote_spanned! {at=> #private::require(__RETRYABLE.#name()) },
        compares: matches!(method, "check" | "check_base" | "check_delays"),
    }
}

fn setters(plan: &Plan, private: &TokenStream) -> Vec<Setter> {
    let args = &plan.args;
    let checked = |expr: &Expr, call, methods: &[&str]| Setter {
        known: plan.known(expr),
        call,
        checks: methods
            .iter()
            .map(|method| check(expr, method, private))
            .collect(),
    };
    let always = |call| Setter {
        known: Known::InItem,
        call,
        checks: Vec::new(),
    };
    let mut setters = Vec::new();
    match args.max.as_ref().map(|keyed| &keyed.value) {
        None => {}
        Some(Count::Unlimited) => setters.push(always(quote! { .unlimited() })),
        Some(Count::Calls(number)) => {
            let value = integer(number, plan.known(&number.expr), "count", private);
            setters.push(checked(&number.expr, quote! { .max(#value) }, &[]));
        }
    }
    if let Some(Keyed {
        value: Millis(number),
        ..
    }) = &args.base
    {
        let value = integer(number, plan.known(&number.expr), "millis", private);
        setters.push(checked(
            &number.expr,
            quote! { .base_ms(#value) },
            &["check_base"],
        ));
    }
    if let Some(Keyed {
        value: Factor(number),
        ..
    }) = &args.factor
    {
        let value = float(number, plan.known(&number.expr));
        setters.push(checked(
            &number.expr,
            quote! { .factor(#value) },
            &["check_factor"],
        ));
    }
    if let Some(shape) = &args.backoff {
        let variant = &shape.value.variant;
        setters.push(always(quote! { .backoff(#private::Backoff::#variant) }));
    }
    if let Some(delays) = &args.delays {
        setters.push(delays_setter(&delays.value, plan, private));
    }
    if let Some(Keyed {
        value: Millis(number),
        ..
    }) = &args.cap
    {
        let value = integer(number, plan.known(&number.expr), "millis", private);
        // a base above the cap is reported under the base where there is one
        let methods: &[_] = if args.base.is_some() {
            &["check_cap"]
        } else {
            &["check_cap", "check_base"]
        };
        setters.push(checked(&number.expr, quote! { .cap_ms(#value) }, methods));
    }
    match args.jitter.as_ref().map(|keyed| &keyed.value) {
        None => {}
        Some(Jitter::Named(variant)) => {
            setters.push(always(quote! { .jitter(#private::Jitter::#variant) }));
        }
        Some(Jitter::Ratio(number)) => {
            let value = ratio(number, plan.known(&number.expr), private);
            setters.push(checked(
                &number.expr,
                quote! { .jitter(#value) },
                &["check_jitter"],
            ));
        }
    }
    setters
}

/// A list of delays is always a constant, so that a policy is a plain value.
fn delays_setter(delays: &Delays, plan: &Plan, private: &TokenStream) -> Setter {
    let constant = |expr: &Expr| plan.known(expr).min(Known::Inline);
    match delays {
        Delays::List(list) => {
            let entries = list
                .iter()
                .map(|entry| integer(entry, constant(&entry.expr), "millis", private));
            let written = list.iter().map(|entry| &entry.expr);
            Setter {
                known: list
                    .iter()
                    .map(|entry| constant(&entry.expr))
                    .fold(Known::InItem, Known::max),
                call: quote! { .delays_ms(&[#(#entries),*]) },
                checks: vec![check(&quote! { #(#written),* }, "check_delays", private)],
            }
        }
        Delays::Constant(expr) => Setter {
            known: constant(expr),
            call: quote! { .delays_ms(&#expr) },
            checks: vec![check(expr, "check_delays", private)],
        },
    }
}

fn ratio(number: &Number<f64>, known: Known, private: &TokenStream) -> TokenStream {
    let expr = &number.expr;
    let at = under(expr);
    match (number.literal, known) {
        (Some(ratio), _) => quote! { #private::Jitter::Ratio(#ratio) },
        (None, Known::AtRunTime) => {
            quote_spanned! {at=> #private::Into::<#private::Jitter>::into(#expr) }
        }
        (None, _) => quote_spanned! {at=> #private::ConstJitter(#expr).get() },
    }
}

/// An integer of any type as the one that `conversion` gives.
fn integer(
    number: &Number<u64>,
    known: Known,
    conversion: &str,
    private: &TokenStream,
) -> TokenStream {
    let expr = &number.expr;
    let at = under(expr);
    match (number.literal, known) {
        (Some(_), _) => {
            // without the literal's own suffix
            let value = number.literal.map(proc_macro2::Literal::u64_unsuffixed);
            quote! { #value }
        }
        (None, Known::AtRunTime) => {
            let conversion = Ident::new(conversion, at);
            quote_spanned! {at=> #private::#conversion(#expr) }
        }
        (None, _) => {
            let conversion = Ident::new(&format!("const_{conversion}"), at);
            quote_spanned! {at=> const { #private::#conversion((#expr) as i128) } }
        }
    }
}

fn float(number: &Number<f64>, known: Known) -> TokenStream {
    let expr = &number.expr;
    let at = under(expr);
    match (number.literal, known) {
        (Some(value), _) => quote! { #value },
        (None, Known::AtRunTime) => quote_spanned! {at=> (#expr).into() },
        (None, _) => quote_spanned! {at=> (#expr) as f64 },
    }
}
