//! A server on a real socket that hangs, breaks off, goes away and comes back, and the storm that
//! retries are without a budget.
//!
//! Time is real where a socket is waited for, and then short only where it is sure to pass.

use std::{
    io,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use retry_runtime::{
    Attempt, AttemptTimeout, CircuitBreaker, CircuitOpen, Reason, RetryBudget, Transient, retryable,
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::{Barrier, Notify, Semaphore},
    task::JoinHandle,
    time::sleep,
};

use crate::support::ms;

/// More than a healthy answer needs on any machine.
const PATIENCE_MS: u64 = 20_000;

/// Time that is sure to pass while a server hangs.
const IMPATIENCE_MS: u64 = 20;

/// What a server does with a connection.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Does {
    Answer,
    /// Keeps it open and says nothing
    Hang,
    /// Closes it in the middle of the answer
    BreakOff,
    /// Closes it without reading the question
    Close,
}

/// A server, and what it has seen.
#[derive(Debug)]
struct Server {
    address: SocketAddr,
    connections: Arc<AtomicUsize>,
    /// Of those that hang, how many the client has closed
    abandoned: Arc<AtomicUsize>,
    /// How often a client has asked how long to wait
    asked: AtomicUsize,
    script: &'static [Does],
    task: JoinHandle<()>,
}

impl Server {
    /// The last entry of the script repeats.
    async fn start(script: &'static [Does]) -> Self {
        Self::at("127.0.0.1:0".parse().unwrap(), script).await
    }

    async fn at(address: SocketAddr, script: &'static [Does]) -> Self {
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let (connections, abandoned) = (Arc::<AtomicUsize>::default(), Arc::default());
        let task = tokio::spawn(serve(
            listener,
            script,
            Arc::clone(&connections),
            Arc::clone(&abandoned),
        ));
        Self {
            address,
            connections,
            abandoned,
            asked: AtomicUsize::new(0),
            script,
            task,
        }
    }

    fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }

    /// For `timeout_ms` of its only client: little where it will hang.
    fn patience_ms(&self) -> u64 {
        let number = self.asked.fetch_add(1, Ordering::Relaxed);
        match does(self.script, number) {
            Does::Hang => IMPATIENCE_MS,
            _ => PATIENCE_MS,
        }
    }

    /// The address, where nobody listens any more.
    async fn stop(self) -> SocketAddr {
        self.task.abort();
        assert!(self.task.await.unwrap_err().is_cancelled());
        self.address
    }

    async fn until_abandoned(&self, connections: usize) {
        let begin = Instant::now();
        while self.abandoned.load(Ordering::Relaxed) < connections {
            assert!(begin.elapsed() < Duration::from_secs(10), "{self:?}");
            sleep(ms(1)).await;
        }
    }
}

fn does(script: &[Does], connection: usize) -> Does {
    *script.get(connection).or(script.last()).unwrap()
}

async fn serve(
    listener: TcpListener,
    script: &'static [Does],
    connections: Arc<AtomicUsize>,
    abandoned: Arc<AtomicUsize>,
) {
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        let number = connections.fetch_add(1, Ordering::Relaxed);
        tokio::spawn(answer(stream, does(script, number), Arc::clone(&abandoned)));
    }
}

async fn answer(mut stream: TcpStream, does: Does, abandoned: Arc<AtomicUsize>) {
    let mut question = [0; 4];
    match does {
        Does::Close => return,
        Does::Hang => {
            // until the client closes it, one way or the other
            while matches!(stream.read(&mut question).await, Ok(1..)) {}
            abandoned.fetch_add(1, Ordering::Relaxed);
            return;
        }
        Does::Answer | Does::BreakOff => {}
    }
    let answer: &[u8] = if does == Does::Answer {
        b"all of the answer\n"
    } else {
        b"all of th"
    };
    // a client that is gone needs none
    if stream.read_exact(&mut question).await.is_ok() {
        let _ = stream.write_all(answer).await;
    }
}

/// What a client sees of it.
#[derive(Debug, PartialEq, Transient)]
#[transient]
enum Down {
    Broken(io::ErrorKind),
    NoAnswer,
    #[permanent]
    NotAsked,
}

