//! AI nodes that misbehave, hang and die: every table goes on, and nobody waits for one longer than
//! `AI_DECISION_TIMEOUT`.

use std::net::SocketAddr;
use std::time::Duration;

use futures_util::future::{join_all, try_join_all};
use loadtest::Player;
use loadtest::strategy::random_moves;
use protocol::LobbyCode;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::support::ai_node::{AiNode, Manner};
use crate::support::process::Wizard;
use crate::support::redis::Redis;
use crate::support::table::{agree_on, arrive, gather, start};
use crate::support::{CEILING, eventually, free_address, http};

/// Redis, a gateway and a game node; AI nodes are each test's own.
struct House {
    redis: Redis,
    _gateway: Wizard,
    game_node: Wizard,
    players: SocketAddr,
    links: SocketAddr,
}

impl House {
    async fn start(variables: &[(&str, &str)]) -> Self {
        let redis = Redis::start().await;
        let (url, players, links) = (redis.url(), free_address(), free_address());
        let redis_url = ("REDIS_URL", url.as_str());
        let (listen, links_listen) = (players.to_string(), links.to_string());
        let gateway = Wizard::spawn("gateway", "gateway", &[redis_url, ("LISTEN_ADDR", &listen)]);
        let mut all = vec![redis_url, ("LISTEN_ADDR", links_listen.as_str())];
        all.extend(variables);
        let game_node = Wizard::spawn("game", "game-node", &all).ready().await;
        Self {
            _gateway: gateway.ready().await,
            redis,
            game_node,
            players,
            links,
        }
    }

    fn url(&self) -> String {
        format!("ws://{}/ws", self.players)
    }

    /// Plays until an AI decides again, and no breaker is open.
    async fn decides_again(&self) {
        let before = self.ai().await;
        eventually("it decides again", async || {
            self.play_a_game().await;
            let ai = self.ai().await;
            (count(&ai, "decided") > count(&before, "decided") && ai["open_breakers"] == 0)
                .then_some(())
        })
        .await;
    }

    async fn ai_node(&self, name: &str) -> Wizard {
        let url = self.redis.url();
        Wizard::spawn(name, "ai-node", &[("REDIS_URL", &url)])
            .ready()
            .await
    }

    /// What the game node tells of its AI links, of up to a second ago.
    async fn ai(&self) -> Value {
        let health = http::get_json(self.game_node.operations(), "/health").await;
        health.expect("/health is always there")["ai"].take()
    }

    async fn until_ai(&self, what: &str, is: impl Fn(&Value) -> bool) -> Value {
        eventually(what, async || Some(self.ai().await).filter(&is)).await
    }

    /// One person and two AI seats, five rounds, from start to end; the longest that it stood still.
    async fn play_a_game(&self) -> Duration {
        let (mut people, code) = self.table().await;
        let mut spectator = arrive(&self.url()).await;
        spectator.watch(code).await.unwrap();
        let (played, longest) =
            tokio::join!(people[0].play(random_moves(1)), longest_turn(spectator));
        played.unwrap();
        longest
    }

    async fn table(&self) -> (Vec<Player>, LobbyCode) {
        let (mut people, code) = gather(&self.url(), 1, 2).await;
        agree_on(&mut people[0], json!({"length": "short"})).await;
        start(&mut people).await;
        (people, code)
    }
}

async fn longest_turn(mut spectator: Player) -> Duration {
    let mut longest = Duration::ZERO;
    while spectator
        .observation()
        .is_some_and(|seen| seen.table.to_act.is_some())
    {
        let turn = spectator.turn();
        let since = Instant::now();
        let moved = |state: &protocol::server::State| {
            state
                .game
                .as_ref()
                .map(|game| game.observation.observation.table.turn)
                != turn
        };
        spectator.until(moved, CEILING).await.unwrap();
        longest = longest.max(since.elapsed());
    }
    longest
}

fn count(ai: &Value, name: &str) -> u64 {
    ai[name].as_u64().unwrap()
}

const TIMEOUT: Duration = Duration::from_millis(500);
/// With what a busy machine takes for itself, and less than by default.
const LONGEST_TURN: Duration = TIMEOUT.saturating_add(Duration::from_secs(4));

const IMPATIENT: [(&str, &str); 3] = [
    ("AI_DECISION_TIMEOUT", "500ms"),
    ("AI_BREAKER_FAILURES", "3"),
    ("AI_BREAKER_COOLDOWN", "1s"),
];

