//! A player's program.

use std::net::SocketAddr;
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

/// Longer than anything that the gateway may take.
const CEILING: Duration = Duration::from_secs(15);

pub(crate) struct Client {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    pub(crate) token: String,
    /// Its last action in a game. A table that has moved may be shown again as it was before that came there, and then it is
    /// on its way all the same.
    pub(crate) acted: Option<Value>,
    /// That action had no answer in time, and was sent again.
    pub(crate) has_repeated: bool,
}

impl Client {
    pub(crate) async fn connect(address: SocketAddr) -> Self {
        let (socket, _) = connect_async(format!("ws://{address}/ws")).await.unwrap();
        Self {
            socket,
            token: String::new(),
            acted: None,
            has_repeated: false,
        }
    }

    /// As a browser on that page would.
    pub(crate) async fn connect_from(address: SocketAddr, origin: &str) -> Self {
        Self::connect_with(address, "origin", origin).await
    }

    /// With one more header.
    pub(crate) async fn connect_with(address: SocketAddr, name: &'static str, value: &str) -> Self {
        let mut request = format!("ws://{address}/ws").into_client_request().unwrap();
        request.headers_mut().insert(name, value.parse().unwrap());
        let (socket, _) = connect_async(request).await.unwrap();
        Self {
            socket,
            token: String::new(),
            acted: None,
            has_repeated: false,
        }
    }

    /// Says hello; gives back the welcome.
    pub(crate) async fn hello(&mut self, token: Value) -> Value {
        self.send(json!({ "type": "hello", "token": token })).await;
        let welcome = self.receive().await;
        assert_eq!(welcome["type"], "welcome", "{welcome}");
        welcome["token"]
            .as_str()
            .unwrap()
            .clone_into(&mut self.token);
        welcome
    }

    /// Says hello as a stranger, and takes everything that follows.
    pub(crate) async fn enter(&mut self) {
        self.hello(Value::Null).await;
        assert_eq!(self.receive().await["type"], "server_status");
        assert_eq!(self.receive().await["type"], "state");
    }

    pub(crate) async fn send(&mut self, message: Value) {
        self.send_text(&message.to_string()).await;
    }

    /// A gateway that has closed meanwhile is seen when reading.
    pub(crate) async fn send_text(&mut self, text: &str) {
        let _closed = self.socket.send(Message::text(text)).await;
    }

    pub(crate) async fn send_binary(&mut self, bytes: &[u8]) {
        self.socket
            .send(Message::binary(bytes.to_vec()))
            .await
            .unwrap();
    }

    pub(crate) async fn receive(&mut self) -> Value {
        loop {
            let message = timeout(CEILING, self.socket.next())
                .await
                .expect("a message in time");
            match message.expect("an open socket").unwrap() {
                Message::Text(text) => return serde_json::from_str(&text).unwrap(),
                Message::Ping(_) | Message::Pong(_) => {}
                other => panic!("no message: {other:?}"),
            }
        }
    }

    /// The next message, or the code that the gateway closes with.
    pub(crate) async fn receive_or_close(&mut self) -> Result<Value, u16> {
        loop {
            let message = timeout(CEILING, self.socket.next())
                .await
                .expect("a message in time");
            match message.expect("an open socket").unwrap() {
                Message::Text(text) => return Ok(serde_json::from_str(&text).unwrap()),
                Message::Close(Some(frame)) => return Err(frame.code.into()),
                Message::Ping(_) | Message::Pong(_) => {}
                other => panic!("no message: {other:?}"),
            }
        }
    }

    /// Whatever was said before has been read, and none of it refused.
    pub(crate) async fn is_answered(&mut self) {
        self.send(json!({ "type": "ping", "nonce": "here" })).await;
        self.receive_until(|message| {
            assert_ne!(message["type"], "error", "{message}");
            message["type"] == "pong"
        })
        .await;
    }

    pub(crate) async fn receive_until(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            let message = self.receive().await;
            if wanted(&message) {
                return message;
            }
        }
    }

    /// The code that the gateway closes with, after whatever it says before.
    pub(crate) async fn closed(&mut self) -> u16 {
        loop {
            let message = timeout(CEILING, self.socket.next())
                .await
                .expect("a close in time");
            match message
                .expect("a close frame")
                .expect("a close frame, not an error")
            {
                Message::Close(Some(frame)) => return frame.code.into(),
                Message::Close(None) => panic!("a close without a code"),
                _ => {}
            }
        }
    }
}
