//! What operators see and do, with the program's own commands: from Redis without any gateway, and through a gateway.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use protocol::lobby::AiLevel;
use protocol::player::{AddAi, PlayerMessage};
use serde_json::{Value, json};

use crate::support::fleet::Fleet;
use crate::support::process::Wizard;
use crate::support::redis::Redis;
use crate::support::table::{gather, seats_of};
use crate::support::{CEILING, eventually, free_address};

fn command(arguments: &[&str], variables: &[(&str, &str)]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wizard"));
    command.env_clear().args(arguments);
    command.envs(variables.iter().copied()).stdin(Stdio::null());
    command
}

fn wizard(arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    command(arguments, variables).output().unwrap()
}

/// What it prints; it must end well.
fn prints(arguments: &[&str], variables: &[(&str, &str)]) -> String {
    let output = wizard(arguments, variables);
    let text = String::from_utf8(output.stdout).unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{arguments:?}: {text}{error}");
    text
}

/// The one line that says why it did not work, and the exit code.
fn fails(arguments: &[&str], variables: &[(&str, &str)]) -> (String, Option<i32>) {
    let output = wizard(arguments, variables);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(error.lines().count(), 1, "{arguments:?}: {error}");
    (error, output.status.code())
}

fn json_of(arguments: &[&str], variables: &[(&str, &str)]) -> Value {
    serde_json::from_str(&prints(arguments, variables)).unwrap()
}

fn game_node(id: &str, redis: &str) -> Wizard {
    Wizard::spawn(id, "game-node", &[("REDIS_URL", redis), ("NODE_ID", id)])
}

/// `wizard nodes watch` without a terminal.
struct Watch {
    child: Child,
    lines: Receiver<String>,
}

impl Watch {
    fn start(variables: &[(&str, &str)]) -> Self {
        let mut child = command(&["nodes", "watch"], variables)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (sender, lines) = channel();
        let output = BufReader::new(child.stdout.take().unwrap());
        thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Self { child, lines }
    }

