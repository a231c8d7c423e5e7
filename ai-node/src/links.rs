//! One connection to each game node in the registry, for as long as it is there.

mod dialler;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use registry::{Event, Membership, NodeId, Presence, Role};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

pub(crate) use dialler::Dialler;

/// Follows the registry and keeps one task a game node.
pub(crate) struct Links {
    follower: tokio::task::JoinHandle<JoinSet<()>>,
    stop: CancellationToken,
}

impl Links {
    pub(crate) fn start(membership: Membership, dialler: Dialler) -> Self {
        let stop = CancellationToken::new();
        let follower = tokio::spawn(follow(membership, Arc::new(dialler), stop.clone()));
        Self { follower, stop }
    }

    /// Takes no more requests, answers those under way, and closes; at most for so long.
    pub(crate) async fn finish(&mut self, within: Duration) {
        self.stop.cancel();
        let closed = async {
            if let Ok(mut links) = (&mut self.follower).await {
                while links.join_next().await.is_some() {}
            }
        };
        if tokio::time::timeout(within, closed).await.is_err() {
            tracing::debug!("links were cut with answers under way: game nodes ask somebody else");
        }
    }
}

/// Gives the links' tasks back once it is told to stop.
async fn follow(
    membership: Membership,
    dialler: Arc<Dialler>,
    stop: CancellationToken,
) -> JoinSet<()> {
    let game = Role::new(protocol::role::GAME).expect("the role's name is a word");
    let mut events = membership.events();
    let mut tasks = JoinSet::new();
    let mut links: HashMap<NodeId, (Arc<Presence>, CancellationToken)> = HashMap::new();
    loop {
        let event = tokio::select! {
            event = events.next() => event,
            () = stop.cancelled() => break,
        };
        match event {
            None => break,
            Some(Event::Joined(node) | Event::Changed(node)) if node.role == game => {
                let linked = links.get(&node.id);
                if linked.is_some_and(|(known, _)| same_listener(known, &node)) {
                    continue;
                }
                let until = stop.child_token();
                if let Some((_, former)) =
                    links.insert(node.id.clone(), (Arc::clone(&node), until.clone()))
                {
                    former.cancel();
                }
                let dialler = Arc::clone(&dialler);
                tasks.spawn(async move { dialler.keep(&node.id, &node.address, until).await });
            }
            Some(Event::Left { presence, .. }) => {
                if let Some((_, until)) = links.remove(&presence.id) {
                    until.cancel();
                }
            }
            Some(Event::Joined(_) | Event::Changed(_)) => {}
        }
        // Tasks of nodes that have left end by themselves.
        while tasks.try_join_next().is_some() {}
    }
    tasks
}

fn same_listener(known: &Presence, node: &Presence) -> bool {
    known.incarnation == node.incarnation && known.address == node.address
}
