//! The operations port: `/health`, `/ready`, `/metrics`, and what a role adds.
//!
//! It answers from a thread of its own, so it still does when every other thread is stuck. Hence
//! what roles give it must not block: it runs on that thread.
//!
//! It is for operators and their machines, never for players: nothing here is limited or checked
//! beyond what a role's own routes do. Only whoever takes nothing of an answer is not waited for,
//! since some answers have no end: a page that was put to sleep would hold its place for ever.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use serde_json::{Map, Value};
use socket2::SockRef;
use tokio_util::sync::{CancellationToken, DropGuard};
use tower::ServiceExt;

use crate::{Metrics, Readiness};

/// A socket that takes nothing for so long is closed by the kernel. Whoever follows events comes
/// back by itself, and is shown everything anew.
const STALLED_AFTER: Duration = Duration::from_secs(15);
/// What the kernel may hold for such a socket until then; it takes twice as much. By itself it would
/// be 4 MiB, which what is said in a quiet fleet takes hours to fill.
const SEND_BUFFER_BYTES: usize = 64 * 1024;

/// The fields that one part shows in `/health`.
pub type HealthFields = Map<String, Value>;

/// A handle on the operations port. The port closes with the last handle.
#[derive(Clone)]
pub struct Operations {
    shared: Arc<Shared>,
    address: SocketAddr,
    /// Under which name this part's health is shown; empty for the only part of a process.
    part: String,
    _port: Arc<DropGuard>,
}

struct Shared {
    readiness: Readiness,
    metrics: Metrics,
    health: Mutex<Vec<(String, HealthSource)>>,
    added: Mutex<Router>,
}

type HealthSource = Box<dyn Fn() -> HealthFields + Send>;

impl Operations {
    /// Answers on `listener` from now on.
    ///
    /// # Errors
    /// If the listener can't be used or the thread can't be started.
    pub fn start(
        listener: TcpListener,
        readiness: Readiness,
        metrics: Metrics,
    ) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        // Sockets have from their listener what is set here.
        let socket = SockRef::from(&listener);
        socket.set_tcp_user_timeout(Some(STALLED_AFTER))?;
        socket.set_send_buffer_size(SEND_BUFFER_BYTES)?;
        let address = listener.local_addr()?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let listener = {
            let _inside = runtime.enter();
            tokio::net::TcpListener::from_std(listener)?
        };
        let shared = Arc::new(Shared {
            readiness,
            metrics,
            health: Mutex::default(),
            added: Mutex::new(Router::new()),
        });
        let closed = CancellationToken::new();
        let app = routes(Arc::clone(&shared));
        let until = closed.clone();
        thread::Builder::new()
            .name("operations".to_owned())
            .spawn(move || {
                // Dropping the runtime at the end also ends event streams that are still open.
                runtime.block_on(async {
                    tokio::select! {
                        result = axum::serve(listener, app) => drop(result),
                        () = until.cancelled() => {}
                    }
                });
            })?;
        Ok(Self {
            shared,
            address,
            part: String::new(),
            _port: Arc::new(closed.drop_guard()),
        })
    }

    /// Takes what roles add, and answers nobody: a process of a simulation has no port.
    #[cfg(feature = "simulation")]
    pub fn unserved(readiness: Readiness) -> Self {
        let shared = Shared {
            readiness,
            metrics: Metrics::default(),
            health: Mutex::default(),
            added: Mutex::new(Router::new()),
        };
        Self {
            shared: Arc::new(shared),
            address: SocketAddr::from(([127, 0, 0, 1], 0)),
            part: String::new(),
            _port: Arc::new(CancellationToken::new().drop_guard()),
        }
    }

    /// Where it listens, with the port that the system chose.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The same port for one of several roles, whose health fields are shown under `name`.
    #[must_use]
    pub fn part(&self, name: &str) -> Self {
        Self {
            part: name.to_owned(),
            ..self.clone()
        }
    }

    /// Adds fields to `/health`, asked anew for each request.
    ///
    /// The closure runs on the operations thread and must not wait for anything: it reads atomics
    /// or a snapshot. `status` is not its to set.
    pub fn add_health(&self, source: impl Fn() -> HealthFields + Send + 'static) {
        let mut health = self
            .shared
            .health
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        health.push((self.part.clone(), Box::new(source)));
    }

    /// Adds routes to the port. Their handlers run on the operations thread and must not block it.
    ///
    /// # Panics
    /// If a path is already taken by an earlier call: a mistake in the program.
    pub fn add_routes(&self, routes: Router) {
        let mut added = self
            .shared
            .added
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *added = added.clone().merge(routes);
    }
}

