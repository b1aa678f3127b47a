//! Promise 23: feature `tracing`.

use std::{
    cell::Cell,
    fmt::{self, Write as _},
    future,
    sync::{Arc, Mutex, Once},
};

use retry_runtime::{retryable, testing};
use tracing::{
    Event, Subscriber,
    field::{Field, Visit},
    instrument, span,
    subscriber::{set_global_default, with_default},
};
use tracing_subscriber::{
    Layer, Registry,
    layer::{Context, SubscriberExt as _},
    registry::LookupSpan,
};

/// Writes down each event: its spans, level, and fields in their order.
struct Lines(Arc<Mutex<Vec<String>>>);

struct Fields(String);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            write!(self.0, " {value:?}").unwrap();
        } else {
            write!(self.0, " {}={value:?}", field.name()).unwrap();
        }
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Lines {
    fn on_new_span(
        &self,
        attributes: &span::Attributes<'_>,
        id: &span::Id,
        context: Context<'_, S>,
    ) {
        let mut fields = Fields(String::new());
        attributes.record(&mut fields);
        context.span(id).unwrap().extensions_mut().insert(fields.0);
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut fields = Fields(String::new());
        event.record(&mut fields);
        let scope = context
            .event_scope(event)
            .into_iter()
            .flat_map(|scope| scope.from_root());
        let spans = scope.map(|span| {
            let extensions = span.extensions();
            format!("{}{} > ", span.name(), extensions.get::<String>().unwrap())
        });
        let spans: String = spans.collect();
        let metadata = event.metadata();
        let line = format!(
            "{spans}{} {}:{}",
            metadata.level(),
            metadata.target(),
            fields.0
        );
        self.0.lock().unwrap().push(line);
    }
}

fn lines(run: impl FnOnce()) -> Vec<String> {
    // of the process, so that no event is switched off where another test takes its own one away
    static GLOBAL: Once = Once::new();
    GLOBAL.call_once(|| set_global_default(Registry::default()).unwrap());
    let lines = Arc::default();
    let subscriber = Registry::default().with(Lines(Arc::clone(&lines)));
    with_default(subscriber, run);
    let lines = lines.lock().unwrap();
    lines.clone()
}

fn failing(left: &mut u32) -> Result<(), String> {
    match left.checked_sub(1) {
        Some(less) => {
            *left = less;
            Err(format!("busy {less}"))
        }
        None => Ok(()),
    }
}

#[retryable(max = 2, base_ms = 1_500, jitter = "none", on = "any", name = "fetch")]
fn fetch(left: &mut u32) -> Result<(), String> {
    failing(left)
}

#[test]
fn a_retry_is_a_warning_and_giving_up_an_error() {
    let _time = testing::virtual_time();
    let lines = lines(|| fetch(&mut 9).unwrap_err().clear());
    assert_eq!(
        lines,
        [
            "WARN retry_runtime: attempt failed, retrying after a wait code.function.name=\"fetch\" \
             retry.attempt=1 retry.max=2 retry.wait_ms=1500.0 retry.hinted=false \
             retry.elapsed_ms=0.0 error.type=\"alloc::string::String\" exception.message=busy 8",
            "ERROR retry_runtime: gave up code.function.name=\"fetch\" retry.attempt=2 retry.max=2 \
             retry.outcome=attempts used up retry.elapsed_ms=1500.0 \
             error.type=\"alloc::string::String\" exception.message=busy 7",
        ]
    );
}

#[test]
fn a_success_is_told_only_after_retries() {
    let _time = testing::virtual_time();
    assert_eq!(lines(|| fetch(&mut 0).unwrap()), Vec::<String>::new());
    let lines = lines(|| fetch(&mut 1).unwrap());
    assert_eq!(
        lines[1..],
        [
            "INFO retry_runtime: succeeded after retries code.function.name=\"fetch\" retry.attempt=2 \
          retry.max=2 retry.outcome=success retry.elapsed_ms=1500.0"
        ]
    );
}