#[tokio::test]
async fn an_ai_node_with_another_secret_is_not_let_in_and_says_so() {
    let house = House::start(&[]).await;
    let url = house.redis.url();
    let variables = [("REDIS_URL", url.as_str()), ("AI_SHARED_SECRET", "another")];
    let stranger = Wizard::spawn("stranger", "ai-node", &variables);
    let refused = |line: &str| {
        line.contains("not let in by a game node") && line.contains("WARN") && line.contains("401")
    };
    stranger.line("a refusal", refused).await;
    let own = house.ai_node("own").await;
    house.until_ai("one link", |ai| ai["links"] == 1).await;
    assert!(!own.lines().iter().any(|line| refused(line)));
}

#[tokio::test]
async fn however_badly_an_ai_node_answers_the_table_goes_on_and_its_breaker_opens_and_closes() {
    let house = House::start(&IMPATIENT).await;
    let ai_node = AiNode::dial(house.links, Manner::Good);
    house.until_ai("linked", |ai| count(ai, "links") == 1).await;
    for (manner, counter) in [
        (Manner::Silent, "late"),
        (Manner::Late(TIMEOUT * 2), "late"),
        (Manner::Illegal, "illegal"),
        (Manner::Failing, "failed"),
    ] {
        let before = house.ai().await;
        ai_node.set(manner);
        let longest = house.play_a_game().await;
        assert!(longest <= LONGEST_TURN, "{manner:?}: {longest:?}");
        let what = format!("{manner:?}: its breaker opens, and it is left alone");
        house
            .until_ai(&what, |ai| {
                let failures = count(ai, counter) - count(&before, counter);
                let unasked = count(ai, "unasked") - count(&before, "unasked");
                failures >= 3 && unasked > 0 && ai["open_breakers"] == 1
            })
            .await;

        ai_node.set(Manner::Good);
        eventually("the breaker is closed", async || {
            house.play_a_game().await;
            (house.ai().await["open_breakers"] == 0).then_some(())
        })
        .await;
    }

    // A link that speaks nonsense is ended, and what waited for it decided at once. A new link is no new trust.
    ai_node.set(Manner::Garbage);
    eventually("the breaker opens, link after link", async || {
        let longest = house.play_a_game().await;
        assert!(longest <= LONGEST_TURN, "{longest:?}");
        (house.ai().await["open_breakers"] == 1).then_some(())
    })
    .await;
    ai_node.set(Manner::Good);
    house.decides_again().await;
    let said = house.game_node.lines();
    let warned = said
        .iter()
        .any(|line| line.contains("WARN") && line.contains("a random one is made"));
    assert!(warned, "an error is warned of");
}

#[tokio::test]
async fn a_link_gets_no_more_requests_than_it_may_have() {
    let house = House::start(&[("AI_MAX_INFLIGHT", "2"), ("AI_DECISION_TIMEOUT", "60s")]).await;
    let ai_node = AiNode::dial(house.links, Manner::Silent);
    house.until_ai("linked", |ai| count(ai, "links") == 1).await;
    let mut tables = Vec::new();
    for _ in 0..6 {
        tables.push(house.table().await.0);
    }
    // A person who is to act does, until an AI is.
    let playing = tables
        .iter_mut()
        .map(|people| people[0].play(random_moves(2)));
    let watched = async {
        let ai = house
            .until_ai("more was to decide", |ai| count(ai, "unasked") >= 10)
            .await;
        assert_eq!(count(&ai, "waiting"), 2, "{ai}");
        assert_eq!(ai_node.asked(), 2);
    };
    tokio::select! {
        played = try_join_all(playing) => panic!("no game ends without the answers: {played:?}"),
        () = watched => {}
    }
}

#[tokio::test]
async fn with_ai_nodes_killed_and_stopped_every_table_plays_to_its_end() {
    let house = House::start(&IMPATIENT).await;
    let (killed, stopped) = tokio::join!(house.ai_node("ai-1"), house.ai_node("ai-2"));
    house
        .until_ai("both linked", |ai| count(ai, "links") == 2)
        .await;
    let mut tables: Vec<_> = join_all((0..4).map(|_| house.table())).await;
    let playing = try_join_all(
        tables
            .iter_mut()
            .map(|(people, _)| people[0].play(random_moves(3))),
    );
    let faults = async {
        let decided = |least: u64| move |ai: &Value| count(ai, "decided") >= least;
        house.until_ai("some moves", decided(10)).await;
        drop(killed);
        house
            .until_ai("one link", |ai| count(ai, "links") == 1)
            .await;
        house.until_ai("moves by the other", decided(30)).await;
        stopped.signal("STOP");
    };
    tokio::join!(playing, faults).0.unwrap();

    let longest = house.play_a_game().await;
    assert!(longest <= LONGEST_TURN, "{longest:?}");
    stopped.signal("CONT");
    house.decides_again().await;
}
