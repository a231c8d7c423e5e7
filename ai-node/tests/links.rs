//! An AI node as a game node meets it: a real socket, the in-process registry.

#![allow(clippy::unwrap_used, reason = "a test that can't go on may panic")]

use std::num::NonZeroUsize;
use std::time::Duration;

use ai_node::Config;
use chassis::{Metrics, Process};
use futures_util::{SinkExt, StreamExt};
use protocol::decide::{AI_LINK_PATH, Decide, ToAi, ToNode};
use protocol::frame;
use protocol::lobby::AiLevel;
use protocol::version::{VERSION, VERSION_HEADER};
use registry::{
    Incarnation, Lifetimes, Membership, NodeId, Presence, PresenceConfig, Registry, Role,
};
use rules::{Game, Options, SeatCount, Seed};
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::server::{ErrorResponse, Request, Response};
use uuid::Uuid;

/// Far longer than anything here takes, however busy the machine is.
const CEILING: Duration = Duration::from_secs(20);

/// A game node as far as an AI node sees it.
struct GameNode {
    listener: TcpListener,
    version: u32,
    _membership: Membership,
}

type Link = WebSocketStream<TcpStream>;

impl GameNode {
    async fn start(registry: &Registry) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let own = Presence::new(
            NodeId::new("game-1").unwrap(),
            Role::new(protocol::role::GAME).unwrap(),
            Incarnation::new(Uuid::new_v4()),
            address,
            "0",
        );
        let membership = registry.join(own, PresenceConfig::default()).unwrap();
        membership.ready().await;
        Self {
            listener,
            version: VERSION,
            _membership: membership,
        }
    }

    /// The next link, with what it presented as its secret.
    async fn accept(&self) -> (Link, Option<String>) {
        let (stream, _) = within(self.listener.accept()).await.unwrap();
        let mut presented = None;
        #[expect(clippy::result_large_err, reason = "the library's signature")]
        let look = |request: &Request, mut response: Response| -> Result<Response, ErrorResponse> {
            assert_eq!(request.uri().path(), AI_LINK_PATH);
            let header = request.headers().get("authorization");
            presented = header.map(|value| value.to_str().unwrap().to_owned());
            assert_eq!(request.headers()[VERSION_HEADER], VERSION.to_string());
            let own = self.version.into();
            response.headers_mut().insert(VERSION_HEADER, own);
            Ok(response)
        };
        let link = within(tokio_tungstenite::accept_hdr_async(stream, look))
            .await
            .unwrap();
        (link, presented)
    }
}

async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(CEILING, future)
        .await
        .expect("it takes too long")
}

async fn receive(link: &mut Link) -> ToNode {
    loop {
        let message = within(link.next())
            .await
            .expect("the link is open")
            .unwrap();
        if let Message::Binary(bytes) = message {
            return frame::decode(&bytes).unwrap();
        }
    }
}

async fn send(link: &mut Link, message: &ToAi) {
    link.send(Message::Binary(frame::encode(message).into()))
        .await
        .unwrap();
}

fn config(secret: &str) -> Config {
    Config {
        node_id: NodeId::new("ai-1").unwrap(),
        secret: secret.to_owned().into(),
        workers: NonZeroUsize::MIN,
        queue: NonZeroUsize::new(64).unwrap(),
        presence: PresenceConfig::default(),
        ready_timeout: Duration::from_secs(30),
        drain_timeout: Duration::from_secs(5),
    }
}

fn process() -> Process {
    Process::start(
        std::net::TcpListener::bind("127.0.0.1:0").unwrap(),
        Metrics::default(),
    )
    .unwrap()
}

/// Every move of a game, as requests.
fn ask(game: &Game, level: AiLevel) -> Decide {
    let seat = game.to_act().unwrap();
    Decide {
        request_id: Uuid::new_v4(),
        seat,
        level,
        options: *game.options(),
        observation: game.observe(Some(seat)),
        plays: game.plays().to_vec(),
        timeout_ms: 20_000,
        trace: None,
    }
}

#[tokio::test]
async fn it_finds_a_game_node_and_plays_a_whole_game_for_it() {
    let registry = Registry::in_process(Lifetimes::default());
    let game_node = GameNode::start(&registry).await;
    let process = process();
    let running = tokio::spawn(ai_node::run(config("secret"), registry, process.clone()));

    let (mut link, presented) = game_node.accept().await;
    assert_eq!(presented.as_deref(), Some("Bearer secret"));
    let ToNode::Hello { ai_node, .. } = receive(&mut link).await else {
        panic!("a hello first")
    };
    assert_eq!(ai_node, "ai-1");
    within(process.readiness.ready()).await;

    let (mut game, _) = Game::new(
        SeatCount::new(4).unwrap(),
        Options::default(),
        Seed::new([3; 32]),
    );
    let mut levels = [AiLevel::Easy, AiLevel::Normal, AiLevel::Hard]
        .into_iter()
        .cycle();
    while let Some(seat) = game.to_act() {
        let request = ask(&game, levels.next().unwrap());
        send(&mut link, &ToAi::Decide(Box::new(request.clone()))).await;
        let ToNode::Decision { request_id, action } = receive(&mut link).await else {
            panic!("a decision")
        };
        assert_eq!(request_id, request.request_id);
        game.apply(seat, action).unwrap();
    }

    send(&mut link, &ToAi::Ping { nonce: 7 }).await;
    assert_eq!(receive(&mut link).await, ToNode::Pong { nonce: 7 });
    process.shutdown.begin();
    within(running).await.unwrap().unwrap();
    assert!(!process.readiness.is_ready());
}

#[tokio::test]
async fn a_lost_link_is_dialled_anew_and_a_frame_that_is_no_message_ends_one() {
    let registry = Registry::in_process(Lifetimes::default());
    let game_node = GameNode::start(&registry).await;
    let process = process();
    let running = tokio::spawn(ai_node::run(config(""), registry, process.clone()));

    let (link, presented) = game_node.accept().await;
    assert_eq!(presented, None, "no secret, no header");
    drop(link);
    let (mut link, _) = game_node.accept().await;
    assert!(matches!(receive(&mut link).await, ToNode::Hello { .. }));
    link.send(Message::Binary(vec![0xc1].into())).await.unwrap();
    let (mut link, _) = game_node.accept().await;
    assert!(matches!(receive(&mut link).await, ToNode::Hello { .. }));

    process.shutdown.begin();
    within(running).await.unwrap().unwrap();
}

#[tokio::test]
async fn what_only_a_newer_game_node_knows_is_skipped() {
    let registry = Registry::in_process(Lifetimes::default());
    let mut game_node = GameNode::start(&registry).await;
    game_node.version = VERSION + 1;
    let process = process();
    let running = tokio::spawn(ai_node::run(config(""), registry, process.clone()));

    let (mut link, _) = game_node.accept().await;
    assert!(matches!(receive(&mut link).await, ToNode::Hello { .. }));
    let unknown = frame::encode(&serde_json::json!({ "explain": { "why": true } }));
    link.send(Message::Binary(unknown.into())).await.unwrap();
    send(&mut link, &ToAi::Ping { nonce: 7 }).await;
    assert_eq!(receive(&mut link).await, ToNode::Pong { nonce: 7 });

    process.shutdown.begin();
    within(running).await.unwrap().unwrap();
}
