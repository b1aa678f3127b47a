//! What ends a call besides its policy, what the body sees of it, and what becomes of a failure.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Expr, Ident, spanned::Spanned as _};

use crate::{
    args::{Keyed, value},
    check::Plan,
    constants::Known,
    errors::{local, under},
    policy::{integer, widened},
    private::Private,
    shape::Kind,
    values::{Callback, Millis, Name, Number, Shared, TokenExpr},
};

/// The parts of the call that are empty unless a key asks for them.
pub(crate) fn parts(plan: &Plan, private: &Private) -> TokenStream {
    let limits = limits(plan, private);
    let breaker = breaker(plan, private);
    let bind = value(plan.args.attempt.as_ref()).map(|Name(name)| {
        let remaining = remaining(plan, private);
        quote! { #name, #remaining }
    });
    let recover = recovery(plan).map(|(recovery, which)| {
        let (started, failure) = (started(), local("failure", Span::mixed_site()));
        let recovered = recovered(recovery, plan, private);
        quote! { #which #started |#failure| #recovered }
    });
    quote! { limits(#limits) breaker(#breaker) bind(#bind) recover(#recover) }
}

/// The state of the limits after a failed attempt, and what has to be there before the first.
fn limits(plan: &Plan, private: &Private) -> Option<TokenStream> {
    let args = &plan.args;
    let blocks = plan.shape.kind == Kind::Blocking;
    let mut before = TokenStream::new();
    let mut state = TokenStream::new();
    if args.deadline.is_some() || recovery(plan).is_some() {
        let started = started();
        let clock = if blocks {
            quote! { blocking }
        } else {
            quote! { task }
        };
        before.extend(quote! { let #started = #private::Started::#clock(); });
    }
    if args.deadline.is_some() {
        let remaining = remaining(plan, private);
        state.extend(quote! { .remaining(#remaining) });
    }
    if let Some(cancel @ TokenExpr(given)) = value(args.cancel.as_ref()) {
        let (token, at) = (token(cancel), under(given));
        before.extend(quote! { let #token = &(#given); });
        let kind = if blocks {
            quote! { CancelBlocking }
        } else {
            quote! { CancelTask }
        };
        let is_cancelled = private.call(at, quote! { #kind::is_cancelled }, token);
        state.extend(quote! { .cancelled(#is_cancelled) });
    }
    if let Some(Shared(given)) = value(args.budget.as_ref()) {
        let [place, budget] = ["budget_place", "budget"].map(|name| local(name, under(given)));
        let borrowed = borrowed(given);
        let earn = private.call(under(given), quote! { earn }, &place);
        before.extend(quote! { let #place = #borrowed; let #budget = #earn; });
        state.extend(quote! { .budget(#budget) });
    }
    if let Some(Shared(given)) = value(args.breaker.as_ref()) {
        let [place, breaker] = ["breaker_place", "breaker"].map(|name| local(name, under(given)));
        let borrowed = borrowed(given);
        let found = private.call(under(given), quote! { breaker }, &place);
        before.extend(quote! { let #place = #borrowed; let #breaker = #found; });
    }
    before.extend(checks(plan, private));
    (!before.is_empty()).then(|| quote! { [#before] #private::Limits::NONE #state })
}

fn breaker(plan: &Plan, private: &Private) -> Option<TokenStream> {
    let keyed = plan.args.breaker.as_ref()?;
    let breaker = local("breaker", under(&keyed.value.0));
    let permit = local("permit", Span::mixed_site());
    let at = under(&keyed.key);
    let [open, decision] = ["open", "decision"].map(|name| local(name, at));
    let refused = private.call(at, quote! { refused }, &open);
    // without `on`, the decision is to stop at every error, and says nothing about it
    let is_told = plan.args.until.is_none() || plan.args.on.is_some();
    let counts = if is_told {
        quote! { Some(#decision) }
    } else {
        quote! { None }
    };
    let returns = &plan.returns;
    Some(quote! {
        #permit = #breaker, |#open| [#returns] #refused, |#decision| #private::Option::#counts
    })
}

/// Checks of limits that are constants.
fn checks(plan: &Plan, private: &Private) -> TokenStream {
    let args = &plan.args;
    let constant = |keyed: &Option<Keyed<Millis>>| {
        let number = &keyed.as_ref()?.value.0;
        (plan.known(&number.expr) == Known::InItem)
            .then(|| (number.expr.clone(), widened(&number.expr, private)))
    };
    let mut checks = TokenStream::new();
    let (timeout, deadline) = (constant(&args.timeout), constant(&args.deadline));
    for (expr, value) in [&timeout, &deadline].into_iter().flatten() {
        let check = private.call(expr.span(), quote! { require_limit }, value);
        checks.extend(quote! { const _: () = #check; });
    }
    if let (Some((expr, timeout)), Some((_, deadline))) = (&timeout, &deadline) {
        let check = private.call(
            expr.span(),
            quote! { require_below },
            quote! { #timeout, #deadline },
        );
        checks.extend(quote! { const _: () = #check; });
    }
    checks
}

/// Whether the deadline has passed.
pub(crate) fn late(plan: &Plan, private: &Private) -> Option<TokenStream> {
    let Millis(deadline) = value(plan.args.deadline.as_ref())?;
    let (started, deadline) = (started(), milliseconds(deadline, plan, private));
    Some(quote! { #private::is_zero(#private::Started::remaining(&#started, #deadline)) })
}

/// A borrow that is reported where the value is.
fn borrowed(given: &Expr) -> TokenStream {
    quote_spanned! {under(given)=> &(#given) }
}

pub(crate) fn milliseconds(number: &Number<u64>, plan: &Plan, private: &Private) -> TokenStream {
    integer(number, plan.known(&number.expr), "millis", private)
}

/// The time to the deadline, as an option.
pub(crate) fn remaining(plan: &Plan, private: &Private) -> TokenStream {
    match value(plan.args.deadline.as_ref()) {
        Some(Millis(deadline)) => {
            let started = started();
            let deadline = milliseconds(deadline, plan, private);
            quote! { #private::Option::Some(#private::Started::remaining(&#started, #deadline)) }
        }
        None => quote! { #private::Option::None },
    }
}

fn started() -> Ident {
    local("started", Span::mixed_site())
}

/// The cancel token, once it is evaluated. Reported where it is given, so that one that is none is
/// one error.
pub(crate) fn token(TokenExpr(given): &TokenExpr) -> Ident {
    local("cancel", under(given))
}

/// What recovers, and from which errors.
fn recovery(plan: &Plan) -> Option<(&Callback, TokenStream)> {
    let some = value(plan.args.recover.as_ref()).map(|recovery| (recovery, quote! { some }));
    some.or_else(|| {
        value(plan.args.recover_all.as_ref()).map(|recovery| (recovery, quote! { all }))
    })
}

fn recovered(recovery: &Callback, plan: &Plan, private: &Private) -> TokenStream {
    match recovery {
        Callback::Path(path) => {
            let at = under(path);
            let failure = local("failure", at);
            // a part of an argument is not one
            let names: &[_] = if plan.bindings.are_whole {
                &plan.bindings.arguments
            } else {
                &[]
            };
            let arguments = names.iter().filter(|name| *name != "self").map(|name| {
                // resolved where it is bound, and reported under the path
                let mut name = name.clone();
                name.set_span(name.span().located_at(at));
                name
            });
            private.call(
                at,
                quote! { recover },
                quote! { #path, #failure, (#(#arguments,)*) },
            )
        }
        Callback::Callable(callable) => {
            let at = under(callable);
            let failure = local("failure", at);
            private.call(at, quote! { recover_by }, quote! { #callable, #failure })
        }
    }
}
