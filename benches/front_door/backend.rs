//! What stands behind both: a game node of few words, and a plain WebSocket of the same ones. Whatever
//! one at a table says, all of it are shown the table.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{LazyLock, Mutex};

use axum::Router;
use axum::extract::Path;
use axum::extract::ws::{Message, Utf8Bytes, WebSocket, WebSocketUpgrade};
use axum::routing::any;
use axum::serve::ListenerExt;
use futures_util::SinkExt;
use protocol::frame::{decode, encode};
use protocol::link::{Ask, GATEWAY_LINK_PATH, Outcome, Receiver, Request, Show, ToGateway, ToNode};
use protocol::parts::{Fragment, SharedParts, WaitingEvents, full_state};
use protocol::server::LoadLevel;
use protocol::{ConnectionId, LobbyCode};
use registry::{
    Born, Create, Incarnation, Lifetime, Lifetimes, NodeId, Owner, Presence, PresenceConfig,
    RedisConfig, Registry, Role,
};
use serde_json::json;
use tokio::sync::mpsc;

const ID: &str = "game-bench";
/// As long as the picture of a table in the middle of a game.
const PADDING_BYTES: usize = 4_000;

static INCARNATION: LazyLock<uuid::Uuid> = LazyLock::new(uuid::Uuid::new_v4);
static SEQ: AtomicU64 = AtomicU64::new(1);
static PADDING: LazyLock<String> = LazyLock::new(|| "x".repeat(PADDING_BYTES));
/// Who sits where, without a gateway.
static TABLES: LazyLock<Mutex<HashMap<String, Vec<mpsc::UnboundedSender<Utf8Bytes>>>>> =
    LazyLock::new(Mutex::default);

/// Prints its address, and answers for ever.
pub(crate) async fn run(redis: &str) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let config = RedisConfig {
        url: redis.to_owned(),
        key_prefix: "network:".to_owned(),
        lifetimes: Lifetimes::default(),
    };
    let registry = Registry::redis(&config).unwrap();
    let (id, role) = (NodeId::new(ID).unwrap(), Role::new("game").unwrap());
    let incarnation = Incarnation::new(*INCARNATION);
    let own = Presence::new(id, role, incarnation, address.to_string(), "bench");
    let membership = registry.join(own, PresenceConfig::default()).unwrap();
    membership.ready().await;
    println!("{address}");
    let routes = Router::new()
        .route(
            GATEWAY_LINK_PATH,
            any(move |up: WebSocketUpgrade| {
                let registry = registry.clone();
                async { up.on_upgrade(|socket| link(socket, registry)) }
            }),
        )
        .route(
            "/ws/{table}",
            any(async |Path(table): Path<String>, up: WebSocketUpgrade| {
                up.read_buffer_size(4096)
                    .on_upgrade(|socket| plain(socket, table))
            }),
        );
    // As a game node does.
    let listener = listener.tap_io(|stream| stream.set_nodelay(true).unwrap());
    axum::serve(listener, routes).await.unwrap();
}

fn picture(table: &str) -> SharedParts {
    SharedParts {
        seq: SEQ.fetch_add(1, Ordering::Relaxed),
        lobby: Fragment::of(&json!({ "code": table, "padding": *PADDING })),
        game: None,
    }
}

/// Answers each frame with a state for all who sit at that table.
async fn plain(mut socket: WebSocket, table: String) {
    let (shown, mut pictures) = mpsc::unbounded_channel();
    TABLES
        .lock()
        .unwrap()
        .entry(table.clone())
        .or_default()
        .push(shown);
    loop {
        tokio::select! {
            message = socket.recv() => match message {
                Some(Ok(Message::Text(_))) => {
                    let state = full_state(&picture(&table), None, &WaitingEvents::default());
                    let state = Utf8Bytes::try_from(state).unwrap();
                    let mut tables = TABLES.lock().unwrap();
                    let seats = tables.get_mut(&table).unwrap();
                    seats.retain(|seat| seat.send(state.clone()).is_ok());
                }
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return,
            },
            Some(state) = pictures.recv() => {
                if socket.send(Message::Text(state)).await.is_err() {
                    return;
                }
            }
        }
    }
}

/// Who sits where, over one link.
type Seats = HashMap<LobbyCode, Vec<ConnectionId>>;

async fn link(mut socket: WebSocket, registry: Registry) {
    let mut seats = Seats::new();
    while let Some(Ok(message)) = socket.recv().await {
        let Message::Binary(bytes) = message else {
            continue;
        };
        let message = decode(&bytes).unwrap();
        if let ToNode::Ask(Ask {
            code,
            request: Request::Create { born, .. },
            ..
        }) = &message
        {
            own(&registry, *code, born).await;
        }
        for answer in answers(message, &mut seats) {
            if socket
                .feed(Message::Binary(encode(&answer).into()))
                .await
                .is_err()
            {
                return;
            }
        }
        if socket.flush().await.is_err() {
            return;
        }
    }
}

/// Lets others find the table.
async fn own(registry: &Registry, code: LobbyCode, born: &str) {
    let create = Create {
        code: code.to_string(),
        born: born.parse::<Born>().unwrap(),
        owner: Owner {
            node: NodeId::new(ID).unwrap(),
            incarnation: Incarnation::new(*INCARNATION),
        },
        saved: Vec::new().into(),
        status: "waiting".to_owned(),
        lifetime: Lifetime::Table,
    };
    registry.create(&create).await.unwrap();
}

fn answers(message: ToNode, seats: &mut Seats) -> Vec<ToGateway> {
    match message {
        ToNode::Hello { .. } => vec![
            ToGateway::Hello {
                node: ID.to_owned(),
                incarnation: *INCARNATION,
            },
            ToGateway::Status {
                level: LoadLevel::Normal,
                accepting_games: true,
            },
        ],
        ToNode::Ping { nonce, .. } => vec![ToGateway::Pong {
            nonce,
            unsaved: None,
        }],
        ToNode::Probe { request } => vec![ToGateway::Probed {
            request,
            failure: None,
        }],
        // Only operators ask, and none are at work here.
        ToNode::Inspect { request, .. } => vec![ToGateway::Inspected {
            request,
            lobby: None,
        }],
        ToNode::Ask(ask) => done(&ask, seats),
        ToNode::Detach { code, connection } => {
            let seats = seats.entry(code).or_default();
            seats.retain(|seat| *seat != connection);
            Vec::new()
        }
        // Nobody waits for more: its lobbies never move.
        ToNode::Claim { .. } | ToNode::Question { .. } => Vec::new(),
    }
}

fn done(ask: &Ask, seats: &mut Seats) -> Vec<ToGateway> {
    let seats = seats.entry(ask.code).or_default();
    if matches!(ask.request, Request::Create { .. } | Request::Join { .. }) {
        seats.push(ask.connection);
    }
    let receiver = |connection: &ConnectionId| Receiver {
        connection: *connection,
        own: None,
    };
    vec![
        ToGateway::Answer {
            connection: ask.connection,
            number: ask.number,
            outcome: Outcome::Done,
        },
        ToGateway::Show(Show {
            code: ask.code,
            epoch: 1,
            shared: picture(ask.code.as_str()),
            events: Vec::new(),
            own: Vec::new(),
            to: seats.iter().map(receiver).collect(),
            traces: Vec::new(),
        }),
    ]
}