impl From<io::Error> for Down {
    fn from(error: io::Error) -> Self {
        Self::Broken(error.kind())
    }
}

impl From<AttemptTimeout> for Down {
    fn from(_: AttemptTimeout) -> Self {
        Self::NoAnswer
    }
}

impl From<CircuitOpen> for Down {
    fn from(_: CircuitOpen) -> Self {
        Self::NotAsked
    }
}

/// A request over a connection of its own.
async fn request(server: SocketAddr) -> io::Result<String> {
    let mut stream = TcpStream::connect(server).await?;
    stream.write_all(b"ask\n").await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    match answer.strip_suffix('\n') {
        Some(whole) => Ok(whole.into()),
        None => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

#[retryable(max = max, base_ms = 1, timeout_ms = server.patience_ms())]
async fn ask(max: u32, server: &Server) -> Result<String, Down> {
    Ok(request(server.address).await?)
}

const WHOLE: &str = "all of the answer";

#[tokio::test]
async fn a_server_that_hangs_is_asked_again_when_the_time_of_the_attempt_is_up() {
    let server = Server::start(&[Does::Hang, Does::Hang, Does::Answer]).await;
    let begin = Instant::now();
    assert_eq!(ask(3, &server).await.unwrap(), WHOLE);
    assert!(begin.elapsed() >= ms(2 * IMPATIENCE_MS));
    assert_eq!(server.connections(), 3);
    // the attempts that were given up have closed theirs
    server.until_abandoned(2).await;
}

#[tokio::test]
async fn a_server_that_hangs_for_good_is_given_up() {
    let server = Server::start(&[Does::Hang]).await;
    assert_eq!(ask(3, &server).await, Err(Down::NoAnswer));
    server.until_abandoned(3).await;
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_asked_for_again() {
    let server = Server::start(&[Does::BreakOff, Does::Close, Does::BreakOff, Does::Answer]).await;
    assert_eq!(ask(4, &server).await.unwrap(), WHOLE);
    assert_eq!(server.connections(), 4);
    let server = Server::start(&[Does::BreakOff]).await;
    let broken = Err(Down::Broken(io::ErrorKind::UnexpectedEof));
    assert_eq!(ask(4, &server).await, broken);
    assert_eq!(server.connections(), 4);
}

#[tokio::test]
async fn a_server_that_comes_back_is_found() {
    #[retryable(
        max = "unlimited", base_ms = 1, cap_ms = 5, deadline_ms = PATIENCE_MS, on = |error| {
            assert_eq!(*error, Down::Broken(io::ErrorKind::ConnectionRefused));
            refused.notify_one();
            true
        }
    )]
    async fn ask(address: SocketAddr, refused: &Notify) -> Result<String, Down> {
        Ok(request(address).await?)
    }
    let server = Server::start(&[Does::Answer]).await;
    assert_eq!(request(server.address).await.unwrap(), WHOLE);
    let (address, refused) = (server.stop().await, Notify::new());
    let coming_back = async {
        for _ in 0..2 {
            refused.notified().await;
        }
        Server::at(address, &[Does::Answer]).await
    };
    let (answer, server) = tokio::join!(ask(address, &refused), coming_back);
    assert_eq!(answer.unwrap(), WHOLE);
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn a_server_that_hangs_costs_the_deadline_and_no_more() {
    #[retryable(
        max = "unlimited", base_ms = 1, timeout_ms = 15, deadline_ms = 40,
        recover = |failure| {
            assert_eq!((failure.reason, failure.error), (Reason::Deadline, Down::NoAnswer));
            Ok(failure.attempts)
        }
    )]
    async fn ask(server: &Server) -> Result<u32, Down> {
        Ok(request(server.address).await?.len().try_into().unwrap())
    }
    let server = Server::start(&[Does::Hang]).await;
    let begin = Instant::now();
    let attempts = ask(&server).await.unwrap();
    // less than 40 ms where a wait did not fit
    assert!((ms(15)..Duration::from_secs(5)).contains(&begin.elapsed()));
    // 15 ms, 15 ms and what remains
    assert!((1..=3).contains(&attempts), "{attempts}");
}

