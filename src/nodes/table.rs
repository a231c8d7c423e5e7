//! The nodes as a table for people: aligned columns, one line a node.

use std::fmt;

use registry::Presence;

use super::Node;

/// Epoch ms of the registry's clock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment(pub(super) u64);

const TITLES: [&str; 12] = [
    "ID", "ROLE", "STATE", "LOAD", "PLAYERS", "LOBBIES", "GAMES", "VERSION", "UP", "SEEN", "LINK",
    "ADDRESS",
];

/// Numbers and times end at the right edge of their column.
const RIGHT_ALIGNED: std::ops::RangeInclusive<usize> = 4..=6;

/// Cells, with the titles as the first row.
pub(super) struct Table(Vec<(Vec<String>, String)>);

impl Table {
    /// By role and id.
    pub(super) fn new<'node>(nodes: impl IntoIterator<Item = &'node Node>, now: Moment) -> Self {
        let mut nodes: Vec<&Node> = nodes.into_iter().collect();
        nodes.sort_by(|left, right| key(&left.presence).cmp(&key(&right.presence)));
        let titles = TITLES.map(str::to_owned).to_vec();
        let rows = nodes.iter().map(|node| row(node, now));
        Self(
            std::iter::once((titles, String::new()))
                .chain(rows)
                .collect(),
        )
    }

    /// Each row without a line's end.
    pub(super) fn lines(&self) -> impl Iterator<Item = String> {
        let widths: Vec<usize> = (0..TITLES.len())
            .map(|column| {
                let cells = self
                    .0
                    .iter()
                    .map(|(cells, _)| cells[column].chars().count());
                cells.max().unwrap_or(0)
            })
            .collect();
        self.0.iter().map(move |(cells, note)| {
            let cells = cells.iter().zip(&widths).enumerate();
            let cells = cells.map(|(column, (cell, &width))| {
                if RIGHT_ALIGNED.contains(&column) {
                    format!("{cell:>width$}")
                } else {
                    format!("{cell:<width$}")
                }
            });
            let line = cells.collect::<Vec<_>>().join("  ");
            format!("{line}  {note}").trim_end().to_owned()
        })
    }
}

impl fmt::Display for Table {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.lines()
            .try_for_each(|line| writeln!(formatter, "{line}"))
    }
}

/// Gateways first, as players come.
fn key(presence: &Presence) -> (usize, &str, &str) {
    let role = presence.role.as_str();
    let known = [
        protocol::role::GATEWAY,
        protocol::role::GAME,
        protocol::role::AI,
    ];
    let place = known.iter().position(|one| *one == role);
    (place.unwrap_or(known.len()), role, presence.id.as_str())
}

fn row(node: &Node, now: Moment) -> (Vec<String>, String) {
    let one = &node.presence;
    let dash = |text: &str| if text.is_empty() { "-" } else { text }.to_owned();
    let cells = [
        one.id.as_str().to_owned(),
        one.role.as_str().to_owned(),
        word(&one.state),
        word(&one.load),
        one.players.to_string(),
        one.lobbies.to_string(),
        one.active_games.to_string(),
        dash(&one.version),
        age(now, one.started_at),
        age(now, one.last_seen),
        dash(node.link.as_deref().unwrap_or_default()),
        dash(&one.address),
    ];
    (cells.to_vec(), note(node))
}

/// What an operator should know beside the columns.
fn note(node: &Node) -> String {
    let one = &node.presence;
    let mut notes = Vec::new();
    if node.dead {
        notes.push("its process is gone".to_owned());
    }
    if node.cut_off {
        notes.push("it alone can't save, and others go on with its lobbies".to_owned());
    }
    if !one.verified {
        notes.push("unverified".to_owned());
    }
    notes.extend(one.why.clone());
    // Of one that is cut off they are others' by now.
    let suspended = if node.cut_off { 0 } else { one.suspended };
    for (count, what) in [(suspended, "suspended"), (one.uncommitted, "uncommitted")] {
        if count > 0 {
            let lobbies = if count == 1 { "lobby" } else { "lobbies" };
            notes.push(format!("{count} {lobbies} {what}"));
        }
    }
    notes.join(": ")
}

/// As it is written in JSON.
pub(super) fn word(value: &impl serde::Serialize) -> String {
    let text = serde_json::to_value(value).ok();
    let text = text.as_ref().and_then(|text| text.as_str());
    text.unwrap_or_default().to_owned()
}

/// `3s`, `5m`, `2h`, `4d`; never happened: `-`.
fn age(now: Moment, at: u64) -> String {
    let seconds = now.0.saturating_sub(at) / 1000;
    match seconds {
        _ if at == 0 => "-".to_owned(),
        0..=119 => format!("{seconds}s"),
        120..=7_199 => format!("{}m", seconds / 60),
        7_200..=172_799 => format!("{}h", seconds / 3600),
        _ => format!("{}d", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use registry::{Incarnation, NodeId, Role};
    use serde_json::json;

    use super::*;

    fn node(id: &str, role: &str) -> Node {
        let id = NodeId::new(id).unwrap();
        let role = Role::new(role).unwrap();
        let run =
            serde_json::from_value::<Incarnation>(json!("00000000-0000-0000-0000-000000000001"));
        let mut presence = Presence::new(id, role, run.unwrap(), "10.0.0.1:7000", "1.2.3");
        presence.started_at = 1_000_000;
        presence.last_seen = 1_300_000;
        Node::of_registry(presence)
    }

    #[test]
    fn columns_are_aligned_and_the_reason_stands_behind() {
        let mut game = node("game-with-a-long-name", "game");
        game.presence.players = 1234;
        game.presence.verified = false;
        game.presence.why = Some("10.0.0.1:7000: connection refused".to_owned());
        game.link = Some("down".to_owned());
        let nodes = [game, node("gate", "gateway")];
        let table = Table::new(&nodes, Moment(1_302_000)).to_string();
        assert_eq!(
            table,
            "\
ID                     ROLE     STATE     LOAD    PLAYERS  LOBBIES  GAMES  VERSION  UP  SEEN  LINK  ADDRESS
gate                   gateway  starting  normal        0        0      0  1.2.3    5m  2s    -     10.0.0.1:7000
game-with-a-long-name  game     starting  normal     1234        0      0  1.2.3    5m  2s    down  10.0.0.1:7000  unverified: 10.0.0.1:7000: connection refused
"
        );
    }

    #[test]
    fn what_only_a_gateway_knows_stands_first() {
        let check = |change: fn(&mut Node), expected: &str| {
            let mut one = node("a", "game");
            change(&mut one);
            assert_eq!(note(&one), expected);
        };
        check(|_| {}, "");
        check(
            |one| {
                one.dead = true;
                one.presence.uncommitted = 1;
            },
            "its process is gone: 1 lobby uncommitted",
        );
        check(
            |one| {
                one.cut_off = true;
                one.presence.suspended = 2;
            },
            "it alone can't save, and others go on with its lobbies",
        );
    }

    #[test]
    fn ages_grow_units() {
        let check = |seconds: u64, expected: &str| {
            assert_eq!(age(Moment(seconds * 1000 + 1), 1), expected);
        };
        check(0, "0s");
        check(119, "119s");
        check(120, "2m");
        check(7_200, "2h");
        check(172_800, "2d");
        assert_eq!(age(Moment(5), 0), "-", "no heartbeat yet");
        assert_eq!(age(Moment(5), 9), "0s", "a clock that is behind");
    }
}
