//! Section 2: the attribute on an `impl` block.

use retry_runtime::retryable;

use crate::support::{Failed, Log, fail, record, record_async};

struct Service<const N: usize> {
    max: u8,
}

#[retryable(max = N, base_ms = 1, jitter = "none", sleep = record)]
impl<const N: usize> Service<N> {
    const LIMIT: u32 = 2;

    fn by_the_block(&self) -> Result<u32, Failed> {
        fail()
    }

    #[retryable(max = Self::LIMIT)]
    fn by_its_own_constant(&self) -> Result<u32, Failed> {
        fail()
    }

    #[retryable(max = self.max, base_ms = 5)]
    fn by_its_own_fields(&mut self) -> Result<u32, Failed> {
        fail()
    }

    #[retryable(skip)]
    fn left_out(&self) -> Result<u32, Failed> {
        fail()
    }

    #[retryable(sleep = record_async)]
    async fn asynchronous(&self) -> Result<u32, Failed> {
        fail()
    }

    fn cannot_fail(&self) -> u32 {
        u32::from(self.max)
    }

    #[retryable(until(true))]
    fn polled(&self) -> bool {
        fail().is_ok()
    }
}

#[tokio::test]
async fn on_a_block_every_method_with_a_result_is_retried_and_its_own_keys_win() {
    let mut service = Service::<4> { max: 3 };
    let log = Log::start();
    assert!(service.by_the_block().is_err());
    assert_eq!(log.waits_ms(), [1, 2, 4]);
    let log = Log::start();
    assert!(service.by_its_own_constant().is_err());
    assert_eq!(log.waits_ms(), [1]);
    let log = Log::start();
    assert!(service.by_its_own_fields().is_err());
    assert_eq!(log.waits_ms(), [5, 10]);
    let log = Log::start();
    assert!(service.left_out().is_err());
    assert_eq!((log.calls(), log.waits().len()), (1, 0));
    let log = Log::start();
    assert!(service.asynchronous().await.is_err());
    assert_eq!(log.waits_ms(), [1, 2, 4]);
    assert_eq!(service.cannot_fail(), 3);
    let log = Log::start();
    assert!(!service.polled());
    assert_eq!(log.calls(), 4);
}

#[async_trait::async_trait]
trait Fetch {
    async fn fetch(&self) -> Result<u32, Failed>;
}

#[retryable(sleep = record_async)]
#[async_trait::async_trait]
impl Fetch for u8 {
    async fn fetch(&self) -> Result<u32, Failed> {
        fail()
    }
}

#[async_trait::async_trait]
#[retryable(sleep = record_async)]
impl Fetch for u16 {
    async fn fetch(&self) -> Result<u32, Failed> {
        fail()
    }
}

trait Native {
    fn fetch(&self) -> impl Future<Output = Result<u32, Failed>> + Send;
}

#[retryable(sleep = record_async)]
impl Native for u32 {
    async fn fetch(&self) -> Result<u32, Failed> {
        fail()
    }
}

#[tokio::test]
async fn on_the_block_of_a_trait_in_either_order_with_async_trait() {
    let log = Log::start();
    assert!(7_u8.fetch().await.is_err());
    assert_eq!(log.calls(), 3);
    let log = Log::start();
    assert!(7_u16.fetch().await.is_err());
    assert_eq!(log.calls(), 3);
    let log = Log::start();
    assert!(Native::fetch(&7_u32).await.is_err());
    assert_eq!(log.calls(), 3);
}

type Outcome = Result<u32, Failed>;

struct Aliased;

#[retryable(sleep = record)]
impl Aliased {
    fn by_alias(&self) -> Outcome {
        fail()
    }

    #[retryable]
    fn by_alias_and_attribute(&self) -> Outcome {
        fail()
    }
}

#[test]
fn on_a_block_an_alias_by_another_name_asks_for_an_attribute_of_its_own() {
    let log = Log::start();
    assert!(Aliased.by_alias().is_err());
    assert_eq!(log.calls(), 1);
    let log = Log::start();
    assert!(Aliased.by_alias_and_attribute().is_err());
    assert_eq!(log.calls(), 3);
}

/// Do not compile yet: a key of the block that the method's own key makes useless is an error.
mod overridden {
    use super::*;

    struct Overridden;

    #[retryable(on = "any", factor = 3.0, jitter = "equal", sleep = record)]
    impl Overridden {
        #[retryable(max = 1)] // "`on` has no effect"
        fn once(&self) -> Result<u32, String> {
            fail().map_err(|failed| failed.to_string())
        }

        #[retryable(jitter = "decorrelated")] // "`factor` has no effect"
        fn decorrelated(&self) -> Outcome {
            fail()
        }

        #[retryable(base_ms = 0)] // "`jitter` has no effect"
        fn at_once(&self) -> Outcome {
            fail()
        }
    }

    #[test]
    fn a_methods_own_key_wins_over_keys_that_it_makes_useless() {
        let log = Log::start();
        assert!(Overridden.once().is_err());
        assert_eq!(log.calls(), 1);
        let log = Log::start();
        assert!(Overridden.decorrelated().is_err());
        assert_eq!(log.calls(), 3);
        let log = Log::start();
        assert!(Overridden.at_once().is_err());
        assert_eq!((log.calls(), log.waits_ms()), (3, vec![]));
    }
}
