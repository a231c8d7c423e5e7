//! The network between the processes: ordered connections that are slow, cut, reset, or end with a process.

use std::collections::BTreeMap;
use std::io::{Error, ErrorKind};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::{Sink, Stream};
use rand::RngExt;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep, sleep_until};
use tokio_tungstenite::tungstenite::{self, Message};
use tokio_util::sync::CancellationToken;

use crate::lock;

/// What a packet takes, in microseconds.
const JOURNEY_MICROS: std::ops::Range<u64> = 200..4_000;

/// All connections. Clones are the same.
#[derive(Clone, Default)]
pub(crate) struct Network(Arc<Mutex<Ways>>);

#[derive(Default)]
struct Ways {
    /// Who takes connections at an address.
    listeners: BTreeMap<String, mpsc::UnboundedSender<Socket>>,
    /// By who dials and the address.
    ways: BTreeMap<(String, String), Way>,
}

#[derive(Clone, Default)]
struct Way {
    cut: Arc<watch::Sender<bool>>,
    /// Holds back what the connections carry that there are.
    stall: Arc<watch::Sender<bool>>,
    /// What new connections do.
    lapse: Option<Lapse>,
    /// Ends the connections that there are.
    reset: CancellationToken,
}

/// Of what comes back over a connection, something is lost on the way: nothing gets through until it is sent again.
#[derive(Clone, Copy)]
pub(crate) struct Lapse {
    /// Messages that get through before.
    pub(crate) after: u32,
    pub(crate) lasts: Duration,
}

impl Network {
    /// Whoever dials that address from now on comes out here; until the receiver is dropped.
    pub(crate) fn listen(&self, address: &str) -> mpsc::UnboundedReceiver<Socket> {
        let (sender, receiver) = mpsc::unbounded_channel();
        self.lock().listeners.insert(address.to_owned(), sender);
        receiver
    }

    /// Nothing gets through, or all that waits does.
    pub(crate) fn cut(&self, from: &str, address: &str, cut: bool) {
        self.way(from, address).cut.send_replace(cut);
    }

    /// Connections of that way end, for both sides.
    pub(crate) fn reset(&self, from: &str, address: &str) {
        let reset = self.change(from, address, |way| std::mem::take(&mut way.reset));
        reset.cancel();
    }

    /// The connections of that way that there are hold everything back, until the end of it is called; new ones don't.
    pub(crate) fn stall(&self, from: &str, address: &str) -> Box<dyn FnOnce() + Send> {
        let stall = self.change(from, address, |way| std::mem::take(&mut way.stall));
        stall.send_replace(true);
        Box::new(move || {
            stall.send_replace(false);
        })
    }

    /// From now on each new connection of that way has such a lapse, or none.
    pub(crate) fn lapse(&self, from: &str, address: &str, lapse: Option<Lapse>) {
        self.change(from, address, |way| way.lapse = lapse);
    }

    /// Opens a connection.
    pub(crate) async fn dial(
        self,
        from: String,
        address: String,
    ) -> Result<Socket, tungstenite::Error> {
        let way = self.way(&from, &address);
        way.travel(arrival()).await;
        let (near, far) = connection(&way);
        let listener = self.lock().listeners.get(&address).cloned();
        let taken = listener.is_some_and(|listener| listener.send(far).is_ok());
        way.travel(arrival()).await;
        if taken {
            Ok(near)
        } else {
            Err(Error::from(ErrorKind::ConnectionRefused).into())
        }
    }

    fn way(&self, from: &str, address: &str) -> Way {
        self.change(from, address, |way| way.clone())
    }