#[test]
fn the_level_is_a_step_lower_by_key() {
    #[retryable(max = 2, backoff = "none", on = "any", level = "debug")]
    fn quiet(left: &mut u32) -> Result<(), String> {
        failing(left)
    }
    let level = |left| -> Vec<String> {
        let lines = lines(|| _ = quiet(&mut { left }));
        lines
            .iter()
            .map(|line| line.split(' ').next().unwrap().to_string())
            .collect()
    };
    assert_eq!(level(9), ["DEBUG", "WARN"]);
    assert_eq!(level(1), ["DEBUG", "DEBUG"]);
}

/// An error that is no retry's business is the caller's to log.
#[test]
fn an_error_that_is_returned_at_once_is_for_those_who_look() {
    #[retryable(on = |_| false)]
    fn fatal(left: &mut u32) -> Result<(), String> {
        failing(left)
    }
    let lines = lines(|| fatal(&mut 1).unwrap_err().clear());
    assert_eq!(lines.len(), 1);
    assert!(
        lines[0].starts_with("DEBUG retry_runtime: failed, not retryable"),
        "{lines:?}"
    );
}

/// C152, spring-attic/spring-retry#22: in either order, one span around all attempts.
#[test]
fn events_belong_to_the_span_of_the_function() {
    #[instrument(skip_all)]
    #[retryable(max = 2, backoff = "none", on = "any", span = true, name = "above")]
    fn above(left: &mut u32) -> Result<(), String> {
        tracing::info!("body");
        failing(left)
    }
    #[retryable(max = 2, backoff = "none", on = "any", span = true, name = "below")]
    #[instrument(skip_all)]
    async fn below(left: &mut u32) -> Result<(), String> {
        tracing::info!("body");
        failing(left)
    }
    let spans = |run: fn()| -> Vec<String> {
        let lines = lines(run);
        let spans = lines.iter().map(|line| match line.rsplit_once(" > ") {
            Some((spans, event)) => format!("{spans} > {}", event.split(':').next().unwrap()),
            None => line.clone(),
        });
        spans.collect()
    };
    let expected = |name: &str, body: &str| {
        let attempt = |n| format!("attempt code.function.name=\"{name}\" retry.attempt={n}");
        [
            format!("{name} > {} > {body}", attempt(1)),
            format!("{name} > WARN retry_runtime"),
            format!("{name} > {} > {body}", attempt(2)),
            format!("{name} > INFO retry_runtime"),
        ]
    };
    let body = "INFO traced";
    assert_eq!(spans(|| above(&mut 1).unwrap()), expected("above", body));
    let run = || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        runtime.block_on(below(&mut 1)).unwrap();
    };
    assert_eq!(spans(run), expected("below", body));
}

/// Promise 28, with spans: each attempt is then a future, which must not borrow what is not `Sync`.
#[test]
fn a_call_with_spans_is_send_where_its_body_is() {
    struct Client(Cell<u32>);
    impl Client {
        #[retryable(on = "any", span = true)]
        async fn lent(&mut self) -> Result<u32, String> {
            future::ready(()).await;
            Ok(self.0.get())
        }
        #[retryable(on = "any", span = true)]
        async fn owned(self) -> Result<u32, String> {
            future::ready(()).await;
            Ok(self.0.get())
        }
    }
    #[retryable(on = "any", span = true)]
    async fn shared(cell: Cell<u32>) -> Result<u32, String> {
        future::ready(()).await;
        Ok(cell.get())
    }
    #[retryable(on = "any", span = true, clone(cell))]
    async fn cloned(cell: Cell<u32>) -> Result<u32, String> {
        future::ready(()).await;
        Ok(cell.into_inner())
    }
    #[retryable(on = "any", span = true)]
    async fn changed(mut cell: Cell<u32>) -> Result<u32, String> {
        *cell.get_mut() += 1;
        future::ready(()).await;
        let number = Some(cell.get()).ok_or("none")?;
        Ok(number)
    }
    fn block_on<F: Future<Output = Result<u32, String>> + Send>(call: F) -> u32 {
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        runtime.unwrap().block_on(call).unwrap()
    }
    assert_eq!(block_on(Client(Cell::new(1)).lent()), 1);
    assert_eq!(block_on(Client(Cell::new(2)).owned()), 2);
    assert_eq!(block_on(shared(Cell::new(3))), 3);
    assert_eq!(block_on(cloned(Cell::new(4))), 4);
    assert_eq!(block_on(changed(Cell::new(5))), 6);
}
