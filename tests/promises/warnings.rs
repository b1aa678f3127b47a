//! Promise 27: that this compiles is the test, for the expansion as for what is written.

#![forbid(unsafe_code)]

use crate::support::Log;

mod strict {
    #![deny(
        warnings,
        unused_qualifications,
        single_use_lifetimes,
        elided_lifetimes_in_paths,
        let_underscore_drop,
        unreachable_pub,
        trivial_casts,
        trivial_numeric_casts,
        unused_lifetimes,
        unused_results,
        variant_size_differences,
        clippy::pedantic,
        clippy::nursery,
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects,
        clippy::as_conversions,
        clippy::absolute_paths,
        clippy::shadow_reuse,
        clippy::shadow_same,
        clippy::shadow_unrelated,
        clippy::question_mark_used,
        clippy::implicit_return,
        clippy::pattern_type_mismatch,
        clippy::float_arithmetic,
        clippy::integer_division,
        clippy::let_underscore_untyped,
        clippy::single_call_fn,
        clippy::min_ident_chars,
        clippy::missing_trait_methods,
        clippy::else_if_without_else,
        clippy::if_then_some_else_none,
        clippy::infinite_loop,
        clippy::unreachable,
        clippy::wildcard_enum_match_arm,
        clippy::ref_patterns,
        clippy::exhaustive_enums,
        clippy::semicolon_outside_block
    )]
    #![allow(
        clippy::implicit_return,
        clippy::single_call_fn,
        clippy::question_mark_used,
        reason = "of what is written here, not of the expansion"
    )]

    use std::{
        future::{Ready, ready},
        time::Duration,
    };

    use retry_runtime::{Policy, Transient, retryable};

    use crate::support::{Failed, succeed_at};

    fn elsewhere() -> Ready<()> {
        ready(())
    }

    const fn pause(_: Duration) {}

    const POLICY: Policy = Policy::new().max(4).base_ms(1);
    const MAX: usize = 3;

    #[derive(Clone, Debug)]
    pub(super) struct Service {
        pub(super) max: u8,
        pub(super) base: u64,
        pub(super) factor: f32,
        pub(super) ratio: f64,
    }

    impl Service {
        const DELAYS: &[u64] = &[1, 2];
        const CAP: u16 = 50;

        #[retryable(
        max = self.max,
        base_ms = self.base,
        factor = self.factor,
        cap_ms = Self::CAP,
        jitter = self.ratio
    )]
        pub(super) fn at_run_time(&self) -> Result<u32, Failed> {
            succeed_at(2)
        }

        #[retryable(delays_ms = Self::DELAYS, max = MAX)]
        pub(super) fn listed(mut self, mut by: u8) -> Result<u8, Failed> {
            self.max = self.max.saturating_add(by);
            by = self.max;
            succeed_at(2).map(|_| by)
        }

        #[retryable(policy = POLICY, jitter = "equal", clone(self), on = |failed| failed.0 < 9)]
        pub(super) async fn by_policy(self, text: String) -> Result<usize, Failed> {
            elsewhere().await;
            let Self { max, .. } = self;
            succeed_at(max.into()).map(|_| text.len())
        }

        #[retryable(base_ms = 1, except(Failed(7)), keep(kept))]
        pub(super) async fn arguments<'a, T: Sync>(
            &mut self,
            value: &'a T,
            (mut first, second): (Vec<u8>, u8),
            mut kept: Vec<u8>,
            _: &str,
        ) -> Result<&'a T, Failed> {
            elsewhere().await;
            first.push(second);
            kept.append(&mut first);
            self.max = kept.pop().unwrap_or(0);
            let _last = succeed_at(2)?;
            Ok(value)
        }
    }

    #[retryable(until = Option::is_some, sleep = pause)]
    pub(super) fn polled() -> Option<u32> {
        succeed_at(2).ok()
    }

    #[retryable(until(Some(3..)), on(Failed(..9)), base_ms = 1)]
    pub(super) async fn polled_async() -> Result<Option<u32>, Failed> {
        elsewhere().await;
        succeed_at(3).map(Some)
    }

    #[retryable(base_ms = 1)]
    pub(super) async fn never() -> Result<u32, Failed> {
        panic!("on purpose")
    }

    #[derive(Debug, Transient)]
    #[non_exhaustive]
    pub(super) enum Derived {
        #[transient]
        Busy,
        #[transient(inner)]
        Inner(Failed),
    }

    #[retryable(base_ms = 1)]
    pub(super) fn derived(busy: bool) -> Result<u32, Derived> {
        if busy {
            return Err(Derived::Busy);
        }
        succeed_at(3).map_err(Derived::Inner)
    }
}

