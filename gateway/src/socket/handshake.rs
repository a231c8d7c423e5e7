//! From a request to the player's bare TCP socket.
//!
//! Not axum's own upgrade: that hands out a socket behind several layers and buffers, which each
//! of thousands of idle players would keep.

use axum::body::Body;
use axum::extract::Request;
use axum::http::{self, StatusCode};
use axum::response::{IntoResponse, Response};
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::handshake::server::create_response;

/// A socket, and what was read of it together with the request.
pub(crate) struct Bare {
    pub(crate) stream: TcpStream,
    pub(crate) read: Vec<u8>,
}

/// The answer to a request, and if it was one for a WebSocket what becomes its socket once the
/// answer is sent.
pub(crate) fn accept(mut request: Request) -> (Response, Option<OnUpgrade>) {
    let upgrading = hyper::upgrade::on(&mut request);
    let (parts, _body) = request.into_parts();
    match create_response(&http::Request::from_parts(parts, ())) {
        Ok(switching) => (switching.map(|()| Body::empty()), Some(upgrading)),
        Err(error) => {
            let refused = (StatusCode::BAD_REQUEST, error.to_string());
            (refused.into_response(), None)
        }
    }
}

/// The socket; none if the player has gone meanwhile.
pub(crate) async fn bare(upgrading: OnUpgrade) -> Option<Bare> {
    let upgraded = upgrading.await.ok()?;
    let parts = upgraded.downcast::<TokioIo<TcpStream>>();
    let parts = parts.expect("the listener serves TCP sockets");
    Some(Bare {
        stream: parts.io.into_inner(),
        read: parts.read_buf.into(),
    })
}
