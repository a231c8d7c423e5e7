//! A game node that does what the test tells it to.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use protocol::frame::{decode, encode};
use protocol::link::{Ask, GATEWAY_LINK_PATH, Outcome, Parting, Receiver, Show, ToGateway, ToNode};
use protocol::parts::{Fragment, SharedParts};
use protocol::server::LoadLevel;
use protocol::{ConnectionId, ErrorCode, LobbyCode};
use registry::{
    Born, Create, Delete, Incarnation, Lifetime, Membership, NodeId, Owner, Presence,
    PresenceConfig, Registry, Role,
};
use serde_json::{Value, json};
use tokio::sync::{broadcast, mpsc};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

pub(crate) const SECRET: &str = "between us";
const CEILING: Duration = Duration::from_secs(15);

pub(crate) struct Node {
    incarnation: Incarnation,
    shared: Arc<Shared>,
    asks: mpsc::UnboundedReceiver<(Link, Ask)>,
    detaches: mpsc::UnboundedReceiver<ConnectionId>,
    /// Which link the last ask of a connection came by.
    last_link: Option<Link>,
    _membership: Membership,
}

/// Numbers the links in the order in which they came.
type Link = usize;

struct Shared {
    incarnation: Incarnation,
    links: Mutex<Vec<mpsc::UnboundedSender<ToGateway>>>,
    everybody: broadcast::Sender<ToGateway>,
    drop_all: Mutex<CancellationToken>,
    asked: mpsc::UnboundedSender<(Link, Ask)>,
    detached: mpsc::UnboundedSender<ConnectionId>,
}

impl Node {
    pub(crate) const ID: &str = "game-fake";

    pub(crate) async fn start(registry: &Registry) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let incarnation = Incarnation::new(uuid::Uuid::from_u128(1));
        let (asked, asks) = mpsc::unbounded_channel();
        let (left, detaches) = mpsc::unbounded_channel();
        let shared = Arc::new(Shared {
            incarnation,
            links: Mutex::default(),
            everybody: broadcast::channel(16).0,
            drop_all: Mutex::default(),
            asked,
            detached: left,
        });
        let app = Router::new()
            .route(GATEWAY_LINK_PATH, any(upgrade))
            .with_state(Arc::clone(&shared));
        tokio::spawn(axum::serve(listener, app).into_future());
        let role = Role::new("game").unwrap();
        let mut own = Presence::new(node_id(), role, incarnation, address.to_string(), "1");
        own.accepting_games = true;
        let membership = registry.join(own, PresenceConfig::default()).unwrap();
        membership.ready().await;
        Self {
            incarnation,
            shared,
            asks,
            detaches,
            last_link: None,
            _membership: membership,
        }
    }

    /// The next thing that a player asks for.
    pub(crate) async fn ask(&mut self) -> Ask {
        let (link, ask) = timeout(CEILING, self.asks.recv())
            .await
            .expect("an ask in time")
            .unwrap();
        self.last_link = Some(link);
        ask
    }

    pub(crate) fn asks_so_far(&mut self) -> Vec<Ask> {
        std::iter::from_fn(|| self.asks.try_recv().ok())
            .map(|(_, ask)| ask)
            .collect()
    }

    pub(crate) async fn detached(&mut self) -> ConnectionId {
        timeout(CEILING, self.detaches.recv())
            .await
            .expect("a detach in time")
            .unwrap()
    }

    pub(crate) async fn detached_within(&mut self, time: Duration) -> Option<ConnectionId> {
        timeout(time, self.detaches.recv()).await.ok().flatten()
    }

    pub(crate) fn done(&self, ask: &Ask) {
        self.answer(ask, Outcome::Done);
    }

    pub(crate) fn refuse(&self, ask: &Ask, code: ErrorCode) {
        self.answer(
            ask,
            Outcome::Refused {
                code,
                message: "no".to_owned(),
                retry_after_ms: None,
            },
        );
    }

    pub(crate) fn not_owner(&self, ask: &Ask) {
        self.answer(ask, Outcome::NotOwner);
    }

    fn answer(&self, ask: &Ask, outcome: Outcome) {
        self.send(ToGateway::Answer {
            connection: ask.connection,
            number: ask.number,
            outcome,
        });
    }

    /// Shows a picture to connections of the gateway that asked last.
    pub(crate) fn show(&self, code: LobbyCode, seq: u64, to: &[ConnectionId]) {
        self.show_lobby(code, seq, &json!({ "code": code }), to);
    }

    /// Shows a picture with this as the lobby's part.
    pub(crate) fn show_lobby(&self, code: LobbyCode, seq: u64, lobby: &Value, to: &[ConnectionId]) {
        let shared = SharedParts {
            seq,
            lobby: Fragment::of(lobby),
            game: None,
        };
        let to = to
            .iter()
            .map(|&connection| Receiver {
                connection,
                own: None,
            })
            .collect();
        let events = vec![Fragment::of(&json!({ "type": "seen", "seq": seq }))];
        let own = Vec::new();
        self.send(ToGateway::Show(Show {
            code,
            epoch: 1,
            shared,
            events,
            own,
            to,
            traces: Vec::new(),
        }));
    }

    pub(crate) fn part(&self, ask: &Ask, reason: Parting) {
        self.send(ToGateway::Parted {
            code: ask.code,
            connection: ask.connection,
            reason,
        });
    }

    pub(crate) fn accept(&self, accepting_games: bool) {
        let status = ToGateway::Status {
            level: LoadLevel::Normal,
            accepting_games,
        };
        self.shared.everybody.send(status).unwrap();
    }

    /// Breaks all links; new ones are taken at once.
    pub(crate) fn drop_links(&self) {
        std::mem::take(&mut *self.shared.drop_all.lock().unwrap()).cancel();
    }

    /// Writes that this node owns the code.
    pub(crate) async fn own(&self, registry: &Registry, code: LobbyCode) {
        let owner = Owner {
            node: node_id(),
            incarnation: self.incarnation,
        };
        let (code, born) = (code.to_string(), Born::new([1; 8]));
        let (saved, status) = (Vec::new().into(), "waiting".to_owned());
        let lifetime = Lifetime::Table;
        let create = Create {
            code,
            born,
            owner,
            saved,
            status,
            lifetime,
        };
        registry.create(&create).await.unwrap();
    }

    /// Writes that the lobby is gone.
    pub(crate) async fn end(&self, registry: &Registry, code: LobbyCode) {
        let record = registry.owner(code.as_str()).await.unwrap().unwrap();
        let (code, born) = (code.to_string(), Born::new([1; 8]));
        let delete = Delete {
            code,
            born,
            epoch: record.epoch,
        };
        registry.delete(&delete).await.unwrap();
    }

    fn send(&self, message: ToGateway) {
        let link = self.last_link.expect("somebody has asked");
        // A link that has been dropped takes nothing, like a real one.
        let _dropped = self.shared.links.lock().unwrap()[link].send(message);
    }
}

