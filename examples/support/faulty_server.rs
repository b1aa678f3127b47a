//! An HTTP server on loopback that fails on purpose before it answers.

use std::{
    collections::HashMap,
    convert::Infallible,
    future, io,
    net::Ipv4Addr,
    sync::{Arc, Mutex},
    time::Duration,
    vec,
};

use hyper::{
    Request, Response, body::Incoming, header::RETRY_AFTER, server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpSocket, TcpStream};

/// What happens to a request instead of its answer.
pub enum Fault {
    /// The connection is reset
    Reset,
    /// The connection stays open, but nothing comes
    Silence,
    /// An error status
    Status(u16),
    /// 429, with the seconds to stay away
    Busy { retry_after: u64 },
}

type Routes = HashMap<&'static str, Route>;

/// A server that does not run yet.
#[derive(Default)]
pub struct FaultyServer {
    routes: Routes,
}

struct Route {
    /// One per request, from the first on
    faults: vec::IntoIter<Fault>,
    /// For the requests after them
    answer: &'static str,
    requests: u32,
}

impl FaultyServer {
    /// A path that has these faults, one per request, before it answers.
    pub fn route<const N: usize>(
        mut self,
        path: &'static str,
        faults: [Fault; N],
        answer: &'static str,
    ) -> Self {
        let route = Route {
            faults: Vec::from(faults).into_iter(),
            answer,
            requests: 0,
        };
        self.routes.insert(path, route);
        self
    }

    /// Takes a free port at once, but accepts no connection until `delay` has passed.
    pub fn start_after(self, delay: Duration) -> io::Result<RunningServer> {
        // bound but not listening: nobody else gets the port, and connections to it are refused
        let socket = TcpSocket::new_v4()?;
        socket.bind((Ipv4Addr::LOCALHOST, 0).into())?;
        let url = format!("http://{}", socket.local_addr()?);
        let routes = Arc::new(Mutex::new(self.routes));
        let running = RunningServer {
            url,
            routes: Arc::clone(&routes),
        };
        tokio::spawn(async move {
            tokio::time::sleep(delay).await;
            accept(socket.listen(64)?, routes).await
        });
        Ok(running)
    }
}

pub struct RunningServer {
    pub url: String,
    routes: Arc<Mutex<Routes>>,
}

impl RunningServer {
    /// How many requests for this path have arrived.
    pub fn requests(&self, path: &str) -> u32 {
        self.routes.lock().unwrap()[path].requests
    }
}

async fn accept(listener: TcpListener, routes: Arc<Mutex<Routes>>) -> io::Result<Infallible> {
    loop {
        let (stream, _) = listener.accept().await?;
        tokio::spawn(serve(stream, Arc::clone(&routes)));
    }
}

async fn serve(stream: TcpStream, routes: Arc<Mutex<Routes>>) {
    let service = service_fn(|request| answer(request, &routes));
    let mut connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
    if (&mut connection).await.is_err() {
        // with nothing lingering, the kernel resets the connection instead of closing it
        let stream = connection.into_parts().io.into_inner();
        let _ = stream.set_zero_linger();
    }
}

/// An error makes hyper give up the connection without a response.
async fn answer(
    request: Request<Incoming>,
    routes: &Mutex<Routes>,
) -> io::Result<Response<String>> {
    let (fault, answer) = {
        let mut routes = routes.lock().unwrap();
        let route = routes.get_mut(request.uri().path()).unwrap();
        route.requests += 1;
        (route.faults.next(), route.answer)
    };
    let response = Response::builder();
    let response = match fault {
        None => response.body(answer.into()),
        Some(Fault::Reset) => return Err(io::ErrorKind::ConnectionReset.into()),
        Some(Fault::Silence) => future::pending().await,
        Some(Fault::Status(status)) => response.status(status).body(String::new()),
        Some(Fault::Busy { retry_after }) => response
            .status(429)
            .header(RETRY_AFTER, retry_after)
            .body(String::new()),
    };
    response.map_err(io::Error::other)
}
