//! The players: how long their answers take.

use std::net::SocketAddr;
use std::time::Duration;

use futures_util::future::join_all;
use futures_util::{SinkExt, StreamExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async_with_config};

const PLAYERS: u32 = 200;
const MESSAGES_EACH: u32 = 25;
/// 1,000 messages a second in all.
const EVERY: Duration = Duration::from_millis(200);
/// Whoever sits down does it in groups.
const GROUP: u32 = 100;

pub(crate) type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// Whether the other side is a gateway, or answers each frame.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Load {
    Players,
    Plain,
}

pub(crate) struct Report {
    pub(crate) messages: u32,
    pub(crate) p50: Duration,
    pub(crate) p99: Duration,
}

/// The players of one row, connected and at their tables.
pub(crate) async fn gather(address: SocketAddr, load: Load) -> Vec<Socket> {
    join_all((0..PLAYERS).map(|_| enter(address, load))).await
}

/// Lets each of them say what there is to say, at their pace.
pub(crate) async fn play(sockets: Vec<Socket>) -> Report {
    let playing = (0..).zip(sockets).map(|(number, mut socket)| async move {
        sleep(EVERY * number / PLAYERS).await;
        let mut ticks = interval(EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut times = Vec::new();
        for _ in 0..MESSAGES_EACH {
            ticks.tick().await;
            let asked = Instant::now();
            let wish = Message::text(r#"{"type":"react","reaction":"hello"}"#);
            socket.send(wish).await.unwrap();
            text(&mut socket, "\"state\"").await;
            times.push(asked.elapsed());
        }
        times
    });
    let mut times: Vec<Duration> = join_all(playing).await.into_iter().flatten().collect();
    times.sort();
    Report {
        messages: PLAYERS * MESSAGES_EACH,
        p50: times[times.len() / 2],
        p99: times[times.len() * 99 / 100],
    }
}

/// Players at tables who say nothing.
pub(crate) async fn sit(address: SocketAddr, players: u32) -> Vec<Socket> {
    let mut sockets = Vec::new();
    for _ in 0..players / GROUP {
        sockets.extend(join_all((0..GROUP).map(|_| enter(address, Load::Players))).await);
    }
    sockets
}

async fn enter(address: SocketAddr, load: Load) -> Socket {
    let config = WebSocketConfig::default().read_buffer_size(4096);
    let url = format!("ws://{address}/ws");
    let connected = connect_async_with_config(url, Some(config), true).await;
    let (mut socket, _) = connected.unwrap();
    if load == Load::Players {
        for (wish, answer) in [
            (r#"{"type":"hello","token":null}"#, "\"state\""),
            (r#"{"type":"create_lobby","name":"Ada"}"#, "\"padding\""),
        ] {
            socket.send(Message::text(wish)).await.unwrap();
            text(&mut socket, answer).await;
        }
    }
    socket
}

async fn text(socket: &mut Socket, wanted: &str) {
    loop {
        match socket.next().await.unwrap().unwrap() {
            Message::Text(text) if text.contains("\"error\"") => panic!("{text}"),
            Message::Text(text) if text.contains(wanted) => return,
            _ => {}
        }
    }
}
