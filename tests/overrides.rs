//! The list of retried functions, and what an operator overrides. Overrides act on the whole process,
//! so that the tests here take turns.

use std::{
    collections::BTreeSet,
    sync::{Mutex, MutexGuard, PoisonError},
};

use retry_runtime::{OverrideError, Overrides, Policy, retryable, sites, testing};

fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    Overrides::new().apply().unwrap();
    turn
}

const POLICY: Policy = Policy::new().max(2).base_ms(10);

#[retryable(
    max = 3,
    base_ms = 100,
    factor = 3,
    cap_ms = 1_000,
    jitter = "none",
    on = "any",
    name = "shop::order"
)]
fn order() -> Result<(), &'static str> {
    Err("closed")
}

#[retryable(policy = POLICY, on = "any")]
async fn constant() -> Result<(), &'static str> {
    Err("closed")
}

#[retryable(delays_ms = [10, 20], on = "any", name = "shop::listed")]
fn listed() -> Result<(), &'static str> {
    Err("closed")
}

mod other {
    #[retryable(on = "any", name = "bakery::order")]
    pub fn order<T>(_: T) -> Result<T, &'static str> {
        Err("closed")
    }

    use retry_runtime::retryable;
}

/// Names that differ, but not in the environment.
#[retryable(on = "any", name = "menu.price")]
fn price() -> Result<(), &'static str> {
    Err("closed")
}

#[retryable(on = "any", name = "menu-price")]
fn old_price() -> Result<(), &'static str> {
    Err("closed")
}

/// Of a name that goes on like a key.
#[retryable(on = "any", name = "shop::order_hint")]
fn hint() -> Result<(), &'static str> {
    Err("closed")
}

#[retryable(on = "any", name = "shop::price_hint")]
fn price_hint() -> Result<(), &'static str> {
    Err("closed")
}

struct Client {
    attempts: u32,
}

#[retryable(on = "any", jitter = "none")]
impl Client {
    #[retryable(max = self.attempts, attempt = attempt)]
    fn get(&self, seen: &mut Vec<Option<u32>>) -> Result<(), &'static str> {
        seen.push(attempt.max());
        Err("closed")
    }

    #[retryable(skip)]
    #[allow(dead_code)]
    fn put(&self) -> Result<(), &'static str> {
        Err("closed")
    }
}

fn waits(call: impl FnOnce() -> Result<(), &'static str>) -> Vec<u64> {
    let _time = testing::virtual_time();
    let recording = testing::on_this_thread::record();
    call().unwrap_err();
    recording
        .waits()
        .iter()
        .map(|wait| u64::try_from(wait.as_millis()).unwrap())
        .collect()
}

fn faults(result: Result<(), OverrideError>) -> Vec<String> {
    result.unwrap_err().faults().to_vec()
}

#[test]
fn all_functions_are_listed_with_their_policies() {
    let _turn = alone();
    let mut listed: Vec<String> = sites().map(ToString::to_string).collect();
    listed.sort();
    assert_eq!(
        listed,
        [
            "bakery::order: up to 3 calls; waits of 200ms, times 2, at most 30s; full jitter",
            "menu-price: up to 3 calls; waits of 200ms, times 2, at most 30s; full jitter",
            "menu.price: up to 3 calls; waits of 200ms, times 2, at most 30s; full jitter",
            "overrides::constant: up to 2 calls; waits of 10ms, times 2, at most 30s; full jitter",
            "overrides::get: known when it is called",
            "shop::listed: up to 3 calls; waits of 10ms, 20ms; full jitter",
            "shop::order: up to 3 calls; waits of 100ms, times 3, at most 1s; no jitter",
            "shop::order_hint: up to 3 calls; waits of 200ms, times 2, at most 30s; full jitter",
            "shop::price_hint: up to 3 calls; waits of 200ms, times 2, at most 30s; full jitter",
        ]
    );
    _ = other::order(1).is_err();
    drop(constant());
}

#[test]
fn an_override_holds_from_the_next_failure_on_until_the_next_one_is_applied() {
    let _turn = alone();
    assert_eq!(waits(order), [100, 300]);
    let settings = [
        ("max", "5"),
        ("base_ms", "200"),
        ("backoff", "linear"),
        ("cap_ms", "700"),
    ];
    let overrides = settings
        .iter()
        .fold(Overrides::new(), |overrides, (key, value)| {
            overrides.set("shop::order", *key, *value)
        });
    overrides.apply().unwrap();
    assert_eq!(waits(order), [200, 400, 600, 700]);
    let site = sites().find(|site| site.name() == "shop::order").unwrap();
    assert_eq!(
        site.to_string(),
        "shop::order: up to 5 calls; waits of 200ms, growing by as much, at most 700ms; no jitter \
         (overridden)"
    );
    assert_eq!(site.policy().unwrap().max_calls(), Some(3));
    Overrides::new()
        .set("shop::listed", "max", "1")
        .apply()
        .unwrap();
    assert_eq!((waits(order), waits(listed)), (vec![100, 300], vec![]));
}

