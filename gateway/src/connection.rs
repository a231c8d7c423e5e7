//! The driver of one player's [`Session`]: feeds it, and does what it says.

use std::sync::Arc;
use std::time::Duration;

use chassis::trace::{Kind, Span, TraceContext};
use futures_util::future::{BoxFuture, FutureExt};
use futures_util::stream::FuturesUnordered;
use futures_util::{Stream, StreamExt};
use opentelemetry::KeyValue;
use protocol::CloseCode;
use protocol::link::ToNode;
use protocol::player::{Malformed, PlayerFrame};
use protocol::server::ServerMessage;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until};
use tokio_tungstenite::tungstenite::{self, Message};
use tracing::debug;

use crate::address::Origin;
use crate::chance;
use crate::config::Config;
use crate::connections::Registered;
use crate::gateway::Gateway;
use crate::outbox::Outbox;
use crate::routes::Needs;
use crate::session::{Effect, FloodLimits, Input, Session, SessionConfig};
use crate::socket::{SharedOutbox, now, to_json};
use crate::status::Overview;

/// At the end of a gateway its sockets are closed one after the other, so many milliseconds apart
/// and within the longest: all at once, their players would come back to the others as a herd.
const STOP_SPACING_MS: u64 = 5;
const STOP_LONGEST_MS: u64 = 3_000;

/// How a connection ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Its last frames are to be written.
    Closing,
    /// Likewise, after a frame that was too long to be read.
    TooBig,
    /// Likewise, and the player has closed already.
    Closed,
    /// There is nobody to write to.
    Broken,
}

/// One player's connection.
pub(crate) struct Connection<'a> {
    gateway: Arc<Gateway>,
    registered: Registered,
    origin: Origin,
    session: Session,
    overview: watch::Receiver<Arc<Overview>>,
    outbox: &'a SharedOutbox,
    /// Answers that are awaited of the registry: a few, since a session asks one thing at a time.
    errands: FuturesUnordered<BoxFuture<'static, Option<Input>>>,
    closing: bool,
    /// Of the message that is being read and acted on.
    receiving: Span,
}

impl<'a> Connection<'a> {
    pub(crate) fn new(
        gateway: Arc<Gateway>,
        registered: Registered,
        origin: Origin,
        outbox: &'a SharedOutbox,
    ) -> Self {
        let mut overview = gateway.links.overview();
        let seen = Arc::clone(&overview.borrow_and_update());
        let config = session_config(&gateway.config);
        let session = Session::new(now(), registered.id, config, seen);
        let errands = FuturesUnordered::new();
        Self {
            gateway,
            registered,
            origin,
            session,
            overview,
            outbox,
            errands,
            closing: false,
            receiving: Span::NONE,
        }
    }

    /// Runs until the connection ends.
    pub(crate) async fn run(
        &mut self,
        stream: &mut (impl Stream<Item = Result<Message, tungstenite::Error>> + Unpin),
    ) -> Ending {
        let gateway = Arc::clone(&self.gateway);
        let mut stopping = std::pin::pin!(turn_to_stop(&gateway));
        let end = self.registered.end.clone();
        let mut ended = std::pin::pin!(end.cancelled());
        let mut alarm = Box::pin(sleep_until(Instant::now()));
        loop {
            let deadline = self.deadline();
            // One that is too early does nothing but wake: cheaper than setting it twice a message.
            if deadline < alarm.deadline() || alarm.is_elapsed() {
                alarm.as_mut().reset(deadline);
            }
            let input = tokio::select! {
                frame = stream.next(), if self.session.reads() => match frame {
                    Some(Ok(message)) => match self.receive(message) {
                        Some(input) => input,
                        // The answer to it comes with the end of the stream.
                        None => continue,
                    },
                    Some(Err(tungstenite::Error::Capacity(_))) => {
                        self.gateway.metrics.closed(CloseCode::TooBig);
                        self.outbox.change(|outbox| outbox.close(CloseCode::TooBig));
                        return Ending::TooBig;
                    }
                    None => {
                        self.outbox.change(Outbox::end);
                        return Ending::Closed;
                    }
                    Some(Err(_)) => return Ending::Broken,
                },
                Some(input) = self.registered.inbox.recv() => *input,
                Some(input) = self.errands.next(), if !self.errands.is_empty() => match input {
                    Some(input) => input,
                    None => continue,
                },
                Ok(()) = self.overview.changed() => {
                    Input::Overview(Arc::clone(&self.overview.borrow_and_update()))
                }
                () = alarm.as_mut() => {
                    if self.is_slow() {
                        self.gateway.metrics.closed(CloseCode::SlowReader);
                        self.outbox.change(|outbox| outbox.close_now(CloseCode::SlowReader));
                        return Ending::Closing;
                    }
                    Input::Time
                }
                () = &mut stopping => Input::Stop,
                () = &mut ended => {
                    // Its task got no time to run: the player shall come back.
                    debug!("closed: more came in than was taken");
                    self.gateway.metrics.closed(CloseCode::Restart);
                    self.outbox.change(|outbox| outbox.close_now(CloseCode::Restart));
                    return Ending::Closing;
                }
            };
            self.step(input);
            if self.closing {
                return Ending::Closing;
            }
        }
    }

