//! The wish that this process ends, known to everything in it.
//!
//! It says only *that* the end has begun, not how: each role drains in its own way and its `run`
//! returns when it is done.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::{CancellationToken, WaitForCancellationFuture};

/// A handle on the end of the process; every clone sees the same end.
#[derive(Clone, Debug, Default)]
pub struct Shutdown {
    token: CancellationToken,
}

impl Shutdown {
    /// One that has not begun. Tests begin it by hand, the program by [`Shutdown::on_signals`].
    pub fn new() -> Self {
        Self::default()
    }

    /// Begins the end. Calling it again changes nothing.
    pub fn begin(&self) {
        self.token.cancel();
    }

    /// Whether the end has begun.
    pub fn has_begun(&self) -> bool {
        self.token.is_cancelled()
    }

    /// Waits until the end begins; at once if it has. May be dropped and called again.
    pub fn begun(&self) -> WaitForCancellationFuture<'_> {
        self.token.cancelled()
    }

    /// One that begins with this one but can also begin alone, e.g. for one role of several.
    #[must_use]
    pub fn child(&self) -> Self {
        Self {
            token: self.token.child_token(),
        }
    }

    /// Begins at the first `SIGTERM` or `SIGINT`; a second one ends the process at once.
    ///
    /// Needs a tokio runtime, and listens for as long as that runs. From the call on the process
    /// no longer dies of these signals by itself.
    ///
    /// # Errors
    /// If the operating system refuses the handlers.
    pub fn on_signals(&self) -> io::Result<()> {
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        let shutdown = self.clone();
        tokio::spawn(async move {
            let name = either(&mut terminate, &mut interrupt).await;
            tracing::info!(signal = name, "stopping; a second signal ends at once");
            shutdown.begin();
            let name = either(&mut terminate, &mut interrupt).await;
            tracing::warn!(
                signal = name,
                "ended by a second signal before all was handed over"
            );
            std::process::exit(EXIT_BY_SECOND_SIGNAL);
        });
        Ok(())
    }
}

/// What a shell reports for a process that was interrupted (128 + SIGINT).
const EXIT_BY_SECOND_SIGNAL: i32 = 130;

async fn either(terminate: &mut Signal, interrupt: &mut Signal) -> &'static str {
    tokio::select! {
        _ = terminate.recv() => "SIGTERM",
        _ = interrupt.recv() => "SIGINT",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn everyone_sees_the_end_and_a_child_can_end_alone() {
        let shutdown = Shutdown::new();
        let child = shutdown.child();
        let sibling = shutdown.child();
        child.begin();
        assert!(child.has_begun() && !shutdown.has_begun() && !sibling.has_begun());
        shutdown.clone().begin();
        sibling.begun().await;
        assert!(shutdown.has_begun());
    }
}
