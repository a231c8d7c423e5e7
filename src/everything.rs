//! `wizard` alone: a gateway, two game nodes and an AI node in one process, ready to play.
//!
//! They are the same roles as in processes of their own, and talk over loopback. Two game nodes,
//! because each runs its lobbies on one thread, and because one may then hand over to the other.

use std::io::{IsTerminal, Write, stdout};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::time::Duration;

use chassis::Process;
use game_node::CpuOf;

use crate::address::{advertised, bind};
use crate::chance;
use crate::command_line::EverythingVariables;
use crate::configuration;
use crate::role_threads::RoleThreads;
use crate::start::{self, RegistrySource};

const GAME_NODES: [&str; 2] = ["game-1", "game-2"];

/// Runs everything until it is told to stop. Says on standard output where to play, once a lobby
/// has really answered there.
///
/// # Errors
/// Whatever stops the start, or the first fault of a role.
pub(crate) fn run(mut variables: EverythingVariables) -> anyhow::Result<()> {
    let presence = &mut variables.presence;
    for secret in [
        &mut presence.gateway_shared_secret,
        &mut presence.ai_shared_secret,
    ] {
        if secret.is_empty() {
            *secret = chance::secret()?;
        }
    }
    let registry = RegistrySource::new(&variables.presence)?;
    let players = variables.listen.listen_addr.unwrap_or(loopback(8080));
    let players = bind("LISTEN_ADDR", players)?;
    let parts = Parts {
        registry,
        variables,
    };
    start::process(
        "wizard",
        &parts.variables.process,
        9090,
        async |process, mut roles| {
            let address = players.local_addr()?;
            parts.start_gateway(players, address, &process, &mut roles)?;
            for name in GAME_NODES {
                parts.start_game_node(name, &process, &mut roles)?;
            }
            parts.start_ai_node(&process, &mut roles)?;
            tokio::spawn(say_when_ready(process, address));
            Ok(roles)
        },
    )
}

struct Parts {
    registry: RegistrySource,
    variables: EverythingVariables,
}

impl Parts {
    fn start_gateway(
        &self,
        listener: TcpListener,
        bound: SocketAddr,
        process: &Process,
        roles: &mut RoleThreads,
    ) -> anyhow::Result<()> {
        let EverythingVariables {
            process: own,
            listen,
            presence,
            gateway,
            ..
        } = &self.variables;
        let id = start::node_id(presence, "gateway", "-gateway")?;
        let address = advertised(listen.advertise_addr.as_deref(), bound);
        let config = configuration::gateway(own, presence, gateway, id, address);
        let (registry, process) = (self.registry.clone(), process.part("gateway"));
        roles.spawn("gateway", async move || {
            Ok(::gateway::run(config, listener, registry.open()?, process).await?)
        })?;
        Ok(())
    }

    fn start_game_node(
        &self,
        name: &str,
        process: &Process,
        roles: &mut RoleThreads,
    ) -> anyhow::Result<()> {
        let EverythingVariables {
            process: own,
            presence,
            game,
            ..
        } = &self.variables;
        let id = start::node_id(presence, "game", &format!("-{name}"))?;
        let listener = bind("the link of a game node", loopback(0))?;
        let address = listener.local_addr()?.to_string();
        let config = configuration::game_node(own, presence, game, id, address, CpuOf::LobbyThread);
        let (registry, process) = (self.registry.clone(), process.part(name));
        roles.spawn(name, async move || {
            Ok(::game_node::run(config, listener, registry.open()?, process).await?)
        })?;
        Ok(())
    }

    fn start_ai_node(&self, process: &Process, roles: &mut RoleThreads) -> anyhow::Result<()> {
        let EverythingVariables {
            process: own,
            presence,
            ai,
            ..
        } = &self.variables;
        let id = start::node_id(presence, "ai", "-ai")?;
        let config = configuration::ai_node(own, presence, ai, id);
        let (registry, process) = (self.registry.clone(), process.part("ai"));
        roles.spawn("ai", async move || {
            Ok(::ai_node::run(config, registry.open()?, process).await?)
        })?;
        Ok(())
    }
}

fn loopback(port: u16) -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, port))
}

/// Roles log that they are ready once they have told the registry. On a terminal, which has both,
/// where to play comes after that.
const LOGGED_WITHIN: Duration = Duration::from_millis(250);

async fn say_when_ready(process: Process, address: SocketAddr) {
    process.readiness.process_ready().await;
    let for_a_person = stdout().is_terminal();
    if for_a_person {
        tokio::time::sleep(LOGGED_WITHIN).await;
    }
    // Whoever started it may have closed its end; the games don't depend on it.
    let _ = stdout().write_all(where_to_play(address, for_a_person).as_bytes());
}

/// One line for a program. A person is to find it below the log of the start.
fn where_to_play(address: SocketAddr, for_a_person: bool) -> String {
    let line = format!("Wizard is ready: http://{address}");
    if for_a_person {
        format!("\n  \x1b[1m{line}\x1b[0m\n  Open this address in a browser. Ctrl+C ends it.\n\n")
    } else {
        format!("{line}\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_reads_one_line_and_a_person_finds_it() {
        let address = loopback(8080);
        assert_eq!(
            where_to_play(address, false),
            "Wizard is ready: http://127.0.0.1:8080\n"
        );
        let shown = where_to_play(address, true);
        assert!(
            shown.starts_with("\n  ") && shown.ends_with("\n\n"),
            "{shown:?}"
        );
        assert!(
            shown.contains("http://127.0.0.1:8080\x1b[0m\n"),
            "{shown:?}"
        );
    }
}
