//! The page, the metrics that it reads, and the control of the faults.

use std::{convert::Infallible, io, net::Ipv4Addr, sync::Arc};

use hyper::{
    Method, Request, Response, StatusCode,
    body::Incoming,
    header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE},
    http,
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use metrics_exporter_prometheus::PrometheusHandle;
use tokio::net::TcpListener;

use crate::faults::Faults;

const PAGE: &str = include_str!("page.html");

/// The page asks nobody but this server.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; \
                      img-src data:; connect-src 'self'";

/// Starts it; its address.
pub async fn serve(
    port: u16,
    faults: Arc<Faults>,
    prometheus: PrometheusHandle,
) -> io::Result<String> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
    let url = format!("http://{}/", listener.local_addr()?);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (faults, prometheus) = (Arc::clone(&faults), prometheus.clone());
            let service = service_fn(move |request| {
                let response = answer(&request, &faults, &prometheus);
                async { Ok::<_, Infallible>(response.unwrap_or_default()) }
            });
            let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
            tokio::spawn(connection);
        }
    });
    Ok(url)
}

fn answer(
    request: &Request<Incoming>,
    faults: &Faults,
    prometheus: &PrometheusHandle,
) -> http::Result<Response<String>> {
    let response = Response::builder();
    match (request.method(), request.uri().path()) {
        (&Method::GET, "/") => response
            .header(CONTENT_TYPE, "text/html; charset=utf-8")
            .header(CONTENT_SECURITY_POLICY, POLICY)
            .body(PAGE.into()),
        (&Method::GET, "/metrics") => {
            faults.publish();
            response
                .header(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")
                .body(prometheus.render())
        }
        (&Method::POST, "/fault") => {
            let query = request.uri().query().unwrap_or_default();
            let rate = query.strip_prefix("rate=").map(str::parse::<f64>);
            match (query, rate) {
                ("cycle", _) => faults.cycle(),
                (_, Some(Ok(rate))) if (0.0..=1.0).contains(&rate) => faults.set(rate),
                _ => {
                    return response
                        .status(StatusCode::BAD_REQUEST)
                        .body("POST /fault?rate=0.0..1.0 or /fault?cycle\n".into());
                }
            }
            response.body("set\n".into())
        }
        _ => response.status(StatusCode::NOT_FOUND).body(String::new()),
    }
}
