"""Compiles and runs every shape of `shapes.py` with every crate, and writes docs/peers.md.

    python3 tools/peers/run.py

Needs cargo and the registry. Packages, build output and all messages of the compiler go to `out`
beside this file (build output to CARGO_TARGET_DIR, if that is set).
"""

import datetime
import json
import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from shapes import ANY, SHAPES

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
OUT = HERE / "out"
TARGET = Path(os.environ.get("CARGO_TARGET_DIR") or OUT / "target").resolve()
# The caller's flags must not decide what is an error
FLAGS = {"RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_BUILD_RUSTFLAGS"}
ENVIRONMENT = {name: value for name, value in os.environ.items() if name not in FLAGS}
SECONDS = 5  # a program that runs longer is taken to retry for ever


@dataclass
class Crate:
    name: str
    dependencies: str  # what its documentation asks for
    attribute: str  # with KEYS where a shape may need something of its own
    usual: str = ""  # the keys where a shape asks for nothing
    # Tried where the attribute does not do, as a second text and its name
    second: tuple = ()
    support: str = ""  # what its attribute refers to
    note: str = ""


CRATES = [
    Crate(
        "retry-runtime",
        'retry-runtime = { path = "PATH", features = ["tokio"] }',
        "retry_runtime::retryable(max = 4, base_ms = 1, KEYS)",
        usual=ANY,
    ),
    Crate(
        "retry-if",
        'retry-if = "*"',
        "retry_if::retry(POLICY, KEYS)",
        usual="failed",
        support="""
pub const POLICY: retry_if::ExponentialBackoffConfig = retry_if::ExponentialBackoffConfig {
    max_retries: 3,
    t_wait: std::time::Duration::from_millis(1),
    backoff: 1.0,
    t_wait_max: None,
    backoff_max: None,
};
pub fn failed<T, E>(outcome: &Result<T, E>) -> bool {
    outcome.is_err()
}
pub fn none<T>(value: &Option<T>) -> bool {
    value.is_none()
}
pub fn not_ready(n: &u32) -> bool {
    !ready(n)
}
""",
        note="for async functions",
    ),
    Crate(
        "backon-macros",
        'backon = "*"\nbackon-macros = "*"',
        "backon_macros::backon(backoff = backoff)",
        second=("backon_macros::backon(backoff = backoff, context = true)", "context"),
        support="""
pub fn backoff() -> backon::ConstantBuilder {
    backon::ConstantBuilder::default()
        .with_delay(std::time::Duration::from_millis(1))
        .with_max_times(3)
}
""",
        note="with backon",
    ),
    Crate(
        "retryable",
        'retryable = "*"',
        "retryable::retryable(max_attempts = 3, sleep_seconds = 0)",
    ),
    Crate(
        "retrying",
        'retrying = { version = "*", features = ["tokio"] }',
        "retrying::retry(stop = attempts(4), wait = fixed(0.001))",
    ),
    Crate(
        "asyn-retry-policy",
        'asyn-retry-policy = "*"',
        "asyn_retry_policy::retry(attempts = 4, base_delay_ms = 1)",
        note="for async functions",
    ),
]
OURS = CRATES[0]

MANIFEST = """
[package]
name = "{name}-shapes"
version = "0.0.0"
edition = "2024"
publish = false

[lib]
name = "support"

[dependencies]
anyhow = "1"
async-trait = "0.1"
tokio = {{ version = "1", features = ["macros", "rt", "sync", "test-util", "time"] }}
tracing = "0.1"
{dependencies}

[profile.dev]
debug = false
incremental = false

[workspace]
"""

