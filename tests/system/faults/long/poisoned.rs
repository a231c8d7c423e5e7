//! A table at which one message ends every process that reads it: it must not walk through the fleet.

use std::net::SocketAddr;
use std::time::Duration;

use loadtest::{Player, PlayerError, Run};
use protocol::lobby::Reaction;
use protocol::player::{PlayerMessage, React};
use protocol::{ErrorCode, LobbyCode};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep};

use crate::faults::scale::Scale;
use crate::faults::site::{Site, end};
use crate::support::deadly::DeadlyWay;
use crate::support::process::Wizard;
use crate::support::table::{gather, play_to_the_end, start};
use crate::support::{CEILING, free_address};

/// As a message names it.
const DEADLY: &str = "angry";
const MINUTE: Duration = Duration::from_mins(1);
/// In the first minute, after the owner at which the message was read first.
const MOST_CLAIMS: usize = 4;
const NODES: usize = 4;
/// Between two tries to come back.
const RETURN_PAUSE: Duration = Duration::from_millis(300);
/// As after any node that is killed.
const OTHERS: Duration = Duration::from_secs(2);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_table_that_ends_its_owners_is_claimed_four_times_a_minute_at_most() {
    let scale = Scale::read();
    let mut fleet = DeadlyFleet::start().await;
    let run = fleet.site.play(scale).await;
    let url = fleet.site.urls().remove(0);
    let (mut players, code) = gather(&url, 2, 2).await;
    start(&mut players).await;

    let begun = Instant::now();
    let (enough, is_enough) = watch::channel(false);
    let insisting = tokio::spawn(insist(players.remove(0), url.clone(), is_enough));
    let claims = claims_within(&mut fleet, &run, code, begun + MINUTE).await;
    let claims: Vec<Duration> = claims.iter().map(|at| *at - begun).collect();
    println!(
        "claimed after {claims:.1?}; the message has ended {} nodes",
        fleet.deaths_seen
    );
    assert!((2..=MOST_CLAIMS).contains(&claims.len()), "{claims:?}");

    enough.send_replace(true);
    let (insistent, refusals) = insisting.await.unwrap();
    println!("its player was told `unavailable` {refusals} times");
    assert!(refusals > 0, "nobody is left without an answer");
    players.insert(0, insistent);
    let since = Instant::now();
    for player in &mut players {
        come_back(player, &url).await;
    }
    println!("without it the table is back after {:.1?}", since.elapsed());
    play_to_the_end(&mut players).await;
    let ended = end(run).await;
    ended
        .pauses(begun, MINUTE)
        .judge("other tables", scale.at_most(OTHERS));
    assert_eq!(ended.report.reconnects, 0, "{}", ended.report);
}

/// When it was claimed until then; whoever has read the message ends and is replaced meanwhile.
async fn claims_within(
    fleet: &mut DeadlyFleet,
    run: &Run,
    code: LobbyCode,
    end: Instant,
) -> Vec<Instant> {
    let (mut epoch, mut claims) = (fleet.epoch(code).await, Vec::new());
    while Instant::now() < end {
        assert_eq!(run.fault(), None);
        fleet.replace_the_dead().await;
        let now = fleet.epoch(code).await;
        if now != epoch {
            claims.push(Instant::now());
            epoch = now;
        }
        sleep(Duration::from_millis(5)).await;
    }
    claims
}

/// Sends the deadly message again and again, each time once the last was answered; how often it was refused.
async fn insist(
    mut player: Player,
    url: String,
    is_enough: watch::Receiver<bool>,
) -> (Player, usize) {
    let mut refusals = 0;
    while !*is_enough.borrow() {
        let reaction = Reaction::Angry;
        let message = PlayerMessage::React(React { reaction });
        // What would be shown if it were done never is.
        let answer = player.ask(message, |_| false).await;
        match answer {
            Err(PlayerError::Refused(refused)) => {
                assert_eq!(refused.code, ErrorCode::Unavailable);
                refusals += 1;
            }
            // Its table has had no owner for too long.
            Err(PlayerError::Closed {
                code: Some(1012), ..
            }) => come_back(&mut player, &url).await,
            other => panic!("{other:?}"),
        }
    }
    (player, refusals)
}

/// To the table, as often as it has no owner when it is looked for.
async fn come_back(player: &mut Player, url: &str) {
    let ceiling = Instant::now() + CEILING;
    while player.reconnect(url).await.is_err() || player.code().is_none() {
        assert!(Instant::now() < ceiling, "the table is not back");
        sleep(RETURN_PAUSE).await;
    }
}

/// A site each of whose game nodes ends when it is to read the deadly message, and is replaced, as a supervisor does.
struct DeadlyFleet {
    site: Site,
    /// To each of the site's nodes.
    ways: Vec<DeadlyWay>,
    died: mpsc::UnboundedSender<SocketAddr>,
    /// Where the nodes were reached that the message has ended.
    deaths: mpsc::UnboundedReceiver<SocketAddr>,
    deaths_seen: usize,
}

impl DeadlyFleet {
    async fn start() -> Self {
        let (died, deaths) = mpsc::unbounded_channel();
        // The gateways become ready by a node that is reached without a way, and then leaves.
        let mut site = Site::start(2, 1).await;
        let mut first = site.nodes.remove(0);
        let mut fleet = Self {
            site,
            ways: Vec::new(),
            died,
            deaths,
            deaths_seen: 0,
        };
        for _ in 0..NODES {
            let (node, way) = fleet.spawn().await;
            fleet.site.nodes.push(node.ready().await);
            fleet.ways.push(way);
        }
        first.signal("TERM");
        first.ended().await;
        fleet
    }

    async fn spawn(&mut self) -> (Wizard, DeadlyWay) {
        let links = free_address();
        let died = self.died.clone();
        let way = DeadlyWay::start(links, DEADLY, move || {
            // The test is over when nobody hears it.
            let _ = died.send(links);
        })
        .await;
        let (listen, advertise) = (links.to_string(), way.address().to_string());
        let variables = [("LISTEN_ADDR", &*listen), ("ADVERTISE_ADDR", &*advertise)];
        (self.site.spawn_node(&variables), way)
    }

    /// Ends whichever nodes have the deadly message before them; others start in their place.
    async fn replace_the_dead(&mut self) {
        while let Ok(links) = self.deaths.try_recv() {
            let index = self.ways.iter().position(|way| way.leads_to(links));
            // Another gateway may bring it the same message.
            let Some(index) = index else { continue };
            self.site.nodes[index].signal("KILL");
            self.site.nodes[index].ended().await;
            let (node, way) = self.spawn().await;
            self.site.nodes[index] = node;
            self.ways[index] = way;
            self.deaths_seen += 1;
        }
    }

    /// Rises with each claim.
    async fn epoch(&self, code: LobbyCode) -> String {
        let key = format!("network:lobbies:{code}");
        let epoch = self.site.redis.field(&key, "epoch").await;
        epoch.expect("the table's record is there")
    }
}
