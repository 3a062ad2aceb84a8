//! An HTTP server: one thread, with limits on the number, length and time of requests.

use std::cell::RefCell;
use std::convert::Infallible;
use std::net::{SocketAddr, TcpListener};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Context;
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{ALLOW, CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio::runtime;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::LocalSet;
use tokio::time::{sleep, timeout};

use crate::speech;

/// Clients that are served at the same time; further ones wait.
const CLIENTS: usize = 64;
/// Time limit of a request and its answer. Prometheus itself gives up after 10 s, and the page's
/// largest file, of 3 MB, may go over a slow line.
const PATIENCE: Duration = Duration::from_secs(60);
/// Time limit of a request's headers.
const HEADERS: Duration = Duration::from_secs(5);
/// How often the stop flag is checked.
const PAUSE: Duration = Duration::from_millis(250);

/// An HTTP response.
pub(crate) type Answer = Response<Full<Bytes>>;

/// Binds the address, before anything else is done.
pub(crate) fn listen(address: SocketAddr) -> anyhow::Result<TcpListener> {
    TcpListener::bind(address).with_context(|| format!("cannot listen at {address}"))
}

/// Answers GET and HEAD requests until `stop` is set.
pub(crate) fn serve(
    listener: TcpListener,
    stop: &AtomicBool,
    answer: impl FnMut(&Request<Incoming>) -> Answer + 'static,
) -> anyhow::Result<()> {
    listener.set_nonblocking(true)?;
    let runtime = runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build()?;
    let tasks = LocalSet::new();
    tasks.block_on(&runtime, async {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        tokio::task::spawn_local(accept(listener, answer));
        until(stop).await;
        Ok(())
    })
}

async fn until(stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        sleep(PAUSE).await;
    }
}

async fn accept(
    listener: tokio::net::TcpListener,
    answer: impl FnMut(&Request<Incoming>) -> Answer + 'static,
) {
    let answer = Rc::new(RefCell::new(answer));
    let clients = Arc::new(Semaphore::new(CLIENTS));
    // The semaphore is never closed, so that this loop does not end by itself.
    while let Ok(permit) = Arc::clone(&clients).acquire_owned().await {
        match listener.accept().await {
            Ok((stream, _)) => {
                tokio::task::spawn_local(client(stream, Rc::clone(&answer), permit));
            }
            // The client is gone already, or no file descriptor is left: others are served.
            Err(error) => {
                speech::detail(|| format!("a connection was not accepted: {error}"));
                sleep(PAUSE).await;
            }
        }
    }
}

/// Serves one connection.
async fn client(
    stream: TcpStream,
    answer: Rc<RefCell<impl FnMut(&Request<Incoming>) -> Answer>>,
    _permit: OwnedSemaphorePermit,
) {
    let service = service_fn(|request: Request<Incoming>| {
        let answer = match [Method::GET, Method::HEAD].contains(request.method()) {
            true => (*answer.borrow_mut())(&request),
            false => refused(),
        };
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

/// The answer to other methods than GET and HEAD: this server changes nothing.
fn refused() -> Answer {
    let mut refused = said(
        StatusCode::METHOD_NOT_ALLOWED,
        "text/plain; charset=utf-8",
        "GET is answered\n",
    );
    let allowed = HeaderValue::from_static("GET, HEAD");
    refused.headers_mut().insert(ALLOW, allowed);
    refused
}

/// An answer with a media type.
pub(crate) fn said(status: StatusCode, form: &'static str, body: impl Into<Bytes>) -> Answer {
    let mut response = Response::new(Full::new(body.into()));
    *response.status_mut() = status;
    let form = HeaderValue::from_static(form);
    response.headers_mut().insert(CONTENT_TYPE, form);
    response
}
