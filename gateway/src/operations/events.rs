//! `GET /nodes/events`: what happens to the processes, as server-sent events.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderName, StatusCode, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream::{self, Stream};
use tokio::sync::broadcast;

use super::Desk;
use super::board::Frame;

/// Operators who watch at once, each with a page or a terminal.
const MAX_WATCHERS: usize = 64;

/// A comment, when nothing else was sent for so long, keeps proxies from closing the stream.
const COMMENT_EVERY: Duration = Duration::from_secs(5);

/// How long a browser waits before it comes back.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// nginx must not wait for a full buffer.
const NO_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

pub(super) async fn follow(State(desk): State<Desk>) -> Response {
    let Some((opening, frames)) = desk.board.watch(MAX_WATCHERS) else {
        let retry = [(header::RETRY_AFTER, "10")];
        let why = "too many watch already, or this gateway is ending";
        return (StatusCode::SERVICE_UNAVAILABLE, retry, why).into_response();
    };
    let events = Sse::new(all(opening, frames))
        .keep_alive(KeepAlive::new().interval(COMMENT_EVERY).text("alive"));
    ([(NO_BUFFERING, "no")], events).into_response()
}

/// Ends when the watcher is too far behind: it comes back, and gets the whole picture again.
fn all(
    opening: VecDeque<Frame>,
    frames: broadcast::Receiver<Frame>,
) -> impl Stream<Item = Result<Event, Infallible>> {
    stream::unfold((opening, frames), async |(mut opening, mut frames)| {
        let frame = match opening.pop_front() {
            Some(frame) => frame,
            None => frames.recv().await.ok()?,
        };
        let event = Event::default().event(frame.name).data(&*frame.data);
        let event = match frame.name {
            "snapshot" => event.retry(RETRY_AFTER),
            _ => event,
        };
        Some((Ok(event), (opening, frames)))
    })
}
