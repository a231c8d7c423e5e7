//! What operators are shown of the way to a node, and of what only its link says.

use protocol::link::Unsaved;
use registry::NodeId;

use super::Links;

/// To one node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Way {
    /// Whether there is a live link.
    pub(crate) is_up: bool,
    /// Whether its process is known to be gone: nobody listens there any more, or another does.
    pub(crate) is_dead: bool,
    /// As it said over the link a moment ago; none without a link, or of a node that says nothing of it.
    pub(crate) unsaved: Option<Unsaved>,
}

impl Links {
    /// How the way to a node is; none if it is not one that is dialled.
    pub(crate) fn way(&self, node: &NodeId) -> Option<Way> {
        let entries = self.lock();
        let entry = entries.get(node)?;
        Some(Way {
            is_up: entry.up.is_some(),
            is_dead: entry.standing.is_dead(),
            unsaved: entry.up.as_ref().and_then(|up| up.unsaved),
        })
    }

    /// A node has answered a ping.
    pub(super) fn ponged(&self, node: &NodeId, unsaved: Option<Unsaved>) {
        if let Some(entry) = self.lock().get_mut(node)
            && let Some(up) = &mut entry.up
        {
            up.unsaved = unsaved;
        }
    }
}
