//! The crates in `lints/` compile without a finding: under every lint, in each edition, and where
//! the runtime has another name or is reached through another crate. So does their documentation.

use std::{env, fs, path::Path, process::Command};

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

/// Promise 22.
#[test]
fn the_documentation_has_a_section_on_retries() {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args([
            "doc",
            "--offline",
            "--quiet",
            "--no-deps",
            "--package=lints-strict",
        ])
        .env("RUSTDOCFLAGS", "--deny=warnings")
        .output()
        .unwrap();
    let found = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && found.is_empty(), "{found}");

    let pages = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let pages = pages.join("doc/lints_strict/functions");
    let page = |name: &str| fs::read_to_string(pages.join(name)).unwrap();
    let documented = [
        (
            "fn.bare.html",
            "Waits of up to 200 ms and 400 ms in between",
        ),
        ("fn.constants.html", "Up to <code>MAX</code> calls."),
        (
            "fn.quoted.html",
            "<code>|error: &amp;ApiError| error.to_string() != \"`[nowhere]` &lt;T&gt; *[x](y)*\"</code> says so",
        ),
        // a trait method without a description of its own
        ("struct.Client.html", "Up to 2 calls."),
    ];
    for (name, text) in documented {
        let page = page(name);
        assert!(page.contains(">Retries</h"), "{name}");
        assert!(page.contains(text), "{name}: {text}");
    }
    assert!(!page("fn.silent.html").contains("Retries</h"));
}
