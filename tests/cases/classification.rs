//! Errors put on the wrong side of "worth a retry".

use std::{error::Error, fmt, io, sync::Arc};

use retry_runtime::{Transient, find_source, retryable};

use crate::support::{Failed, Log, call, record, record_async};

/// What `.context(..)` adds around an error
#[derive(Debug)]
struct Context<E>(&'static str, E);

impl<E> fmt::Display for Context<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl<E: Error + 'static> Error for Context<E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.1)
    }
}

type Layers = Context<Context<io::Error>>;

fn layers(kind: io::ErrorKind) -> Layers {
    Context("job failed", Context("shuffle read failed", kind.into()))
}

fn lost_connection(error: &(dyn Error + 'static)) -> bool {
    find_source::<io::Error>(error).is_some_and(Transient::is_transient)
}

#[retryable(on = lost_connection, sleep = record)]
fn in_layers(kind: io::ErrorKind) -> Result<(), Layers> {
    call();
    Err(layers(kind))
}

#[retryable(on = |error| lost_connection(&**error), sleep = record_async)]
async fn in_a_box(kind: io::ErrorKind) -> Result<(), Box<dyn Error + Send + Sync>> {
    call();
    Err(layers(kind))?
}

/// As the attribute's default has it, without `on`
#[retryable(sleep = record)]
fn shared(kind: io::ErrorKind) -> Result<(), Arc<io::Error>> {
    call();
    Err(Arc::new(kind.into()))
}

/// C071, apache/datafusion-ballista#2028
#[tokio::test]
async fn the_error_inside_a_wrapper_decides() {
    for (kind, calls) in [
        (io::ErrorKind::ConnectionReset, 3),
        (io::ErrorKind::PermissionDenied, 1),
    ] {
        let log = Log::start();
        assert_eq!(in_layers(kind).unwrap_err().1.1.kind(), kind);
        assert_eq!(log.calls(), calls, "{kind} in layers");

        let log = Log::start();
        assert!(in_a_box(kind).await.unwrap_err().is::<Layers>());
        assert_eq!(log.calls(), calls, "{kind} in a box");

        let log = Log::start();
        assert_eq!(shared(kind).unwrap_err().kind(), kind);
        assert_eq!(log.calls(), calls, "{kind} in an `Arc`");
    }
}

/// C071, apache/datafusion-ballista#2028
#[test]
#[ignore = "`find_source` does not see an error behind an `Arc` or a `Box`"]
fn the_error_inside_a_shared_wrapper_is_found() {
    let reset = || io::Error::from(io::ErrorKind::ConnectionReset);
    assert!(lost_connection(&Context("boxed", Box::new(reset()))));
    assert!(lost_connection(&Context("shared", Arc::new(reset()))));
}

/// C072, astral-sh/uv#14425. `io::Error::source` leaves out the very error it was made of.
#[test]
#[ignore = "`find_source` does not see the error that an `io::Error` was made of"]
fn the_error_inside_an_io_error_is_found() {
    let error = Context("client", io::Error::other(Failed(1)));
    assert!(find_source::<Failed>(&error).is_some());
}

/// As `#[error(transparent)]` layers come out
#[derive(Debug, Transient)]
enum Client {
    #[transient(inner)]
    Transport(Transport),
}

#[derive(Debug, Transient)]
#[transient(inner)]
struct Transport {
    source: Connection,
}

#[derive(Debug, Transient)]
enum Connection {
    #[permanent]
    BadCertificate,
    #[transient(inner)]
    Io {
        source: Box<io::Error>,
        #[expect(dead_code, reason = "for people")]
        doing: &'static str,
    },
}

#[derive(Clone, Copy)]
enum Cause {
    Certificate,
    Io(io::ErrorKind),
}

fn three_layers_deep(cause: Cause) -> Client {
    call();
    let source = match cause {
        Cause::Certificate => Connection::BadCertificate,
        Cause::Io(kind) => Connection::Io {
            source: Box::new(kind.into()),
            doing: "read",
        },
    };
    Client::Transport(Transport { source })
}

#[retryable(sleep = record)]
fn transparent(cause: Cause) -> Result<(), Client> {
    Err(three_layers_deep(cause))
}

#[retryable(sleep = record_async)]
async fn transparent_async(cause: Cause) -> Result<(), Client> {
    Err(three_layers_deep(cause))
}

/// C072, astral-sh/uv#14425
#[tokio::test]
async fn a_timeout_three_layers_deep_is_transient() {
    for (cause, calls) in [
        (Cause::Io(io::ErrorKind::TimedOut), 3),
        (Cause::Io(io::ErrorKind::NotFound), 1),
        (Cause::Certificate, 1),
    ] {
        let log = Log::start();
        assert!(transparent(cause).is_err());
        assert_eq!(log.calls(), calls);
        let log = Log::start();
        assert!(transparent_async(cause).await.is_err());
        assert_eq!(log.calls(), calls);
    }
}

#[derive(Debug)]
struct Status(u16);

#[retryable(on(Status(408 | 429 | 500 | 502..=504)), sleep = record)]
fn status(code: u16) -> Result<(), Status> {
    call();
    Err(Status(code))
}

#[retryable(on(Status(code) if [408, 429, 500, 502, 503, 504].contains(code)), sleep = record_async)]
async fn status_async(code: u16) -> Result<(), Status> {
    call();
    Err(Status(code))
}

/// C073, apache/arrow-rs-object-store#425
#[tokio::test]
async fn the_status_codes_that_pass_by_themselves_are_retried_and_no_others() {
    for code in 100..600 {
        let expected = match code {
            408 | 429 | 500 | 502 | 503 | 504 => 3,
            _ => 1,
        };
        let log = Log::start();
        assert_eq!(status(code).unwrap_err().0, code);
        assert_eq!(log.calls(), expected, "{code}");
        let log = Log::start();
        assert_eq!(status_async(code).await.unwrap_err().0, code);
        assert_eq!(log.calls(), expected, "{code}");
    }
}

#[derive(PartialEq)]
enum Method {
    Get,
    Put,
}

#[retryable(except = |_| method == Method::Put, sleep = record)]
fn broken_pipe(method: Method) -> io::Result<()> {
    call();
    Err(io::Error::new(io::ErrorKind::BrokenPipe, "connection cut"))
}

/// C074, apache/arrow-rs#5545
#[test]
fn a_broken_pipe_is_retried_unless_the_policy_says_otherwise_and_then_nothing_is_added() {
    let log = Log::start();
    assert!(broken_pipe(Method::Get).is_err());
    assert_eq!(log.calls(), 3);

    let log = Log::start();
    let error = broken_pipe(Method::Put).unwrap_err();
    assert_eq!(error.to_string(), "connection cut");
    assert_eq!(log.calls(), 1);
}

struct DatabaseError {
    fields: Vec<(u8, String)>,
}

impl DatabaseError {
    fn with_code(code: &str) -> Self {
        let fields = vec![(b'S', "ERROR".into()), (b'C', code.into())];
        Self { fields }
    }

    fn code(&self) -> Option<&str> {
        let code = self.fields.iter().find(|(field, _)| *field == b'C');
        code.map(|(_, code)| code.as_str())
    }

    fn may_pass(&self) -> bool {
        matches!(self.code(), Some("40001" | "40P01" | "57P01"))
    }
}

#[retryable(on = DatabaseError::may_pass, sleep = record)]
fn transaction(code: &str) -> Result<(), DatabaseError> {
    call();
    Err(DatabaseError::with_code(code))
}

#[retryable(on = "DatabaseError::may_pass", sleep = record_async)]
async fn transaction_async(code: &str) -> Result<(), DatabaseError> {
    call();
    Err(DatabaseError::with_code(code))
}

/// C075, golemcloud/golem#3774, transact-rs/sqlx#3974 and #482
#[tokio::test]
async fn a_predicate_sees_the_whole_error_and_can_look_for_a_code_inside() {
    for (code, calls) in [("40001", 3), ("57P01", 3), ("23505", 1)] {
        let log = Log::start();
        assert!(transaction(code).is_err());
        assert_eq!(log.calls(), calls, "{code}");
        let log = Log::start();
        assert!(transaction_async(code).await.is_err());
        assert_eq!(log.calls(), calls, "{code}");
    }
}

#[derive(Debug, Transient)]
enum LoginError {
    #[permanent]
    WrongPassword,
    #[transient]
    #[expect(dead_code, reason = "not what happens here")]
    Overloaded,
}

#[retryable(max = 5, sleep = record)]
fn login() -> Result<(), LoginError> {
    call();
    Err(LoginError::WrongPassword)
}

#[retryable(max = 5, sleep = record_async)]
async fn login_async() -> Result<(), LoginError> {
    call();
    Err(LoginError::WrongPassword)
}

/// C076, aws/aws-sdk-net#3463
#[tokio::test]
async fn a_permanent_error_is_one_call() {
    let log = Log::start();
    assert!(login().is_err());
    assert_eq!((log.calls(), log.waits().len()), (1, 0));
    let log = Log::start();
    assert!(login_async().await.is_err());
    assert_eq!((log.calls(), log.waits().len()), (1, 0));
}

/// A function for each pair of keys, in both orders.
mod pairwise {
    use retry_runtime::{Policy, retryable};

    use crate::support::{Failed, Log, call, fail, record};

    struct Config {
        max: u8,
        base_ms: u64,
        factor: f32,
        cap_ms: u128,
        jitter: f64,
    }

    const CONFIG: Config = Config {
        max: 6,
        base_ms: 100,
        factor: 3.0,
        cap_ms: 350,
        jitter: 0.0,
    };

    const POLICY: Policy = Policy::new().max(5);

    const LISTED: [u64; 3] = [7, 9, 8];

    /// The waits that a call comes to if each key has its effect and no other.
    fn expected(keys: [&str; 2]) -> Vec<u128> {
        let given = |key| {
            keys.iter()
                .any(|pair| pair.split([' ', '(']).next() == Some(key))
        };
        let either = |key, value, default| if given(key) { value } else { default };
        let max = either("max", 6, either("policy", 5, 3));
        // `on`, `except` and `until` all end the call with the second attempt
        let stops = given("on") || given("except") || given("until");
        let calls: u128 = if stops { 2 } else { max };
        let base = either("base_ms", 100, 200);
        let factor = either("factor", 3, 2);
        let cap = either("cap_ms", 350, 30_000);
        let wait = |retry: u128| match retry {
            _ if given("delays_ms") => LISTED[retry.min(2) as usize].into(),
            _ if given("backoff") => (base * (retry + 1)).min(cap),
            _ => (base * factor.pow(retry as u32)).min(cap),
        };
        (0..calls - 1).map(wait).collect()
    }

    fn assert_waits(waits: &[u128], keys: [&str; 2]) {
        let expected = expected(keys);
        if keys.iter().any(|key| key.starts_with("jitter")) {
            assert_eq!(waits, expected, "{keys:?}");
        } else {
            assert_eq!(waits.len(), expected.len(), "{keys:?}");
            let shortened = waits.iter().zip(&expected).all(|(wait, most)| wait <= most);
            assert!(shortened, "{keys:?}: {waits:?}, {expected:?}");
        }
    }

    macro_rules! every_pair {
        ($config:ident $attempt:expr; $first:tt $($rest:tt)*) => {
            each_with!($config $attempt; $first $($rest)*);
            every_pair!($config $attempt; $($rest)*);
        };
        ($config:ident $attempt:expr;) => {};
    }

    macro_rules! each_with {
        ($config:ident $attempt:expr; $first:tt $($rest:tt)*) => {
            $(
                each_with!(@check $config $attempt; $first $rest);
                each_with!(@check $config $attempt; $rest $first);
            )*
        };
        (@check $config:ident $attempt:expr; [$($first:tt)*] [$($second:tt)*]) => {{
            #[retryable(sleep = record, $($first)*, $($second)*)]
            fn retried($config: &Config) -> Result<u32, Failed> {
                let _ = $config;
                $attempt
            }
            let log = Log::start();
            drop(retried(&CONFIG));
            assert_waits(&log.waits_ms(), [stringify!($($first)*), stringify!($($second)*)]);
        }};
    }

    /// C078, spring-attic/spring-retry#384
    #[test]
    fn each_key_keeps_its_value_whichever_other_is_given() {
        every_pair! { config fail();
            [max = config.max]
            [base_ms = config.base_ms]
            [factor = config.factor]
            [cap_ms = config.cap_ms]
            [jitter = config.jitter]
            [on = |failed| failed.0 < 2]
            [except(Failed(2))]
            [policy = POLICY]
            [name = "pair"]
        }
        every_pair! { config fail();
            [delays_ms = LISTED]
            [max = config.max]
            [jitter = config.jitter]
            [on(Failed(1))]
            [except = |failed| failed.0 >= 2]
            [policy = POLICY]
        }
        every_pair! { config fail();
            [backoff = "linear"]
            [max = config.max]
            [base_ms = config.base_ms]
            [cap_ms = config.cap_ms]
            [jitter = config.jitter]
            [on(Failed(..2))]
            [policy = POLICY]
        }
        each_with! { config Ok(call());
            [until(2..)]
            [max = config.max]
            [base_ms = config.base_ms]
            [factor = config.factor]
            [cap_ms = config.cap_ms]
            [jitter = config.jitter]
            [policy = POLICY]
        }
    }
}
