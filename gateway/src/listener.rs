//! The players' listener: takes their sockets one after the other, and bounds what each may cost.
//!
//! Not `axum::serve`, which waits for a request for ever and accepts as fast as it can. Here
//! whoever sends no request is closed, a herd waits in the kernel's queue instead of taking the
//! CPU from those who play, and no more requests are under way than are allowed.

use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{ConnectInfo, Request};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use chassis::Shutdown;
use chassis::environment::{Limit, Networks};
use chassis::limiter::TokenBucket;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use socket2::SockRef;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};
use tower::ServiceExt;
use tracing::{debug, warn};

use crate::address::Origin;
use crate::admission::{Admission, Admitted};
use crate::config::Config;
use crate::metrics::{Metrics, Refusal};

/// A request's head, and a WebSocket's handshake, are there by then. Between two requests of one
/// connection likewise.
const HEAD_WITHIN: Duration = Duration::from_secs(10);
/// A connection that never became a WebSocket is asked to end after this: whoever takes a page
/// byte by byte holds it no longer.
const PAGES_WITHIN: Duration = Duration::from_mins(1);
/// How long a response that is under way may then take.
const LAST_RESPONSE_WITHIN: Duration = Duration::from_secs(30);
/// The longest head. Ours are under 1 KiB; cookies of other pages of the same site may come along.
const MAX_HEAD_BYTES: usize = 16 * 1024;
/// New sockets wait here until they are accepted; those beyond try again after a second or more.
const BACKLOG: i32 = 4096;
/// What the kernel may hold for a socket that is not read from. It takes twice as much, and by
/// itself up to 4 MiB. A state is under 10 KiB.
const SEND_BUFFER_BYTES: usize = 32 * 1024;
/// How many sockets may be accepted at once: a tenth of a second's.
const BURST_SECONDS: f64 = 0.1;
/// Without room for more open files nothing can be done but wait.
const RETRY_AFTER: Duration = Duration::from_millis(100);
/// Which part of the sockets that are no WebSocket, or not yet, one address may have: a hundred by
/// default, where a browser opens six. Whoever takes them all and sends nothing shuts out nobody.
const PART_OF_ONE_ADDRESS: u64 = 10;
/// Told with 503.
const BUSY_RETRY_SECONDS: HeaderValue = HeaderValue::from_static("15");
/// The same for a socket that gets no further.
const BUSY: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\n\
    retry-after: 15\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";

/// What bounds the sockets that are accepted.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    /// `MAX_HTTP_CONCURRENCY`.
    concurrency: Limit,
    /// The same for the sockets of one address that are no WebSockets.
    open_per_origin: Limit,
    /// `ACCEPT_RATE`.
    accept_rate: Limit,
    /// Behind whom anybody may be.
    proxies: Networks,
}

impl From<&Config> for Limits {
    fn from(config: &Config) -> Self {
        // Where addresses are not told apart for WebSockets, they are not here either.
        let open_per_origin = match config.max_connections_per_ip.count() {
            None => Limit::NONE,
            Some(sockets) => {
                let part = |all: u64| Limit::at_most((all / PART_OF_ONE_ADDRESS).max(sockets));
                config
                    .max_http_concurrency
                    .count()
                    .map_or(Limit::NONE, part)
            }
        };
        Self {
            concurrency: config.max_http_concurrency,
            open_per_origin,
            accept_rate: config.accept_rate,
            proxies: config.trusted_proxies.clone(),
        }
    }
}

/// One request under way, or one WebSocket: given back with the last clone.
#[derive(Clone, Debug)]
pub(crate) struct Underway {
    _place: Arc<Place>,
}

/// Sets what the kernel does for all sockets that will be accepted.
///
/// # Errors
/// If it refuses.
pub(crate) fn prepare(listener: &std::net::TcpListener) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    let socket = SockRef::from(listener);
    socket.set_send_buffer_size(SEND_BUFFER_BYTES)?;
    socket.listen(BACKLOG)
}

/// Accepts sockets until `ending` begins. Then those that are no WebSockets end by themselves.
pub(crate) async fn serve(
    listener: TcpListener,
    routes: Router,
    limits: Limits,
    metrics: Metrics,
    ending: Shutdown,
) {
    let front = Arc::new(Front {
        routes,
        underway: Places::new(limits.concurrency),
        // As many may be between two requests, or before their first.
        open: Admission::new(limits.concurrency, limits.open_per_origin),
        proxies: limits.proxies,
        metrics,
        ending: ending.clone(),
    });
    tokio::select! {
        () = accept(&listener, &front, limits.accept_rate) => {}
        () = ending.begun() => {}
    }
}

async fn accept(listener: &TcpListener, front: &Arc<Front>, rate: Limit) {
    let mut pace = Pace::new(rate);
    let mut told = false;
    loop {
        pace.wait().await;
        match listener.accept().await {
            Ok((stream, peer)) => {
                told = false;
                front.admit(stream, peer);
            }
            Err(error) if is_of_the_peer(&error) => debug!(%error, "gone before it was accepted"),
            Err(error) => {
                if !std::mem::replace(&mut told, true) {
                    // There are no more open files or memory to be had.
                    warn!(%error, "no socket can be accepted; trying on");
                }
                sleep(RETRY_AFTER).await;
            }
        }
    }
}

