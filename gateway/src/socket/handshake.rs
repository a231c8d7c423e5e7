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

/// The answer to a request for a WebSocket, and what becomes its socket once that is sent.
///
/// # Errors
/// The answer to a request that is none.
pub(crate) fn accept(mut request: Request) -> Result<(Response, OnUpgrade), Response> {
    let upgrading = hyper::upgrade::on(&mut request);
    let (parts, _body) = request.into_parts();
    match create_response(&http::Request::from_parts(parts, ())) {
        Ok(switching) => Ok((switching.map(|()| Body::empty()), upgrading)),
        Err(error) => Err((StatusCode::BAD_REQUEST, error.to_string()).into_response()),
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
