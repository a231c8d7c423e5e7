//! The troubles of a connection to Redis: two nodes in processes of their own meet one, and all
//! is well again soon after. Scenes of [`super::at_once`].

use std::time::Duration;

use tokio::time::{Instant, sleep, timeout};

use super::node::Node;
use super::proxy::Proxy;
use super::redis_server::RedisServer;
use super::witness::Witness;
use super::world::{at_most, until};

/// Within this after Redis can be reached again, everybody has heard a hello and read the list.
const HEALED_WITHIN: Duration = Duration::from_secs(5);
/// A node that had read the list just before somebody was written into it reads it again with its next heartbeat.
const NEXT_HEARTBEAT: Duration = Duration::from_secs(5);
/// Of one core, while Redis is away.
const CPU_SHARE: f64 = 0.05;

struct Scene {
    name: &'static str,
    server: RedisServer,
    proxy: Proxy,
    nodes: [Node; 2],
    witness: Witness,
}

/// What the trouble was like.
struct Trouble {
    /// Redis could not be reached: said once, and once that it is back.
    away: bool,
    /// When it could be reached again, by the nodes and by whoever looks.
    back: Instant,
}

impl Scene {
    async fn start(name: &'static str) -> Self {
        let server = RedisServer::start();
        let proxy = Proxy::start(server.port()).await;
        let nodes = ["one", "two"].map(|id| Node::start(&proxy.url(), id));
        nodes[0].sees_ready("two").await;
        nodes[1].sees_ready("one").await;
        let witness = Witness::start(&server.url()).await;
        let scene = Self {
            name,
            server,
            proxy,
            nodes,
            witness,
        };
        scene.all_hear(1).await;
        scene
    }

    /// Both subscriptions work.
    async fn all_hear(&self, generation: u64) {
        let heard = format!("heard {generation}");
        until("both hear", || async {
            self.witness.publish_session(generation).await;
            self.nodes.iter().all(|node| node.has_said(&heard))
        })
        .await;
    }

    /// Waits with what was done, measures what the nodes need meanwhile.
    async fn away_for(&self, time: Duration) {
        let before = self.nodes.each_ref().map(Node::cpu);
        sleep(time).await;
        for (node, before) in self.nodes.iter().zip(before) {
            let share = node.cpu().saturating_sub(before).as_secs_f64() / time.as_secs_f64();
            println!("{}: {:.1} % of a core", self.name, share * 100.0);
            assert!(share < CPU_SHARE, "{} needs {share} of a core", node.id);
        }
    }

    /// Everything the nodes have logged about Redis, beyond who comes and goes.
    fn logged(&self) -> Vec<Vec<String>> {
        let about_redis = |node: &Node| {
            let log = node.log().into_iter();
            log.filter(|line| !line.contains(" joined ") && !line.contains(" left "))
                .collect()
        };
        self.nodes.iter().map(about_redis).collect()
    }

    async fn heals(&self, trouble: Trouble, logged: Vec<Vec<String>>) {
        self.witness.plant("planted").await;
        let healed = async {
            self.all_hear(2).await;
            for node in &self.nodes {
                until("a hello", || async { self.witness.heard_hello(&node.id) }).await;
            }
        };
        let listed = async {
            for node in &self.nodes {
                node.says("joined planted").await;
            }
        };
        let within = at_most(HEALED_WITHIN).saturating_sub(trouble.back.elapsed());
        let (healed, listed) = tokio::join!(
            timeout(within, healed),
            timeout(within + at_most(NEXT_HEARTBEAT), listed)
        );
        let in_time = healed.and(listed);
        println!("{}: healed after {:?}", self.name, trouble.back.elapsed());
        let said: Vec<_> = self.nodes.iter().map(Node::said).collect();
        assert!(in_time.is_ok(), "not healed: {said:?} {:?}", self.logged());
        assert_eq!(self.witness.lapses(), [""; 0], "entries lapsed");
        for node in &self.nodes {
            assert!(!node.has_said("left"), "{:?}", node.said());
        }
        until("it is said that Redis is back", || async {
            !trouble.away
                || self
                    .logged()
                    .iter()
                    .all(|log| log.last().is_some_and(|line| is_back(line)))
        })
        .await;
        for (log, before) in self.logged().iter().zip(logged) {
            let new = &log[before.len()..];
            if trouble.away {
                // Once more if the machine was too busy for an answer in time; never one a try.
                let is_pair = |pair: &[String]| match pair {
                    [first, second] => is_away(first) && is_back(second),
                    _ => false,
                };
                let lines = (1..=2).contains(&(new.len() / 2)) && new.chunks(2).all(is_pair);
                assert!(lines, "not one line each: {new:?}");
            } else {
                assert_eq!(new, [""; 0], "Redis was there");
            }
        }
    }
}

fn is_away(line: &str) -> bool {
    let says = |what| line.contains("WARN") && line.contains(what);
    says("the registry does not answer") || says("the registry refuses to write")
}

fn is_back(line: &str) -> bool {
    line.contains("INFO") && line.contains("the registry answers")
}

const BOTH: [&str; 2] = ["one", "two"];

pub(crate) async fn silent_connections() {
    let mut scene = Scene::start("silent_connections").await;
    let logged = scene.logged();
    scene.witness.watch_for_lapses(&BOTH);
    scene.proxy.silence();
    let away = true;
    let back = Instant::now();
    // A heartbeat a second: two that stay unanswered, then a new connection.
    scene.away_for(Duration::from_secs(2)).await;
    scene.heals(Trouble { away, back }, logged).await;
}

