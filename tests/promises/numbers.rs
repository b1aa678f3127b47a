//! Section 2 and promise 26, of what is right: values from wherever they come. What is wrong is
//! refused: tests/ui.

use std::num::{NonZeroU8, NonZeroU64};

use retry_runtime::{Jitter, Policy, PolicyError, retryable};

use crate::support::{Failed, Log, fail, record, record_async};

type Outcome = Result<u32, Failed>;

struct Service {
    max: u8,
    base: Option<u64>,
}

impl Service {
    fn base(&self) -> u64 {
        self.base.unwrap_or(100)
    }

    #[retryable(max = self.max + 1, base_ms = self.base(), jitter = "none", sleep = record)]
    fn call(&self) -> Outcome {
        fail()
    }

    #[retryable(max = self.max, base_ms = 7 * scale, jitter = "none", sleep = record_async)]
    async fn call_async(&mut self, scale: u16) -> Outcome {
        self.max -= 1;
        fail()
    }
}

#[tokio::test]
async fn numbers_can_be_expressions_over_self_and_the_arguments() {
    let mut service = Service { max: 3, base: None };
    let log = Log::start();
    assert!(service.call().is_err());
    assert_eq!(log.waits_ms(), [100, 200, 400]);
    service.base = Some(5);
    let log = Log::start();
    assert!(service.call().is_err());
    assert_eq!(log.waits_ms(), [5, 10, 20]);
    // evaluated after each failure: 2 of 2 are used up
    let log = Log::start();
    assert!(service.call_async(10).await.is_err());
    assert_eq!(log.waits_ms(), [70]);
}

const FOUR_CALLS: Policy = Policy::new().max(4).base_ms(1).jitter(Jitter::None);
static FOUR_CALLS_STATIC: Policy = FOUR_CALLS;

#[retryable(policy = FOUR_CALLS, sleep = record)]
fn by_constant_policy() -> Outcome {
    fail()
}

#[retryable(base_ms = 7, max = max, policy = "FOUR_CALLS_STATIC", sleep = record_async)]
async fn by_static_policy(max: u32) -> Outcome {
    fail()
}

#[tokio::test]
async fn a_policy_is_where_the_other_keys_start_from() {
    let log = Log::start();
    assert!(by_constant_policy().is_err());
    assert_eq!(log.waits_ms(), [1, 2, 4]);
    let log = Log::start();
    assert!(by_static_policy(3).await.is_err());
    assert_eq!(log.waits_ms(), [7, 14]);
}

mod policies_at_run_time {
    use std::sync::LazyLock;

    use super::*;

    static LAZY: LazyLock<Policy> = LazyLock::new(|| FOUR_CALLS);

    struct Client {
        policy: Policy,
    }

    impl Client {
        #[retryable(policy = self.policy, sleep = record)]
        fn call(&self) -> Outcome {
            fail()
        }

        #[retryable(policy = &self.policy, max = 3, base_ms = 7, sleep = record_async)]
        async fn call_async(&mut self) -> Outcome {
            fail()
        }
    }

    #[retryable(policy = *LAZY, cap_ms = 3, sleep = record)]
    fn by_lazy_static() -> Outcome {
        fail()
    }

    #[retryable(policy = policy, jitter = 0.0, sleep = record)]
    fn by_argument(policy: &Policy) -> Outcome {
        fail()
    }

    #[tokio::test]
    async fn a_policy_can_be_read_at_run_time() {
        let mut client = Client { policy: FOUR_CALLS };
        let log = Log::start();
        assert!(client.call().is_err());
        assert_eq!(log.waits_ms(), [1, 2, 4]);
        let log = Log::start();
        assert!(client.call_async().await.is_err());
        assert_eq!(log.waits_ms(), [7, 14]);
        let log = Log::start();
        assert!(by_lazy_static().is_err());
        assert_eq!(log.waits_ms(), [1, 2, 3]);
        let log = Log::start();
        assert!(by_argument(&Policy::new().max(0)).is_err());
        assert_eq!(log.calls(), 1);
    }
}

