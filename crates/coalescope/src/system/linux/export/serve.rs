//! Answers requests: one thread, and a bound on how many, how long and how slow.

use std::cell::RefCell;
use std::convert::Infallible;
use std::net::TcpListener;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use coalescope_report::Form;
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{ACCEPT, ALLOW, CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio::runtime;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::LocalSet;
use tokio::time::{sleep, timeout};

use super::Exporter;
use crate::speech;

/// Clients that are answered at once; the next ones wait until one of them is.
const CLIENTS: usize = 64;
/// A request, and the answer to it, may take so long: Prometheus itself gives up after 10 s.
const PATIENCE: Duration = Duration::from_secs(20);
/// And its headers.
const HEADERS: Duration = Duration::from_secs(5);
/// How often is looked whether to end.
const PAUSE: Duration = Duration::from_millis(250);

const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
/// Prometheus' older format.
const PLAIN: &str = "text/plain; version=0.0.4; charset=utf-8";
const HTML: &str = "text/html; charset=utf-8";
const START: &str =
    "<!doctype html><title>coalescope</title><p><a href=\"/metrics\">metrics</a></p>\n";

/// Answers until told to end.
pub(super) fn serve(
    listener: TcpListener,
    exporter: Exporter,
    told: &AtomicBool,
) -> anyhow::Result<()> {
    listener.set_nonblocking(true)?;
    let runtime = runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build()?;
    let tasks = LocalSet::new();
    tasks.block_on(&runtime, async {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        tokio::task::spawn_local(accept(listener, exporter));
        until(told).await;
        Ok(())
    })
}

async fn until(told: &AtomicBool) {
    while !told.load(Ordering::Relaxed) {
        sleep(PAUSE).await;
    }
}

async fn accept(listener: tokio::net::TcpListener, exporter: Exporter) {
    let exporter = Rc::new(RefCell::new(exporter));
    let clients = Arc::new(Semaphore::new(CLIENTS));
    // Nobody closes it.
    while let Ok(permit) = Arc::clone(&clients).acquire_owned().await {
        match listener.accept().await {
            Ok((stream, _)) => {
                tokio::task::spawn_local(client(stream, Rc::clone(&exporter), permit));
            }
            // A client that has gone already, or no descriptor left: others go on.
            Err(error) => {
                speech::detail(|| format!("a connection was not accepted: {error}"));
                sleep(PAUSE).await;
            }
        }
    }
}

/// One request, and its answer.
async fn client(stream: TcpStream, exporter: Rc<RefCell<Exporter>>, _permit: OwnedSemaphorePermit) {
    let service = service_fn(|request| {
        let answer = answer(&request, &mut exporter.borrow_mut());
        async { Ok::<_, Infallible>(answer) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADERS)
        .keep_alive(false)
        .serve_connection(TokioIo::new(stream), service);
    let done = timeout(PATIENCE, connection).await;
    speech::detail(|| format!("a client was answered: {done:?}"));
}

fn answer(request: &Request<Incoming>, exporter: &mut Exporter) -> Response<Full<Bytes>> {
    if ![Method::GET, Method::HEAD].contains(request.method()) {
        let mut refused = said(StatusCode::METHOD_NOT_ALLOWED, PLAIN, "GET is answered\n");
        let allowed = HeaderValue::from_static("GET, HEAD");
        refused.headers_mut().insert(ALLOW, allowed);
        return refused;
    }
    match request.uri().path() {
        "/metrics" => metrics(form(request), exporter),
        "/" => said(StatusCode::OK, HTML, START),
        _ => said(StatusCode::NOT_FOUND, PLAIN, "/metrics is there\n"),
    }
}

fn metrics(form: Form, exporter: &mut Exporter) -> Response<Full<Bytes>> {
    let name = match form {
        Form::OpenMetrics => OPENMETRICS,
        Form::Plain => PLAIN,
    };
    match exporter.metrics(form) {
        Ok(metrics) => said(StatusCode::OK, name, metrics),
        Err(error) => {
            let text = format!("{error:#}\n");
            said(StatusCode::INTERNAL_SERVER_ERROR, PLAIN, text)
        }
    }
}

/// What the client says that it understands.
fn form(request: &Request<Incoming>) -> Form {
    let accepted = request.headers().get_all(ACCEPT).iter();
    let mut accepted = accepted.filter_map(|value| value.to_str().ok());
    match accepted.any(|value| value.contains("application/openmetrics-text")) {
        true => Form::OpenMetrics,
        false => Form::Plain,
    }
}

fn said(status: StatusCode, form: &'static str, body: impl Into<Bytes>) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body.into()));
    *response.status_mut() = status;
    let form = HeaderValue::from_static(form);
    response.headers_mut().insert(CONTENT_TYPE, form);
    response
}
