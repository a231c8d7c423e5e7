//! Operators' questions to the owner of a lobby.

use std::time::Duration;

use protocol::LobbyCode;
use protocol::link::{Inspection, ToNode};
use registry::NodeId;
use tokio::time::timeout;

use crate::links::Links;
use crate::requests::Requests;

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

/// No answer is awaited yet.
pub(crate) fn inspections() -> Requests<Option<Inspection>> {
    Requests::at_most(MAX_UNDER_WAY)
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
    let mut awaited = links.inspections.begin().ok_or(NotInspected::TooMany)?;
    let request = awaited.request;
    links
        .send(owner, ToNode::Inspect { request, code })
        .map_err(|_not_sent| NotInspected::NoLink)?;
    match timeout(ANSWER_WITHIN, awaited.answer()).await {
        Ok(Some(Some(inspection))) => Ok(inspection),
        Ok(Some(None)) => Err(NotInspected::NotThere),
        Ok(None) | Err(_) => Err(NotInspected::Silent),
    }
}
