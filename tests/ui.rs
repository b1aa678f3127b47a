//! Promise 25: what the compiler says to users.

use std::{env, process::Command};

/// The pages are those of this compiler, which CI uses; the words of others differ.
const COMPILER: &str = "rustc 1.95.0 ";

#[test]
fn messages() {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = Command::new(rustc)
        .arg("--version")
        .output()
        .unwrap()
        .stdout;
    if !version.starts_with(COMPILER.as_bytes()) {
        eprintln!("skipped: the pages are those of {COMPILER}");
        return;
    }
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/ui/*/*.rs");
}
