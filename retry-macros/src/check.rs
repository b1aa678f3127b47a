//! `Args` + function -> `Plan`: what can not be retried, and keys that contradict one another.

use syn::{
    Expr, FnArg, GenericArgument, GenericParam, Ident, Lifetime, PathArguments, Receiver,
    ReceiverKind, ReturnType, Signature, Type, TypeReference,
};

use crate::{
    args::{Args, Keyed},
    bindings::Bindings,
    block::is_retryable,
    constants::{Known, known},
    errors::Errors,
    events,
    item::Function,
    shape::{Kind, Shape},
    values::{Delays, Jitter, Millis, Predicate},
};

/// A function that can be retried, and how.
pub(crate) struct Plan {
    /// With the signature as it is emitted
    pub(crate) function: Function,
    pub(crate) args: Args,
    pub(crate) bindings: Bindings,
    pub(crate) shape: Shape,
    /// Names of type and constant parameters
    params: Vec<Ident>,
    /// The type of an attempt
    pub(crate) returns: Type,
}

impl Plan {
    /// `None` if there is nothing to retry; `errors` has the reason then.
    pub(crate) fn check(args: Args, mut function: Function, errors: &mut Errors) -> Option<Self> {
        waits(&args, errors);
        predicates(&args, errors);
        for again in function.attrs.iter().filter(|attr| is_retryable(attr)) {
            errors.at(
                again,
                "`#[retryable]` is given twice: one would retry the other, and the calls multiply",
            );
        }
        if let Some(token) = &function.sig.constness {
            let mut message = String::from("a `const fn` can not wait, so it can not be retried");
            if function.in_block {
                message.push_str(": leave it out with `#[retryable(skip)]`");
            }
            errors.at(token, message);
        }
        if let Some(borrow) = returned_mut_borrow(&function.sig) {
            errors.at(
                borrow,
                "a `&mut` borrow of an argument can not be returned: the next attempt borrows it again; \
                 return an owned value, a key or an index",
            );
        }
        let mut shape = Shape::of(&function);
        if args.timeout.is_some() || events::has_spans(&args) {
            shape = shape.with_futures();
        }
        let bindings = Bindings::plan(&mut function, &mut shape, &args, errors);
        let is_unit = matches!(&shape.returns, Some(Type::Tuple(unit)) if unit.elems.is_empty());
        if is_unit || shape.returns.is_none() {
            let message = "nothing tells whether this function failed: let it return a `Result`";
            match &function.sig.output {
                ReturnType::Default => errors.at(&function.sig.ident, message),
                ReturnType::Type(_, unit) => errors.at(unit, message),
            }
        }
        let returns = shape.returns.clone()?;
        let params = function
            .generics()
            .into_iter()
            .flat_map(|generics| &generics.params);
        let params = params.filter_map(|param| match param {
            GenericParam::Const(param) => Some(param.ident.clone()),
            GenericParam::Type(param) => Some(param.ident.clone()),
            GenericParam::Lifetime(_) => None,
        });
        let params = params.collect();
        limits(&args, shape.kind, errors);
        let plan = Self {
            function,
            args,
            bindings,
            shape,
            params,
            returns,
        };
        plan.delays_are_constant(errors);
        Some(plan)
    }

    /// A policy is a plain value that lives as long as the program, and so is its list.
    fn delays_are_constant(&self, errors: &mut Errors) {
        let Some(delays) = &self.args.delays else {
            return;
        };
        let exprs: Vec<&Expr> = match &delays.value {
            Delays::List(list) => list.iter().map(|entry| &entry.expr).collect(),
            Delays::Constant(expr) => vec![expr],
        };
        for expr in exprs {
            if self.known(expr) == Known::AtRunTime {
                errors.at(
                    expr,
                    "`delays_ms` expects constants, which are written in capitals; for waits known at run time use `base_ms`",
                );
            }
        }
    }

    /// When the value of an expression in the attribute is known.
    pub(crate) fn known(&self, expr: &Expr) -> Known {
        known(expr, &self.bindings.arguments, &self.params)
    }
}

fn literal(millis: Option<&Keyed<Millis>>) -> Option<u64> {
    millis.and_then(|keyed| keyed.value.0.literal)
}

/// Waits that no value of the other key can bring about.
fn waits(args: &Args, errors: &mut Errors) {
    if args.delays.is_some() {
        let replaced = [
            args.base.as_ref().map(|keyed| &keyed.key),
            args.factor.as_ref().map(|keyed| &keyed.key),
            args.backoff.as_ref().map(|keyed| &keyed.key),
        ];
        for key in replaced.into_iter().flatten() {
            errors.at(
                key,
                format!("`{key}` has no effect beside `delays_ms`, which lists every wait"),
            );
        }
    }
    let shape = args.backoff.as_ref().map(|keyed| keyed.value.name.as_str());
    let never_waits = shape == Some("none");
    if let Some(factor) = &args.factor {
        if let Some(shape @ ("linear" | "fibonacci" | "fixed" | "none")) = shape {
            errors.at(
                &factor.key,
                format!("`factor` has no effect on the {shape:?} backoff"),
            );
        }
    }
    if never_waits {
        let unused = [&args.base, &args.cap]
            .into_iter()
            .flatten()
            .map(|keyed| &keyed.key);
        for key in unused {
            errors.at(
                key,
                format!("`{key}` has no effect: `backoff = \"none\"` never waits"),
            );
        }
    }
    jitter(args, never_waits, errors);
    if let (Some(base), Some(cap)) = (literal(args.base.as_ref()), literal(args.cap.as_ref())) {
        if base > cap {
            let written = args.base.as_ref().map(|keyed| &keyed.value.0.expr);
            errors.at(
                written,
                format!("`base_ms` ({base}) must not be above `cap_ms` ({cap})"),
            );
        }
    }
    if let (Some(Delays::List(delays)), Some(cap)) = (
        args.delays.as_ref().map(|keyed| &keyed.value),
        literal(args.cap.as_ref()),
    ) {
        for delay in delays
            .iter()
            .filter(|delay| delay.literal.is_some_and(|ms| ms > cap))
        {
            errors.at(
                &delay.expr,
                format!("no entry of `delays_ms` may be above `cap_ms` ({cap})"),
            );
        }
    }
}

