//! Promise 21: the observer of the whole process. It is set once, so that this is one test.

use std::sync::Mutex;

use retry_runtime::{ObserverAlreadySet, Policy, retryable, set_observer};

static SEEN: Mutex<Vec<String>> = Mutex::new(Vec::new());

#[retryable(max = 2, backoff = "none", on = "any", name = "fetch")]
fn fetch() -> Result<(), std::num::ParseIntError> {
    "x".parse::<u8>().map(drop)
}

#[test]
fn one_observer_sees_the_calls_of_the_whole_process() {
    fetch().unwrap_err();
    set_observer(|event| {
        let kind = event.error.map_or("", |cause| cause.type_name());
        SEEN.lock().unwrap().push(format!("{event} ({kind})"));
    })
    .unwrap();
    assert_eq!(
        set_observer(|_| {}).unwrap_err().to_string(),
        "the process has an observer of its retries already"
    );
    let _: ObserverAlreadySet = set_observer(|_| {}).unwrap_err();
    std::thread::spawn(|| fetch().unwrap_err()).join().unwrap();
    Policy::new().retry(|| Ok::<_, std::io::Error>(())).unwrap();

    let seen = SEEN.lock().unwrap();
    let [retry, end, closure] = seen.as_slice() else {
        panic!("{seen:?}")
    };
    assert_eq!(
        retry,
        "fetch: attempt 1/2 failed: invalid digit found in string; the next one in 0ns \
         (core::num::error::ParseIntError)"
    );
    assert!(
        end.starts_with("fetch: attempts used up after attempt 2/2, "),
        "{end}"
    );
    assert!(
        closure.starts_with("Policy::retry: success after attempt 1/3, "),
        "{closure}"
    );
}
