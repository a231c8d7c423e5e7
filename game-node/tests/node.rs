//! The whole game node over loopback: real links, real clock, delays at zero.

#![expect(clippy::unwrap_used, reason = "a test that can't go on fails")]

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::time::Duration;

use chassis::environment::Secret;
use chassis::{Metrics, Process};
use futures_util::{SinkExt, StreamExt};
use game_node::Config;
use game_node::lobby::Pace;
use protocol::frame::{decode, encode};
use protocol::link::{
    Ask, GATEWAY_LINK_PATH, Outcome, Parting, Person, Request, Sight, ToGateway, ToNode,
};
use protocol::lobby::AiLevel;
use protocol::parts::{WaitingEvents, full_state};
use protocol::player::SetOptions;
use protocol::server::LoadLevel;
use protocol::version::{VERSION, VERSION_HEADER};
use protocol::{ConnectionId, ErrorCode, PlayerId};
use registry::{Lifetimes, Load, NodeId, Presence, RedisConfig, Registry, State};
use rules::{Action, Length, OptionsPatch};
use serde_json::{Value, json};
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::http::{HeaderName, HeaderValue};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async, tungstenite};

/// Longer than anything here takes.
const CEILING: Duration = Duration::from_secs(20);
const SECRET: &str = "a secret of gateways";

struct Node {
    address: SocketAddr,
    process: Process,
    registry: Registry,
    running: JoinHandle<Result<(), game_node::Error>>,
}

fn config(address: SocketAddr) -> Config {
    let id = NodeId::new("game-test").unwrap();
    let mut config = Config::new(id, address.to_string());
    config.gateway_secret = Secret::from(SECRET.to_owned());
    config.ai_secret = Secret::from("another one".to_owned());
    config.ready_timeout = CEILING;
    config.drain_timeout = Duration::from_secs(5);
    config.pace = Pace {
        ai_move_delay: Duration::ZERO,
        trick_pause: Duration::ZERO,
    };
    // However busy the machine is that the test runs on.
    config.load.force_level = Some(LoadLevel::Normal);
    config
}

fn start(change: impl FnOnce(&mut Config)) -> Node {
    start_with(Registry::in_process(Lifetimes::default()), change)
}

fn start_with(registry: Registry, change: impl FnOnce(&mut Config)) -> Node {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let operations = TcpListener::bind("127.0.0.1:0").unwrap();
    let process = Process::start(operations, Metrics::default()).unwrap();
    let mut config = config(address);
    change(&mut config);
    let running = game_node::run(config, listener, registry.clone(), process.clone());
    Node {
        address,
        process,
        registry,
        running: tokio::spawn(running),
    }
}

impl Node {
    async fn ready(&self) {
        timeout(CEILING, self.process.readiness.ready())
            .await
            .expect("it becomes ready");
    }

