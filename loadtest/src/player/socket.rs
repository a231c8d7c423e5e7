//! Text frames over one WebSocket.

use futures_util::{SinkExt, StreamExt};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async_with_config};

use super::{PATIENCE, PlayerError};

pub(super) struct Socket(WebSocketStream<MaybeTlsStream<TcpStream>>);

impl Socket {
    pub(super) async fn connect(url: &str) -> Result<Self, PlayerError> {
        let failed = |reason: String| PlayerError::Connect {
            url: url.to_owned(),
            reason,
        };
        // Without Nagle's delay: a move is one small frame, and its latency is measured.
        let connecting = connect_async_with_config(url, None, true);
        match tokio::time::timeout(PATIENCE, connecting).await {
            Ok(Ok((socket, _))) => Ok(Self(socket)),
            Ok(Err(error)) => Err(failed(error.to_string())),
            Err(_) => Err(failed(format!("no answer within {PATIENCE:?}"))),
        }
    }

    pub(super) async fn send(&mut self, text: String) -> Result<(), PlayerError> {
        self.0
            .send(Message::text(text))
            .await
            .map_err(|error| broken(&error))
    }

    /// The next text; pings are answered on the way. Dropped while it waits, it has lost nothing.
    pub(super) async fn next(&mut self) -> Result<String, PlayerError> {
        loop {
            match self.0.next().await {
                Some(Ok(Message::Text(text))) => return Ok(text.as_str().to_owned()),
                Some(Ok(Message::Close(frame))) => {
                    return Err(PlayerError::Closed {
                        code: frame.as_ref().map(|frame| frame.code.into()),
                        reason: frame
                            .map(|frame| frame.reason.to_string())
                            .unwrap_or_default(),
                    });
                }
                Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => {}
                Some(Ok(Message::Binary(bytes))) => {
                    return Err(PlayerError::Unreadable {
                        reason: "a binary frame".to_owned(),
                        text: format!("{} bytes", bytes.len()),
                    });
                }
                Some(Err(error)) => return Err(broken(&error)),
                None => {
                    return Err(PlayerError::Closed {
                        code: None,
                        reason: "it ended".to_owned(),
                    });
                }
            }
        }
    }

    pub(super) async fn close(&mut self) {
        // It is over either way.
        let _ = self.0.close(None).await;
    }
}

fn broken(error: &tokio_tungstenite::tungstenite::Error) -> PlayerError {
    PlayerError::Closed {
        code: None,
        reason: error.to_string(),
    }
}
