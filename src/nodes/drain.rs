//! `wizard nodes drain ID`: asks a node to leave, and sees that it has heard.

use std::thread::sleep;
use std::time::Duration;

use anyhow::bail;
use chassis::environment::Secret;
use registry::{NodeId, State};

use super::{Node, Source, print};

/// A node says `draining` within a second; one whose subscription is just being renewed is asked
/// again.
const TRIES: u32 = 5;
const LOOKS_A_TRY: u32 = 8;
const BETWEEN_LOOKS: Duration = Duration::from_millis(250);

/// # Errors
/// If there is no such node, nobody can be asked, or the node does not react.
pub(super) fn run(source: &Source, id: &NodeId, token: &Secret) -> anyhow::Result<()> {
    if find(source, id)?.is_none() {
        bail!("no node {} is there", id.as_str());
    }
    for _ in 0..TRIES {
        source.request_drain(id, token)?;
        for _ in 0..LOOKS_A_TRY {
            sleep(BETWEEN_LOOKS);
            let Some(node) = find(source, id)? else {
                return print(&format!("{} has left\n", id.as_str()));
            };
            if node.presence.state == State::Draining {
                let lobbies = node.presence.lobbies;
                let said = format!("{} is draining: lobbies left: {lobbies}\n", id.as_str());
                return print(&said);
            }
        }
    }
    bail!(
        "{} was asked to leave, and shows no sign of it",
        id.as_str()
    );
}

fn find(source: &Source, id: &NodeId) -> anyhow::Result<Option<Node>> {
    let (_, nodes) = source.list()?;
    Ok(nodes.into_iter().find(|node| node.presence.id == *id))
}
