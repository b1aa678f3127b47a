#![deny(warnings)]
#![allow(non_upper_case_globals, dead_code)]
use retry_runtime::{Failure, retryable};
const attempts: u8 = 1; const outcome: u8 = 1; const wait: u8 = 1; const decision: u8 = 1; const limits: u8 = 1;
const reason: u8 = 1; const error: u8 = 1; const value: &u32 = &2; const started: u8 = 1; const failure: u8 = 1;
const cancel: u8 = 1; const budget: u8 = 1; const permit: u8 = 1; const open: u8 = 1; const limit: u8 = 1; const name: u8 = 1; const inner: u8 = 1; const attempt: u8 = 1;
#[retryable(max = 4, base_ms = 1, on = "any", until = |v: &u32| *v > 0, deadline_ms = 5000, recover = |f: Failure<u32>| Err(f.error))]
fn f(calls: &mut u32, mut n: u32) -> Result<u32, u32> { n += 1; *calls += 1; Ok(n) }
#[test]
fn constants() { let mut calls = 0; assert_eq!(f(&mut calls, 1), Ok(2)); assert_eq!(calls, 1); }
