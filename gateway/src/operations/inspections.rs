//! Operators' questions to the owner of a lobby, and the answers that are still to come.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use protocol::LobbyCode;
use protocol::link::{Inspection, ToNode};
use registry::NodeId;
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::links::Links;

/// How long an owner may take: its lobby thread answers between two moves.
const ANSWER_WITHIN: Duration = Duration::from_secs(2);

/// Questions under way at once. People ask one at a time; what is beyond is a script gone wrong.
const MAX_UNDER_WAY: usize = 64;

/// Why nothing more is known of a lobby than its record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NotInspected {
    #[error("no link to its owner")]
    NoLink,
    #[error("its owner does not have it")]
    NotThere,
    #[error("its owner does not answer")]
    Silent,
    #[error("too many questions at once")]
    TooMany,
}

/// Questions under way, by number.
#[derive(Debug, Default)]
pub(crate) struct Inspections(Mutex<UnderWay>);

#[derive(Debug, Default)]
struct UnderWay {
    last: u64,
    waiting: HashMap<u64, oneshot::Sender<Option<Inspection>>>,
}

impl Inspections {
    /// A node has answered; whoever asked may have given up.
    pub(crate) fn answered(&self, request: u64, lobby: Option<Inspection>) {
        if let Some(waiting) = self.lock().waiting.remove(&request) {
            let _gone = waiting.send(lobby);
        }
    }

    fn begin(&self) -> Option<(u64, oneshot::Receiver<Option<Inspection>>)> {
        let mut under_way = self.lock();
        if under_way.waiting.len() >= MAX_UNDER_WAY {
            return None;
        }
        under_way.last += 1;
        let request = under_way.last;
        let (sender, answer) = oneshot::channel();
        under_way.waiting.insert(request, sender);
        Some((request, answer))
    }

    fn end(&self, request: u64) {
        self.lock().waiting.remove(&request);
    }

    fn lock(&self) -> MutexGuard<'_, UnderWay> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Asks the owner who sits in its lobby.
///
/// # Errors
/// [`NotInspected`] says why nobody answered.
pub(super) async fn inspect(
    links: &Links,
    owner: &NodeId,
    code: LobbyCode,
) -> Result<Inspection, NotInspected> {
    let inspections = &links.inspections;
    let (request, answer) = inspections.begin().ok_or(NotInspected::TooMany)?;
    if links
        .send(owner, ToNode::Inspect { request, code })
        .is_err()
    {
        inspections.end(request);
        return Err(NotInspected::NoLink);
    }
    let answer = timeout(ANSWER_WITHIN, answer).await;
    inspections.end(request);
    match answer {
        Ok(Ok(Some(inspection))) => Ok(inspection),
        Ok(Ok(None)) => Err(NotInspected::NotThere),
        Ok(Err(_)) | Err(_) => Err(NotInspected::Silent),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_bounded_and_an_answer_makes_room() {
        let inspections = Inspections::default();
        let mut answers: Vec<_> = (0..MAX_UNDER_WAY)
            .map(|_| inspections.begin().unwrap())
            .collect();
        assert!(inspections.begin().is_none());
        let (request, mut answer) = answers.pop().unwrap();
        inspections.answered(request, None);
        assert_eq!(answer.try_recv(), Ok(None));
        assert!(inspections.begin().is_some());
    }
}