pub(crate) async fn reset_connections() {
    let mut scene = Scene::start("reset_connections").await;
    let logged = scene.logged();
    scene.witness.watch_for_lapses(&BOTH);
    scene.proxy.reset();
    let (away, back) = (true, Instant::now());
    scene.heals(Trouble { away, back }, logged).await;
}

/// For less than a heartbeat lives: nobody lapses at all.
pub(crate) async fn refused_for_8_s() {
    let mut scene = Scene::start("refused_for_8_s").await;
    let logged = scene.logged();
    scene.witness.watch_for_lapses(&BOTH);
    scene.proxy.refuse().await;
    scene.away_for(Duration::from_secs(8)).await;
    scene.proxy.accept().await;
    let (away, back) = (true, Instant::now());
    scene.heals(Trouble { away, back }, logged).await;
}

/// All entries lapse, and still nobody is believed to have left.
pub(crate) async fn refused_for(seconds: u64) {
    let mut scene = Scene::start("refused_for").await;
    let logged = scene.logged();
    scene.proxy.refuse().await;
    scene.away_for(Duration::from_secs(seconds)).await;
    scene.proxy.accept().await;
    let (away, back) = (true, Instant::now());
    scene.heals(Trouble { away, back }, logged).await;
}

pub(crate) async fn one_answer_swallowed() {
    let mut scene = Scene::start("one_answer_swallowed").await;
    let logged = scene.logged();
    scene.witness.watch_for_lapses(&BOTH);
    scene.proxy.swallow();
    let (away, back) = (true, Instant::now());
    scene.heals(Trouble { away, back }, logged).await;
}

pub(crate) async fn subscriptions_killed_twenty_times() {
    let mut scene = Scene::start("subscriptions_killed_twenty_times").await;
    let logged = scene.logged();
    scene.witness.watch_for_lapses(&BOTH);
    for _ in 0..20 {
        // Not the witness: it hangs on no proxy and would not come back.
        until("both are subscribed", || async {
            subscribers(&scene.witness).await.len() == 2
        })
        .await;
        for id in subscribers(&scene.witness).await {
            scene
                .witness
                .command::<usize>(&["CLIENT", "KILL", "ID", &id])
                .await;
        }
    }
    let (away, back) = (false, Instant::now());
    scene.heals(Trouble { away, back }, logged).await;
}

/// The ids of the nodes' subscriptions: each has two channels, the witness one.
async fn subscribers(witness: &Witness) -> Vec<String> {
    let list: String = witness.command(&["CLIENT", "LIST", "TYPE", "pubsub"]).await;
    let nodes = list.lines().filter(|line| line.contains(" sub=2 "));
    let id = |line: &str| Some(line.strip_prefix("id=")?.split(' ').next()?.to_owned());
    nodes.filter_map(id).collect()
}

pub(crate) async fn redis_restarted_empty() {
    let mut scene = Scene::start("redis_restarted_empty").await;
    let logged = scene.logged();
    scene.server.kill();
    scene.proxy.refuse().await;
    scene.away_for(Duration::from_secs(3)).await;
    scene.server.start_again();
    scene.witness = Witness::start(&scene.server.url()).await;
    scene.proxy.accept().await;
    let (away, back) = (true, Instant::now());
    scene.heals(Trouble { away, back }, logged).await;
}

pub(crate) async fn redis_stopped_and_continued() {
    let mut scene = Scene::start("redis_stopped_and_continued").await;
    let logged = scene.logged();
    scene.witness.watch_for_lapses(&BOTH);
    scene.server.signal("STOP");
    scene.away_for(Duration::from_secs(8)).await;
    scene.server.signal("CONT");
    let (away, back) = (true, Instant::now());
    scene.heals(Trouble { away, back }, logged).await;
}

/// Redis drops subscribers that do not read; here they are not told so.
pub(crate) async fn subscribers_dropped_for_their_buffer() {
    let mut scene = Scene::start("subscribers_dropped_for_their_buffer").await;
    let logged = scene.logged();
    scene.witness.watch_for_lapses(&BOTH);
    let limit = "pubsub 1mb 0 0";
    scene
        .witness
        .command::<String>(&["CONFIG", "SET", "client-output-buffer-limit", limit])
        .await;
    let present = subscribers(&scene.witness).await;
    scene.proxy.deafen();
    let back = Instant::now();
    // To the channels of their probes, so that the witness has nothing to read.
    let ballast = "x".repeat(200_000);
    until("both are dropped", || async {
        for id in BOTH {
            let channel = format!("network:events:{id}");
            let words = ["PUBLISH", channel.as_str(), ballast.as_str()];
            scene.witness.command::<usize>(&words).await;
        }
        let now = subscribers(&scene.witness).await;
        present.iter().all(|id| !now.contains(id))
    })
    .await;
    scene.heals(Trouble { away: false, back }, logged).await;
}

/// A master that has become a replica goes on answering those that are connected.
pub(crate) async fn an_old_master_still_answers() {
    let mut scene = Scene::start("an_old_master_still_answers").await;
    let logged = scene.logged();
    let new = RedisServer::start();
    let port = scene.server.port().to_string();
    new.command::<String>(&["REPLICAOF", "127.0.0.1", &port]);
    until("the replica has everything", || async {
        new.command::<usize>(&["ZCARD", "network:servers"]) == 2
    })
    .await;
    new.command::<String>(&["REPLICAOF", "NO", "ONE"]);
    scene.proxy.lead_to(new.port());
    let port = new.port().to_string();
    scene
        .server
        .command::<String>(&["REPLICAOF", "127.0.0.1", &port]);
    scene.witness = Witness::start(&new.url()).await;
    scene.witness.watch_for_lapses(&BOTH);
    let (away, back) = (true, Instant::now());
    scene.heals(Trouble { away, back }, logged).await;
}