    /// Reads a frame; none if it is the last one.
    fn receive(&mut self, message: Message) -> Option<Input> {
        let length = match &message {
            Message::Text(text) => text.len(),
            Message::Binary(bytes) => bytes.len(),
            Message::Ping(_) | Message::Pong(_) | Message::Close(_) | Message::Frame(_) => {
                return read(message);
            }
        };
        self.gateway.metrics.received(length);
        let (gateway, connection) = (&self.gateway, self.registered.id.0);
        self.receiving = Span::begin("gateway.receive", Kind::Server, TraceContext::NONE, || {
            [
                KeyValue::new("wizard.node", gateway.config.node_id.to_string()),
                KeyValue::new(
                    "wizard.connection",
                    i64::try_from(connection).unwrap_or(i64::MAX),
                ),
            ]
        });
        if let Some(code) = self.session.lobby() {
            self.receiving.set("wizard.lobby", || code.to_string());
        }
        self.session.trace(self.receiving.context());
        read(message)
    }

    /// Tells whom it concerns that the connection has ended.
    pub(crate) fn end(&mut self) {
        self.step(Input::Gone);
    }

    fn step(&mut self, input: Input) {
        let now = now();
        let before = self.session.lobby();
        let _log = self.receiving.context().enter();
        for effect in self.session.step(now, input) {
            self.perform(now, effect);
        }
        let lobby = self.session.lobby();
        if lobby != before
            && let Some(code) = lobby
        {
            tracing::Span::current().record("lobby", tracing::field::display(code));
        }
        self.receiving = Span::NONE;
    }

    fn perform(&mut self, now: std::time::Instant, effect: Effect) {
        match effect {
            Effect::Send(message) => self.send(now, &message),
            Effect::Refuse { refused, place } => {
                self.gateway.metrics.error(refused.code);
                // Unless what is refused was read earlier.
                if place == self.receiving.context() {
                    self.receiving.failed(refused.code.as_str());
                }
                let _log = place.enter();
                debug!(code = %refused.code, why = refused.message, "refused");
                self.send(now, &ServerMessage::Error(refused));
            }
            Effect::Show(picture) => self.outbox.change(|outbox| outbox.show(picture)),
            Effect::ShowNothing => self.outbox.change(|outbox| outbox.show_nothing(now)),
            Effect::Partial(partial) => self.outbox.change(|outbox| outbox.set_partial(partial)),
            Effect::Ping => self.outbox.change(Outbox::ping),
            Effect::Close(code) => {
                debug!(code = u16::from(code), "closed");
                self.closing = true;
                self.gateway.metrics.closed(code);
                self.outbox.change(|outbox| outbox.close(code));
            }
            Effect::Ask { node, ask } => {
                let number = ask.number;
                if let Err(why) = self.gateway.links.send(&node, ToNode::Ask(ask)) {
                    self.errand(async move { Some(Input::Unreachable { number, why }) });
                }
            }
            Effect::Gathered { code, turn } => {
                self.gateway.gathering.remember(code);
                drop(turn);
            }
            Effect::Detach { node, code } => {
                let connection = self.registered.id;
                self.gateway
                    .links
                    .tell(&node, ToNode::Detach { code, connection });
            }
            errand => self.run_errand(errand),
        }
    }

