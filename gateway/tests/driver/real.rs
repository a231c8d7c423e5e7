//! Gateways in front of real game nodes: what players rely on, whole games included.

use std::collections::BTreeSet;
use std::net::TcpListener;
use std::time::Duration;

use chassis::environment::{Limit, Secret};
use chassis::{Metrics, Process};
use futures_util::future::join_all;
use game_node::lobby::Pace;
use protocol::server::LoadLevel;
use registry::{Lifetimes, NodeId, Registry};
use serde_json::{Value, json};

use crate::bench::{Gateway, config};
use crate::client::Client;
use crate::node::SECRET;

const CEILING: Duration = Duration::from_secs(20);

/// Two gateways, two game nodes, one registry; no AI node, so AI seats play at random.
struct System {
    gateways: [Gateway; 2],
    registry: Registry,
    nodes: Vec<Process>,
    /// Of the nodes, in their order.
    ids: Vec<String>,
}

impl System {
    async fn start() -> Self {
        let registry = Registry::in_process(Lifetimes::default());
        let nodes = ["game-one", "game-two"].map(|id| start_node(id, &registry));
        let gateways = ["gateway-one", "gateway-two"].map(|id| {
            let mut config = config(id);
            // These players play as fast as they can.
            config.message_rate = Limit::NONE;
            config.max_connections_per_ip = Limit::NONE;
            Gateway::start(config, registry.clone())
        });
        for node in &nodes {
            let ready = tokio::time::timeout(CEILING, node.readiness.ready()).await;
            assert!(ready.is_ok(), "not ready: {}", node.readiness.missing());
        }
        for gateway in &gateways {
            gateway.ready().await;
        }
        Self {
            gateways,
            registry,
            nodes: nodes.into(),
            ids: ["game-one", "game-two"].map(str::to_owned).into(),
        }
    }

    /// Tells a node to stop.
    fn stop_node(&self, id: &str) {
        let place = self.ids.iter().position(|one| one == id).unwrap();
        self.nodes[place].shutdown.begin();
    }

    /// One more node.
    async fn start_another(&mut self) {
        let id = format!("game-{}", self.ids.len());
        let node = start_node(&id, &self.registry);
        let ready = tokio::time::timeout(CEILING, node.readiness.ready()).await;
        assert!(ready.is_ok(), "not ready: {}", node.readiness.missing());
        for gateway in &self.gateways {
            let is_linked = |nodes: &Value| {
                let mut nodes = nodes.as_array().into_iter().flatten();
                nodes.any(|one| one["id"] == id.as_str() && one["link"] == "up")
            };
            gateway.until_operations("/nodes", is_linked).await;
        }
        self.ids.push(id);
        self.nodes.push(node);
    }

    /// A stranger at one of the gateways, to whom new games are open.
    async fn player(&self, gateway: usize) -> Client {
        let mut client = Client::connect(self.gateways[gateway].address).await;
        let mut open = client.hello(Value::Null).await["accepting_games"] == true;
        let mut state = Value::Null;
        while !open || state.is_null() {
            let message = client.receive().await;
            match message["type"].as_str() {
                Some("server_status") => open = message["accepting_games"] == true,
                _ => state = message,
            }
        }
        client
    }

    /// A host at a table of their own, and its code.
    async fn host(&self, gateway: usize, name: &str) -> (Client, String) {
        let mut host = self.player(gateway).await;
        host.send(json!({ "type": "create_lobby", "name": name }))
            .await;
        let state = host.state(|state| state["lobby"].is_object()).await;
        let code = state["lobby"]["code"].as_str().unwrap().to_owned();
        (host, code)
    }
}

