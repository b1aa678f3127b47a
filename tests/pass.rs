//! Programs that need a crate of their own: they must compile without a warning, and run.

#[test]
fn programs() {
    trybuild::TestCases::new().pass("tests/pass/*.rs");
}
