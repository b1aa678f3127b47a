//! Whether an expression is a constant, judged by how it is written.

use syn::{Expr, ExprPath, Ident, Path};

/// When the value of an expression is known.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Known {
    /// While compiling, in an item of its own: checked wherever the function is
    InItem,
    /// While compiling, once generic parameters are known
    Inline,
    /// When the program runs
    AtRunTime,
}

/// Constants are written in capitals (the compiler warns where they are not); an argument, `self`,
/// a call or anything else belongs to the run.
pub(crate) fn known(expr: &Expr, arguments: &[Ident], params: &[Ident]) -> Known {
    let all = |parts: &[&Expr]| {
        parts
            .iter()
            .map(|part| known(part, arguments, params))
            .max()
            .unwrap_or(Known::InItem)
    };
    match expr {
        Expr::Lit(_) => Known::InItem,
        Expr::Const(_) => Known::Inline,
        Expr::Path(ExprPath {
            qself: None, path, ..
        }) => known_path(path, arguments, params),
        Expr::Path(ExprPath {
            qself: Some(_),
            path,
            ..
        }) if is_constant_name(path) => Known::Inline,
        Expr::Unary(unary) if !matches!(unary.op, syn::UnOp::Deref(_)) => all(&[&unary.expr]),
        Expr::Binary(binary) => all(&[&binary.left, &binary.right]),
        Expr::Cast(cast) => all(&[&cast.expr]),
        Expr::Paren(paren) => all(&[&paren.expr]),
        Expr::Group(group) => all(&[&group.expr]),
        Expr::Reference(reference) => all(&[&reference.expr]),
        Expr::Array(array) => array
            .elems
            .iter()
            .map(|part| all(&[part]))
            .max()
            .unwrap_or(Known::InItem),
        _ => Known::AtRunTime,
    }
}

fn known_path(path: &Path, arguments: &[Ident], params: &[Ident]) -> Known {
    if !is_constant_name(path) {
        return Known::AtRunTime;
    }
    let Some(first) = path.segments.first() else {
        return Known::AtRunTime;
    };
    let first = &first.ident;
    if path
        .get_ident()
        .is_some_and(|name| arguments.contains(name))
    {
        return Known::AtRunTime;
    }
    // an item can not use the parameters around it; those of an `impl` block may not be seen from
    // here, but are types before the `::`, or have names of one letter
    let is_type =
        path.segments.len() > 1 && first.to_string().starts_with(|c: char| c.is_uppercase());
    let has_arguments = path
        .segments
        .iter()
        .any(|segment| !segment.arguments.is_none());
    let is_letter = first.to_string().chars().count() == 1;
    let may_be_generic =
        path.leading_colon.is_none() && (is_type || is_letter || params.contains(first));
    if may_be_generic || has_arguments {
        Known::Inline
    } else {
        Known::InItem
    }
}

fn is_constant_name(path: &Path) -> bool {
    path.segments.last().is_some_and(|last| {
        let name = last.ident.to_string();
        name.starts_with(|c: char| c.is_uppercase() || c == '_')
            && !name.contains(|c: char| c.is_lowercase())
    })
}