SUPPORT = """
//! What every shape uses.

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
pub use std::{pin::Pin, rc::Rc, sync::Arc};

static CALLS: AtomicU32 = AtomicU32::new(0);

#[derive(Debug, PartialEq)]
pub struct Failed;

impl std::fmt::Display for Failed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("not yet")
    }
}

impl std::error::Error for Failed {}

pub mod blocking {
    /// Counts a call; the first two fail.
    pub fn fetch() -> Result<u32, super::Failed> {
        let n = super::CALLS.fetch_add(1, super::SeqCst) + 1;
        if n < 3 { Err(super::Failed) } else { Ok(n) }
    }
}

pub mod task {
    pub async fn fetch() -> Result<u32, super::Failed> {
        tokio::task::yield_now().await;
        super::blocking::fetch()
    }
}

pub fn ready(n: &u32) -> bool {
    *n >= 3
}

pub fn report(ok: bool) {
    println!("CALLS={} OK={ok}", CALLS.load(SeqCst));
}
"""

PROGRAM = """{head}
#[allow(unused_imports)]
use support::{{*, {kind}::*}};

{code}

{main} {{
    let ok = {check};
    report(ok);
}}
"""
MAINS = {
    "async": '#[tokio::main(flavor = "current_thread", start_paused = true)]\nasync fn main()',
    "sync": "fn main()",
}


@dataclass
class Verdict:
    word: str  # "ok", "fails" or "WRONG"
    detail: str = ""
    rendered: str = ""  # what the compiler or the program said


@dataclass
class Package:
    """The shapes with one crate."""

    crate: Crate
    programs: dict = field(default_factory=dict)  # name of a program -> its shape

    @property
    def folder(self):
        return OUT / self.crate.name

    def write(self):
        """The package without its programs."""
        bins = self.folder / "src" / "bin"
        bins.mkdir(parents=True, exist_ok=True)
        for old in [*bins.iterdir(), self.folder / "Cargo.lock"]:
            old.unlink(missing_ok=True)
        path = Path(os.path.relpath(ROOT / "retry-runtime", self.folder)).as_posix()
        dependencies = self.crate.dependencies.replace("PATH", path)
        manifest = MANIFEST.format(name=self.crate.name, dependencies=dependencies)
        (self.folder / "Cargo.toml").write_text(manifest.lstrip())
        (self.folder / "src" / "lib.rs").write_text(SUPPORT.lstrip() + self.crate.support)

    def program(self, shape, attribute, suffix=""):
        """Writes one program; without an attribute, the function is left as it is."""
        number = SHAPES.index(shape) + 1
        name = f"s{number:03}_{shape.name[:40]}{suffix}"
        line = re.compile(r"^( *)#\[RETRY\]\n", re.MULTILINE)
        text = PROGRAM.format(
            head=shape.head,
            kind={"async": "task", "sync": "blocking"}[shape.kind],
            code=line.sub(rf"\1#[{attribute}]\n" if attribute else "", shape.code),
            main=MAINS[shape.main or shape.kind],
            check=shape.check,
        )
        (self.folder / "src" / "bin" / f"{name}.rs").write_text(text.lstrip())
        self.programs[name] = shape
        return name

    def cargo(self, command, names):
        """The programs that were built, and the first error of each of the others."""
        arguments = ["cargo", command, "--keep-going", "--message-format=json"]
        arguments += ["--target-dir", str(TARGET / self.crate.name)]
        for name in names:
            arguments += ["--bin", name]
        built, errors = {}, {}
        with (
            open(self.folder / "cargo.txt", "w") as log,
            subprocess.Popen(
                arguments,
                cwd=self.folder,
                env=ENVIRONMENT,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            ) as cargo,
        ):
            for line in cargo.stdout:
                message = json.loads(line)
                name = message.get("target", {}).get("name")
                if name not in self.programs:
                    continue
                if message["reason"] == "compiler-artifact":
                    built[name] = message["executable"]
                elif message["reason"] == "compiler-message":
                    error = message["message"]
                    if error["level"].startswith("error") and error["spans"]:
                        errors.setdefault(name, error)
        missing = [name for name in names if name not in built and name not in errors]
        if missing:
            sys.exit(f"no word from cargo on {missing}, see {self.folder / 'cargo.txt'}")
        return built, errors

    def judge(self, attribute_of, suffix=""):
        """A verdict for each shape that `attribute_of` has an attribute for."""
        names = [
            self.program(shape, attribute, suffix)
            for shape in SHAPES
            if (attribute := attribute_of(shape))
        ]
        if not names:
            return {}
        built, errors = self.cargo("build", names)
        return {
            self.programs[name].name: self.run(name, built[name])
            if name in built
            else self.fails(name, errors[name])
            for name in names
        }

    def fails(self, name, error):
        if error["code"]:
            said = error["code"]["code"]
        elif "panicked" in error["message"]:
            said = "panic"
        elif "cannot be sent between threads" in error["message"]:
            said = "not `Send`"
        else:
            said = "message"
        source = f"{name}.rs"
        lines = (self.folder / "src" / "bin" / source).read_text().splitlines()
        span = next(span for span in error["spans"] if span["is_primary"])
        # what a macro of another crate was expanded from
        while not span["file_name"].endswith(source) and span["expansion"]:
            span = span["expansion"]["span"]
        attribute = self.crate.attribute.partition("(")[0]
        at = "M" if f"#[{attribute}(" in lines[span["line_start"] - 1] else "U"
        return Verdict("fails", f"{said} {at}", error["rendered"])

    def run(self, name, executable):
        shape = self.programs[name]
        try:
            done = subprocess.run(
                [executable], capture_output=True, text=True, timeout=SECONDS, cwd=self.folder
            )
        except subprocess.TimeoutExpired:
            return Verdict("WRONG", "does not end")
        said = done.stdout + done.stderr
        report = re.fullmatch(r"CALLS=(\d+) OK=(true|false)\n", done.stdout)
        if done.returncode or not report:
            return Verdict("WRONG", "panics", said)
        calls, ok = int(report[1]), report[2] == "true"
        if calls != shape.calls:
            return Verdict("WRONG", f"{calls} call{'s' * (calls != 1)}", said)
        if not ok:
            return Verdict("WRONG", shape.wrong or "another value", said)
        return Verdict("ok", "", said)