#[test]
fn each_key_can_be_overridden() {
    let _turn = alone();
    let _most = testing::pin_jitter(0.5);
    let with = |key: &str, value: &str| {
        Overrides::new()
            .set("shop::order", key, value)
            .apply()
            .unwrap();
        waits(order)
    };
    assert_eq!(with("max", "2"), [100]);
    assert_eq!(with("base_ms", "50"), [50, 150]);
    assert_eq!(with("factor", "2.5"), [100, 250]);
    assert_eq!(with("backoff", "fixed"), [100, 100]);
    assert_eq!(with("cap_ms", "200"), [100, 200]);
    assert_eq!(with("jitter", "full"), [50, 150]);
    assert_eq!(with("jitter", "0.2"), [90, 270]);
    assert_eq!(with("hint_cap_ms", "1"), [100, 300]);
    Overrides::new()
        .set("shop::order", "max", "unlimited")
        .apply()
        .unwrap();
    let site = sites().find(|site| site.name() == "shop::order").unwrap();
    assert_eq!(site.effective().unwrap().max_calls(), None);
}

/// What is evaluated at run time is overridden too, also for who is told of it.
#[test]
fn a_policy_that_is_known_at_run_time_is_overridden_as_well() {
    let _turn = alone();
    Overrides::new()
        .set("get", "max", "4")
        .set("get", "base_ms", "1")
        .apply()
        .unwrap();
    let client = Client { attempts: 2 };
    let mut seen = Vec::new();
    assert_eq!(waits(|| client.get(&mut seen)), [1, 2, 4]);
    assert_eq!(seen, [Some(4); 4]);
}

#[test]
fn nothing_is_changed_where_anything_is_wrong() {
    let _turn = alone();
    Overrides::new()
        .set("shop::order", "max", "2")
        .apply()
        .unwrap();
    let wrong = Overrides::new()
        .set("shop::order", "base_ms", "50")
        .set("shop::order", "cap_ms", "20")
        .set("shop::order", "factor", "NaN")
        .set("shop::order", "max", "-1")
        .set("shop::order", "backoff", "quadratic")
        .set("shop::order", "deadline_ms", "5")
        .set("shop::listed", "factor", "1.5")
        .set("order", "max", "1")
        .set("nobody", "max", "1")
        .set("get", "max", "0")
        .set("get", "cap_ms", "0");
    assert_eq!(
        faults(wrong.apply()),
        [
            "shop::order: `max` is \"-1\": it must be a number of calls, or `unlimited`",
            "shop::order: `backoff` is \"quadratic\": it must be `exponential`, `linear`, \
             `fibonacci`, `fixed` or `none`",
            "shop::order: `deadline_ms` can not be overridden: the keys are `backoff`, `base_ms`, \
             `cap_ms`, `factor`, `hint_cap_ms`, `jitter`, `max`",
            "order: several functions have this name: bakery::order, shop::order",
            "nobody: no retried function has this name",
            "overrides::get: `max` is 0: it must be at least 1, it counts calls, the first included",
            "shop::listed: `base_ms` and `factor` have no effect on `delays_ms`: override `backoff` \
             too",
            "shop::order: `factor` is NaN: it must be a finite number of at least 1",
        ]
    );
    assert_eq!(waits(order), [100]);
    let contradiction = Overrides::new().set("shop::order", "base_ms", "5000");
    assert_eq!(
        faults(contradiction.apply()),
        ["shop::order: `base` is 5s: it must not be above `cap`, 1s"]
    );
    assert_eq!(waits(order), [100]);
}

fn variables(variables: &[(&str, &str)]) -> Result<Overrides, OverrideError> {
    let owned = variables
        .iter()
        .map(|(name, value)| (name.to_string(), value.to_string()));
    Overrides::from_vars("SHOP_RETRY", owned)
}

#[test]
fn variables_of_the_environment_are_named_after_function_and_key() {
    let _turn = alone();
    let given = [
        ("SHOP_RETRY_SHOP__ORDER_MAX", "4"),
        ("SHOP_RETRY_LISTED_HINT_CAP_MS", "5"),
        ("SHOP_RETRY_LISTED_CAP_MS", "15"),
        ("PATH", "/bin"),
        ("SHOP_RETRYING", "yes"),
    ];
    variables(&given).unwrap().apply().unwrap_err();
    variables(&given[..2]).unwrap().apply().unwrap();
    assert_eq!(waits(order), [100, 300, 900]);
    let listed = sites().find(|site| site.name() == "shop::listed").unwrap();
    assert_eq!(
        listed.effective(),
        listed.policy().map(|policy| policy.hint_cap_ms(5))
    );
}

