//! `wizard lobby CODE`: who owns a lobby; from a gateway also who sits there, by number.

use anyhow::bail;
use clap::Args;
use protocol::LobbyCode;
use serde_json::{Value, json};

use crate::nodes::{self, Source};
use crate::variables::{Misconfigured, OperatorsVariables};

#[derive(Args, Clone, Debug)]
pub(crate) struct LobbyCommand {
    /// Its six letters, in any case
    code: String,

    /// For machines: the object of `GET /lobbies/{code}`
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    pub(crate) variables: OperatorsVariables,
}

/// Prints it to standard output.
///
/// # Errors
/// If there is no such lobby, or nobody can be asked.
pub(crate) fn run(command: &LobbyCommand) -> anyhow::Result<()> {
    let code: LobbyCode = command
        .code
        .parse()
        .map_err(|_| Misconfigured::new("CODE", "a lobby's code is six letters and digits"))?;
    let lobby = match Source::new(&command.variables)? {
        Source::Registry(config) => {
            let asked = nodes::ask(&config, async |registry| {
                registry.owner(code.as_str()).await
            });
            asked?.map(|record| {
                let owner = record.owner.as_ref();
                json!({
                    "code": code,
                    "owner": owner.map(|owner| &owner.node),
                    "incarnation": owner.map(|owner| owner.incarnation),
                    "epoch": record.epoch,
                    "seq": record.seq,
                    "status": if record.deleted { "ended" } else { &record.status },
                })
            })
        }
        Source::Gateway(port) => {
            let answer = port.get(&format!("/lobbies/{code}"))?;
            match answer.status {
                200 => Some(serde_json::from_str(&answer.body)?),
                404 => None,
                status => bail!("{port} answers {status}: {}", answer.body),
            }
        }
    };
    let Some(lobby) = lobby else {
        bail!("there is no lobby {code}");
    };
    let text = if command.json {
        serde_json::to_string_pretty(&lobby)? + "\n"
    } else {
        for_people(&lobby)
    };
    nodes::print(&text)
}

fn for_people(lobby: &Value) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: &str| {
        text += format!("{name:<11}  {value}\n").as_str();
    };
    for name in ["code", "status", "owner", "incarnation", "epoch", "seq"] {
        let value = &lobby[name];
        let plain = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        line(name, if value.is_null() { "nobody" } else { &plain });
    }
    for seat in lobby["seats"].as_array().into_iter().flatten() {
        let who = match (seat["is_ai"] == true, seat["connected"] == true) {
            (true, _) => "AI",
            (false, true) => "person",
            (false, false) => "person, offline",
        };
        line(&format!("seat {}", seat["seat"]), who);
    }
    if let Some(spectators) = lobby["spectators"].as_u64() {
        line("spectators", &spectators.to_string());
    }
    if let Some(why) = lobby["why"].as_str() {
        line("seats", &format!("unknown: {why}"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seats_are_told_by_number() {
        let lobby = json!({
            "code": "ABCD23", "status": "playing", "owner": "game-1", "incarnation": "x",
            "epoch": 5, "seq": 7, "spectators": 2, "why": null,
            "seats": [
                { "seat": 0, "is_ai": false, "connected": true },
                { "seat": 1, "is_ai": false, "connected": false },
                { "seat": 2, "is_ai": true, "connected": true },
            ],
        });
        let text = for_people(&lobby);
        assert!(text.contains("owner        game-1\n"), "{text}");
        assert!(
            text.contains("seat 1       person, offline\nseat 2       AI\n"),
            "{text}"
        );
        let released = for_people(&json!({ "owner": null, "why": "no link to its owner" }));
        assert!(released.contains("owner        nobody\n"), "{released}");
        assert!(
            released.contains("unknown: no link to its owner"),
            "{released}"
        );
    }
}
