//! Makes many calls, for a tool that counts instructions.
//!
//! `calls list` says which there are; `calls sync success 'loop by hand' 1000` makes some.

use std::{env, hint::black_box};

use retry_benches::{
    Service,
    contenders::{ALL, CASES, Call, Case},
};

fn main() {
    let arguments: Vec<_> = env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["list"] => list(),
        [kind, case, name, calls] => make(kind, case, name, calls.parse().expect("a number")),
        _ => panic!("`list`, or kind, case, contender and number of calls"),
    }
}

/// Kind, case, contender, and why it can not.
fn list() {
    for contender in ALL {
        for case in &CASES {
            for (kind, calls) in [("sync", &contender.blocking), ("async", &contender.task)] {
                let reason = calls.of(case).err().unwrap_or_default();
                println!("{kind}\t{}\t{}\t{reason}", case.name, contender.name);
            }
        }
    }
}

fn make(kind: &str, case: &str, name: &str, calls: u64) {
    let case = CASES
        .iter()
        .find(|found| found.name == case)
        .expect("a case");
    let contender = ALL
        .iter()
        .find(|found| found.name == name)
        .expect("a contender");
    let kind = match kind {
        "sync" => &contender.blocking,
        "async" => &contender.task,
        _ => panic!("sync or async"),
    };
    let call = kind.of(case).expect("a call that this contender can make");
    let service = Service::default();
    repeat(&service, call, case, calls);
}

#[inline(never)]
fn repeat(service: &Service, call: Call, case: &Case, calls: u64) {
    for id in 0..calls {
        service.fail(case.failures);
        assert_eq!(black_box(call)(service, id), case.expected(id));
    }
}