fn is_of_the_peer(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(
        error.kind(),
        ConnectionAborted | ConnectionRefused | ConnectionReset
    )
}

/// How fast sockets are accepted.
struct Pace(Option<TokenBucket>);

impl Pace {
    fn new(rate: Limit) -> Self {
        #[expect(
            clippy::cast_precision_loss,
            reason = "nobody accepts 2^52 sockets a second"
        )]
        let bucket = |rate: u64| {
            let rate = rate as f64;
            TokenBucket::new(rate, rate * BURST_SECONDS, chassis::clock::now())
        };
        Self(rate.count().map(bucket))
    }

    /// Waits until one more may be accepted.
    async fn wait(&mut self) {
        let Some(bucket) = &mut self.0 else {
            return;
        };
        while !bucket.take(chassis::clock::now()) {
            let wait = bucket.wait(chassis::clock::now());
            sleep(wait.unwrap_or(RETRY_AFTER)).await;
        }
    }
}

/// Places of a limit, if there is one.
struct Places(Option<Arc<Semaphore>>);

impl Places {
    fn new(limit: Limit) -> Self {
        let places = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
        let semaphore = |count| Arc::new(Semaphore::new(places(count).min(Semaphore::MAX_PERMITS)));
        Self(limit.count().map(semaphore))
    }

    fn take(&self) -> Option<Place> {
        let permit = match &self.0 {
            None => None,
            Some(places) => Some(Arc::clone(places).try_acquire_owned().ok()?),
        };
        Some(Place { _permit: permit })
    }
}

/// One of them, given back when it is dropped.
#[derive(Debug)]
struct Place {
    _permit: Option<OwnedSemaphorePermit>,
}

/// What all connections share.
struct Front {
    routes: Router,
    /// Requests and WebSockets.
    underway: Places,
    /// TCP connections that are no WebSockets.
    open: Arc<Admission>,
    proxies: Networks,
    metrics: Metrics,
    ending: Shutdown,
}

impl Front {
    fn admit(self: &Arc<Self>, stream: TcpStream, peer: SocketAddr) {
        let Some(place) = self.place_for(peer.ip()) else {
            self.metrics.refused(Refusal::Concurrency);
            // As far as the kernel takes it; there shall be nothing to wait for.
            let _unheard = stream.try_write(BUSY);
            return;
        };
        if let Err(error) = stream.set_nodelay(true) {
            debug!(%error, "a socket without no-delay");
        }
        let front = Arc::clone(self);
        tokio::spawn(async move {
            front.carry(stream, peer).await;
            drop(place);
        });
    }

    fn place_for(&self, peer: IpAddr) -> Option<Admitted> {
        if self.proxies.contains(peer.to_canonical()) {
            self.open.admit_proxied()
        } else {
            self.open.admit(Origin::of(peer))
        }
    }

    /// Answers the requests of one connection, until it ends or becomes a WebSocket.
    async fn carry(self: Arc<Self>, stream: TcpStream, peer: SocketAddr) {
        let service = service_fn(|request| Arc::clone(&self).answer(request, peer));
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new())
            .header_read_timeout(HEAD_WITHIN)
            .max_buf_size(MAX_HEAD_BYTES);
        let connection = http.serve_connection(TokioIo::new(stream), service);
        let mut connection = pin!(connection.with_upgrades());
        tokio::select! {
            ended = connection.as_mut() => return log_end(ended),
            () = sleep(PAGES_WITHIN) => {}
            () = self.ending.begun() => {}
        }
        connection.as_mut().graceful_shutdown();
        if let Ok(ended) = timeout(LAST_RESPONSE_WITHIN, connection).await {
            log_end(ended);
        }
    }

    async fn answer(
        self: Arc<Self>,
        request: hyper::Request<Incoming>,
        peer: SocketAddr,
    ) -> Result<Response, Infallible> {
        let Some(place) = self.underway.take() else {
            self.metrics.refused(Refusal::Concurrency);
            return Ok(busy());
        };
        let mut request: Request = request.map(Body::new);
        let underway = Underway {
            _place: Arc::new(place),
        };
        request.extensions_mut().insert(ConnectInfo(peer));
        request.extensions_mut().insert(underway.clone());
        self.routes.clone().oneshot(request).await
    }
}

fn busy() -> Response {
    let headers = [
        (header::RETRY_AFTER, BUSY_RETRY_SECONDS),
        (header::CONNECTION, HeaderValue::from_static("close")),
    ];
    (StatusCode::SERVICE_UNAVAILABLE, headers).into_response()
}

fn log_end(ended: Result<(), hyper::Error>) {
    if let Err(error) = ended {
        debug!(%error, "a connection ended");
    }
}
