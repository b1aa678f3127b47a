"""What the scripts of this folder measure with: builds, counted instructions, sizes, allocations."""

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target").resolve() / "benches"
# The caller's flags must not change what is measured
FLAGS = {"RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_BUILD_RUSTFLAGS"}
ENVIRONMENT = {name: value for name, value in os.environ.items() if name not in FLAGS}
TIMES = TARGET / "criterion"
ENVIRONMENT["CRITERION_HOME"] = str(TIMES)

CALLS = 1000  # measured once and twice, so that all that is done once per program cancels out

OURS = "#[retryable]"
BY_HAND = "loop by hand"
BARE = "bare call"
# The same where `?` leaves the body, which is then a closure or an async block
LEFT_EARLY = ", a body with `?`"
KINDS = ["sync", "async"]
CASES = ["success", "one failure", "exhausted"]
SIZES = ["plain", "arguments", "nested"]


def run(command, **options):
    """What the command prints; its complaints go where ours go."""
    options = {"cwd": HERE, "env": ENVIRONMENT, "check": True, "text": True} | options
    return subprocess.run(command, stdout=subprocess.PIPE, **options).stdout


def cargo(command, *arguments):
    return run(["cargo", command, "--locked", "--target-dir", str(TARGET), *arguments])


def build(*arguments, profile="release"):
    cargo("build", "--profile", profile, "--bins", *arguments)


def program(name, profile="release"):
    return TARGET / profile / name


def compiler():
    """The compiler and what it compiles for."""
    lines = dict(line.split(": ", 1) for line in run(["rustc", "-vV"]).splitlines()[1:])
    return f"rustc {lines['release']} {lines['host']}"


def valgrind():
    """Its path. Installed where it is missing, if this is allowed."""
    path = shutil.which("valgrind")
    if path:
        return path
    if os.geteuid() == 0 and shutil.which("apt-get"):
        for command in (["apt-get", "update"], ["apt-get", "install", "-y", "valgrind"]):
            print(run(command), file=sys.stderr)
        path = shutil.which("valgrind")
    return path or sys.exit("valgrind is missing, which counts instructions: apt-get install valgrind")


def table(lines):
    """Lines of two keys, a name and a value, as a dictionary; a value that is no number is why
    there is none."""
    values = {}
    for line in lines.splitlines():
        first, second, name, value = line.split("\t")
        values[first, second, name] = int(value) if value.isdecimal() else value
    return values


def memory():
    """Sizes by `("size", size, contender)`, allocations by `("sync" or "tokio", case, contender)`."""
    return table(run([program("memory")]))


def instructions(profile="release"):
    """Per call, by kind, case and contender; or why there are none."""
    tool, calls_of = valgrind(), program("calls", profile)
    counts = table(run([calls_of, "list"]))

    def count(call, calls):
        command = [tool, "--tool=callgrind", "--callgrind-out-file=/dev/null"]
        command += [calls_of, *call, str(calls)]
        said = run(command, stderr=subprocess.STDOUT)
        return next(int(line.split()[-1]) for line in said.splitlines() if "Collected" in line)

    def per_call(call):
        return round((count(call, 2 * CALLS) - count(call, CALLS)) / CALLS)

    possible = [call for call, reason in counts.items() if not reason]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        counts.update(zip(possible, pool.map(per_call, possible)))
    return counts
