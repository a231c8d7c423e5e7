//! What waits to be written to a link: bounded, and never waited for by the lobbies.

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Messages that may wait for one link. A full node has a thousand lobbies, and after a pause of
/// the registry each of them sends a picture and some answers at once; a link that does not drain
/// several times that much is of no use to its players.
const OUTBOX_MESSAGES: usize = 8192;

/// The driver's end of a link. Dropping it ends the link once all is written.
#[derive(Clone, Debug)]
pub(crate) struct Outbox<T> {
    queue: mpsc::Sender<T>,
    /// Ends the link at once, with whatever still waits.
    cut: CancellationToken,
}

impl<T> Outbox<T> {
    /// Puts a message behind what waits; false once the link is gone, or was cut for being slow.
    pub(crate) fn send(&self, message: T) -> bool {
        let sent = self.queue.try_send(message);
        if let Err(mpsc::error::TrySendError::Full(_)) = &sent {
            self.cut.cancel();
        }
        sent.is_ok()
    }

    /// Completes when the link was cut.
    pub(crate) fn cut(&self) -> CancellationToken {
        self.cut.clone()
    }
}

/// An outbox and its queue.
pub(crate) fn outbox<T>() -> (Outbox<T>, mpsc::Receiver<T>) {
    let (queue, waiting) = mpsc::channel(OUTBOX_MESSAGES);
    (
        Outbox {
            queue,
            cut: CancellationToken::new(),
        },
        waiting,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_link_that_does_not_drain_is_cut() {
        let (outbox, waiting) = outbox();
        assert!((0..OUTBOX_MESSAGES).all(|number| outbox.send(number)));
        assert!(!outbox.cut().is_cancelled());
        assert!(!outbox.send(0));
        outbox.cut().cancelled().await;
        drop(waiting);
        assert!(!outbox.send(0));
    }
}