#[test]
fn a_variable_that_fits_nothing_is_named() {
    let _turn = alone();
    let wrong = variables(&[
        ("SHOP_RETRY_SHOP__ORDER_MAKS", "4"),
        ("SHOP_RETRY_SHIP__ORDER_MAX", "4"),
        ("SHOP_RETRY_ORDER_MAX", "4"),
    ]);
    assert_eq!(
        wrong.unwrap_err().faults(),
        [
            "SHOP_RETRY_SHOP__ORDER_MAKS: ends in no key: the keys are `backoff`, `base_ms`, \
             `cap_ms`, `factor`, `hint_cap_ms`, `jitter`, `max`",
            "SHOP_RETRY_SHIP__ORDER_MAX: SHIP__ORDER: no retried function has this name",
            "SHOP_RETRY_ORDER_MAX: ORDER: several functions have this name: bakery::order, shop::order",
        ]
    );
    let value = variables(&[("SHOP_RETRY_SHOP__ORDER_MAX", "many")]).unwrap();
    assert_eq!(
        faults(value.apply()),
        [
            "SHOP_RETRY_SHOP__ORDER_MAX: `max` is \"many\": it must be a number of calls, or `unlimited`"
        ]
    );
}

#[test]
fn a_variable_that_fits_several_names_is_none_of_them() {
    let _turn = alone();
    assert_eq!(
        variables(&[("SHOP_RETRY_MENU_PRICE_MAX", "2")])
            .unwrap_err()
            .faults(),
        [
            "SHOP_RETRY_MENU_PRICE_MAX: MENU_PRICE: several functions have this name: menu-price, \
             menu.price"
        ]
    );
    for name in ["menu.price", "menu-price"] {
        let set = Overrides::new().set(name, "max", "1");
        set.apply().unwrap();
    }
    assert_eq!((waits(old_price), waits(price).len()), (vec![], 2));
}

#[test]
fn a_key_that_may_be_the_end_of_a_name_is_told_by_the_functions_there_are() {
    let _turn = alone();
    variables(&[("SHOP_RETRY_PRICE_HINT_CAP_MS", "500")])
        .unwrap()
        .apply()
        .unwrap();
    let _most = testing::pin_jitter(1.0);
    assert_eq!(waits(price_hint), [200, 400]);
    variables(&[("SHOP_RETRY_PRICE_HINT_CAP_MS", "300")])
        .unwrap()
        .apply()
        .unwrap();
    assert_eq!(waits(price_hint), [200, 300]);
    assert_eq!(
        variables(&[("SHOP_RETRY_SHOP__ORDER_HINT_CAP_MS", "300")])
            .unwrap_err()
            .faults(),
        ["SHOP_RETRY_SHOP__ORDER_HINT_CAP_MS: may be `hint_cap_ms` or `cap_ms`"]
    );
    assert_eq!(waits(hint), [200, 400]);
}

/// The precedence that the documentation gives: attribute over `policy`, configuration over both,
/// environment over the configuration.
#[test]
fn what_was_added_last_wins_key_by_key() {
    let _turn = alone();
    let config: Overrides = serde_json::from_str(
        r#"{ "shop::order": { "max": 5, "jitter": "none", "factor": 1.0 }, "listed": { "max": 2 } }"#,
    )
    .unwrap();
    let environment = variables(&[("SHOP_RETRY_SHOP__ORDER_MAX", "4")]).unwrap();
    config.and(environment).apply().unwrap();
    assert_eq!(waits(order), [100, 100, 100]);
}

#[test]
fn a_configuration_is_checked_when_it_is_applied_and_shows_what_was_written() {
    let _turn = alone();
    let config: Overrides =
        serde_json::from_str(r#"{ "shop::order": { "max": 2.5, "cap_ms": true, "jitter": 2 } }"#)
            .unwrap();
    assert_eq!(
        faults(config.apply()),
        [
            "shop::order: `cap_ms` is \"true\": it must be a whole number of milliseconds",
            "shop::order: `max` is \"2.5\": it must be a number of calls, or `unlimited`",
            "shop::order: the ratio of `jitter` is 2: it must be within 0.0..=1.0",
        ]
    );
    serde_json::from_str::<Overrides>(r#"{ "shop::order": [1] }"#).unwrap_err();
}

#[test]
fn names_are_told_apart() {
    let names: BTreeSet<_> = sites().map(|site| site.name()).collect();
    assert_eq!(names.len(), sites().count());
}