    /// The next line with all of these words.
    fn line(&self, words: &[&str]) -> String {
        loop {
            let line = self.lines.recv_timeout(CEILING);
            let line = line.unwrap_or_else(|_| panic!("no line with {words:?}"));
            if words.iter().all(|word| line.contains(word)) {
                return line;
            }
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        // It runs until it is ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_any_gateway_redis_says_who_is_there_and_takes_a_node_out() {
    let redis = Redis::start().await;
    let url = redis.url();
    let variables = [("REDIS_URL", url.as_str())];
    assert_eq!(
        prints(&["nodes", "list"], &variables),
        "no process is there\n"
    );
    let watch = Watch::start(&variables);
    let mut one = game_node("game-1", &url).ready().await;
    watch.line(&["joined", "game-1", "game"]);
    let _two = game_node("game-2", &url).ready().await;

    watch.line(&["joined", "game-2", "game"]);

    // A process is ready a moment before it says so.
    eventually("both are listed as ready", async || {
        let list = prints(&["nodes", "list"], &variables);
        let lines: Vec<&str> = list.lines().collect();
        assert_eq!(lines.len(), 3, "{list}");
        let column = lines[0].find("STATE").unwrap();
        let mut states = lines[1..].iter().map(|line| &line[column..]);
        states
            .all(|state| state.starts_with("ready "))
            .then_some(())
    })
    .await;
    let nodes = json_of(&["nodes", "list", "--json"], &variables);
    assert_eq!(nodes[0]["id"], "game-1");
    assert_eq!(
        (&nodes[0]["state"], &nodes[0]["verified"]),
        (&json!("ready"), &json!(true))
    );

    let said = prints(&["nodes", "drain", "game-1"], &variables);
    assert!(
        said.contains("game-1 has left") || said.contains("game-1 is draining"),
        "{said}"
    );
    watch.line(&["left", "game-1", "goodbye"]);
    assert!(one.ended().await.success(), "a drained process ends well");
    let nodes = json_of(&["nodes", "list", "--json"], &variables);
    assert_eq!(nodes.as_array().unwrap().len(), 1);

    let (why, code) = fails(&["nodes", "drain", "game-1"], &variables);
    assert!(why.contains("no node game-1") && code == Some(1), "{why}");
    let (why, code) = fails(&["lobby", "ABCDEF"], &variables);
    assert!(why.contains("no lobby ABCDEF") && code == Some(1), "{why}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_drained_node_hands_its_tables_over_and_leaves() {
    let redis = Redis::start().await;
    let url = redis.url();
    let variables = [("REDIS_URL", url.as_str())];
    let mut one = game_node("game-1", &url).ready().await;
    let players = free_address();
    let listen = players.to_string();
    let listening = [("REDIS_URL", url.as_str()), ("LISTEN_ADDR", &listen)];
    let gateway = Wizard::spawn("gateway", "gateway", &listening);
    let gateway = gateway.ready().await;
    let (mut hosts, code) = gather(&format!("ws://{players}/ws"), 1, 1).await;
    let _two = game_node("game-2", &url).ready().await;

    let from_redis = prints(&["lobby", code.as_str()], &variables);
    assert!(from_redis.contains("owner        game-1"), "{from_redis}");
    let ops = gateway.operations().to_string();
    let asked = json_of(&["lobby", code.as_str(), "--json"], &[("OPS_ADDR", &ops)]);
    assert_eq!(asked["owner"], "game-1");
    assert_eq!(asked["seats"].as_array().unwrap().len(), 2);
    assert_eq!(
        asked["seats"][1],
        json!({ "seat": 1, "is_ai": true, "connected": true })
    );

    prints(&["nodes", "drain", "game-1"], &variables);
    assert!(one.ended().await.success());
    let nodes = json_of(&["nodes", "list", "--json"], &variables);
    let mut nodes = nodes.as_array().unwrap().iter();
    assert!(nodes.all(|node| node["id"] != "game-1"));
    // The table goes on, by the same socket.
    let more = PlayerMessage::AddAi(AddAi {
        level: AiLevel::Easy,
    });
    hosts[0]
        .ask(more, |state| seats_of(state) == 3)
        .await
        .unwrap();
    let (_others, elsewhere) = gather(&format!("ws://{players}/ws"), 1, 0).await;
    for code in [code, elsewhere] {
        let asked = prints(&["lobby", code.as_str()], &variables);
        assert!(asked.contains("owner        game-2"), "{asked}");
    }
    hosts[0]
        .ask(PlayerMessage::LeaveLobby, |state| state.lobby.is_none())
        .await
        .unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn through_a_gateway_operators_need_their_token() {
    let fleet = Fleet::in_one_process(&[("OPERATOR_TOKEN", "let me in")]).await;
    let ops = fleet.operations().to_string();
    let asking = [("OPS_ADDR", ops.as_str())];
    let list = json_of(&["nodes", "list", "--json"], &asking);
    let nodes = list.as_array().unwrap();
    let games: Vec<&Value> = nodes.iter().filter(|node| node["role"] == "game").collect();
    assert_eq!((nodes.len(), games.len()), (4, 2));
    assert!(games.iter().all(|node| node["link"] == "up"));
    let id = games[0]["id"].as_str().unwrap();
    let watch = Watch::start(&asking);
    watch.line(&["there", id]);

    let (why, code) = fails(&["nodes", "drain", id], &asking);
    assert!(why.contains("OPERATOR_TOKEN") && code == Some(1), "{why}");
    let entitled = [asking[0], ("OPERATOR_TOKEN", "let me in")];
    prints(&["nodes", "drain", id], &entitled);
    watch.line(&["left", id, "goodbye"]);
    // The other one goes on serving.
    let (_players, _) = gather(&fleet.url(), 1, 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_use_is_told_in_one_line() {
    let nobody = free_address().to_string();
    let asking = [("OPS_ADDR", nobody.as_str())];
    let (why, code) = fails(&["nodes", "list"], &asking);
    assert!(
        why.contains(&format!("nobody answers at {nobody}")),
        "{why}"
    );
    assert_eq!(code, Some(1));
    let url = format!("redis://{nobody}");
    let (why, code) = fails(&["nodes", "list"], &[("REDIS_URL", &url)]);
    assert!(why.contains("registry can't be reached"), "{why}");
    assert_eq!(code, Some(1));
    let (why, code) = fails(&["nodes", "list"], &[("REDIS_URL", "http://x")]);
    assert!(why.contains("REDIS_URL") && code == Some(78), "{why}");
    let (why, code) = fails(&["lobby", "not a code"], &asking);
    assert!(why.contains("CODE") && code == Some(78), "{why}");
}

/// The watch goes on when Redis does not, and says so.
#[tokio::test(flavor = "multi_thread")]
async fn a_watch_outlives_its_registry() {
    let redis = Redis::start().await;
    let url = redis.url();
    let _one = game_node("game-1", &url).ready().await;
    let watch = Watch::start(&[("REDIS_URL", &url)]);
    watch.line(&["joined", "game-1"]);
    drop(redis);
    watch.line(&["lost", "the registry can't be reached"]);
}

/// What the checks say, stays true after the start.
#[tokio::test(flavor = "multi_thread")]
async fn a_registry_that_is_away_shows_in_the_checks_and_takes_no_readiness() {
    let redis = Redis::start().await;
    let node = game_node("game-1", &redis.url()).ready().await;
    drop(redis);
    let ready = eventually("the check fails", async || {
        let (status, body) = crate::support::http::get(node.operations(), "/ready").await?;
        let body: Value = serde_json::from_str(&body).unwrap();
        let checks = body["checks"].as_array().unwrap().clone();
        let presence = checks.iter().find(|check| check["name"] == "presence")?;
        (presence["ok"] == false).then_some(status)
    })
    .await;
    assert_eq!(ready, 200);
}
