//! Values of the attribute -> an expression for the policy, and the checks of its constants.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Expr, Ident, Lit, spanned::Spanned as _};

use crate::{
    args::{Keyed, value},
    check::Plan,
    constants::Known,
    errors::under,
    private::Private,
    values::{Count, Delays, Factor, Jitter, Millis, Number, Predicate},
};

/// Those of the runtime's `Policy`, which checks whatever is not known here.
pub(crate) const DEFAULT_BASE_MS: u64 = 200;
pub(crate) const DEFAULT_CAP_MS: u64 = 30_000;

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

/// An expression for a reference to the policy, after `[items] [the policy, if it is a constant]`.
/// What is constant becomes one constant; the rest is set on a copy of it.
pub(crate) fn policy(plan: &Plan, private: &Private) -> TokenStream {
    let setters = setters(plan, private);
    let (constant, at_run_time): (Vec<_>, Vec<_>) = setters
        .into_iter()
        .partition(|setter| setter.known != Known::AtRunTime);
    let default = quote! { #private::Policy::new() };
    let deadline = value(plan.args.deadline.as_ref()).filter(|_| at_run_time.is_empty());
    let deadline = deadline.and_then(|Millis(deadline)| reachable(deadline, plan, private));
    let start = value(plan.args.policy.as_ref()).map(|policy| without_reference(&policy.0));
    let constant = match start.map(|start| (start, plan.known(start))) {
        None => constant_policy(&default, [deadline], Known::InItem, &constant, private),
        Some((start, Known::AtRunTime)) => {
            let given = private.call(
                under(start),
                quote! { policy },
                quote_spanned! {under(start)=> &#start },
            );
            let calls = constant
                .iter()
                .chain(&at_run_time)
                .map(|setter| &setter.call);
            let checks = checks_alone(&constant, private);
            return quote! { [] [] &{ #checks #given #(#calls)* } };
        }
        Some((start, known)) => {
            let check = check(start, "check", private);
            constant_policy(
                &start.to_token_stream(),
                [Some(check), deadline],
                known,
                &constant,
                private,
            )
        }
    };
    let Constant { items, policy } = constant;
    if at_run_time.is_empty() {
        return match items {
            Some(items) => quote! { [#items] [#policy] #policy },
            None => quote! { [] [] #policy },
        };
    }
    let calls = at_run_time.iter().map(|setter| &setter.call);
    quote! { [] [] &(*{ #items #policy }) #(#calls)* }
}

/// The check that the deadline leaves time for every attempt, if both are constants.
fn reachable(deadline: &Number<u64>, plan: &Plan, private: &Private) -> Option<Check> {
    // with another decision an attempt may follow at once
    let always_waits = matches!(
        value(plan.args.on.as_ref()),
        Some(Predicate::Any(_) | Predicate::Pattern { .. })
    );
    if plan.known(&deadline.expr) != Known::InItem || !always_waits {
        return None;
    }
    let value = integer(deadline, Known::InItem, "millis", private);
    let at = deadline.expr.span();
    Some(Check {
        tokens: private.call(
            at,
            quote! { require_reachable },
            quote! { &__RETRYABLE, #value },
        ),
        compares: true,
    })
}

/// A policy is copied, so that `&POLICY` is `POLICY`.
fn without_reference(expr: &Expr) -> &Expr {
    match expr {
        Expr::Reference(reference) => without_reference(&reference.expr),
        expr => expr,
    }
}

/// A reference to a constant policy.
struct Constant {
    /// That it is made of, if it needs nothing of the function
    items: Option<TokenStream>,
    policy: TokenStream,
}

fn constant_policy(
    start: &TokenStream,
    first_checks: impl IntoIterator<Item = Option<Check>>,
    start_known: Known,
    setters: &[Setter],
    private: &Private,
) -> Constant {
    let calls = setters.iter().map(|setter| &setter.call);
    let first: Vec<Check> = first_checks.into_iter().flatten().collect();
    let checks = first
        .iter()
        .chain(setters.iter().flat_map(|setter| &setter.checks));
    let checks: Vec<_> = checks.map(|check| &check.tokens).collect();
    let known = setters
        .iter()
        .map(|setter| setter.known)
        .fold(start_known, Known::max);
    if known == Known::InItem {
        let items = quote! {
            const __RETRYABLE: #private::Policy = #start #(#calls)*;
            #(const _: () = #checks;)*
        };
        Constant {
            items: Some(items),
            policy: quote! { &__RETRYABLE },
        }
    } else {
        // what can be checked by itself is checked where the function is, and not where it is used
        let alone = checks_alone(setters, private);
        let policy = quote! { {
            #alone
            &const {
                let __RETRYABLE = #start #(#calls)*;
                #(#checks;)*
                __RETRYABLE
            }
        } };
        Constant {
            items: None,
            policy,
        }
    }
}

/// The checks that need no other part of the policy, each in an item of its own if it can be.
fn checks_alone(setters: &[Setter], private: &Private) -> TokenStream {
    let checks = setters
        .iter()
        .flat_map(|setter| setter.checks.iter().map(move |check| (setter, check)));
    let alone = checks.filter(|(_, check)| !check.compares).map(
        |(Setter { known, call, .. }, Check { tokens, .. })| {
            let check = quote! { { let __RETRYABLE = #private::Policy::new() #call; #tokens } };
            match known {
                Known::InItem => quote! { const _: () = #check; },
                _ => quote! { const #check; },
            }
        },
    );
    alone.collect()
}

/// A failed check is reported where the call stands, or where the macro was called if the call
/// belongs to the expansion: so it has the span of the value itself.
fn check(value: &impl ToTokens, method: &str, private: &Private) -> Check {
    let at = value.span();
    let name = Ident::new(method, at);
    Check {
        tokens: private.call(
            at,
            quote! { require },
            quote! { #private::Policy::#name(&__RETRYABLE) },
        ),
        compares: matches!(method, "check" | "check_base" | "check_delays"),
    }
}

/// A literal, or the default; `None` where it is known later.
pub(crate) fn known(millis: Option<&Keyed<Millis>>, default: u64) -> Option<u64> {
    millis.map_or(Some(default), |keyed| keyed.value.0.literal)
}

/// In an order in which each check finds the parts that it compares.
fn setters(plan: &Plan, private: &Private) -> Vec<Setter> {
    let args = &plan.args;
    let always = |call| Setter {
        known: Known::InItem,
        call,
        checks: Vec::new(),
    };
    let checked = |expr: &Expr, call, methods: &[&str]| Setter {
        known: plan.known(expr),
        call,
        checks: methods
            .iter()
            .map(|method| check(expr, method, private))
            .collect(),
    };
    let count = |number: &Number<u64>| {
        let value = integer(number, plan.known(&number.expr), "count", private);
        let mut setter = checked(&number.expr, quote! { .max(#value) }, &[]);
        setter
            .checks
            .extend(in_range(number, "require_count", private));
        setter
    };
    let millis = |Millis(number): &Millis, method: TokenStream, methods: &[&str]| {
        let value = integer(number, plan.known(&number.expr), "millis", private);
        let mut setter = checked(&number.expr, quote! { .#method(#value) }, methods);
        setter
            .checks
            .extend(in_range(number, "require_millis", private));
        setter
    };
    // literals are compared here, which costs a program less to compile than a constant that does it
    let fits = args.policy.is_none()
        && known(args.base.as_ref(), DEFAULT_BASE_MS)
            .zip(known(args.cap.as_ref(), DEFAULT_CAP_MS))
            .is_some_and(|(base, cap)| base <= cap && cap > 0);
    let unless_fits = |checks: &'static [&'static str]| if fits { &[][..] } else { checks };
    let max = value(args.max.as_ref()).map(|max| match max {
        Count::Unlimited => always(quote! { .unlimited() }),
        Count::Calls(number) => count(number),
    });
    let base = value(args.base.as_ref())
        .map(|base| millis(base, quote! { base_ms }, unless_fits(&["check_base"])));
    let factor = value(args.factor.as_ref()).map(|Factor(number)| {
        let value = float(number, plan.known(&number.expr), private);
        checked(&number.expr, quote! { .factor(#value) }, &["check_factor"])
    });
    let shape = value(args.backoff.as_ref()).map(|shape| {
        let variant = &shape.variant;
        always(quote! { .backoff(#private::Backoff::#variant) })
    });
    let delays = value(args.delays.as_ref()).map(|delays| delays_setter(delays, plan, private));
    // a base above the cap is reported under the base where there is one
    let cap_checks = unless_fits(if base.is_some() {
        &["check_cap"]
    } else {
        &["check_cap", "check_base"]
    });
    let hint_cap =
        value(args.hint_cap.as_ref()).map(|cap| millis(cap, quote! { hint_cap_ms }, &[]));
    let cap = value(args.cap.as_ref()).map(|cap| millis(cap, quote! { cap_ms }, cap_checks));
    let jitter = value(args.jitter.as_ref()).map(|jitter| match jitter {
        Jitter::Named(variant) => always(quote! { .jitter(#private::Jitter::#variant) }),
        Jitter::Ratio(number) => {
            let value = ratio(number, plan.known(&number.expr), private);
            checked(&number.expr, quote! { .jitter(#value) }, &["check_jitter"])
        }
    });
    [max, base, factor, shape, delays, cap, jitter, hint_cap]
        .into_iter()
        .flatten()
        .collect()
}

fn delays_setter(delays: &Delays, plan: &Plan, private: &Private) -> Setter {
    match delays {
        Delays::List(list) => {
            let known = |entry: &Number<u64>| plan.known(&entry.expr);
            let entries = list
                .iter()
                .map(|entry| integer(entry, known(entry), "millis", private));
            let written = list.iter().map(|entry| &entry.expr);
            let mut checks = vec![check(&quote! { #(#written),* }, "check_delays", private)];
            checks.extend(
                list.iter()
                    .filter_map(|entry| in_range(entry, "require_millis", private)),
            );
            Setter {
                known: list.iter().map(known).fold(Known::InItem, Known::max),
                // a block of its own, whose value lives as long as the program
                call: quote! { .delays_ms(const { &[#(#entries),*] }) },
                checks,
            }
        }
        Delays::Constant(expr) => Setter {
            known: plan.known(expr),
            call: {
                let list = without_reference(expr);
                quote! { .delays_ms(&#list) }
            },
            checks: vec![check(expr, "check_delays", private)],
        },
    }
}

fn ratio(number: &Number<f64>, known: Known, private: &Private) -> TokenStream {
    let expr = &number.expr;
    let at = under(expr);
    match (number.literal, known) {
        (Some(ratio), _) => quote! { #private::Jitter::Ratio(#ratio) },
        (None, Known::AtRunTime) => private.call(at, quote! { jitter }, expr),
        (None, _) => {
            let wrapped = private.call(at, quote! { ConstJitter }, expr);
            quote! { #wrapped.get() }
        }
    }
}

/// An integer of any type as the one that `conversion` gives, clamped.
pub(crate) fn integer(
    number: &Number<u64>,
    known: Known,
    conversion: &str,
    private: &Private,
) -> TokenStream {
    let expr = &number.expr;
    match (number.literal, known) {
        (Some(_), _) => {
            // without the literal's own suffix
            let value = number.literal.map(proc_macro2::Literal::u64_unsuffixed);
            quote! { #value }
        }
        (None, Known::AtRunTime) => {
            let conversion = Ident::new(conversion, Span::mixed_site());
            private.call(under(expr), quote! { #conversion }, expr)
        }
        (None, _) => {
            let conversion = Ident::new(&format!("const_{conversion}"), Span::mixed_site());
            private.call(under(expr), quote! { #conversion }, widened(expr, private))
        }
    }
}

/// A constant of any integer type, and of no other type: a cast would take floats too.
pub(crate) fn widened(expr: &Expr, private: &Private) -> TokenStream {
    if names_nothing(expr.to_token_stream()) {
        // literals have no type that could be asked
        return quote! { const { const WIDENED: i128 = #expr; WIDENED } };
    }
    let at = expr.span();
    let constant = private.call(at, quote! { ConstInteger }, expr);
    quote_spanned! {at=> #constant.get() }
}

/// Whether it is made of literals without a type.
fn names_nothing(tokens: TokenStream) -> bool {
    tokens.into_iter().all(|token| match token {
        TokenTree::Ident(word) => word == "const",
        TokenTree::Group(group) => names_nothing(group.stream()),
        TokenTree::Literal(literal) => Lit::new(literal).suffix().is_empty(),
        TokenTree::Punct(_) => true,
    })
}

/// The check of an integer that is a constant: a literal was checked when it was parsed.
fn in_range(number: &Number<u64>, requirement: &str, private: &Private) -> Option<Check> {
    number.literal.is_none().then(|| {
        let requirement = Ident::new(requirement, Span::mixed_site());
        let at = number.expr.span();
        Check {
            tokens: private.call(at, quote! { #requirement }, widened(&number.expr, private)),
            compares: false,
        }
    })
}

fn float(number: &Number<f64>, known: Known, private: &Private) -> TokenStream {
    let expr = &number.expr;
    match (number.literal, known) {
        (Some(value), _) => quote! { #value },
        (None, Known::AtRunTime) => private.call(under(expr), quote! { growth }, expr),
        (None, _) => quote_spanned! {under(expr)=> (#expr) as f64 },
    }
}