    /// What the registry says of it, once that is so.
    async fn presence(&self, is_so: impl Fn(&Presence) -> bool) -> Presence {
        let seen = async {
            loop {
                let mut servers = self.registry.servers().await.unwrap();
                if servers.first().is_some_and(&is_so) {
                    return servers.remove(0);
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        timeout(CEILING, seen).await.expect("the registry says so")
    }

    async fn ends(self) {
        self.process.shutdown.begin();
        let ended = timeout(CEILING, self.running)
            .await
            .expect("it ends in time");
        ended.unwrap().unwrap();
        assert!(
            self.registry.servers().await.unwrap().is_empty(),
            "it has said goodbye"
        );
    }

    fn get(&self, path: &str) -> Value {
        let mut stream = std::net::TcpStream::connect(self.process.operations.address()).unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        serde_json::from_str(answer.split("\r\n\r\n").nth(1).unwrap()).unwrap()
    }
}

struct Gateway {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    asked: u64,
}

async fn dial(
    address: SocketAddr,
    headers: &[(&'static str, &str)],
) -> Result<Gateway, tungstenite::Error> {
    let mut request = format!("ws://{address}{GATEWAY_LINK_PATH}").into_client_request()?;
    for (name, value) in headers {
        let value = HeaderValue::from_str(value).unwrap();
        request
            .headers_mut()
            .insert(HeaderName::from_static(name), value);
    }
    let (socket, response) = connect_async(request).await?;
    assert_eq!(response.headers()[VERSION_HEADER], VERSION.to_string());
    Ok(Gateway { socket, asked: 0 })
}

async fn gateway(node: &Node) -> Gateway {
    gateway_of(node, VERSION).await
}

async fn gateway_of(node: &Node, version: u32) -> Gateway {
    let bearer = format!("Bearer {SECRET}");
    let version = version.to_string();
    let headers = [
        ("authorization", bearer.as_str()),
        (VERSION_HEADER, &version),
    ];
    let mut gateway = dial(node.address, &headers).await.unwrap();
    let incarnation = uuid::Uuid::new_v4();
    gateway
        .says(&ToNode::Hello {
            gateway: "gateway-test".to_owned(),
            incarnation,
        })
        .await;
    let hello = gateway.hears().await;
    assert!(matches!(hello, ToGateway::Hello { node, .. } if node == "game-test"));
    gateway
}

impl Gateway {
    async fn says(&mut self, message: &ToNode) {
        self.says_anything(encode(message)).await;
    }

    async fn says_anything(&mut self, frame: Vec<u8>) {
        let frame = Message::Binary(frame.into());
        self.socket.send(frame).await.unwrap();
    }

    async fn hears(&mut self) -> ToGateway {
        loop {
            let frame = timeout(CEILING, self.socket.next())
                .await
                .expect("something is said");
            if let Message::Binary(bytes) = frame.expect("the link is up").unwrap() {
                return decode(&bytes).unwrap();
            }
        }
    }

    async fn asks(&mut self, request: Request) -> u64 {
        self.asked += 1;
        let person = Person {
            player: PlayerId::person([7; 6]),
            token: "07".repeat(32).parse().unwrap(),
            generation: 1,
        };
        let code = "TABLE2".parse().unwrap();
        let connection = ConnectionId(7);
        let ask = Ask {
            person,
            connection,
            number: self.asked,
            code,
            request,
            trace: None,
        };
        self.says(&ToNode::Ask(ask)).await;
        self.asked
    }

    /// The answer to that, and the state that follows if there is one.
    async fn done(&mut self, request: Request) -> Value {
        let asked = self.asks(request).await;
        let mut is_answered = false;
        loop {
            match self.hears().await {
                ToGateway::Answer {
                    number, outcome, ..
                } if number == asked => {
                    assert_eq!(outcome, Outcome::Done);
                    is_answered = true;
                }
                ToGateway::Show(show) if is_answered => return state(&show),
                _ => {}
            }
        }
    }

    async fn next_state(&mut self) -> Value {
        loop {
            if let ToGateway::Show(show) = self.hears().await {
                return state(&show);
            }
        }
    }
}

fn state(show: &protocol::link::Show) -> Value {
    let own = show.to[0].own.map(|place| &show.own[place as usize]);
    let mut events = WaitingEvents::default();
    events.append(&show.events);
    serde_json::from_slice(&full_state(&show.shared, own, &events)).unwrap()
}

/// An address at which nobody answers as long as this lives: it listens to nobody, and nobody else gets it.
fn taken() -> TcpSocket {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    socket
}

fn create() -> Request {
    let born = "0123456789abcdef".to_owned();
    Request::Create {
        born,
        name: "Ada".parse().unwrap(),
        public: false,
    }
}

#[tokio::test]
async fn a_node_is_ready_once_it_has_served_itself_and_says_goodbye_at_the_end() {
    let node = start(|_| {});
    node.ready().await;
    let own = node
        .presence(|own| own.state == State::Ready && own.accepting_games)
        .await;
    assert!(own.verified && own.why.is_none());
    assert_eq!(own.address, node.address.to_string());
    let checks = node.get("/ready");
    assert_eq!(checks["ready"], true, "{checks}");
    let health = node.get("/health");
    let fields: BTreeSet<&str> = health
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    let promised = [
        "lobbies",
        "sessions",
        "connections",
        "active_games",
        "load",
        "loop_lag",
        "cpu",
        "throttled",
        "accepting_games",
        "ai_available",
        "ai",
    ];
    assert!(fields.is_superset(&BTreeSet::from(promised)), "{health}");
    node.ends().await;
}

#[tokio::test]
async fn what_only_a_newer_gateway_knows_is_skipped() {
    let node = start(|_| {});
    node.ready().await;
    let kind = json!({ "greet": { "warmly": true } });
    let wish = json!({ "ask": { "connection": 7, "number": 1, "request": { "deal_again": {} } } });
    let ping = ToNode::Ping {
        nonce: 7,
        registry: Sight::Reachable,
    };
    let mut newer = gateway_of(&node, VERSION + 1).await;
    for unknown in [&kind, &wish] {
        newer.says_anything(encode(unknown)).await;
    }
    newer.says(&ping).await;
    while !matches!(newer.hears().await, ToGateway::Pong { nonce: 7, .. }) {}
    // It goes on as if nothing had been said.
    newer.done(create()).await;

    let mut equal = gateway(&node).await;
    equal.says_anything(encode(&kind)).await;
    let closed = async { while let Some(Ok(_)) = equal.socket.next().await {} };
    timeout(CEILING, closed).await.expect("a fault ends a link");
    drop((newer, equal));
    node.ends().await;
}

#[tokio::test]
async fn an_overloaded_node_is_ready_and_alive_and_takes_no_new_table() {
    let node = start(|config| config.load.force_level = Some(LoadLevel::Overloaded));
    node.ready().await;
    let own = node.presence(|own| own.state == State::Ready).await;
    assert_eq!((own.load, own.accepting_games), (Load::Overloaded, false));
    assert_eq!(node.get("/ready")["ready"], true);
    let health = node.get("/health");
    assert_eq!(
        (&health["status"], &health["load"]),
        (&json!("ok"), &json!("overloaded"))
    );
    for share in ["cpu", "throttled"] {
        let share = health[share].as_f64().unwrap();
        assert!((0.0..=1.0).contains(&share), "{health}");
    }
    let mut gateway = gateway(&node).await;
    let told = ToGateway::Status {
        level: LoadLevel::Overloaded,
        accepting_games: false,
    };
    assert_eq!(gateway.hears().await, told);
    gateway.asks(create()).await;
    let refused = |message: &ToGateway| match message {
        ToGateway::Answer { outcome, .. } => matches!(
            outcome,
            Outcome::Refused {
                code: ErrorCode::Busy,
                retry_after_ms: Some(_),
                ..
            }
        ),
        _ => false,
    };
    let answer = gateway.hears().await;
    assert!(refused(&answer), "{answer:?}");
    drop(gateway);
    node.ends().await;
}

#[tokio::test]
async fn a_node_that_cannot_reach_itself_joins_unverified_and_says_why() {
    let taken = taken();
    let nobody = taken.local_addr().unwrap();
    let node = start(|config| {
        config.advertise_addr = nobody.to_string();
        config.ready_timeout = Duration::from_millis(500);
    });
    node.ready().await;
    let own = node.presence(|own| own.state == State::Ready).await;
    assert!(!own.verified);
    assert!(own.why.unwrap().contains(&nobody.to_string()));
    let mut gateway = gateway(&node).await;
    gateway.done(create()).await;
    drop(gateway);
    node.ends().await;
}

#[tokio::test]
async fn a_link_needs_its_secret_and_comes_directly() {
    let node = start(|_| {});
    let bearer = format!("Bearer {SECRET}");
    for (headers, status) in [
        (vec![], 401),
        (vec![("authorization", "Bearer another one")], 401),
        (
            vec![
                ("authorization", bearer.as_str()),
                ("x-forwarded-for", "10.0.0.1"),
            ],
            403,
        ),
        (
            vec![
                ("authorization", bearer.as_str()),
                ("forwarded", "for=10.0.0.1"),
            ],
            403,
        ),
        (
            vec![("authorization", bearer.as_str()), ("via", "1.1 proxy")],
            403,
        ),
    ] {
        match dial(node.address, &headers).await {
            Err(tungstenite::Error::Http(answer)) => {
                assert_eq!(answer.status().as_u16(), status, "{headers:?}");
            }
            other => panic!("{headers:?}: {:?}", other.map(|_| "a link")),
        }
    }
    let mut gateway = gateway(&node).await;
    gateway
        .says(&ToNode::Ping {
            nonce: 5,
            registry: protocol::link::Sight::Reachable,
        })
        .await;
    while !matches!(gateway.hears().await, ToGateway::Pong { nonce: 5, .. }) {}
    gateway
        .socket
        .send(Message::Binary(vec![0xc1].into()))
        .await
        .unwrap();
    let closed = async { while let Some(Ok(_)) = gateway.socket.next().await {} };
    timeout(CEILING, closed)
        .await
        .expect("what is no message ends the link");
    node.ends().await;
}

#[tokio::test]
async fn a_whole_short_game_goes_over_a_link() {
    let node = start(|_| {});
    let mut gateway = gateway(&node).await;
    gateway.done(create()).await;
    let options = OptionsPatch {
        length: Some(Length::Short),
        ..OptionsPatch::default()
    };
    gateway
        .done(Request::AddAi {
            level: AiLevel::Normal,
        })
        .await;
    gateway
        .done(Request::AddAi {
            level: AiLevel::Hard,
        })
        .await;
    gateway
        .done(Request::SetOptions(SetOptions {
            options,
            public: None,
        }))
        .await;
    let mut state = gateway.done(Request::Start).await;
    while state["lobby"]["status"] != "finished" {
        let legal = state["game"]["observation"]["legal_actions"].clone();
        let turn = state["game"]["observation"]["turn"].as_u64();
        state = match legal.as_array().and_then(|legal| legal.first()) {
            Some(action) => {
                let action: Action = serde_json::from_value(action.clone()).unwrap();
                let turn = turn.map(|turn| u32::try_from(turn).unwrap());
                gateway.done(Request::Act { action, turn }).await
            }
            None => gateway.next_state().await,
        };
    }
    let ranking = &state["game"]["observation"]["ranking"];
    assert_eq!(ranking.as_array().unwrap().len(), 3);
    assert_eq!(
        node.registry.owner("TABLE2").await.unwrap().unwrap().status,
        "finished"
    );
    gateway.asks(Request::Leave).await;
    loop {
        if let ToGateway::Parted { reason, .. } = gateway.hears().await {
            assert_eq!(reason, Parting::Left);
            break;
        }
    }
    assert!(
        node.registry
            .owner("TABLE2")
            .await
            .unwrap()
            .unwrap()
            .deleted
    );
    node.ends().await;
}

#[tokio::test]
async fn at_the_end_gateways_are_told_and_what_was_saved_stays() {
    let node = start(|_| {});
    node.ready().await;
    let mut gateway = gateway(&node).await;
    gateway.done(create()).await;
    node.process.shutdown.begin();
    let mut heard = Vec::new();
    while let Some(Ok(frame)) = timeout(CEILING, gateway.socket.next())
        .await
        .expect("it closes")
    {
        if let Message::Binary(bytes) = frame {
            heard.push(decode::<ToGateway>(&bytes).unwrap());
        }
    }
    let is_busy = |message: &ToGateway| {
        matches!(
            message,
            ToGateway::Status {
                accepting_games: false,
                ..
            }
        )
    };
    assert!(heard.iter().any(is_busy), "{heard:?}");
    let record = node.registry.owner("TABLE2").await.unwrap().unwrap();
    assert!(!record.deleted, "what was saved stays");
    node.ends().await;
}

#[tokio::test]
async fn while_the_registry_is_away_nothing_is_created_and_the_start_waits() {
    let taken = taken();
    let nobody = taken.local_addr().unwrap();
    let registry = Registry::redis(&RedisConfig::new(format!("redis://{nobody}/"))).unwrap();
    let node = start_with(registry, |_| {});
    let mut gateway = gateway(&node).await;
    let asked = gateway.asks(create()).await;
    loop {
        if let ToGateway::Answer {
            number, outcome, ..
        } = gateway.hears().await
        {
            assert_eq!(number, asked);
            let is_unavailable = matches!(
                outcome,
                Outcome::Refused {
                    code: ErrorCode::Unavailable,
                    retry_after_ms: Some(_),
                    ..
                }
            );
            assert!(is_unavailable, "{outcome:?}");
            break;
        }
    }
    assert!(!node.process.readiness.is_ready());
    node.process.shutdown.begin();
    let ended = timeout(CEILING, node.running)
        .await
        .expect("it ends in time");
    ended.unwrap().unwrap();
}
