//! `wizard nodes watch`: a live table on a terminal, one line an event otherwise.

mod follow;

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;
use std::io::IsTerminal;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

use registry::{Moved, Presence};

use super::table::{Moment, Table, word};
use super::{Node, Source, print};

/// The table's ages tick.
const REDRAW_EVERY: Duration = Duration::from_secs(1);

/// Joins and leaves beneath the table.
const SHOWN_EVENTS: usize = 10;

/// What was handed over is told of a node that left this soon afterwards; the operators' page shows it as long.
const LATELY_MS: u64 = 600_000;

/// News that wait for a slow terminal; beyond these nothing more is read.
const NEWS_KEPT: usize = 1024;

/// What whoever follows the nodes hears.
#[derive(Clone, Debug)]
enum News {
    /// The whole picture, anew.
    All(Vec<Node>),
    Joined(Node),
    Changed(Node),
    Left(Node, String),
    /// The registry's time, and who was heard of when.
    Beats(u64, BTreeMap<String, u64>),
    /// What is shown is old: why.
    Lost(String),
}

/// Runs until it is interrupted, or nobody reads what it prints.
///
/// # Errors
/// If the registry's settings are wrong, or the output can't be written.
pub(super) fn run(source: Source, presence_ttl: Duration) -> anyhow::Result<()> {
    let (sender, news) = sync_channel(NEWS_KEPT);
    follow::start(source, presence_ttl, sender)?;
    let live = std::io::stdout().is_terminal();
    let mut picture = Picture::default();
    loop {
        let text = match news.recv_timeout(REDRAW_EVERY) {
            Ok(news) => picture.take(news),
            Err(RecvTimeoutError::Timeout) => {
                picture.now_ms += u64::try_from(REDRAW_EVERY.as_millis()).unwrap_or(0);
                String::new()
            }
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        };
        if live {
            print(&picture.screen(terminal_size::terminal_size()))?;
        } else {
            print(&text)?;
        }
    }
}

/// Everything that is shown.
#[derive(Default)]
struct Picture {
    nodes: BTreeMap<String, Node>,
    now_ms: u64,
    /// Newest first.
    events: VecDeque<String>,
    lost: Option<String>,
}

impl Picture {
    /// Takes it in; what happened, a line an event.
    fn take(&mut self, news: News) -> String {
        let mut lines = String::new();
        match news {
            News::All(nodes) => {
                self.nodes.clear();
                for node in nodes {
                    lines += &self.happened("there", &node, "");
                    self.keep(node);
                }
            }
            News::Joined(node) => {
                lines += &self.happened("joined", &node, "");
                self.keep(node);
            }
            News::Changed(node) => {
                lines += &self.line("changed", &node, "");
                self.keep(node);
            }
            News::Left(node, reason) => {
                lines += &self.happened("left", &node, &parting(&node.presence, &reason));
                self.nodes.remove(node.presence.id.as_str());
            }
            News::Beats(now_ms, last_seen) => {
                self.lost = None;
                self.now_ms = self.now_ms.max(now_ms);
                for (id, at) in last_seen {
                    if let Some(node) = self.nodes.get_mut(&id) {
                        node.presence.last_seen = node.presence.last_seen.max(at);
                    }
                }
            }
            News::Lost(why) => {
                if self.lost.as_ref() != Some(&why) {
                    let _ = writeln!(lines, "{}  lost     {why}", time_of_day(self.now_ms));
                }
                self.lost = Some(why);
            }
        }
        lines
    }

    fn keep(&mut self, node: Node) {
        self.now_ms = self.now_ms.max(node.presence.last_seen);
        self.nodes
            .insert(node.presence.id.as_str().to_owned(), node);
    }

    fn happened(&mut self, what: &str, node: &Node, reason: &str) -> String {
        self.now_ms = self.now_ms.max(node.presence.last_seen);
        let line = self.line(what, node, reason);
        if what != "there" {
            self.events.push_front(line.trim_end().to_owned());
            self.events.truncate(SHOWN_EVENTS);
        }
        line
    }

    fn line(&self, what: &str, node: &Node, reason: &str) -> String {
        let one = &node.presence;
        let counts = format!(
            "{} players, {} lobbies, {} games",
            one.players, one.lobbies, one.active_games
        );
        let line = format!(
            "{}  {what:<7}  {}  {}  {}  {}  {counts}  {reason}",
            time_of_day(self.now_ms),
            one.id.as_str(),
            one.role.as_str(),
            word(&one.state),
            word(&one.load),
        );
        format!("{}\n", line.trim_end())
    }

