//! What the compiler says to users. The pages are of one compiler, that of CI; others skip them.

#[test]
fn messages() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/ui/*/*.rs");
}