    fn send(&self, now: std::time::Instant, message: &ServerMessage) {
        let json = to_json(message);
        self.outbox.change(|outbox| outbox.push(now, json));
    }

    /// What has to be waited for.
    fn run_errand(&mut self, effect: Effect) {
        let gateway = Arc::clone(&self.gateway);
        let (connection, origin) = (self.registered.id, self.origin);
        self.errand(async move {
            match effect {
                Effect::Enter { token } => {
                    Some(Input::Entered(gateway.enter(connection, token).await))
                }
                Effect::Renew(record) => {
                    gateway.renew(record).await;
                    None
                }
                Effect::WriteAnew(record) => {
                    gateway.write_session(record).await;
                    None
                }
                Effect::ForgetLobby { token, code } => {
                    gateway.forget_lobby(&token, code).await;
                    None
                }
                Effect::CountCreate { journey } => {
                    let allowed = gateway.count_create(origin).await;
                    Some(Input::Counted { journey, allowed })
                }
                Effect::Draw { journey } => Some(Input::Drawn {
                    journey,
                    drawn: gateway.draw(),
                }),
                Effect::ListPublic { journey, tried } => Some(Input::Listed {
                    journey,
                    listing: gateway.list_public(&tried).await,
                }),
                Effect::Find {
                    journey,
                    code,
                    home,
                    fresh,
                    shown,
                    until,
                } => {
                    let needs = Needs { home, fresh, shown };
                    let whereabouts = gateway.find(code, needs, until).await;
                    Some(Input::Found {
                        journey,
                        whereabouts,
                    })
                }
                other => unreachable!("performed at once: {other:?}"),
            }
        });
    }

    fn errand(&mut self, errand: impl Future<Output = Option<Input>> + Send + 'static) {
        self.errands.push(errand.boxed());
    }

    fn deadline(&self) -> Instant {
        let slow_at = self.outbox.lock().slow_at();
        let deadline = self.session.deadline().into_iter().chain(slow_at).min();
        deadline.map_or_else(Instant::now, Instant::from_std)
    }

    fn is_slow(&self) -> bool {
        self.outbox
            .lock()
            .slow_at()
            .is_some_and(|slow_at| now() >= slow_at)
    }
}

/// Waits until the gateway ends and it is this connection's turn to.
async fn turn_to_stop(gateway: &Gateway) {
    gateway.shutdown.begun().await;
    let sockets = u64::try_from(gateway.admission.total()).unwrap_or(u64::MAX);
    let spread_ms = sockets
        .saturating_mul(STOP_SPACING_MS)
        .clamp(1, STOP_LONGEST_MS);
    sleep(Duration::from_millis(
        u64::from(chance::number()) % spread_ms,
    ))
    .await;
}

fn session_config(config: &Config) -> SessionConfig {
    SessionConfig {
        flood: FloodLimits {
            rate: config.message_rate,
            burst: config.message_burst,
            violations: config.max_rate_violations,
        },
        renew_every: config.session_ttl / 4,
        reconnect_within_ms: u32::try_from(config.reconnect_window.as_millis()).unwrap_or(u32::MAX),
    }
}

/// What a frame is to the session; nothing if it is the last one.
fn read(message: Message) -> Option<Input> {
    Some(match message {
        Message::Text(text) => Input::Message(PlayerFrame::parse(text.as_str())),
        Message::Binary(_) => {
            let message = "messages are text frames of JSON".to_owned();
            Input::Message(Err(Malformed { id: None, message }))
        }
        Message::Ping(_) | Message::Pong(_) => Input::Heard,
        Message::Close(_) | Message::Frame(_) => return None,
    })
}