impl std::fmt::Debug for Operations {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Operations")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

fn routes(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/health", get(health))
        .route("/ready", get(ready))
        .route("/metrics", get(metrics))
        .fallback(added)
        .with_state(shared)
}

async fn health(State(shared): State<Arc<Shared>>) -> Json<HealthFields> {
    let mut fields = HealthFields::new();
    for (part, source) in &*shared.health.lock().unwrap_or_else(PoisonError::into_inner) {
        if part.is_empty() {
            fields.extend(source());
        } else if let Value::Object(of_part) = fields
            .entry(part)
            .or_insert_with(|| Value::Object(HealthFields::new()))
        {
            of_part.extend(source());
        }
    }
    // Last, so that nothing takes its place: it says that the process can answer, no more.
    fields.insert("status".to_owned(), Value::from("ok"));
    Json(fields)
}

async fn ready(State(shared): State<Arc<Shared>>) -> (StatusCode, Json<Value>) {
    let body = shared.readiness.to_json();
    let status = if body["ready"] == true {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    };
    (status, Json(body))
}

async fn metrics(State(shared): State<Arc<Shared>>) -> Response {
    match shared.metrics.render() {
        Ok(text) => ([(header::CONTENT_TYPE, prometheus::TEXT_FORMAT)], text).into_response(),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    }
}

/// Roles add routes after the port has opened, so they are looked up for each request.
async fn added(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    let router = shared
        .added
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .clone();
    match router.oneshot(request).await {
        Ok(response) => response,
        Err(never) => match never {},
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpStream;

    use serde_json::json;

    use super::*;
    use crate::Process;

    fn start() -> Process {
        Process::start(
            TcpListener::bind("127.0.0.1:0").unwrap(),
            Metrics::default(),
        )
        .unwrap()
    }

    /// The status and the body of a `GET`, as any program outside would see them.
    fn ask(process: &Process, path: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(process.operations.address()).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(5)))
            .unwrap();
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\r\n"
        )
        .unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).unwrap();
        let (head, body) = response.split_once("\r\n\r\n").unwrap();
        (
            head.split(' ').nth(1).unwrap().parse().unwrap(),
            body.to_owned(),
        )
    }

    fn health_of(process: &Process) -> Value {
        serde_json::from_str(&ask(process, "/health").1).unwrap()
    }

    #[test]
    fn ready_follows_the_checks() {
        let process = start();
        let [probe] = process.readiness.checks(["probe"]);
        let (status, body) = ask(&process, "/ready");
        assert_eq!(status, 503);
        assert!(body.contains(r#""ready":false"#), "{body}");
        probe.pass("3 ms");
        assert_eq!(ask(&process, "/ready").0, 200);
    }

    #[test]
    fn health_is_always_ok_and_shows_what_roles_add() {
        let process = start();
        let fields = || {
            json!({ "status": "on fire", "load": 0.5 })
                .as_object()
                .unwrap()
                .clone()
        };
        process.operations.add_health(fields);
        assert_eq!(health_of(&process), json!({ "status": "ok", "load": 0.5 }));
    }

    #[test]
    fn parts_show_their_health_under_their_name() {
        let process = start();
        for name in ["game-1", "game-2"] {
            let fields = || json!({ "lobbies": 3 }).as_object().unwrap().clone();
            process.part(name).operations.add_health(fields);
        }
        let lobbies = json!({ "lobbies": 3 });
        let expected = json!({ "status": "ok", "game-1": lobbies, "game-2": lobbies });
        assert_eq!(health_of(&process), expected);
    }

    #[test]
    fn routes_may_come_later() {
        let process = start();
        assert_eq!(ask(&process, "/nodes").0, 404);
        process
            .operations
            .add_routes(Router::new().route("/nodes", get(async || "[]")));
        assert_eq!(ask(&process, "/nodes"), (200, "[]".to_owned()));
    }

    #[test]
    fn whoever_takes_nothing_of_an_answer_without_an_end_is_closed() {
        let process = start();
        let held = Arc::new(());
        let endless = {
            let held = Arc::clone(&held);
            async move || {
                let held = Arc::clone(&held);
                let piece = move || {
                    // Until the answer is dropped.
                    std::hint::black_box(&held);
                    Ok::<_, io::Error>(vec![b' '; 4096])
                };
                axum::body::Body::from_stream(futures_util::stream::repeat_with(piece))
            }
        };
        process
            .operations
            .add_routes(Router::new().route("/endless", get(endless)));
        let idle = Arc::strong_count(&held);
        let mut stalled = TcpStream::connect(process.operations.address()).unwrap();
        write!(stalled, "GET /endless HTTP/1.1\r\nhost: test\r\n\r\n").unwrap();
        let mut status = [0; 15];
        stalled.read_exact(&mut status).unwrap();
        assert_eq!(&status, b"HTTP/1.1 200 OK");
        assert!(Arc::strong_count(&held) > idle, "it is being answered");
        let closed = (0..STALLED_AFTER.as_secs() * 4).any(|_| {
            std::thread::sleep(Duration::from_secs(1));
            Arc::strong_count(&held) == idle
        });
        assert!(closed, "still held");
        assert_eq!(ask(&process, "/health").0, 200);
    }

    #[test]
    fn the_port_closes_with_the_last_handle() {
        let process = start();
        let address = process.operations.address();
        drop(process);
        let closed = (0..500).any(|_| {
            std::thread::sleep(Duration::from_millis(10));
            TcpStream::connect(address).is_err()
        });
        assert!(closed, "still open after 5 s");
    }
}
