//! A way to Redis on which everything can go wrong that goes wrong between two hosts.

use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::redis_server::free_port;

pub(crate) struct Proxy {
    port: u16,
    target: Arc<AtomicU16>,
    orders: Arc<watch::Sender<Orders>>,
    listening: Option<JoinHandle<()>>,
}

/// How often each was ordered: a connection obeys the orders given during its life.
#[derive(Clone, Copy, Debug, Default)]
struct Orders {
    silence: u32,
    reset: u32,
    swallow: u32,
    deafen: u32,
}

impl Proxy {
    pub(crate) async fn start(to: u16) -> Self {
        let mut proxy = Self {
            port: free_port(),
            target: Arc::new(AtomicU16::new(to)),
            orders: Arc::default(),
            listening: None,
        };
        proxy.accept().await;
        proxy
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// All present connections stay open and carry nothing any more; new ones work.
    pub(crate) fn silence(&self) {
        self.orders.send_modify(|orders| orders.silence += 1);
    }

    /// All present connections are reset; new ones work.
    pub(crate) fn reset(&self) {
        self.orders.send_modify(|orders| orders.reset += 1);
    }

    /// The next answer on each present connection vanishes.
    pub(crate) fn swallow(&self) {
        self.orders.send_modify(|orders| orders.swallow += 1);
    }

    /// What Redis says to present subscribers is left unread; nobody is told when it hangs up.
    pub(crate) fn deafen(&self) {
        self.orders.send_modify(|orders| orders.deafen += 1);
    }

    /// New connections lead elsewhere; present ones stay.
    pub(crate) fn lead_to(&self, to: u16) {
        self.target.store(to, Ordering::Relaxed);
    }

    /// Resets all connections and refuses new ones.
    pub(crate) async fn refuse(&mut self) {
        if let Some(listening) = self.listening.take() {
            listening.abort();
            let _aborted = listening.await;
        }
        self.reset();
    }

    /// Takes connections, again.
    pub(crate) async fn accept(&mut self) {
        let listener = TcpListener::bind(("127.0.0.1", self.port))
            .await
            .expect("a free port");
        let (target, orders) = (Arc::clone(&self.target), Arc::clone(&self.orders));
        self.listening = Some(tokio::spawn(async move {
            while let Ok((near, _)) = listener.accept().await {
                let to = target.load(Ordering::Relaxed);
                let orders = orders.subscribe();
                tokio::spawn(async move {
                    if let Ok(far) = TcpStream::connect(("127.0.0.1", to)).await {
                        carry(near, far, orders).await;
                    }
                });
            }
        }));
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        if let Some(listening) = &self.listening {
            listening.abort();
        }
    }
}

/// One connection, until an end hangs up or it is reset.
async fn carry(mut near: TcpStream, mut far: TcpStream, mut orders: watch::Receiver<Orders>) {
    let before = *orders.borrow_and_update();
    let (mut asked, mut answered) = (vec![0; 64 * 1024], vec![0; 64 * 1024]);
    let (mut silent, mut swallowed, mut subscriber, mut deaf) =
        (false, before.swallow, false, false);
    loop {
        tokio::select! {
            biased;
            changed = orders.changed() => {
                let now = *orders.borrow_and_update();
                if changed.is_err() || now.reset != before.reset {
                    let _closed_already = near.set_zero_linger();
                    return;
                }
                silent = now.silence != before.silence;
                deaf = subscriber && now.deafen != before.deafen;
            }
            read = near.read(&mut asked), if !silent => match read {
                Ok(length) if length > 0 => {
                    let words = &asked[..length];
                    subscriber |= words.windows(9).any(|word| word == b"SUBSCRIBE");
                    if far.write_all(words).await.is_err() {
                        return;
                    }
                }
                _ => return,
            },
            read = far.read(&mut answered), if !silent && !deaf => match read {
                Ok(length) if length > 0 => {
                    let ordered = orders.borrow().swallow;
                    if std::mem::replace(&mut swallowed, ordered) == ordered
                        && near.write_all(&answered[..length]).await.is_err()
                    {
                        return;
                    }
                }
                _ => return,
            },
        }
    }
}
