//! What nodes are asked over their links, and waited for.

use std::sync::Arc;
use std::time::{Duration, Instant};

use chassis::clock;
use protocol::link::{Claim, Claimed, Known, Question, ToNode};
use registry::{NodeId, State};
use tokio::task::JoinSet;
use tokio::time::{timeout, timeout_at};

use super::{Entry, Links};

/// How long a node may take for a probe lobby.
const PROBE_WITHIN: Duration = Duration::from_secs(2);
/// How long a node may take to say what it knows. Its lobby thread answers between two moves.
const KNOWS_WITHIN: Duration = Duration::from_secs(1);

/// What all nodes have said to one question.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    /// Who knows something, and what.
    pub(crate) known: Vec<(NodeId, Known)>,
    /// Who has not answered, and is not known to be dead.
    pub(crate) silent: Vec<NodeId>,
}

impl Answers {
    /// Whether every node has answered or is dead.
    pub(crate) fn complete(&self) -> bool {
        self.silent.is_empty()
    }
}

impl Links {
    /// Lets some node with a live link open, step and delete a lobby.
    ///
    /// # Errors
    /// What went wrong, for a person.
    pub(crate) async fn probe(&self) -> Result<NodeId, String> {
        let mut failures = Vec::new();
        for node in self.serving() {
            match self.probe_node(&node).await {
                Ok(()) => return Ok(node),
                Err(why) => failures.push(format!("{node}: {why}")),
            }
        }
        Err(if failures.is_empty() {
            "no live link to a game node that is ready".to_owned()
        } else {
            failures.join("; ")
        })
    }

    /// Nodes with a live link that have found out that they can serve: one that has not opens
    /// probe lobbies, and players none.
    fn serving(&self) -> Vec<NodeId> {
        let serves = |entry: &Entry| entry.up.is_some() && entry.presence.state != State::Starting;
        let entries = self.lock();
        let serving = entries.iter().filter(|(_, entry)| serves(entry));
        serving.map(|(node, _)| node.clone()).collect()
    }

    async fn probe_node(&self, node: &NodeId) -> Result<(), String> {
        let silent = || "no answer to a probe lobby".to_owned();
        let mut awaited = self.probes.begin().ok_or_else(silent)?;
        let request = awaited.request;
        self.send(node, ToNode::Probe { request })
            .map_err(|_not_sent| "the link is gone".to_owned())?;
        match timeout(PROBE_WITHIN, awaited.answer()).await {
            Ok(Some(None)) => Ok(()),
            Ok(Some(Some(failure))) => Err(failure),
            Ok(None) | Err(_) => Err(silent()),
        }
    }

    /// Asks a node to own a lobby, or whether it does; none if it does not answer in time.
    pub(crate) async fn claim(
        &self,
        node: &NodeId,
        claim: Claim,
        within: Duration,
    ) -> Option<Claimed> {
        let mut awaited = self.claims.begin()?;
        let request = awaited.request;
        self.send(node, ToNode::Claim { request, claim }).ok()?;
        timeout(within, awaited.answer()).await.ok().flatten()
    }

    /// Asks all nodes what the registry does not know. Nobody waits for the answers after `until`.
    pub(crate) async fn ask_all(
        self: &Arc<Self>,
        question: &Question,
        until: Option<Instant>,
    ) -> Answers {
        let last = clock::now() + KNOWS_WITHIN;
        let until = until.map_or(last, |until| until.min(last));
        let (mut asked, mut answers) = (JoinSet::new(), Answers::default());
        for (node, entry) in self.lock().iter() {
            if entry.up.is_none() {
                let silent = !entry.standing.is_dead();
                answers.silent.extend(silent.then(|| node.clone()));
                continue;
            }
            let (links, node, question) = (Arc::clone(self), node.clone(), question.clone());
            asked.spawn(async move {
                let known = links.ask_node(&node, question, until).await;
                (node, known)
            });
        }
        for (node, known) in asked.join_all().await {
            match known {
                Some(Some(known)) => answers.known.push((node, known)),
                Some(None) => {}
                None => answers.silent.push(node),
            }
        }
        answers
    }

    async fn ask_node(
        &self,
        node: &NodeId,
        question: Question,
        until: Instant,
    ) -> Option<Option<Known>> {
        let mut awaited = self.questions.begin()?;
        let request = awaited.request;
        self.send(node, ToNode::Question { request, question })
            .ok()?;
        let answer = timeout_at(until.into(), awaited.answer());
        answer.await.ok().flatten()
    }
}