    fn change<T>(&self, from: &str, address: &str, change: impl FnOnce(&mut Way) -> T) -> T {
        let key = (from.to_owned(), address.to_owned());
        change(self.lock().ways.entry(key).or_default())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Ways> {
        lock(&self.0)
    }
}

impl Way {
    async fn travel(&self, arrives: Instant) {
        sleep_until(arrives).await;
        let (mut cut, mut stall) = (self.cut.subscribe(), self.stall.subscribe());
        while *cut.borrow() || *stall.borrow() {
            // The senders live as long as this way.
            drop(cut.wait_for(|cut| !*cut).await);
            drop(stall.wait_for(|stall| !*stall).await);
        }
    }
}

fn arrival() -> Instant {
    Instant::now() + Duration::from_micros(draw(JOURNEY_MICROS))
}

#[expect(clippy::disallowed_methods, reason = "chance is this process' seed's")]
pub(crate) fn draw(range: std::ops::Range<u64>) -> u64 {
    rand::rng().random_range(range)
}

/// One end of a connection.
pub(crate) struct Socket {
    outgoing: Option<mpsc::UnboundedSender<(Instant, Message)>>,
    incoming: mpsc::UnboundedReceiver<Message>,
}

/// Both ends of a new one.
fn connection(way: &Way) -> (Socket, Socket) {
    let (near_out, far_in) = direction(way, None);
    let (far_out, near_in) = direction(way, way.lapse);
    let end = |outgoing, incoming| Socket {
        outgoing: Some(outgoing),
        incoming,
    };
    (end(near_out, near_in), end(far_out, far_in))
}

type Direction = (
    mpsc::UnboundedSender<(Instant, Message)>,
    mpsc::UnboundedReceiver<Message>,
);

/// Carries in order what is sent, and then that it has ended.
fn direction(way: &Way, lapse: Option<Lapse>) -> Direction {
    let (sender, mut sent) = mpsc::unbounded_channel::<(Instant, Message)>();
    let (arrived, receiver) = mpsc::unbounded_channel();
    let way = way.clone();
    tokio::spawn(async move {
        let reset = way.reset.clone();
        let carrying = async {
            let mut carried = 0;
            while let Some((arrives, message)) = sent.recv().await {
                if let Some(lapse) = lapse.filter(|lapse| lapse.after == carried) {
                    sleep(lapse.lasts).await;
                }
                carried += 1;
                way.travel(arrives).await;
                if arrived.send(message).is_err() {
                    return;
                }
            }
            way.travel(arrival()).await;
        };
        reset.run_until_cancelled(carrying).await;
    });
    (sender, receiver)
}

impl Stream for Socket {
    type Item = Result<Message, tungstenite::Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.incoming.poll_recv(context).map(|one| one.map(Ok))
    }
}

impl Sink<Message> for Socket {
    type Error = tungstenite::Error;

    fn poll_ready(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn start_send(self: Pin<&mut Self>, message: Message) -> Result<(), Self::Error> {
        let sent = self
            .outgoing
            .as_ref()
            .is_some_and(|outgoing| outgoing.send((arrival(), message)).is_ok());
        if sent {
            Ok(())
        } else {
            Err(tungstenite::Error::ConnectionClosed)
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.outgoing = None;
        Poll::Ready(Ok(()))
    }
}

/// The same, as the game node's listener gives it.
pub(crate) struct NodeSocket(pub(crate) Socket);

impl Stream for NodeSocket {
    type Item = Result<axum::extract::ws::Message, axum::Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        use axum::extract::ws::Message as Theirs;
        Pin::new(&mut self.0).poll_next(context).map(|one| {
            one.map(|one| match one {
                Ok(Message::Binary(bytes)) => Ok(Theirs::Binary(bytes)),
                Ok(_) => Ok(Theirs::Close(None)),
                Err(error) => Err(axum::Error::new(error)),
            })
        })
    }
}

impl Sink<axum::extract::ws::Message> for NodeSocket {
    type Error = axum::Error;

    fn poll_ready(mut self: Pin<&mut Self>, c: &mut Context<'_>) -> Poll<Result<(), axum::Error>> {
        Pin::new(&mut self.0)
            .poll_ready(c)
            .map_err(axum::Error::new)
    }

    fn start_send(
        mut self: Pin<&mut Self>,
        message: axum::extract::ws::Message,
    ) -> Result<(), axum::Error> {
        use axum::extract::ws::Message as Theirs;
        let message = match message {
            Theirs::Binary(bytes) => Message::Binary(bytes),
            _ => Message::Close(None),
        };
        Pin::new(&mut self.0)
            .start_send(message)
            .map_err(axum::Error::new)
    }

    fn poll_flush(mut self: Pin<&mut Self>, c: &mut Context<'_>) -> Poll<Result<(), axum::Error>> {
        Pin::new(&mut self.0)
            .poll_flush(c)
            .map_err(axum::Error::new)
    }

    fn poll_close(mut self: Pin<&mut Self>, c: &mut Context<'_>) -> Poll<Result<(), axum::Error>> {
        Pin::new(&mut self.0)
            .poll_close(c)
            .map_err(axum::Error::new)
    }
}
