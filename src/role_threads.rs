//! Roles on threads of their own, and the end of each.
//!
//! Each thread has a runtime of its own, so that one role that is stuck leaves the others running
//! and a game node's lobbies never share a thread with anything else.

use std::future::Future;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use chassis::Shutdown;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc;
use tracing::info;

/// The roles that this process runs.
pub(crate) struct RoleThreads {
    shutdown: Shutdown,
    ends: mpsc::UnboundedReceiver<End>,
    sender: mpsc::UnboundedSender<End>,
    running: usize,
}

struct End {
    role: String,
    result: anyhow::Result<()>,
}

/// Beyond `DRAIN_TIMEOUT`, which roles keep themselves: for closing what they have.
const CLOSING: Duration = Duration::from_secs(5);

impl RoleThreads {
    /// None yet. When one of them fails, `shutdown` begins for all.
    pub(crate) fn new(shutdown: Shutdown) -> Self {
        let (sender, ends) = mpsc::unbounded_channel();
        Self {
            shutdown,
            ends,
            sender,
            running: 0,
        }
    }

    /// Starts `role` on a thread named `name`. It is made there, inside its runtime, because
    /// sockets belong to the runtime in which they are made.
    pub(crate) fn spawn<F>(
        &mut self,
        name: &str,
        role: impl FnOnce() -> F + Send + 'static,
    ) -> io::Result<()>
    where
        F: Future<Output = anyhow::Result<()>>,
    {
        let runtime = runtime(name)?;
        let sender = self.sender.clone();
        let role_name = name.to_owned();
        thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || {
                let run = || runtime.block_on(async { role().await });
                let result = catch_unwind(AssertUnwindSafe(run))
                    .unwrap_or_else(|_| Err(anyhow!("ended by a bug; the log says where")));
                // Nobody listens any more if the process is ending without waiting for this role.
                let _ = sender.send(End {
                    role: role_name,
                    result,
                });
            })?;
        self.running += 1;
        Ok(())
    }

    /// Waits until all roles have ended, which they do after shutdown begins. One that ends well
    /// before was asked to by operators, and the others go on; one that fails ends them.
    ///
    /// # Errors
    /// The first fault of a role, or that some are still running long after `drain_timeout`.
    pub(crate) async fn ended(mut self, drain_timeout: Duration) -> anyhow::Result<()> {
        let shutdown = self.shutdown.clone();
        let too_late = async {
            shutdown.begun().await;
            tokio::time::sleep(drain_timeout.saturating_add(CLOSING)).await;
        };
        tokio::pin!(too_late);
        let mut outcome = Ok(());
        while self.running > 0 {
            let end = tokio::select! {
                end = self.ends.recv() => end.context("a role vanished")?,
                () = &mut too_late => bail!("{} roles are still running after DRAIN_TIMEOUT", self.running),
            };
            self.running -= 1;
            let End { role, result } = end;
            match &result {
                Ok(()) if !shutdown.has_begun() => info!(role, "drained"),
                Ok(()) => {}
                Err(_) => shutdown.begin(),
            }
            outcome = outcome.and(result.context(role));
        }
        outcome
    }
}

/// Everything on the role's thread: waking another costs more than most of what there is to do.
fn runtime(name: &str) -> io::Result<Runtime> {
    let mut builder = Builder::new_current_thread();
    builder.thread_name(name).enable_all().build()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_secs(10);

    async fn told_to(shutdown: Shutdown) -> anyhow::Result<()> {
        shutdown.begun().await;
        Ok(())
    }

    #[tokio::test]
    async fn all_end_well_when_told_to() {
        let shutdown = Shutdown::new();
        let mut roles = RoleThreads::new(shutdown.clone());
        for name in ["one", "other"] {
            let shutdown = shutdown.clone();
            roles.spawn(name, move || told_to(shutdown)).unwrap();
        }
        shutdown.begin();
        roles.ended(PATIENCE).await.unwrap();
    }

    #[tokio::test]
    async fn one_that_fails_ends_the_others_and_is_named() {
        let shutdown = Shutdown::new();
        let mut roles = RoleThreads::new(shutdown.clone());
        roles.spawn("healthy", move || told_to(shutdown)).unwrap();
        roles.spawn("ill", async || bail!("no more")).unwrap();
        let error = roles.ended(PATIENCE).await.unwrap_err();
        assert_eq!(format!("{error:#}"), "ill: no more");
    }

    #[tokio::test]
    async fn one_that_was_drained_leaves_the_others_running() {
        let shutdown = Shutdown::new();
        let mut roles = RoleThreads::new(shutdown.clone());
        let (left, has_left) = tokio::sync::oneshot::channel();
        roles
            .spawn("drained", async move || {
                left.send(()).unwrap();
                Ok(())
            })
            .unwrap();
        let going_on = shutdown.clone();
        roles.spawn("healthy", move || told_to(going_on)).unwrap();
        let ending = tokio::spawn(roles.ended(PATIENCE));
        has_left.await.unwrap();
        assert!(!shutdown.has_begun() && !ending.is_finished());
        shutdown.begin();
        ending.await.unwrap().unwrap();
    }

    #[tokio::test]
    async fn one_that_panics_is_a_fault() {
        let mut roles = RoleThreads::new(Shutdown::new());
        roles.spawn("odd", async || panic!("a bug")).unwrap();
        let error = format!("{:#}", roles.ended(PATIENCE).await.unwrap_err());
        assert!(error.contains("ended by a bug"), "{error}");
    }
}