use strict::*;

#[test]
fn the_expansion_is_free_of_warnings() {
    let service = Service {
        max: 3,
        base: 1,
        factor: 2.0,
        ratio: 0.5,
    };
    let _log = Log::start();
    assert_eq!(service.at_run_time(), Ok(2));
    let _log = Log::start();
    assert_eq!(service.clone().listed(1), Ok(4));
    let _log = Log::start();
    assert_eq!(polled(), Some(2));
    let _log = Log::start();
    assert!(derived(false).is_ok());
    let _log = Log::start();
    assert!(derived(true).is_err());
}

#[tokio::test(start_paused = true)]
async fn the_async_expansion_is_free_of_warnings() {
    let mut service = Service {
        max: 3,
        base: 1,
        factor: 2.0,
        ratio: 0.5,
    };
    let _log = Log::start();
    assert_eq!(service.clone().by_policy("abc".to_owned()).await, Ok(3));
    let _log = Log::start();
    let given = service.arguments(&7, (vec![], 1), vec![], "");
    assert_eq!(given.await, Ok(&7));
    let _log = Log::start();
    assert_eq!(polled_async().await, Ok(Some(3)));
    drop(never());
}

/// Names that the user has taken
mod shadowed {
    #![allow(
        dead_code,
        unused_imports,
        unused_macros,
        non_camel_case_types,
        reason = "names that are taken"
    )]

    use ::retry_runtime::retryable;

    use crate::support::{Log, record};

    mod std {}
    mod core {}
    mod alloc {}
    mod retry_runtime {}
    struct Result;
    struct Option;
    struct Duration;
    struct Policy;
    struct Decision;
    struct Attempts;
    struct Box;
    struct Clone;
    struct Into;
    struct Future;
    struct u64;
    struct bool;
    enum Outcome {
        Ok,
        Err,
        Some,
        None,
    }
    use self::Outcome::{Err, None, Ok, Some};
    macro_rules! matches {
        () => {};
    }
    macro_rules! concat {
        () => {};
    }
    macro_rules! module_path {
        () => {};
    }
    macro_rules! panic {
        () => {};
    }

    type Answer = ::std::result::Result<u32, crate::support::Failed>;

    #[retryable(max = 4, base_ms = base, jitter = 0.5, on(crate::support::Failed(_)), sleep = record)]
    fn sync(mut base: ::core::primitive::u64) -> Answer {
        base += 2;
        crate::support::succeed_at(base.try_into().unwrap_or(0))
    }

    #[retryable(max = MAX, delays_ms = [1], until(3), on = |_| true)]
    async fn asynchronous(
        error: &mut u32,
        attempts: u32,
        outcome: u32,
        wait: u32,
        value: u32,
    ) -> Answer {
        *error += attempts + outcome + wait + value;
        crate::support::succeed_at(3)
    }

    const MAX: ::core::primitive::u64 = 4;

    #[tokio::test(start_paused = true)]
    async fn the_users_names_and_those_of_the_expansion_do_not_meet() {
        let _log = Log::start();
        assert!(sync(1).is_ok());
        let (_log, mut error) = (Log::start(), 0);
        assert!(asynchronous(&mut error, 1, 1, 1, 1).await.is_ok());
        assert_eq!(error, 12);
    }
}

/// What a formatter would break up
#[rustfmt::skip]
mod on_one_line {
    #![deny(warnings)]

    use retry_runtime::retryable;

    use crate::support::Failed;

    #[retryable(base_ms = 1)]
    async fn asynchronous() -> Result<u32, Failed> { Ok(1) }

    #[retryable(base_ms = 1)]
    fn with_a_binding(mut number: u32) -> Result<u32, Failed> { { number += 1; Ok(number) } }

    #[test]
    fn a_body_on_one_line_brings_no_warning() {
        drop(asynchronous());
        assert_eq!(with_a_binding(1), Ok(2));
    }
}

/// Does not compile yet: `unused_braces`, under the braces that the user gave to the macro.
#[cfg(any())]
mod block_of_a_macro {
    #![deny(warnings)]

    use retry_runtime::retryable;

    use crate::support::Failed;

    macro_rules! function {
        ($name:ident, $body:block) => {
            #[retryable(base_ms = 1)]
            fn $name() -> Result<u32, Failed> $body
        };
    }
    function!(by_a_macro, { Ok(1) });

    #[test]
    fn a_body_from_a_macro_brings_no_warning() {
        assert_eq!(by_a_macro(), Ok(1));
    }
}
