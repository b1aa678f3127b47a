//! The crates in `lints/` compile without a finding: under every lint, in each edition, and where
//! the runtime has another name or is reached through another crate.

use std::{env, fs, process::Command};

#[test]
fn the_expansion_trips_no_lint() {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let clippy = Command::new(&cargo).args(["clippy", "--version"]).output();
    let command = if clippy.is_ok_and(|output| output.status.success()) {
        "clippy"
    } else {
        eprintln!("without clippy, only the lints of rustc are looked at");
        "check"
    };
    let crates = fs::read_dir("tests/lints").unwrap().filter_map(|entry| {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy();
        path.is_dir().then(|| format!("--package=lints-{name}"))
    });
    let output = Command::new(cargo)
        .args([command, "--offline", "--quiet"])
        .args(crates)
        .output()
        .unwrap();
    let found = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && found.is_empty(), "{found}");
}