fn node_id() -> NodeId {
    NodeId::new(Node::ID).unwrap()
}

async fn upgrade(
    State(shared): State<Arc<Shared>>,
    headers: HeaderMap,
    upgrade: WebSocketUpgrade,
) -> Response {
    let bearer = headers
        .get("authorization")
        .map(|value| value.as_bytes().to_vec());
    if bearer != Some(format!("Bearer {SECRET}").into_bytes()) {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    upgrade.on_upgrade(move |socket| carry(shared, socket))
}

async fn carry(shared: Arc<Shared>, mut socket: WebSocket) {
    let dropped = shared.drop_all.lock().unwrap().clone();
    let (sender, mut queue) = mpsc::unbounded_channel();
    let link = {
        let mut links = shared.links.lock().unwrap();
        links.push(sender.clone());
        links.len() - 1
    };
    let mut everybody = shared.everybody.subscribe();
    loop {
        tokio::select! {
            message = queue.recv() => send(&mut socket, message.unwrap()).await,
            Ok(message) = everybody.recv() => send(&mut socket, message).await,
            () = dropped.cancelled() => return,
            message = socket.recv() => match message {
                Some(Ok(Message::Binary(bytes))) => {
                    let message = decode(&bytes).unwrap();
                    for answer in react(&shared, link, message) {
                        send(&mut socket, answer).await;
                    }
                }
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return,
            },
        }
    }
}

fn react(shared: &Shared, link: Link, message: ToNode) -> Vec<ToGateway> {
    match message {
        ToNode::Hello { .. } => {
            let incarnation = shared.incarnation.uuid();
            let hello = ToGateway::Hello {
                node: Node::ID.to_owned(),
                incarnation,
            };
            let (level, accepting_games) = (LoadLevel::Normal, true);
            vec![
                hello,
                ToGateway::Status {
                    level,
                    accepting_games,
                },
            ]
        }
        ToNode::Ping { nonce, .. } => vec![ToGateway::Pong { nonce }],
        ToNode::Probe { request } => vec![ToGateway::Probed {
            request,
            failure: None,
        }],
        // As a node whose lobby thread hangs.
        ToNode::Claim { .. } | ToNode::Question { .. } | ToNode::Inspect { .. } => Vec::new(),
        ToNode::Ask(ask) => {
            shared.asked.send((link, ask)).unwrap();
            Vec::new()
        }
        ToNode::Detach { connection, .. } => {
            shared.detached.send(connection).unwrap();
            Vec::new()
        }
    }
}

async fn send(socket: &mut WebSocket, message: ToGateway) {
    // A gateway that has gone is noticed when reading.
    let _gone = socket.send(Message::Binary(encode(&message).into())).await;
}
