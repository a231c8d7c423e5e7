//! What all connections of this gateway share, and what it asks the registry for them.

mod entering;

use std::sync::Arc;
use std::time::Duration;

use chassis::{Shutdown, clock};
use protocol::LobbyCode;
use registry::{Born, Generation, Membership, Record, Registry, RegistryError, Session, TokenHash};
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_util::task::TaskTracker;
use tracing::debug;

use crate::address::Origin;
use crate::admission::Admission;
use crate::chance;
use crate::config::Config;
use crate::connections::Connections;
use crate::creates::Creates;
use crate::directory::Directory;
use crate::gathering::{Gathering, Listing};
use crate::links::Links;
use crate::metrics::Metrics;
use crate::routes::Routes;
use crate::session::{Drawn, MAX_QUICK_PLAY_TRIES, NoNode, RegistryAway, Renewal, SessionRecord};

/// A registry that takes longer is away, as far as a waiting player is concerned.
const REGISTRY_WITHIN: Duration = Duration::from_millis(1_500);

/// One running gateway.
pub(crate) struct Gateway {
    pub(crate) config: Config,
    pub(crate) registry: Registry,
    pub(crate) membership: Membership,
    pub(crate) connections: Arc<Connections>,
    pub(crate) links: Arc<Links>,
    pub(crate) admission: Arc<Admission>,
    pub(crate) directory: Directory,
    pub(crate) gathering: Gathering,
    pub(crate) routes: Routes,
    /// Players who come while the registry is away or has forgotten them, at a time.
    pub(crate) inquiries: Semaphore,
    pub(crate) creates: Creates,
    pub(crate) metrics: Metrics,
    pub(crate) shutdown: Shutdown,
    /// The players' sockets.
    pub(crate) sockets: TaskTracker,
}

impl Gateway {
    /// Does what is due for a session.
    pub(crate) async fn renew(
        &self,
        renewal: Renewal,
        record: SessionRecord,
    ) -> Result<(), RegistryAway> {
        if renewal == Renewal::Renew {
            let token = registry_hash(&record.person.token);
            let renewed = in_time(self.registry.session_renew(&[token])).await;
            let alive = renewed.inspect_err(|RegistryAway| {
                debug!(player = %record.person.player, "session not renewed");
            })?;
            if alive != [false] {
                return Ok(());
            }
        }
        self.write_session(record).await
    }

    /// Writes that a session's lobby is gone, unless it names another by now.
    pub(crate) async fn forget_lobby(&self, token: &protocol::TokenHash, code: LobbyCode) {
        let token = registry_hash(token);
        let stood = self.registry.session_stand(&token, code.as_str());
        if let Err(RegistryAway) = in_time(stood).await {
            debug!(%code, "a session still names a lobby that is gone");
        }
    }

    /// Writes a session; a newer connection's is left as it is.
    pub(crate) async fn write_session(&self, record: SessionRecord) -> Result<(), RegistryAway> {
        let session = Session {
            player_id: record.person.player.to_string(),
            name: record.name.map(|name| name.as_str().to_owned()),
            lobby: record.lobby.map(|code| code.to_string()),
            generation: Generation(record.person.generation),
        };
        let token = registry_hash(&record.person.token);
        let written = in_time(self.registry.session_set(&token, &session)).await;
        written.map(drop).inspect_err(|RegistryAway| {
            debug!(player = session.player_id, "session not written");
        })
    }

    /// Counts a new lobby of this address; whether it is within the limit.
    pub(crate) async fn count_create(&self, origin: Origin) -> bool {
        let Some(most) = self.config.lobby_create_rate.count() else {
            return true;
        };
        let own = self
            .creates
            .count(clock::unix_milliseconds() / 60_000, origin);
        let counted = in_time(self.registry.count_create(&origin.to_string())).await;
        counted.unwrap_or(own) <= most
    }

    /// A code, a life and a node for a new lobby.
    pub(crate) fn draw(&self) -> Result<Drawn, NoNode> {
        if !self.registry.reachable() {
            return Err(NoNode::Unavailable);
        }
        let chance = [chance::number(), chance::number()];
        let node = self.links.draw(chance).ok_or(NoNode::Busy)?;
        let code = LobbyCode::from_bits(chance::number());
        let born = Born::new(chance::bytes()).to_string();
        Ok(Drawn { code, born, node })
    }

    /// Some public lobbies that were not tried yet, or the turn to make one.
    pub(crate) async fn list_public(&self, tried: &[LobbyCode]) -> Result<Listing, RegistryAway> {
        let list = async {
            // Of those that were tried some may still be listed.
            let most = MAX_QUICK_PLAY_TRIES + tried.len();
            let codes = in_time(self.registry.public_list(most)).await?;
            Ok(codes.iter().filter_map(|code| code.parse().ok()).collect())
        };
        self.gathering.look(tried, list).await
    }

    /// Whom the record of a lobby names, without what is saved.
    pub(crate) async fn owner(&self, code: LobbyCode) -> Result<Option<Record>, RegistryAway> {
        in_time(self.registry.owner(code.as_str())).await
    }

    /// Whether another run of the registry was seen lately: what it does not know may still be
    /// somewhere.
    pub(crate) fn may_have_lost_data(&self) -> bool {
        let another = self.routes.another_run_at();
        another.is_some_and(|at| clock::now() < at + self.config.session_ttl)
    }
}

/// What the registry answers, or [`RegistryAway`] if it takes too long or can't.
async fn in_time<T>(
    answer: impl Future<Output = Result<T, RegistryError>>,
) -> Result<T, RegistryAway> {
    match timeout(REGISTRY_WITHIN, answer).await {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(error)) => {
            debug!(%error, "the registry did not do it");
            Err(RegistryAway)
        }
        Err(_) => Err(RegistryAway),
    }
}

fn registry_hash(hash: &protocol::TokenHash) -> TokenHash {
    hash.as_str()
        .parse()
        .expect("both crates write a hash as 64 hexadecimal digits")
}