#[test]
fn one_call_may_be_asked_for_with_a_predicate() {
    #[retryable(max = 1, on = "any", sleep = record)]
    fn once() -> Result<u32, String> {
        fail().map_err(|failed| failed.to_string())
    }
    let log = Log::start();
    assert!(once().is_err());
    assert_eq!(log.calls(), 1);
}

/// The block is not seen from the method: a parameter of several letters is taken for a constant
/// unless it stands in a `const` block.
mod parameters_of_the_block {
    use super::*;

    struct Limited<const MAX: u32>;

    impl<const MAX: u32> Limited<MAX> {
        #[retryable(max = const { MAX }, sleep = record)]
        fn call(&self) -> Outcome {
            fail()
        }
    }

    #[test]
    fn a_parameter_of_the_block_is_a_number_too() {
        let log = Log::start();
        assert!(Limited::<5>.call().is_err());
        assert_eq!(log.calls(), 5);
    }
}

const SMALL: u8 = 4;
const SIGNED: i64 = 3;
const LARGE: u128 = 20;
const RATIO: f64 = 0.0;
const WHOLE: u32 = 3;
static STATIC: usize = 4;

#[retryable(max = SMALL, base_ms = SIGNED, factor = WHOLE, cap_ms = LARGE, jitter = RATIO, sleep = record)]
fn by_constants() -> Outcome {
    fail()
}

#[retryable(max = STATIC, base_ms = SIGNED * 2 - 3, factor = 3, cap_ms = 4 * 5, jitter = 0, sleep = record)]
fn by_expressions() -> Outcome {
    fail()
}

#[retryable(max = const { 2 + 2 }, base_ms = 3u8, factor = 3f32, cap_ms = 20i64, jitter = 0.0f32, sleep = record)]
fn by_suffixed_literals() -> Outcome {
    fail()
}

#[retryable(max = max, base_ms = base, factor = factor, cap_ms = cap, jitter = ratio, sleep = record)]
fn by_arguments(max: i8, base: u16, factor: u32, cap: u128, ratio: f32) -> Outcome {
    fail()
}

#[retryable(max = *max, base_ms = base, factor = *factor, cap_ms = u64::from(*cap), jitter = 0.0, sleep = record)]
fn by_references(max: &NonZeroU8, base: NonZeroU64, factor: &f64, cap: &u32) -> Outcome {
    fail()
}

#[test]
fn a_number_of_any_type_is_taken() {
    let (three, four) = (NonZeroU64::new(3).unwrap(), NonZeroU8::new(4).unwrap());
    for retried in [by_constants, by_expressions, by_suffixed_literals, || {
        by_arguments(4, 3, 3, 20, 0.0)
    }] {
        let log = Log::start();
        assert!(retried().is_err());
        assert_eq!(log.waits_ms(), [3, 9, 20]);
    }
    let log = Log::start();
    assert!(by_references(&four, three, &3.0, &20).is_err());
    assert_eq!(log.waits_ms(), [3, 9, 20]);
}

#[test]
fn a_narrow_constant_is_a_ratio_too() {
    const NARROW: f32 = 0.0;

    #[retryable(jitter = NARROW, sleep = record)]
    fn narrow() -> Outcome {
        fail()
    }
    let log = Log::start();
    assert!(narrow().is_err());
    assert_eq!(log.waits_ms(), [200, 400]);
}

mod lists_of_associated_constants {
    use super::*;

    struct Client;

    impl Client {
        const FIRST: u64 = 7;

        #[retryable(delays_ms = [Self::FIRST, 500], jitter = "none", sleep = record)]
        fn call(&self) -> Outcome {
            fail()
        }
    }

    #[test]
    fn a_list_can_hold_associated_constants() {
        let log = Log::start();
        assert!(Client.call().is_err());
        assert_eq!(log.waits_ms(), [7, 500]);
    }
}

/// Promise 26
#[test]
fn a_list_of_waits_is_not_decorrelated() {
    let policy = Policy::new().delays_ms(&[1, 2]);
    assert!(policy.validate().is_ok());
    assert_eq!(
        policy.jitter(Jitter::Decorrelated).validate(),
        Err(PolicyError::DelaysAreDecorrelated)
    );
}
