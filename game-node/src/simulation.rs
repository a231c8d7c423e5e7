//! A game node whose links come from a simulation: the same driver, store and links' tasks.
//!
//! Not here: the listener, the self-check by the advertised address, the load monitor.

use axum::extract::ws::Message;
use chassis::{Process, task};
use futures_util::{Sink, Stream, StreamExt};
use protocol::version::Peer;
use registry::{Membership, PresenceChecks, Registry, RegistryError};
use tokio::sync::watch;
use tokio::time::timeout;

use crate::Config;
use crate::link::carry;
use crate::lobby::LinkId;
use crate::run::{LINKS_END_WITHIN, Node, closed};

/// Runs a node until its process is told to stop; each of `links` is one that a gateway has dialled.
///
/// # Errors
/// If the presence settings are wrong.
pub async fn run<S>(
    config: Config,
    registry: Registry,
    process: Process,
    mut links: impl Stream<Item = S> + Unpin,
) -> Result<(), RegistryError>
where
    S: Stream<Item = Result<Message, axum::Error>>
        + Sink<Message, Error = axum::Error>
        + Unpin
        + Send
        + 'static,
{
    let node = Node::assemble(&config, registry, &process)?;
    let (membership, inbox, ready) = (node.membership, node.inbox, node.ready);
    let accepting = async {
        let mut number = 0;
        while let Some(socket) = links.next().await {
            number += 1;
            let link = carry::gateway(LinkId(number), Peer::EQUAL, socket, inbox.clone());
            tokio::spawn(task::of_this_process(link));
        }
        std::future::pending::<()>().await;
    };
    let _load = node.load;
    let inputs = tokio::select! {
        inputs = node.driver.run(node.inputs) => inputs,
        () = accepting => unreachable!("it waits for ever"),
        () = become_ready(&membership, ready) => unreachable!("it waits for ever"),
    };
    drop(inbox);
    membership.leave().await;
    let _in_time = timeout(LINKS_END_WITHIN, closed(inputs)).await;
    Ok(())
}

async fn become_ready(membership: &Membership, ready: watch::Sender<bool>) {
    let works = |checks: &PresenceChecks| checks.heartbeat_written && checks.probe_heard;
    let mut checks = membership.checks();
    // An error means that the membership has ended.
    drop(checks.wait_for(works).await);
    ready.send_replace(true);
    membership.ready().await;
    std::future::pending::<()>().await;
}