/// Through the gateway where none of its players is; and nothing of people or cards.
#[tokio::test]
async fn operators_see_who_sits_where_by_number() {
    let system = System::start().await;
    let (mut host, code) = system.host(0, "Secretive").await;
    host.send(json!({ "type": "add_ai" })).await;
    host.state(|state| names(state).len() == 2).await;
    let path = format!("/lobbies/{code}");
    let (status, lobby) = system.gateways[1].operations(&path).await;
    assert_eq!(status, 200);
    assert_eq!(
        lobby["seats"],
        json!([
            { "seat": 0, "is_ai": false, "connected": true },
            { "seat": 1, "is_ai": true, "connected": true },
        ])
    );
    assert_eq!(
        (&lobby["status"], &lobby["spectators"], &lobby["why"]),
        (&json!("waiting"), &json!(0), &Value::Null)
    );
    assert!(!lobby.to_string().contains("Secretive"));
    drop(host);
    let gone = |lobby: &Value| lobby["seats"][0]["connected"] == false;
    system.gateways[1].until_operations(&path, gone).await;
}

fn start_node(id: &str, registry: &Registry) -> Process {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let operations = TcpListener::bind("127.0.0.1:0").unwrap();
    let process = Process::start(operations, Metrics::default()).unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let mut config = game_node::Config::new(NodeId::new(id).unwrap(), address);
    config.gateway_secret = Secret::from(SECRET.to_owned());
    config.ready_timeout = CEILING;
    config.drain_timeout = CEILING;
    config.pace = Pace {
        ai_move_delay: Duration::ZERO,
        trick_pause: Duration::ZERO,
    };
    // However busy the machine is that the test runs on.
    config.load.force_level = Some(LoadLevel::Normal);
    let running = game_node::run(config, listener, registry.clone(), process.clone());
    tokio::spawn(async move { running.await.unwrap() });
    process
}

fn names(state: &Value) -> Vec<&str> {
    let players = state["lobby"]["players"].as_array().unwrap();
    players
        .iter()
        .map(|player| player["name"].as_str().unwrap())
        .collect()
}

impl Client {
    async fn state(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        self.receive_until(|message| {
            assert_ne!(message["type"], "error", "{message}");
            message["type"] == "state" && wanted(message)
        })
        .await
    }

    /// The next state while a game goes on. An action that has no answer in time, as it may be on a busy machine, is sent
    /// again, and is stale if it was done all the same.
    async fn next_of_game(&mut self) -> Value {
        loop {
            let message = self
                .receive_until(|message| message["type"] != "server_status")
                .await;
            match message["code"].as_str() {
                None => return message,
                Some("unavailable") => {
                    self.has_repeated = true;
                    let action = self.acted.clone().expect("nothing else was asked for");
                    self.send(action).await;
                }
                Some(code) => assert!(self.has_repeated && code == "stale_turn", "{message}"),
            }
        }
    }

    async fn refused(&mut self, message: Value) -> String {
        self.send(message).await;
        let error = self
            .receive_until(|message| message["type"] == "error")
            .await;
        error["code"].as_str().unwrap().to_owned()
    }
}

/// Plays the first legal action whenever there is one, until the game has finished or `turns`
/// states have come; gives back the last state.
async fn play(client: &mut Client, turns: usize) -> Value {
    let mut last_seq = 0;
    for _ in 0..turns {
        let state = client.next_of_game().await;
        let seq = state["seq"].as_u64().unwrap();
        assert!(seq > last_seq, "{seq} after {last_seq}");
        last_seq = seq;
        if state["lobby"]["status"] == "finished" {
            return state;
        }
        assert_eq!(state["game"]["seed"], Value::Null, "no seed before the end");
        let observation = &state["game"]["observation"];
        let turn = observation["turn"].as_u64();
        if let Some(action) = observation["legal_actions"].get(0).filter(|_| {
            client
                .acted
                .as_ref()
                .is_none_or(|acted| acted["turn"].as_u64() != turn)
        }) {
            let action = json!({ "type": "action", "action": action, "turn": turn });
            client.acted = Some(action.clone());
            client.send(action).await;
        }
    }
    Value::Null
}

