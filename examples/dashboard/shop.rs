//! The service that is called, on a port of its own.

use std::{
    io,
    net::Ipv4Addr,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use hyper::{
    Request, Response, StatusCode, body::Incoming, header::RETRY_AFTER, server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use metrics::{Unit, counter, describe_counter, describe_gauge};
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};
use tokio::{net::TcpListener, time::sleep};

use crate::faults::Faults;

pub fn describe_metrics() {
    describe_counter!(
        "shop_requests_total",
        Unit::Count,
        "requests that have reached the shop, by the status of the answer"
    );
    describe_gauge!("shop_fault_rate", "share of requests that fail, 0 to 1");
    describe_gauge!("shop_phase", "1 for the phase that the shop is in");
}

struct Shop {
    faults: Arc<Faults>,
    random: Mutex<StdRng>,
}

/// Starts it; its address.
pub async fn open(faults: Arc<Faults>) -> io::Result<String> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let url = format!("http://{}", listener.local_addr()?);
    let shop = Arc::new(Shop {
        faults,
        random: Mutex::new(StdRng::seed_from_u64(1)),
    });
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let shop = Arc::clone(&shop);
            let service = service_fn(move |request| answer(Arc::clone(&shop), request));
            // one that is given up is a fault like any other
            let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
            tokio::spawn(connection);
        }
    });
    Ok(url)
}

/// An error makes hyper close the connection without a response.
async fn answer(shop: Arc<Shop>, request: Request<Incoming>) -> io::Result<Response<String>> {
    let (fails, kind, millis) = {
        let mut random = shop.random.lock().unwrap_or_else(PoisonError::into_inner);
        let fails = random.random_bool(shop.faults.now().rate);
        (
            fails,
            random.random_range(0.0..1.0),
            random.random_range(10..40),
        )
    };
    sleep(Duration::from_millis(millis)).await;
    let (status, body) = match (fails, request.uri().path()) {
        (true, _) if kind < 0.3 => {
            count("none");
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        (true, _) if kind < 0.5 => (StatusCode::TOO_MANY_REQUESTS, ""),
        (true, _) => (StatusCode::SERVICE_UNAVAILABLE, ""),
        (false, "/prices/13") => (StatusCode::NOT_FOUND, ""),
        (false, path) if path.starts_with("/parcels/") && kind < 0.4 => {
            (StatusCode::OK, "on its way")
        }
        (false, path) if path.starts_with("/parcels/") => (StatusCode::OK, "delivered"),
        (false, _) => (StatusCode::OK, "as you like it"),
    };
    count(status.as_str());
    let response = Response::builder().status(status);
    let response = if status == StatusCode::TOO_MANY_REQUESTS {
        response.header(RETRY_AFTER, 1)
    } else {
        response
    };
    response.body(body.into()).map_err(io::Error::other)
}

fn count(status: &str) {
    counter!("shop_requests_total", "status" => status.to_string()).increment(1);
}
