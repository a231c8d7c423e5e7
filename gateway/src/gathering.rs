//! Brings strangers who come at the same time to the same table.
//!
//! Of all who find no public table here, one at a time makes one; the others wait for that and
//! look again. Between gateways nothing is held back: each may make one table more.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use protocol::LobbyCode;
use tokio::sync::OwnedMutexGuard;
use tokio::time::{Instant, timeout};

/// A table takes milliseconds to make. Whoever waits longer makes their own.
const WAIT_AT_MOST: Duration = Duration::from_millis(600);
/// New tables are in the registry's list soon after they are made, and until then remembered here.
const REMEMBERED_FOR: Duration = Duration::from_secs(1);
/// As many are remembered: the newest have free seats.
const MOST_REMEMBERED: usize = 4;

/// The right to make a public table while others wait for it; ends when it is dropped.
#[derive(Debug)]
pub(crate) struct Turn {
    _gate: Option<OwnedMutexGuard<()>>,
}

/// Public tables, and the right to make another if there are none.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    pub(crate) codes: Vec<LobbyCode>,
    pub(crate) turn: Option<Turn>,
}

#[derive(Debug, Default)]
pub(crate) struct Gathering {
    gate: Arc<tokio::sync::Mutex<()>>,
    newest: Mutex<VecDeque<(Instant, LobbyCode)>>,
}

impl Gathering {
    /// What `list` finds and what was made here just now, without the `tried`; with a turn if that
    /// is nothing.
    ///
    /// # Errors
    /// What `list` says.
    pub(crate) async fn look<E>(
        &self,
        tried: &[LobbyCode],
        list: impl Future<Output = Result<Vec<LobbyCode>, E>>,
    ) -> Result<Listing, E> {
        let gate = timeout(WAIT_AT_MOST, Arc::clone(&self.gate).lock_owned()).await;
        let mut codes = list.await?;
        for code in self.remembered() {
            if !codes.contains(&code) {
                codes.push(code);
            }
        }
        codes.retain(|code| !tried.contains(code));
        let turn = codes.is_empty().then(|| Turn { _gate: gate.ok() });
        Ok(Listing { codes, turn })
    }

    /// A public table has been made here.
    pub(crate) fn remember(&self, code: LobbyCode) {
        let mut newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
        newest.truncate(MOST_REMEMBERED - 1);
        newest.push_front((Instant::now(), code));
    }

    /// Oldest first: quick play tries from the end.
    fn remembered(&self) -> Vec<LobbyCode> {
        let mut newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
        newest.retain(|(made_at, _)| made_at.elapsed() < REMEMBERED_FOR);
        newest.iter().rev().map(|(_, code)| *code).collect()
    }
}

#[cfg(test)]
impl Turn {
    /// One that nobody waits for.
    pub(crate) fn free() -> Self {
        Self { _gate: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn look(gathering: &Gathering, tried: &[LobbyCode]) -> Listing {
        let nothing = async { Ok::<_, ()>(Vec::new()) };
        gathering.look(tried, nothing).await.unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn the_second_waits_for_the_firsts_table() {
        let gathering = Arc::new(Gathering::default());
        let first = look(&gathering, &[]).await;
        let waiting = Arc::clone(&gathering);
        let second = tokio::spawn(async move { look(&waiting, &[]).await });
        tokio::task::yield_now().await;
        assert!(first.turn.is_some() && !second.is_finished());
        let code = LobbyCode::from_bits(7);
        gathering.remember(code);
        drop(first);
        let second = second.await.unwrap();
        assert_eq!((second.codes, second.turn.is_none()), (vec![code], true));
        let third = look(&gathering, &[code]).await;
        assert!(
            third.codes.is_empty() && third.turn.is_some(),
            "it was full"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_waits_for_a_table_that_does_not_come() {
        let gathering = Gathering::default();
        let _first = look(&gathering, &[]).await;
        let began = Instant::now();
        assert!(look(&gathering, &[]).await.turn.is_some());
        assert!(began.elapsed() >= WAIT_AT_MOST);
    }

    #[tokio::test(start_paused = true)]
    async fn the_newest_are_remembered_for_a_while() {
        let gathering = Gathering::default();
        for bits in 0..9 {
            gathering.remember(LobbyCode::from_bits(bits));
        }
        let codes: Vec<_> = (5..9).map(LobbyCode::from_bits).collect();
        assert_eq!(look(&gathering, &[]).await.codes, codes);
        tokio::time::sleep(REMEMBERED_FOR).await;
        assert!(look(&gathering, &[]).await.codes.is_empty());
    }
}
