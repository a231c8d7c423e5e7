//! The subscription's supervisor.
//!
//! A subscription can go deaf without ending, so silence counts: the own probe comes every
//! second, and three missing ones mean a new subscription.

use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};
use tracing::debug;

use crate::backend::Subscriber;
use crate::backoff::Backoff;

/// Three probes.
const DEAF_AFTER: Duration = Duration::from_secs(3);
/// A new subscription must be there within this.
const SUBSCRIBE_TIMEOUT: Duration = Duration::from_secs(2);
/// Messages that wait for the presence thread; beyond these the connection is not read on.
const HEARD_KEPT: usize = 1024;

pub(super) enum Heard {
    /// A new subscription: whatever was said before may have been missed.
    Subscribed,
    Heard(super::Heard),
}

/// Listens for ever, on the present runtime.
pub(super) fn start(subscriber: Box<dyn Subscriber>) -> (JoinHandle<()>, mpsc::Receiver<Heard>) {
    let (sender, receiver) = mpsc::channel(HEARD_KEPT);
    (tokio::spawn(listen(subscriber, sender)), receiver)
}

async fn listen(mut subscriber: Box<dyn Subscriber>, keeper: mpsc::Sender<Heard>) {
    let mut backoff = Backoff::new();
    loop {
        if let Ok(Ok(mut messages)) = timeout(SUBSCRIBE_TIMEOUT, subscriber.subscribe()).await {
            if keeper.send(Heard::Subscribed).await.is_err() {
                return;
            }
            while let Ok(Some(heard)) = timeout(DEAF_AFTER, messages.recv()).await {
                backoff.reset();
                if keeper.send(Heard::Heard(heard)).await.is_err() {
                    return;
                }
            }
            debug!("the subscription has ended or gone deaf");
        }
        sleep(backoff.next()).await;
    }
}
