//! `Plan` -> the section *Retries* of the function's documentation. What is known is stated with
//! its numbers, the rest is named as it is written.

use quote::ToTokens;
use syn::{Attribute, Meta, parse_quote};

use crate::{
    args::{Args, value},
    check::Plan,
    policy::{DEFAULT_BASE_MS, DEFAULT_CAP_MS, known},
    schedule::{Growth, Schedule, time},
    values::{Count, Delays, Factor, Flag, Jitter, Millis, Number, Predicate, Shared, TokenExpr},
    written::written,
};

/// One attribute, to go behind those of the function.
pub(crate) fn retries(plan: &Plan) -> Option<Attribute> {
    if let Some(Flag(false)) = value(plan.args.doc.as_ref()) {
        return None;
    }
    let text = format!("\n# Retries\n\n{}", section(&plan.args));
    if plan.function.attrs.iter().any(is_text) {
        Some(parse_quote! { #[doc = #text] })
    } else {
        // not where `missing_docs` looks: the function has still no description
        Some(parse_quote! { #[cfg_attr(doc, doc = #text)] })
    }
}

fn is_text(attr: &Attribute) -> bool {
    matches!(&attr.meta, Meta::NameValue(pair) if pair.path.is_ident("doc"))
}

fn section(args: &Args) -> String {
    let numbers = numbers(args);
    let conditions = conditions(args);
    if conditions.is_empty() {
        return numbers;
    }
    format!("{numbers}\n\n{}", conditions.join(" "))
}

/// How often, and how long in between.
fn numbers(args: &Args) -> String {
    let calls = calls(args);
    if is_single(args) {
        return calls;
    }
    let Some(Shared(policy)) = value(args.policy.as_ref()) else {
        return format!("{calls} {}{}", waits(args), hint(args));
    };
    let (policy, but) = (code(policy), but(args));
    match args.max {
        Some(_) => format!("{calls} Waits as {policy} says{but}."),
        None => format!("Calls and waits as {policy} says{but}."),
    }
}

/// Where an error may be turned into `Decision::RetryAfter`.
fn hint(args: &Args) -> String {
    match value(args.on.as_ref()) {
        Some(Predicate::Any(_) | Predicate::Pattern { .. }) => return String::new(),
        None if args.until.is_some() => return String::new(),
        _ => {}
    }
    let longest = milliseconds(value(args.hint_cap.as_ref()), "5 min");
    format!(" An error may ask for a longer wait, up to {longest}.")
}

/// The number of calls, 3 unless it is given; `None` if it is not known here, or unlimited.
fn count(args: &Args) -> Option<u64> {
    match value(args.max.as_ref()) {
        None if args.policy.is_some() => None,
        None => Some(3),
        Some(Count::Calls(number)) => number.literal,
        Some(Count::Unlimited) => None,
    }
}

fn is_single(args: &Args) -> bool {
    count(args) == Some(1)
}

fn calls(args: &Args) -> String {
    match (count(args), value(args.max.as_ref())) {
        (Some(1), _) => String::from("One call, and no retry."),
        (Some(calls), _) => format!("Up to {calls} calls."),
        (None, Some(Count::Calls(number))) => format!("Up to {} calls.", code(&number.expr)),
        (None, _) => String::from("No limit on the number of calls."),
    }
}

/// What overrides parts of a policy.
fn but(args: &Args) -> String {
    let given = |what: &str, millis: Option<&Millis>| {
        millis.map(|millis| format!("{what} {}", milliseconds(Some(millis), "")))
    };
    let shape = value(args.backoff.as_ref()).map(|shape| match shape.name.as_str() {
        "none" => String::from("no backoff"),
        name => format!("{name} backoff"),
    });
    let parts = [
        given("a base of", value(args.base.as_ref())),
        value(args.factor.as_ref()).map(|Factor(factor)| format!("a factor of {}", plain(factor))),
        shape,
        value(args.delays.as_ref()).map(|delays| format!("delays of {}", listed(delays))),
        given("a cap of", value(args.cap.as_ref())),
        value(args.jitter.as_ref()).map(jitter),
        given("hints of up to", value(args.hint_cap.as_ref())),
    ];
    let parts: Vec<_> = parts.into_iter().flatten().collect();
    if parts.is_empty() {
        return String::new();
    }
    format!(", but with {}", and(&parts))
}

/// Without a policy: what is not given is the default.
fn waits(args: &Args) -> String {
    let jitter_given = value(args.jitter.as_ref());
    let is_shortened = match jitter_given {
        Some(Jitter::Named(name)) => name != "None",
        Some(Jitter::Ratio(ratio)) => ratio.literal != Some(0.0),
        None => true,
    };
    let up_to = if is_shortened { "up to " } else { "" };
    let jitter = jitter_given.map_or_else(|| String::from("full jitter"), jitter);
    let schedule = schedule(args);
    let no_wait = |schedule: &Schedule| schedule.settled(u32::MAX) == 0 && schedule.wait(0) == 0;
    if schedule.as_ref().is_some_and(no_wait) {
        return String::from("No waits in between.");
    }
    let retries =
        count(args).map(|calls| u32::try_from(calls).unwrap_or(u32::MAX).saturating_sub(1));
    let waits = match &schedule {
        Some(schedule) if !is_decorrelated(args) => {
            let one = if retries == Some(1) {
                "A wait"
            } else {
                "Waits"
            };
            format!("{one} of {up_to}{} in between", sequence(schedule, retries))
        }
        _ => described(args, up_to),
    };
    let total = match (schedule, retries) {
        // of one wait the total is stated already, unless it grows from itself
        (Some(schedule), Some(retries)) if retries > 1 || is_decorrelated(args) => {
            Some(schedule.total(retries))
        }
        _ => None,
    };
    let deadline = value(args.deadline.as_ref()).and_then(|Millis(deadline)| deadline.literal);
    // what a shorter deadline ends is not a total
    let total =
        total.filter(|total| deadline.is_none_or(|ms| total.div_ceil(1_000_000) < ms.into()));
    let total = total.map_or_else(String::new, |total| {
        format!(": at most {} in total", time(total))
    });
    format!("{waits} ({jitter}){total}.")
}

fn is_decorrelated(args: &Args) -> bool {
    matches!(value(args.jitter.as_ref()), Some(Jitter::Named(name)) if name == "Decorrelated")
}

/// The waits, if all their numbers are known here.
fn schedule(args: &Args) -> Option<Schedule> {
    let base = known(args.base.as_ref(), DEFAULT_BASE_MS);
    let shape = value(args.backoff.as_ref()).map(|shape| shape.name.as_str());
    let growth = match (value(args.delays.as_ref()), shape) {
        (Some(Delays::List(list)), _) => Growth::Listed(
            list.iter()
                .map(|entry| entry.literal)
                .collect::<Option<_>>()?,
        ),
        (Some(Delays::Constant(_)), _) => return None,
        (None, Some("none")) => Growth::None,
        (None, Some("fixed")) => Growth::Fixed(base?),
        (None, Some("linear")) => Growth::Linear(base?),
        (None, Some("fibonacci")) => Growth::Fibonacci(base?),
        (None, _) if is_decorrelated(args) => Growth::Decorrelated(base?),
        (None, _) => {
            let factor =
                value(args.factor.as_ref()).map_or(Some(2.0), |Factor(number)| number.literal);
            Growth::Exponential(base?, factor?)
        }
    };
    let cap_ms = known(args.cap.as_ref(), DEFAULT_CAP_MS)?;
    Some(Schedule { growth, cap_ms })
}

/// All waits where they are few, else how they begin and where they end.
fn sequence(schedule: &Schedule, retries: Option<u32>) -> String {
    let last = retries.unwrap_or(u32::MAX).saturating_sub(1);
    let settled = schedule.settled(last);
    let wait = |retry| time(schedule.wait(retry));
    if settled == 0 {
        return wait(0);
    }
    if last < 4 {
        return and(&(0..=last).map(wait).collect::<Vec<_>>());
    }
    let first = (0..settled.min(3)).map(wait).collect::<Vec<_>>().join(", ");
    if settled <= 3 {
        format!("{first}, then {}", wait(last))
    } else {
        format!("{first}, ..., {}", wait(last))
    }
}

/// Waits with numbers that are not known here.
fn described(args: &Args, up_to: &str) -> String {
    let base = milliseconds(value(args.base.as_ref()), "200 ms");
    let cap = milliseconds(value(args.cap.as_ref()), "30 s");
    if let Some(delays) = value(args.delays.as_ref()) {
        return format!("Waits of {up_to}{}, at most {cap} each", listed(delays));
    }
    if is_decorrelated(args) {
        return format!("Waits from {base} to three times the one before, at most {cap} each");
    }
    let growth = match value(args.backoff.as_ref()).map(|shape| shape.name.as_str()) {
        Some("fixed") => return format!("Waits of {up_to}{base}, at most {cap}"),
        Some("linear") => String::from("growing by as much each time"),
        Some("fibonacci") => String::from("growing like the Fibonacci numbers"),
        _ => {
            let factor = value(args.factor.as_ref()).map(|Factor(factor)| plain(factor));
            format!(
                "growing by a factor of {}",
                factor.as_deref().unwrap_or("2")
            )
        }
    };
    format!("Waits of {up_to}{base}, {growth}, at most {cap} each")
}

/// What decides about another call, and what ends it.
fn conditions(args: &Args) -> Vec<String> {
    let mut conditions = Vec::new();
    if !is_single(args) {
        conditions.extend(value(args.until.as_ref()).map(until));
        conditions.push(errors(args));
    }
    let millis = |given| milliseconds(given, "");
    let limits = [
        value(args.deadline.as_ref()).map(|deadline| {
            let deadline = millis(Some(deadline));
            format!(
                "No attempt starts and no wait ends later than {deadline} after the first attempt \
                 began."
            )
        }),
        value(args.timeout.as_ref())
            .map(|timeout| format!("An attempt is dropped after {}.", millis(Some(timeout)))),
        value(args.budget.as_ref())
            .map(|Shared(budget)| format!("Retries are paid from {}.", code(budget))),
        value(args.breaker.as_ref()).map(|Shared(breaker)| {
            format!("Attempts are refused while {} is open.", code(breaker))
        }),
        value(args.cancel.as_ref()).map(|TokenExpr(token)| {
            format!("Cancelling {} ends the wait and the call.", code(token))
        }),
    ];
    conditions.extend(limits.into_iter().flatten());
    conditions
}

fn until(until: &Predicate) -> String {
    match until {
        Predicate::Pattern { tokens, .. } => {
            format!("Called again until the value matches {}.", code(tokens))
        }
        Predicate::Path(path) => format!("Called again until {} accepts the value.", code(path)),
        Predicate::Callable(callable) => {
            format!("Called again until {} accepts the value.", code(callable))
        }
        Predicate::Any(_) => String::new(),
    }
}

fn errors(args: &Args) -> String {
    let retried = match value(args.on.as_ref()) {
        Some(Predicate::Any(_)) => String::from("All errors are retried"),
        Some(on) => format!("Errors are retried if {}", holds(on)),
        None if args.until.is_some() => return String::from("No error is retried."),
        None => String::from("Errors are retried if they are transient"),
    };
    match value(args.except.as_ref()) {
        Some(except) => format!("{retried}, but not if {}.", holds(except)),
        None => format!("{retried}."),
    }
}

fn holds(predicate: &Predicate) -> String {
    match predicate {
        Predicate::Pattern { tokens, .. } => format!("they match {}", code(tokens)),
        Predicate::Path(path) => format!("{} says so", code(path)),
        Predicate::Callable(callable) => format!("{} says so", code(callable)),
        Predicate::Any(_) => String::from("there is one"),
    }
}

fn jitter(jitter: &Jitter) -> String {
    match jitter {
        Jitter::Named(name) if name == "None" => String::from("no jitter"),
        Jitter::Named(name) => format!("{} jitter", name.to_string().to_lowercase()),
        Jitter::Ratio(ratio) if ratio.literal == Some(0.0) => String::from("no jitter"),
        Jitter::Ratio(ratio) => format!("a jitter ratio of {}", plain(ratio)),
    }
}

fn listed(delays: &Delays) -> String {
    match delays {
        Delays::Constant(expr) => format!("{} ms", code(expr)),
        Delays::List(list) => and(&list.iter().map(amount).collect::<Vec<_>>()),
    }
}

fn milliseconds(given: Option<&Millis>, default: &str) -> String {
    given.map_or_else(|| String::from(default), |Millis(number)| amount(number))
}

fn amount(ms: &Number<u64>) -> String {
    match ms.literal {
        Some(ms) => time(u128::from(ms).saturating_mul(1_000_000)),
        None => format!("{} ms", code(&ms.expr)),
    }
}

fn plain(number: &Number<f64>) -> String {
    number
        .literal
        .map_or_else(|| code(&number.expr), |number| number.to_string())
}

/// `a, b and c`
fn and(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// As code in Markdown, cut where it is long: whatever is in it is text.
fn code(tokens: &impl ToTokens) -> String {
    const LONGEST: usize = 80;
    let mut line = written(tokens)
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    if let Some((end, _)) = line.char_indices().nth(LONGEST) {
        line.truncate(end);
        line.push_str(" ..");
    }
    // more backticks than there are side by side within, and not next to them
    let within = line.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(within.saturating_add(1));
    let space = if within > 0 { " " } else { "" };
    format!("{fence}{space}{line}{space}{fence}")
}

#[cfg(test)]
mod tests {
    use std::str::FromStr as _;

    use proc_macro2::TokenStream;

    use super::{conditions, numbers};
    use crate::{args::Args, errors::Errors};

    fn tokens(code: &str) -> TokenStream {
        TokenStream::from_str(code).unwrap()
    }

    fn args(attribute: &str) -> Args {
        let mut errors = Errors::default();
        let args = Args::parse(tokens(attribute), &mut errors);
        assert!(errors.into_compile_errors().is_none(), "{attribute}");
        args
    }

    const NUMBERS: &[(&str, &str)] = &[
        (
            "",
            "Up to 3 calls. Waits of up to 200 ms and 400 ms in between (full jitter): at \
             most 600 ms in total. An error may ask for a longer wait, up to 5 min.",
        ),
        ("max = 1", "One call, and no retry."),
        (
            "max = 2",
            "Up to 2 calls. A wait of up to 200 ms in between (full jitter). An error may ask \
             for a longer wait, up to 5 min.",
        ),
        (
            r#"max = 5, base_ms = 50, cap_ms = 300, jitter = "none""#,
            "Up to 5 calls. Waits of 50 ms, 100 ms, 200 ms and 300 ms in between (no jitter): \
             at most 650 ms in total. An error may ask for a longer wait, up to 5 min.",
        ),
        (
            r#"max = 12, jitter = "equal""#,
            "Up to 12 calls. Waits of up to 200 ms, 400 ms, 800 ms, ..., 30 s in between \
             (equal jitter): at most 2 min 21 s in total. An error may ask for a longer wait, \
             up to 5 min.",
        ),
        (
            "max = 50, base_ms = 20_000",
            "Up to 50 calls. Waits of up to 20 s, then 30 s in between (full jitter): at most \
             24 min 20 s in total. An error may ask for a longer wait, up to 5 min.",
        ),
        (
            r#"max = "unlimited", on(Error::Busy)"#,
            "No limit on the number of calls. Waits of up to 200 ms, 400 ms, 800 ms, ..., 30 \
             s in between (full jitter).",
        ),
        (
            r#"max = "unlimited", deadline_ms = 10_000, timeout_ms = 1500"#,
            "No limit on the number of calls. Waits of up to 200 ms, 400 ms, 800 ms, ..., 30 \
             s in between (full jitter). An error may ask for a longer wait, up to 5 min.",
        ),
        (
            "max = 3, deadline_ms = 600",
            "Up to 3 calls. Waits of up to 200 ms and 400 ms in between (full jitter). An \
             error may ask for a longer wait, up to 5 min.",
        ),
        (
            "max = 3, deadline_ms = 601",
            "Up to 3 calls. Waits of up to 200 ms and 400 ms in between (full jitter): at \
             most 600 ms in total. An error may ask for a longer wait, up to 5 min.",
        ),
        (
            "max = MAX, base_ms = 100, hint_cap_ms = 60_000",
            "Up to `MAX` calls. Waits of up to 100 ms, 200 ms, 400 ms, ..., 30 s in between \
             (full jitter). An error may ask for a longer wait, up to 1 min.",
        ),
        (
            "max = self.retries, base_ms = BASE, cap_ms = limits::CAP, factor = FACTOR, jitter = RATIO",
            "Up to `self.retries` calls. Waits of up to `BASE` ms, growing by a factor of \
             `FACTOR`, at most `limits::CAP` ms each (a jitter ratio of `RATIO`). An error \
             may ask for a longer wait, up to 5 min.",
        ),
        (
            r#"max = 4, base_ms = config.base, backoff = "linear""#,
            "Up to 4 calls. Waits of up to `config.base` ms, growing by as much each time, at \
             most 30 s each (full jitter). An error may ask for a longer wait, up to 5 min.",
        ),
        (
            r#"max = 4, base_ms = BASE, backoff = "fibonacci", jitter = 0.25"#,
            "Up to 4 calls. Waits of up to `BASE` ms, growing like the Fibonacci numbers, at \
             most 30 s each (a jitter ratio of 0.25). An error may ask for a longer wait, up \
             to 5 min.",
        ),
        (
            r#"max = 4, base_ms = BASE, backoff = "fixed", jitter = "none""#,
            "Up to 4 calls. Waits of `BASE` ms, at most 30 s (no jitter). An error may ask \
             for a longer wait, up to 5 min.",
        ),
        (
            r#"max = 100, base_ms = 50, backoff = "fixed", jitter = "none", on = |e| e.kind() == Kind::NotFound, until = |text| text.ends_with('x')"#,
            "Up to 100 calls. Waits of 50 ms in between (no jitter): at most 4.95 s in total. \
             An error may ask for a longer wait, up to 5 min.",
        ),
        (
            r#"backoff = "linear", max = 6"#,
            "Up to 6 calls. Waits of up to 200 ms, 400 ms, 600 ms, ..., 1 s in between (full \
             jitter): at most 3 s in total. An error may ask for a longer wait, up to 5 min.",
        ),
        (
            r#"backoff = "fibonacci", max = 6"#,
            "Up to 6 calls. Waits of up to 200 ms, 200 ms, 400 ms, ..., 1 s in between (full \
             jitter): at most 2.4 s in total. An error may ask for a longer wait, up to 5 \
             min.",
        ),
        (
            r#"backoff = "none", max = 6"#,
            "Up to 6 calls. No waits in between. An error may ask for a longer wait, up to 5 \
             min.",
        ),
        (
            r#"jitter = "decorrelated""#,
            "Up to 3 calls. Waits from 200 ms to three times the one before, at most 30 s \
             each (decorrelated jitter): at most 2.4 s in total. An error may ask for a \
             longer wait, up to 5 min.",
        ),
        (
            r#"max = 2, jitter = "decorrelated", on(_)"#,
            "Up to 2 calls. Waits from 200 ms to three times the one before, at most 30 s each (decorrelated jitter): at most 600 ms in total.",
        ),
        (
            r#"jitter = "decorrelated", base_ms = BASE, max = 5"#,
            "Up to 5 calls. Waits from `BASE` ms to three times the one before, at most 30 s \
             each (decorrelated jitter). An error may ask for a longer wait, up to 5 min.",
        ),
        (
            "max = 4, delays_ms = [100, 500, 2000]",
            "Up to 4 calls. Waits of up to 100 ms, 500 ms and 2 s in between (full jitter): \
             at most 2.6 s in total. An error may ask for a longer wait, up to 5 min.",
        ),
        (
            "max = 10, delays_ms = [100, 500, 2000], jitter = 0.0",
            "Up to 10 calls. Waits of 100 ms, 500 ms, then 2 s in between (no jitter): at \
             most 14.6 s in total. An error may ask for a longer wait, up to 5 min.",
        ),
        (
            "max = 10, delays_ms = [900, 5, 70, 30, 0]",
            "Up to 10 calls. Waits of up to 900 ms, 5 ms, 70 ms, ..., 0 ms in between (full \
             jitter): at most 1.005 s in total. An error may ask for a longer wait, up to 5 \
             min.",
        ),
        (
            "max = 10, delays_ms = [100, LAST]",
            "Up to 10 calls. Waits of up to 100 ms and `LAST` ms, at most 30 s each (full \
             jitter). An error may ask for a longer wait, up to 5 min.",
        ),
        (
            "max = 10, delays_ms = DELAYS",
            "Up to 10 calls. Waits of up to `DELAYS` ms, at most 30 s each (full jitter). An \
             error may ask for a longer wait, up to 5 min.",
        ),
        ("policy = NETWORK", "Calls and waits as `NETWORK` says."),
        (
            r#"policy = "NETWORK", max = 8, cap_ms = 10_000"#,
            "Up to 8 calls. Waits as `NETWORK` says, but with a cap of 10 s.",
        ),
        (
            r#"policy = self.policy, jitter = "none", base_ms = BASE, factor = 3, hint_cap_ms = 1000, max = "unlimited""#,
            "No limit on the number of calls. Waits as `self.policy` says, but with a base of \
             `BASE` ms, a factor of 3, no jitter and hints of up to 1 s.",
        ),
        (
            r#"policy = P, backoff = "none", max = MAX"#,
            "Up to `MAX` calls. Waits as `P` says, but with no backoff.",
        ),
        (
            r#"policy = P, backoff = "none""#,
            "Calls and waits as `P` says, but with no backoff.",
        ),
        ("policy = P, max = 1", "One call, and no retry."),
        (
            "policy = P, delays_ms = [10, 20], jitter = 0.5",
            "Calls and waits as `P` says, but with delays of 10 ms and 20 ms and a jitter \
             ratio of 0.5.",
        ),
        (
            "until(Some(_))",
            "Up to 3 calls. Waits of up to 200 ms and 400 ms in between (full jitter): at \
             most 600 ms in total.",
        ),
        (
            r#"on = "any", except = is_fatal, budget = BUDGET, breaker = self.breaker, cancel = token"#,
            "Up to 3 calls. Waits of up to 200 ms and 400 ms in between (full jitter): at \
             most 600 ms in total.",
        ),
        (
            r#"max = 100_000, backoff = "linear", base_ms = 1, jitter = "none""#,
            "Up to 100000 calls. Waits of 1 ms, 2 ms, 3 ms, ..., 30 s in between (no jitter): \
             at most 29 d 12 h 19 min 45 s in total. An error may ask for a longer wait, up \
             to 5 min.",
        ),
    ];

    #[test]
    fn numbers_are_stated_and_other_values_are_named() {
        for (attribute, text) in NUMBERS {
            assert_eq!(numbers(&args(attribute)), *text, "{attribute}");
        }
    }

    const CONDITIONS: &[(&str, &str)] = &[
        ("", "Errors are retried if they are transient."),
        (
            r#"max = 8, factor = 1.5, on = "any""#,
            "All errors are retried.",
        ),
        (
            r#"max = "unlimited", on(Error::Busy)"#,
            "Errors are retried if they match `Error::Busy`.",
        ),
        (
            r#"max = "unlimited", deadline_ms = 10_000, timeout_ms = 1500"#,
            "Errors are retried if they are transient. No attempt starts and no wait ends \
             later than 10 s after the first attempt began. An attempt is dropped after 1.5 \
             s.",
        ),
        (
            "max = 3, deadline_ms = 600",
            "Errors are retried if they are transient. No attempt starts and no wait ends \
             later than 600 ms after the first attempt began.",
        ),
        (
            "max = 3, deadline_ms = 601",
            "Errors are retried if they are transient. No attempt starts and no wait ends \
             later than 601 ms after the first attempt began.",
        ),
        (
            r#"max = 100, base_ms = 50, backoff = "fixed", jitter = "none", on = |e| e.kind() == Kind::NotFound, until = |text| text.ends_with('x')"#,
            "Called again until `|text| text.ends_with('x')` accepts the value. Errors are \
             retried if `|e| e.kind() == Kind::NotFound` says so.",
        ),
        (
            "base_ms = 0, on(_)",
            "Errors are retried if they match `_`.",
        ),
        (
            "until(Some(_))",
            "Called again until the value matches `Some(_)`. No error is retried.",
        ),
        (
            "until = is_ready, on = is_transient, except(Error::Fatal)",
            "Called again until `is_ready` accepts the value. Errors are retried if \
             `is_transient` says so, but not if they match `Error::Fatal`.",
        ),
        (
            r#"on = "any", except = is_fatal, budget = BUDGET, breaker = self.breaker, cancel = token"#,
            "All errors are retried, but not if `is_fatal` says so. Retries are paid from \
             `BUDGET`. Attempts are refused while `self.breaker` is open. Cancelling `token` \
             ends the wait and the call.",
        ),
        (
            "on(ApiError::Timeout | ApiError::Status(500..=599))",
            "Errors are retried if they match `ApiError::Timeout | \
             ApiError::Status(500..=599)`.",
        ),
        (
            r#"on = |e| matches!(e, Error::Io { kind, .. } if *kind == Kind::Reset) || e.to_string().contains("try again")"#,
            "Errors are retried if `|e| matches!(e, Error::Io { kind, .. } if *kind == \
             Kind::Reset) || e.to_string() ..` says so.",
        ),
        (
            r#"on(Error::Text("a `quoted` [link](x) <T>"))"#,
            r#"Errors are retried if they match `` Error::Text("a `quoted` [link](x) <T>") ``."#,
        ),
        (
            "max = 1, on = is_transient, deadline_ms = LIMIT",
            "No attempt starts and no wait ends later than `LIMIT` ms after the first attempt \
             began.",
        ),
    ];

    #[test]
    fn conditions_are_named_as_they_are_written() {
        for (attribute, text) in CONDITIONS {
            assert_eq!(conditions(&args(attribute)).join(" "), *text, "{attribute}");
        }
    }

    /// The documentation that is emitted, attribute by attribute.
    fn documented(attribute: &str, item: &str) -> Vec<String> {
        let emitted = crate::attribute(tokens(attribute), &tokens(item)).to_string();
        emitted
            .split("# [")
            .skip(1)
            .filter(|attr| attr.contains("doc ="))
            .map(|attr| attr.split_once(']').unwrap().0.to_owned())
            .collect()
    }

    #[test]
    fn the_section_ends_what_the_user_has_written() {
        let item = "/** Reads. */ #[inline] fn read() -> Result<u8, Error> { Ok(1) }";
        let emitted = documented("max = 1, deadline_ms = 5000", item);
        let section = r#"doc = "\n# Retries\n\nOne call, and no retry.\n\nNo attempt starts and no wait ends later than 5 s after the first attempt began.""#;
        assert_eq!(emitted, [r#"doc = " Reads. ""#, section]);
    }

    #[test]
    fn a_function_without_a_description_is_none_with_one() {
        let item = "#[doc(hidden)] fn read() -> Result<u8, Error> { Ok(1) }";
        let emitted = documented("", item);
        assert_eq!(emitted.len(), 1);
        assert!(
            emitted[0].starts_with("cfg_attr (doc , doc = \"\\n# Retries"),
            "{emitted:?}"
        );
    }

    #[test]
    fn the_section_is_left_out_by_the_function_or_its_block() {
        let read = "fn read() -> Result<u8, Error> { Ok(1) }";
        assert_eq!(documented("doc = false", read), [""; 0]);
        assert_eq!(documented("doc = true", read).len(), 1);

        let block = "impl Store {
            fn read(&self) -> Result<u8, Error> { Ok(1) }
            #[retryable(doc = OTHER, max = 7)]
            fn write(&self) -> Result<u8, Error> { Ok(1) }
            #[retryable(skip)]
            fn delete(&self) -> Result<u8, Error> { Ok(1) }
        }";
        let sections = |of_the_block: &str, of_write: &str| {
            let sections = documented(of_the_block, &block.replace("OTHER", of_write));
            let calls = sections
                .iter()
                .map(|section| section.contains("Up to 7 calls"));
            calls.collect::<Vec<_>>()
        };
        assert_eq!(sections("doc = false", "true"), [true]);
        assert_eq!(sections("doc = true", "false"), [false]);
        assert_eq!(sections("max = 5", "true"), [false, true]);
    }
}