    /// A whole screen, drawn over the one before; what does not fit is cut off.
    fn screen(&self, size: Option<(terminal_size::Width, terminal_size::Height)>) -> String {
        let (width, height) = size.map_or((usize::MAX, usize::MAX), |(width, height)| {
            (usize::from(width.0), usize::from(height.0))
        });
        let state = match &self.lost {
            Some(why) => format!("what was known before: {why}"),
            None => format!("{} nodes", self.nodes.len()),
        };
        let mut lines = vec![
            format!("{}  {state}", time_of_day(self.now_ms)),
            String::new(),
        ];
        lines.extend(Table::new(self.nodes.values(), Moment(self.now_ms)).lines());
        lines.push(String::new());
        lines.extend(self.events.iter().cloned());
        let mut screen = HOME.to_owned();
        for (row, line) in lines.iter().take(height.saturating_sub(1)).enumerate() {
            let shown: String = line.chars().take(width).collect();
            let end = if row == 0 { "" } else { "\r\n" };
            let _ = write!(screen, "{end}{shown}{CLEAR_LINE}");
        }
        screen + CLEAR_BELOW
    }
}

/// Why it left, and what it gave away before: a node that drains has a goodbye for both.
fn parting(left: &Presence, reason: &str) -> String {
    let lately = |moved: &&Moved| left.last_seen < moved.at.saturating_add(LATELY_MS);
    let Some(moved) = left.last_handed_over.as_ref().filter(lately) else {
        return reason.to_owned();
    };
    let lobbies = if moved.lobbies == 1 {
        "1 lobby".to_owned()
    } else {
        format!("{} lobbies, each", moved.lobbies)
    };
    let (longest, why) = (moved.longest_ms, &moved.why);
    format!("{reason}, handed over {lobbies} within {longest} ms: {why}")
}

const HOME: &str = "\u{1b}[H";
const CLEAR_LINE: &str = "\u{1b}[K";
const CLEAR_BELOW: &str = "\u{1b}[J";

/// `HH:MM:SSZ`: operators compare it with logs, whose times are UTC too.
fn time_of_day(epoch_ms: u64) -> String {
    let seconds = epoch_ms / 1000 % 86_400;
    format!(
        "{:02}:{:02}:{:02}Z",
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use terminal_size::{Height, Width};

    use super::*;

    fn node(id: &str) -> Node {
        serde_json::from_value(json!({
            "id": id, "role": "game", "incarnation": "00000000-0000-0000-0000-000000000001",
            "address": "10.0.0.1:7000", "state": "ready", "verified": true, "why": null,
            "load": "normal", "accepting_games": true, "players": 3, "lobbies": 2,
            "active_games": 1, "version": "1", "suspended": 0, "uncommitted": 0,
            "handed_over": 0, "taken_over": 0, "started_at": 1000, "last_seen": 3_723_000,
            "link": "up",
        }))
        .unwrap()
    }

    #[test]
    fn an_event_is_a_line() {
        let mut picture = Picture::default();
        assert_eq!(
            picture.take(News::Joined(node("game-1"))),
            "01:02:03Z  joined   game-1  game  ready  normal  3 players, 2 lobbies, 1 games\n"
        );
        let left = picture.take(News::Left(node("game-1"), "expired".to_owned()));
        assert!(
            left.contains("left") && left.ends_with("expired\n"),
            "{left}"
        );
        assert!(picture.nodes.is_empty());
        let mut drained = node("game-2");
        drained.presence.last_handed_over = Some(Moved {
            at: 3_722_000,
            why: "drain".to_owned(),
            lobbies: 34,
            longest_ms: 200,
        });
        let left = picture.take(News::Left(drained, "goodbye".to_owned()));
        assert!(
            left.ends_with("  goodbye, handed over 34 lobbies, each within 200 ms: drain\n"),
            "{left}"
        );
        let lost = || News::Lost("refused".to_owned());
        assert!(picture.take(lost()).contains("lost     refused"));
        assert_eq!(picture.take(lost()), "", "told once");
    }

    #[test]
    fn a_screen_is_cut_to_the_terminal() {
        let mut picture = Picture::default();
        let nodes = (1..=30).map(|number| node(&format!("game-{number:02}")));
        picture.take(News::All(nodes.collect()));
        let screen = picture.screen(Some((Width(20), Height(10))));
        let rows: Vec<&str> = screen.split("\r\n").collect();
        assert_eq!(rows.len(), 9);
        assert!(rows[0].contains("30 nodes"));
        assert_eq!(rows[3].trim_end_matches(CLEAR_LINE).chars().count(), 20);
    }
}