#[tokio::test]
async fn two_people_on_two_gateways_play_a_whole_game_with_an_ai() {
    let system = System::start().await;
    let (mut ada, code) = system.host(0, "Ada").await;
    let mut ben = system.player(1).await;
    ben.send(json!({ "type": "join_lobby", "code": code.to_lowercase(), "name": "Ben" }))
        .await;
    ben.state(|state| {
        state["lobby"]["players"]
            .as_array()
            .is_some_and(|all| all.len() == 2)
    })
    .await;
    for message in [
        json!({ "type": "add_ai", "level": "easy" }),
        json!({ "type": "set_options", "length": "short" }),
        json!({ "type": "start_game" }),
    ] {
        ada.send(message).await;
    }
    ada.state(|state| {
        state["lobby"]["players"]
            .as_array()
            .is_some_and(|all| all.len() == 3)
    })
    .await;

    // Ben's phone changes the network in the middle of the game.
    let ada_plays = tokio::spawn(async move { play(&mut ada, 10_000).await });
    play(&mut ben, 12).await;
    let token = ben.token.clone();
    drop(ben);
    let mut ben = Client::connect(system.gateways[0].address).await;
    ben.hello(json!(token)).await;
    let theirs = play(&mut ben, 10_000).await;
    let hers = tokio::time::timeout(CEILING, ada_plays)
        .await
        .unwrap()
        .unwrap();

    assert_eq!(hers["lobby"]["status"], "finished");
    for state in [&hers, &theirs] {
        assert_eq!(state["game"]["seed"].as_str().unwrap().len(), 64);
        assert_eq!(
            state["game"]["observation"]["sheet"]
                .as_array()
                .unwrap()
                .len(),
            5
        );
    }
    let ranking = |state: &Value| state["game"]["observation"]["ranking"].clone();
    assert_eq!(ranking(&hers), ranking(&theirs));
    assert_eq!(
        ben.refused(json!({ "type": "return_to_lobby" })).await,
        "not_host"
    );
}

#[tokio::test]
async fn whoever_joins_another_table_leaves_the_first() {
    let system = System::start().await;
    let (mut ada, first) = system.host(0, "Ada").await;
    let (mut cleo, second) = system.host(1, "Cleo").await;
    let mut ben = system.player(1).await;
    for code in [&first, &second] {
        ben.send(json!({ "type": "join_lobby", "code": code, "name": "Ben" }))
            .await;
        ben.state(|state| state["lobby"]["code"] == **code).await;
    }
    ada.state(|state| names(state).len() == 2).await;
    ada.state(|state| names(state) == ["Ada"]).await;
    cleo.state(|state| names(state) == ["Cleo", "Ben"]).await;
    // The session names the second one: a second window opens there, and the first ends.
    let mut again = Client::connect(system.gateways[0].address).await;
    let welcome = again.hello(json!(ben.token)).await;
    assert_eq!(welcome["name"], "Ben");
    let state = again.state(|_| true).await;
    assert_eq!(
        (&state["lobby"]["code"], names(&state).len()),
        (&json!(second), 2)
    );
    let told = ben
        .receive_until(|message| message["type"] == "error")
        .await;
    assert_eq!(told["code"], "taken_over");
    assert_eq!(ben.closed().await, 4000);
    // Its late end leaves nobody offline.
    again
        .send(json!({ "type": "react", "reaction": "hello" }))
        .await;
    let state = again
        .state(|state| {
            state["events"]
                .as_array()
                .is_some_and(|all| !all.is_empty())
        })
        .await;
    assert_eq!(state["lobby"]["players"][1]["connected"], true);
    again.send(json!({ "type": "leave_lobby" })).await;
    again.state(|state| state["lobby"].is_null()).await;
}