def check_shapes():
    """Every shape must be a program when it is not retried."""
    package = Package(Crate("no-attribute", "", ""))
    package.write()
    names = [package.program(shape, "") for shape in SHAPES]
    _, errors = package.cargo("check", names)
    for error in errors.values():
        print(error["rendered"], file=sys.stderr)
    if errors:
        sys.exit("these shapes do not compile without an attribute")


def measure(crate):
    """A verdict for each shape, and the versions of what was built."""
    package = Package(crate)
    package.write()

    def keys(shape):
        return shape.keys.get(crate.name, crate.usual)

    verdicts = package.judge(lambda shape: crate.attribute.replace("KEYS", keys(shape)))
    for shape in SHAPES:
        if verdicts[shape.name].word == "ok":
            verdicts[shape.name].detail = ", ".join(special(keys(shape)))
    if crate.second:
        attribute, name = crate.second
        again = package.judge(
            lambda shape: attribute if verdicts[shape.name].word != "ok" else "", "_second"
        )
        for shape, verdict in again.items():
            if verdict.word == "ok":
                verdict.detail = name
                verdicts[shape] = verdict
    metadata = subprocess.run(
        ["cargo", "metadata", "--format-version=1"],
        cwd=package.folder,
        check=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    packages = json.loads(metadata.stdout)["packages"]
    return verdicts, {package["name"]: package["version"] for package in packages}


def special(keys):
    """The names of the keys that a shape needs."""
    return re.findall(r"(\w+)(?: = |\()", keys.removeprefix(ANY))


def cell(verdict):
    if verdict.word == "ok":
        return f"ok (`{verdict.detail}`)" if verdict.detail else "ok"
    return f"{verdict.word}: {verdict.detail}"


def counts(verdicts, kind):
    words = [verdicts[shape.name].word for shape in SHAPES if shape.kind == kind]
    return " / ".join(str(words.count(word)) for word in ("ok", "fails", "WRONG"))


def table(header, rows):
    lines = [header, ["---"] * len(header), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def report(results):
    """The page. `results`: name of a crate -> verdicts by shape, and versions."""
    rustc = subprocess.run(["rustc", "--version"], capture_output=True, text=True, check=True)
    version = rustc.stdout.split()[1]
    kinds = {kind: sum(shape.kind == kind for shape in SHAPES) for kind in ("async", "sync")}
    _, versions = results[OURS.name]
    shared = ["tokio", "async-trait", "anyhow", "tracing"]
    page = f"""# Retry attributes, shape by shape

Each line below is a function that was compiled and run with the attribute of each crate, one
program per function and crate, by a script; nothing is taken from reading sources. To make the page
again: `python3 tools/peers/run.py`.

Made on {datetime.date.today().isoformat()} with rustc {version}, edition 2024,
{", ".join(f"{name} {versions[name]}" for name in shared)}.

## Summary

"""
    rows = []
    for crate in CRATES:
        verdicts, versions = results[crate.name]
        name = f"{crate.name} {versions[crate.name]}"
        if crate is OURS:
            name += ", this one"
        if crate.note:
            note = crate.note + (f" {versions['backon']}" if "backon" in versions else "")
            name += f" ({note})"
        rows.append([name, counts(verdicts, "async"), counts(verdicts, "sync")])
    header = ["crate"]
    header += [f"{kind}: ok / fails / WRONG, of {number}" for kind, number in kinds.items()]
    page += table(header, rows)
    page += """
The shapes are our choice and lean towards the hard ones, so the counts say little about how often
a crate fails in everyday use. This crate was made with these shapes in mind; the others were not,
and several of the limits below are stated in their documentation.

## How to read it

The body of each function fails at its first two calls and succeeds at the third; every crate is
allowed four calls and hardly any wait. A program depends on the crate as its documentation asks, and
on the four crates named above.

- **ok**: it builds, calls until the body succeeds and returns the right value. A key in parentheses is
  one that the crate's attribute has for this function.
- **fails**: it does not build. The code is that of the first error: a rustc error, a lint,
  `message` for an error without one, `panic` if the macro panicked. **M** says that the error points
  at the attribute, **U** that it points into the user's code.
- **WRONG**: it builds, and does something else, as it says. That a `mut` argument starts anew at each attempt
  is what we expect; a crate may mean to keep its changes.

The attributes, apart from what `tools/peers/shapes.py` says of a shape:

```rust
"""
    for crate in CRATES:
        page += f"#[{crate.attribute.replace('KEYS', crate.usual)}]\n"
        if crate.second:
            page += f"#[{crate.second[0]}] // where that does better\n"
    page += "```\n"
    header = ["function", "", *(crate.name for crate in CRATES)]
    for section in dict.fromkeys(shape.section for shape in SHAPES):
        rows = [
            [
                shape.title.replace("|", "\\|"),
                shape.kind,
                *(cell(results[crate.name][0][shape.name]) for crate in CRATES),
            ]
            for shape in SHAPES
            if shape.section == section
        ]
        page += f"\n## {section}\n\n{table(header, rows)}"
    return page


def main():
    start = time.monotonic()
    OUT.mkdir(exist_ok=True)
    check_shapes()
    results = {}
    for crate in CRATES:
        results[crate.name] = measure(crate)
        seconds = time.monotonic() - start
        print(f"{seconds:5.0f} s  {crate.name}", file=sys.stderr)
    log = {
        name: {shape: verdict.__dict__ for shape, verdict in verdicts.items()}
        for name, (verdicts, _) in results.items()
    }
    (OUT / "results.json").write_text(json.dumps(log, indent=1))
    (ROOT / "docs" / "peers.md").write_text(report(results))


if __name__ == "__main__":
    main()
