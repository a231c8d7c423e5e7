//! The players: how long their answers take.

use std::net::SocketAddr;
use std::time::Duration;

use futures_util::future::join_all;
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep};
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Message, Utf8Bytes};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async_with_config};

const PLAYERS: u32 = 200;
const MOVES_EACH: u32 = 25;
/// At each table.
const EVERY: Duration = Duration::from_millis(200);
/// Whoever sits down does it in groups.
const GROUP: u32 = 100;

pub(crate) type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// Whether the other side is a gateway, or shows each frame to its table.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Load {
    Players,
    Plain,
}

pub(crate) struct Report {
    pub(crate) moves: u32,
    pub(crate) p50: Duration,
    pub(crate) p99: Duration,
}

/// The tables of one row, with so many seats each.
pub(crate) async fn gather(address: SocketAddr, load: Load, seats: u32) -> Vec<Vec<Socket>> {
    join_all((0..PLAYERS / seats).map(|table| sit_down(address, load, table, seats))).await
}

async fn sit_down(address: SocketAddr, load: Load, table: u32, seats: u32) -> Vec<Socket> {
    let mut sockets = Vec::new();
    let mut code = None;
    for _ in 0..seats {
        sockets.push(match load {
            Load::Plain => connect(&format!("ws://{address}/ws/{table}")).await,
            Load::Players => {
                let (socket, table) = enter(address, code.as_deref()).await;
                code = Some(table);
                socket
            }
        });
    }
    sockets
}

/// Lets one at each table say what there is to say, at their pace; a move is over when all of the table
/// have seen it.
pub(crate) async fn play(tables: Vec<Vec<Socket>>) -> Report {
    let count = u32::try_from(tables.len()).unwrap();
    let playing = (0..).zip(tables).map(|(number, mut sockets)| async move {
        sleep(EVERY * number / count).await;
        let mut ticks = interval(EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut times = Vec::new();
        for turn in 0..MOVES_EACH as usize {
            ticks.tick().await;
            let seat = turn % sockets.len();
            let asked = Instant::now();
            let wish = Message::text(r#"{"type":"react","reaction":"hello"}"#);
            sockets[seat].send(wish).await.unwrap();
            join_all(sockets.iter_mut().map(|socket| text(socket, "\"state\""))).await;
            times.push(asked.elapsed());
        }
        times
    });
    let mut times: Vec<Duration> = join_all(playing).await.into_iter().flatten().collect();
    times.sort();
    Report {
        moves: count * MOVES_EACH,
        p50: times[times.len() / 2],
        p99: times[times.len() * 99 / 100],
    }
}

/// Players at tables who say nothing.
pub(crate) async fn sit(address: SocketAddr, players: u32) -> Vec<Socket> {
    let mut sockets = Vec::new();
    for _ in 0..players / GROUP {
        let group = join_all((0..GROUP).map(|_| enter(address, None))).await;
        sockets.extend(group.into_iter().map(|(socket, _code)| socket));
    }
    sockets
}

async fn connect(url: &str) -> Socket {
    let config = WebSocketConfig::default().read_buffer_size(4096);
    let connected = connect_async_with_config(url, Some(config), true).await;
    connected.unwrap().0
}

/// Comes in through a gateway, and sits down at that table, or at a new one.
async fn enter(address: SocketAddr, code: Option<&str>) -> (Socket, String) {
    let mut socket = connect(&format!("ws://{address}/ws")).await;
    let hello = Message::text(r#"{"type":"hello","token":null}"#);
    socket.send(hello).await.unwrap();
    text(&mut socket, "\"state\"").await;
    let wish = match code {
        None => json!({ "type": "create_lobby", "name": "Ada" }),
        Some(code) => json!({ "type": "join_lobby", "code": code, "name": "Ada" }),
    };
    socket.send(Message::text(wish.to_string())).await.unwrap();
    let state = text(&mut socket, "\"padding\"").await;
    let state: Value = serde_json::from_str(&state).unwrap();
    let code = state["lobby"]["code"].as_str().unwrap().to_owned();
    (socket, code)
}

async fn text(socket: &mut Socket, wanted: &str) -> Utf8Bytes {
    loop {
        match socket.next().await.unwrap().unwrap() {
            Message::Text(text) if text.contains("\"error\"") => panic!("{text}"),
            Message::Text(text) if text.contains(wanted) => return text,
            _ => {}
        }
    }
}