#[tokio::test]
async fn each_refusal_has_its_code_and_costs_nothing() {
    let system = System::start().await;
    let (mut ada, code) = system.host(0, "Ada").await;
    let mut ben = system.player(1).await;
    let join = json!({ "type": "join_lobby", "code": code, "name": "Ben" });
    assert_eq!(
        ben.refused(json!({ "type": "start_game" })).await,
        "not_in_lobby"
    );
    assert_eq!(
        ada.refused(json!({ "type": "start_game" })).await,
        "not_enough_players"
    );
    assert_eq!(
        ada.refused(json!({ "type": "return_to_lobby" })).await,
        "not_finished"
    );
    ben.send(json!({ "type": "watch_lobby", "code": code }))
        .await;
    ben.state(|state| state["lobby"]["spectators"] == 1).await;
    assert_eq!(
        ben.refused(json!({ "type": "start_game" })).await,
        "spectator"
    );
    for _ in 0..5 {
        ada.send(json!({ "type": "add_ai" })).await;
    }
    ada.state(|state| names(state).len() == 6).await;
    assert_eq!(ada.refused(json!({ "type": "add_ai" })).await, "lobby_full");
    assert_eq!(ben.refused(join.clone()).await, "lobby_full");
    ada.send(json!({ "type": "start_game" })).await;
    ada.state(|state| state["lobby"]["status"] == "playing")
        .await;
    assert_eq!(ben.refused(join).await, "lobby_playing");
    ben.send(json!({ "type": "watch_lobby", "code": code }))
        .await;
    let watched = ben.state(|state| state["game"].is_object()).await;
    assert_eq!(
        watched["game"]["observation"]["hand"],
        json!([]),
        "a spectator sees no hand"
    );
}

#[tokio::test]
async fn quick_play_brings_strangers_together() {
    let system = System::start().await;
    let mut ada = system.player(0).await;
    ada.send(json!({ "type": "quick_play", "name": "Ada" }))
        .await;
    let state = ada.state(|state| state["lobby"].is_object()).await;
    assert_eq!(state["lobby"]["public"], true);
    let mut ben = system.player(1).await;
    ben.send(json!({ "type": "quick_play", "name": "Ada" }))
        .await;
    let state = ben.state(|state| state["lobby"].is_object()).await;
    assert_eq!(names(&state), ["Ada", "Ada (2)"]);
}

/// Tables that so many strangers at once come to, who take turns at so many gateways.
async fn tables_of_strangers(strangers: usize, gateways: usize) -> BTreeSet<String> {
    let system = System::start().await;
    let coming = (0..strangers).map(|number| system.player(number % gateways));
    let mut players = join_all(coming).await;
    let playing = players.iter_mut().map(async |player| {
        player
            .send(json!({ "type": "quick_play", "name": "Ada" }))
            .await;
        let state = player.state(|state| state["lobby"].is_object()).await;
        state["lobby"]["code"].as_str().unwrap().to_owned()
    });
    join_all(playing).await.into_iter().collect()
}

#[tokio::test]
async fn strangers_who_come_at_once_fill_tables_one_after_the_other() {
    assert_eq!(tables_of_strangers(24, 1).await.len(), 4);
    // Each gateway may have made one more than there had to be.
    let tables = tables_of_strangers(24, 2).await.len();
    assert!((4..=6).contains(&tables), "{tables} tables");
}

/// Every node in turn, in the middle of a game: it is told to stop, and another one comes.
#[tokio::test]
async fn a_game_goes_on_while_the_node_under_it_stops() {
    let mut system = System::start().await;
    let (mut ada, code) = system.host(0, "Ada").await;
    for _ in 0..3 {
        ada.send(json!({ "type": "add_ai" })).await;
    }
    ada.send(json!({ "type": "start_game" })).await;
    play(&mut ada, 10).await;
    let path = format!("/lobbies/{code}");
    let (_, lobby) = system.gateways[0].operations(&path).await;
    let mut owner = lobby["owner"].as_str().unwrap().to_owned();
    for _ in 0..2 {
        system.stop_node(&owner);
        let finished = play(&mut ada, 10).await;
        assert_eq!(finished, Value::Null, "not finished yet");
        // On its way it has none.
        let moved = |lobby: &Value| lobby["owner"].as_str().is_some_and(|now| now != owner);
        let (_, lobby) = system.gateways[1].until_operations(&path, moved).await;
        owner = lobby["owner"].as_str().unwrap().to_owned();
        system.start_another().await;
    }
    let finished = play(&mut ada, 100_000).await;
    assert_eq!(finished["lobby"]["status"], "finished");
}
