//! Gateways around one registry and one game node.

use std::net::{SocketAddr, TcpListener};
use std::time::Duration;

use chassis::environment::Secret;
use chassis::{Metrics, Process};
use gateway::Config;
use protocol::link::Ask;
use registry::{Generation, Lifetimes, NodeId, Registry, Seated};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use crate::client::Client;
use crate::node::{Node, SECRET};

const CEILING: Duration = Duration::from_secs(10);

pub(crate) struct Bench {
    pub(crate) registry: Registry,
    pub(crate) node: Node,
    pub(crate) gateway: Gateway,
}

pub(crate) struct Gateway {
    pub(crate) id: NodeId,
    pub(crate) address: SocketAddr,
    pub(crate) process: Process,
    running: JoinHandle<()>,
}

pub(crate) fn config(id: &str) -> Config {
    let mut config = Config::new(NodeId::new(id).unwrap(), "127.0.0.1");
    config.shared_secret = Secret::from(SECRET.to_owned());
    config
}

impl Bench {
    pub(crate) async fn start() -> Self {
        Self::with(|_| {}).await
    }

    pub(crate) async fn with(change: impl FnOnce(&mut Config)) -> Self {
        Self::over(Registry::in_process(Lifetimes::default()), change).await
    }

    pub(crate) async fn over(registry: Registry, change: impl FnOnce(&mut Config)) -> Self {
        let node = Node::start(&registry).await;
        let mut config = config("gateway-one");
        change(&mut config);
        let gateway = Gateway::start(config, registry.clone());
        gateway.ready().await;
        Self {
            registry,
            node,
            gateway,
        }
    }

    /// One more game node, linked.
    pub(crate) async fn another_node(&self, id: &str) -> Node {
        let node = Node::start_as(&self.registry, id).await;
        let is_linked = |nodes: &Value| {
            let mut nodes = nodes.as_array().into_iter().flatten();
            nodes.any(|one| one["id"] == id && one["link"] == "up")
        };
        self.gateway.until_operations("/nodes", is_linked).await;
        node
    }

    pub(crate) async fn another_gateway(&self) -> Gateway {
        self.another_gateway_with(|_| {}).await
    }

    pub(crate) async fn another_gateway_with(&self, change: impl FnOnce(&mut Config)) -> Gateway {
        let mut config = config("gateway-two");
        change(&mut config);
        let gateway = Gateway::start(config, self.registry.clone());
        gateway.ready().await;
        gateway
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.gateway.address
    }

    pub(crate) async fn client(&self) -> Client {
        Client::connect(self.address()).await
    }

    /// A player at a table of their own, and the ask by which they came there.
    pub(crate) async fn seated_client(&mut self) -> (Client, Ask) {
        let mut client = self.client().await;
        client.enter().await;
        client
            .send(json!({ "type": "create_lobby", "name": "Ada" }))
            .await;
        let ask = self.node.ask().await;
        self.node.own(&self.registry, ask.code).await;
        let token = ask.person.token.as_str().parse().unwrap();
        let seated = Seated {
            player_id: ask.person.player.to_string(),
            name: Some("Ada".to_owned()),
            lobby: ask.code.to_string(),
            generation: Generation(ask.person.generation),
            number: ask.number,
        };
        self.registry.session_sit(&token, &seated).await.unwrap();
        self.node.done(&ask);
        self.node.show(ask.code, 1, &[ask.connection]);
        assert_eq!(client.receive().await["seq"], 1);
        (client, ask)
    }

    /// Waits until `/health` says so.
    pub(crate) async fn until(&self, wanted: impl Fn(&Value) -> bool) {
        self.gateway.until_operations("/health", wanted).await;
    }
}

impl Gateway {
    pub(crate) fn start(config: Config, registry: Registry) -> Self {
        let operations = TcpListener::bind("127.0.0.1:0").unwrap();
        let process = Process::start(operations, Metrics::default()).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let id = config.node_id.clone();
        let running = gateway::run(config, listener, registry, process.clone());
        let running = tokio::spawn(async move { running.await.unwrap() });
        Self {
            id,
            address,
            process,
            running,
        }
    }

    pub(crate) async fn ready(&self) {
        let ready = timeout(CEILING, self.process.readiness.ready()).await;
        assert!(
            ready.is_ok(),
            "not ready: {}",
            self.process.readiness.missing()
        );
    }

    pub(crate) async fn ended(self) {
        timeout(CEILING, self.running)
            .await
            .expect("an end in time")
            .unwrap();
    }

    pub(crate) async fn operations(&self, path: &str) -> (u16, Value) {
        let answer = get(self.process.operations.address(), path).await;
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, serde_json::from_str(body).unwrap_or_default())
    }

    /// Waits until an operations page says so.
    pub(crate) async fn until_operations(
        &self,
        path: &str,
        wanted: impl Fn(&Value) -> bool,
    ) -> (u16, Value) {
        let waiting = async {
            loop {
                let (status, body) = self.operations(path).await;
                if wanted(&body) {
                    return (status, body);
                }
                sleep(Duration::from_millis(20)).await;
            }
        };
        timeout(CEILING, waiting).await.expect("it says so in time")
    }

    /// A page of the players' port, headers and all.
    pub(crate) async fn get(&self, path: &str) -> String {
        get(self.address, path).await
    }
}

async fn get(address: SocketAddr, path: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}
