//! What stands behind both: a game node of few words, and a plain WebSocket of the same ones.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::Router;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::routing::any;
use axum::serve::ListenerExt;
use futures_util::SinkExt;
use protocol::frame::{decode, encode};
use protocol::link::{Ask, GATEWAY_LINK_PATH, Outcome, Receiver, Show, ToGateway, ToNode};
use protocol::parts::{Fragment, SharedParts, WaitingEvents, full_state};
use protocol::server::LoadLevel;
use registry::{
    Incarnation, Lifetimes, NodeId, Presence, PresenceConfig, RedisConfig, Registry, Role,
};
use serde_json::json;

const ID: &str = "game-bench";
/// As long as the picture of a table in the middle of a game.
const PADDING_BYTES: usize = 4_000;

static INCARNATION: LazyLock<uuid::Uuid> = LazyLock::new(uuid::Uuid::new_v4);
static SEQ: AtomicU64 = AtomicU64::new(1);
static LOBBY: LazyLock<Fragment> =
    LazyLock::new(|| Fragment::of(&json!({ "padding": "x".repeat(PADDING_BYTES) })));

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
            any(async |up: WebSocketUpgrade| up.on_upgrade(link)),
        )
        .route(
            "/ws",
            any(async |up: WebSocketUpgrade| up.read_buffer_size(4096).on_upgrade(plain)),
        );
    // As a game node does.
    let listener = listener.tap_io(|stream| stream.set_nodelay(true).unwrap());
    axum::serve(listener, routes).await.unwrap();
}

fn picture() -> SharedParts {
    SharedParts {
        seq: SEQ.fetch_add(1, Ordering::Relaxed),
        lobby: LOBBY.clone(),
        game: None,
    }
}

/// Answers each frame with a state.
async fn plain(mut socket: WebSocket) {
    while let Some(Ok(message)) = socket.recv().await {
        if let Message::Text(_) = message {
            let state = full_state(&picture(), None, &WaitingEvents::default());
            let state = String::from_utf8(state).unwrap();
            if socket.send(Message::Text(state.into())).await.is_err() {
                return;
            }
        }
    }
}

async fn link(mut socket: WebSocket) {
    while let Some(Ok(message)) = socket.recv().await {
        let Message::Binary(bytes) = message else {
            continue;
        };
        for answer in answers(decode(&bytes).unwrap()) {
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

fn answers(message: ToNode) -> Vec<ToGateway> {
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
        ToNode::Ping { nonce, .. } => vec![ToGateway::Pong { nonce }],
        ToNode::Probe { request } => vec![ToGateway::Probed {
            request,
            failure: None,
        }],
        // Only operators ask, and none are at work here.
        ToNode::Inspect { request, .. } => vec![ToGateway::Inspected {
            request,
            lobby: None,
        }],
        ToNode::Ask(ask) => done(&ask),
        // Nobody waits for more: its lobbies never move.
        ToNode::Detach { .. } | ToNode::Claim { .. } | ToNode::Question { .. } => Vec::new(),
    }
}

fn done(ask: &Ask) -> Vec<ToGateway> {
    let receiver = Receiver {
        connection: ask.connection,
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
            shared: picture(),
            events: Vec::new(),
            own: Vec::new(),
            to: vec![receiver],
            traces: Vec::new(),
        }),
    ]
}
