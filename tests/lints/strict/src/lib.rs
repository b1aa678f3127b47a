//! Every lint there is, but for those that the functions themselves would trip.

#![forbid(unsafe_code)]
#![deny(warnings)]
#![allow(unknown_lints, reason = "of other compilers")]
// those of rustc that are off unless asked for
#![deny(
    absolute_paths_not_starting_with_crate,
    ambiguous_negative_literals,
    closure_returning_async_block,
    deprecated_in_future,
    elided_lifetimes_in_paths,
    explicit_outlives_requirements,
    ffi_unwind_calls,
    future_incompatible,
    if_let_rescope,
    impl_trait_overcaptures,
    impl_trait_redundant_captures,
    keyword_idents,
    let_underscore,
    let_underscore_drop,
    macro_use_extern_crate,
    meta_variable_misuse,
    missing_copy_implementations,
    missing_debug_implementations,
    missing_docs,
    non_ascii_idents,
    nonstandard_style,
    redundant_lifetimes,
    refining_impl_trait,
    rust_2018_idioms,
    single_use_lifetimes,
    tail_expr_drop_order,
    trivial_casts,
    trivial_numeric_casts,
    unit_bindings,
    unnameable_types,
    unreachable_pub,
    unstable_features,
    unused,
    unused_crate_dependencies,
    unused_extern_crates,
    unused_import_braces,
    unused_lifetimes,
    unused_macro_rules,
    unused_qualifications,
    unused_results
)]
#![deny(
    clippy::all,
    clippy::pedantic,
    clippy::nursery,
    clippy::cargo,
    clippy::restriction
)]
#![allow(
    clippy::absolute_paths,
    clippy::arbitrary_source_item_ordering,
    clippy::blanket_clippy_restriction_lints,
    clippy::cargo_common_metadata,
    clippy::doc_paragraphs_missing_punctuation,
    clippy::impl_trait_in_params,
    clippy::missing_inline_in_public_items,
    clippy::missing_trait_methods,
    clippy::mod_module_files,
    clippy::multiple_crate_versions,
    clippy::partial_pub_fields,
    clippy::question_mark_used,
    clippy::ref_patterns,
    clippy::self_named_module_files,
    clippy::single_call_fn,
    clippy::std_instead_of_alloc,
    clippy::std_instead_of_core,
    reason = "the functions do so"
)]
#![allow(
    clippy::implicit_return,
    reason = "the functions do so; reported under the attribute where they do not"
)]

#[path = "../../functions.rs"]
pub mod functions;