#[tokio::test]
async fn a_call_that_is_dropped_closes_its_connection() {
    let server = Arc::new(Server::start(&[Does::Hang]).await);
    let call = tokio::spawn({
        let server = Arc::clone(&server);
        #[retryable(timeout_ms = PATIENCE_MS)]
        async fn ask(server: Arc<Server>) -> Result<String, Down> {
            Ok(request(server.address).await?)
        }
        ask(server)
    });
    while server.connections() == 0 {
        sleep(ms(1)).await;
    }
    call.abort();
    assert!(call.await.unwrap_err().is_cancelled());
    server.until_abandoned(1).await;
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn a_breaker_spares_a_dead_server() {
    static BREAKER: CircuitBreaker = CircuitBreaker::new().window(10).min_calls(5);

    #[retryable(max = 3, base_ms = 1, breaker = BREAKER, timeout_ms = PATIENCE_MS)]
    async fn ask(server: &Server) -> Result<String, Down> {
        Ok(request(server.address).await?)
    }
    let server = Server::start(&[Does::Close]).await;
    let mut refused = 0;
    for _ in 0..20 {
        refused += usize::from(ask(&server).await == Err(Down::NotAsked));
    }
    // the first call asks three times, and the second twice before it is refused
    assert_eq!((server.connections(), refused), (5, 19));
}

/// A thousand callers whose service dies, and with it all of their requests.
mod a_storm {
    use super::*;

    const CALLERS: usize = 1_000;

    /// What the callers share. Without timers of its own, so that the paused clock jumps over the
    /// waits between attempts and over nothing else.
    struct Client {
        server: Server,
        /// They all begin before the first of them fails
        together: Barrier,
        /// Connections at a time
        pool: Semaphore,
        budget: RetryBudget,
    }

    impl Client {
        async fn request(&self, attempt: Attempt) -> Result<String, Down> {
            if attempt.number() == 1 {
                self.together.wait().await;
            }
            let _one = self.pool.acquire().await.unwrap();
            Ok(request(self.server.address).await?)
        }
    }

    #[retryable(max = 4, attempt = attempt)]
    async fn without_budget(client: Arc<Client>) -> Result<String, Down> {
        client.request(attempt).await
    }

    async fn with_budget(client: Arc<Client>) -> Result<String, Down> {
        #[retryable(max = 4, budget = client.budget, attempt = attempt)]
        async fn call(client: &Client) -> Result<String, Down> {
            client.request(attempt).await
        }
        call(&client).await
    }

    /// How many requests reach the service.
    async fn requests<F>(budget: RetryBudget, call: fn(Arc<Client>) -> F) -> usize
    where
        F: Future<Output = Result<String, Down>> + Send + 'static,
    {
        let client = Arc::new(Client {
            server: Server::start(&[Does::Close]).await,
            together: Barrier::new(CALLERS),
            pool: Semaphore::new(64),
            budget,
        });
        let calls: Vec<_> = (0..CALLERS)
            .map(|_| tokio::spawn(call(Arc::clone(&client))))
            .collect();
        for call in calls {
            // its own error, and not that of a budget
            assert!(matches!(call.await.unwrap(), Err(Down::Broken(_))));
        }
        client.server.connections()
    }

    #[tokio::test(start_paused = true)]
    async fn sends_a_fifth_more_than_its_calls_with_a_budget_and_four_times_without() {
        let share = |requests| requests as f64 / CALLERS as f64;
        let fifth = RetryBudget::new().ratio(0.2).min_per_second(0);
        let without = requests(RetryBudget::new(), without_budget).await;
        let with = requests(fifth, with_budget).await;
        let default = requests(RetryBudget::new(), with_budget).await;
        eprintln!("requests that reach a dead service, {CALLERS} callers with max = 4:");
        for (budget, requests) in [
            ("without a budget", without),
            ("with ratio 0.2", with),
            ("with ratio 0.2 and 10 per second, the default", default),
        ] {
            eprintln!(
                "{requests:>6}, {:.2} of the calls, {budget}",
                share(requests)
            );
        }
        assert_eq!(without, 4 * CALLERS);
        assert!(with > CALLERS && share(with) <= 1.2, "{with}");
        // its floor: 10 per second, of a window of 10 s
        assert!(default >= with && share(default) <= 1.3, "{default}");
    }
}