fn jitter(args: &Args, never_waits: bool, errors: &mut Errors) {
    let Some(jitter) = &args.jitter else { return };
    match &jitter.value {
        Jitter::Named(name) if name == "None" => {}
        _ if never_waits || literal(args.base.as_ref()) == Some(0) => {
            errors.at(
                &jitter.key,
                "`jitter` has no effect: there is no wait to shorten",
            );
        }
        Jitter::Named(name) if name == "Decorrelated" => {
            let replaced = [
                args.factor.as_ref().map(|keyed| &keyed.key),
                args.backoff.as_ref().map(|keyed| &keyed.key),
                args.delays.as_ref().map(|keyed| &keyed.key),
            ];
            for key in replaced.into_iter().flatten() {
                errors.at(key, format!("`{key}` has no effect on `jitter = \"decorrelated\"`, which grows by itself"));
            }
        }
        _ => {}
    }
}

fn limits(args: &Args, kind: Kind, errors: &mut Errors) {
    if let (Some(timeout), Kind::Blocking) = (&args.timeout, kind) {
        errors.at(
            &timeout.key,
            "`timeout_ms` needs an async function: a blocking one can not be interrupted",
        );
    }
    if let (Some(timeout), Some(deadline)) = (
        literal(args.timeout.as_ref()),
        literal(args.deadline.as_ref()),
    ) {
        if timeout >= deadline {
            let written = args.timeout.as_ref().map(|keyed| &keyed.value.0.expr);
            errors.at(
                written,
                format!("`timeout_ms` ({timeout}) must be below `deadline_ms` ({deadline}), which ends the call before it"),
            );
        }
    }
    if let (Some(_), Some(sleep), Kind::Blocking) = (&args.cancel, &args.sleep, kind) {
        errors.at(
            &sleep.key,
            "`sleep` has no effect beside `cancel`: a blocking function waits for the token",
        );
    }
    if let (Some(_), Some(all)) = (&args.recover, &args.recover_all) {
        errors.at(
            &all.key,
            "`recover_all` has no effect beside `recover`: give one of them",
        );
    }
}

fn predicates(args: &Args, errors: &mut Errors) {
    for keyed in [&args.except, &args.until].into_iter().flatten() {
        if let Predicate::Any(span) = keyed.value {
            errors.span(
                span,
                format!(
                    "`{}` can not be \"any\": nothing would ever be retried",
                    keyed.key
                ),
            );
        }
    }
}

/// A `&mut` in the return type that borrows from a `&mut` argument.
fn returned_mut_borrow(sig: &Signature) -> Option<&TypeReference> {
    let borrows: Vec<_> = sig.inputs.iter().filter_map(borrow).collect();
    let has_receiver = sig.receiver().is_some();
    let returned = match &sig.output {
        ReturnType::Type(_, ty) => mut_reference(ty)?,
        ReturnType::Default => return None,
    };
    let named = returned
        .lifetime
        .as_ref()
        .filter(|lifetime| lifetime.ident != "_");
    let from_argument = match (named, borrows.as_slice()) {
        (Some(name), _) => borrows
            .iter()
            .any(|(lifetime, mutable)| *mutable && *lifetime == Some(name)),
        // the receiver, or else the only borrow
        (None, [(_, mutable), ..]) => *mutable && (has_receiver || borrows.len() == 1),
        (None, []) => false,
    };
    from_argument.then_some(returned)
}

/// The lifetime of a borrowed argument, and whether it is borrowed mutably.
fn borrow(input: &FnArg) -> Option<(Option<&Lifetime>, bool)> {
    match input {
        FnArg::Receiver(Receiver {
            kind: ReceiverKind::Reference(_, lifetime, mutable),
            ..
        }) => Some((lifetime.as_ref(), mutable.is_some())),
        FnArg::Receiver(_) => None,
        FnArg::Typed(argument) => match &*argument.ty {
            Type::Reference(reference) => {
                Some((reference.lifetime.as_ref(), reference.mutability.is_some()))
            }
            _ => None,
        },
    }
}

/// The first `&mut` in a type such as `Result<Option<&mut T>, E>`.
fn mut_reference(ty: &Type) -> Option<&TypeReference> {
    match ty {
        Type::Reference(reference) if reference.mutability.is_some() => Some(reference),
        Type::Tuple(tuple) => tuple.elems.iter().find_map(mut_reference),
        Type::Path(path) => {
            path.path
                .segments
                .iter()
                .find_map(|segment| match &segment.arguments {
                    PathArguments::AngleBracketed(arguments) => {
                        arguments.args.iter().find_map(|argument| match argument {
                            GenericArgument::Type(ty) => mut_reference(ty),
                            _ => None,
                        })
                    }
                    _ => None,
                })
        }
        _ => None,
    }
}
