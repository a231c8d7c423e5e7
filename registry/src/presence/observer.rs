//! Whoever watches the others without being one of them: `wizard nodes watch`.

use std::sync::Arc;

use tokio::sync::{mpsc, watch};
use uuid::Uuid;

use super::keeper::{Order, Part};
use super::membership::{self, Shared};
use super::{Events, Presence, PresenceChecks, PresenceConfig, Servers};
use crate::backend::Backend;
use crate::{Incarnation, NodeId, RegistryError, Role};

/// A view of all processes that writes and says nothing itself; ends when it is dropped.
pub struct Observer {
    shared: Arc<Shared>,
    /// Its end is the thread's.
    _orders: mpsc::Sender<Order>,
}

impl Observer {
    pub(crate) fn start(
        backend: &dyn Backend,
        config: PresenceConfig,
    ) -> Result<Self, RegistryError> {
        // Never written; the id names the channel of its probes.
        let run = Uuid::new_v4();
        let [a, b, c, d, ..] = *run.as_bytes();
        let role = Role::new("observer")?;
        let id = NodeId::drawn(&role, [a, b, c, d]);
        let nobody = Presence::new(id, role, Incarnation::new(run), "", "");
        let (shared, orders) = membership::start(backend, nobody, Part::Observer, config)?;
        Ok(Self {
            shared,
            _orders: orders,
        })
    }

    /// Everybody known, ordered by id; empty until the registry has answered. Never waits for it.
    pub fn servers(&self) -> Servers {
        Arc::clone(&self.shared.snapshot().servers)
    }

    /// Who comes, changes and goes, from everybody who is there already on.
    pub fn events(&self) -> Events {
        Events::new(Arc::clone(&self.shared))
    }

    /// What the registry has been seen to do: `current` says whether the view is.
    pub fn checks(&self) -> watch::Receiver<PresenceChecks> {
        self.shared.checks.subscribe()
    }
}
