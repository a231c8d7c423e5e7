//! The driver of one player's [`Session`]: feeds it, and does what it says.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use chassis::trace::{Kind, Span, TraceContext};
use futures_util::future::{BoxFuture, FutureExt};
use opentelemetry::KeyValue;
use protocol::CloseCode;
use protocol::link::ToNode;
use protocol::player::{Malformed, PlayerFrame};
use protocol::server::ServerMessage;
use tokio::time::{Instant, Sleep, sleep_until};
use tokio_tungstenite::tungstenite::error::ProtocolError;
use tokio_tungstenite::tungstenite::{self, Message};
use tracing::debug;

use crate::address::Origin;
use crate::config::Config;
use crate::connections::Registered;
use crate::gateway::Gateway;
use crate::routes::Needs;
use crate::session::{Effect, FloodLimits, Input, Session, SessionConfig};
use crate::socket::{Wire, now, to_json};

/// How a connection ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Its last frames are to be written.
    Closing,
    /// Likewise, after a frame that can't be read.
    Unreadable,
    /// Likewise, and the player has closed already.
    Closed,
    /// There is nobody to write to.
    Broken,
}

/// One player's connection.
pub(crate) struct Connection<'a, W> {
    gateway: Arc<Gateway>,
    registered: Registered,
    origin: Origin,
    session: Session,
    wire: &'a mut W,
    /// Answers that are awaited of the registry: a few, since a session asks one thing at a time.
    errands: Vec<BoxFuture<'static, Option<Input>>>,
    closing: bool,
    /// Of the message that is being read and acted on.
    receiving: Span,
}

impl<'a, W: Wire> Connection<'a, W> {
    pub(crate) fn new(
        gateway: Arc<Gateway>,
        registered: Registered,
        origin: Origin,
        wire: &'a mut W,
    ) -> Self {
        // Whatever changes from now on is delivered.
        let overview = Arc::clone(&gateway.links.overview().borrow());
        if gateway.shutdown.has_begun() {
            registered.inbox.give(Input::Stop);
        }
        let config = session_config(&gateway.config);
        let session = Session::new(now(), registered.id, config, overview);
        Self {
            gateway,
            registered,
            origin,
            session,
            wire,
            errands: Vec::new(),
            closing: false,
            receiving: Span::NONE,
        }
    }

    /// Runs until the connection ends.
    pub(crate) async fn run(&mut self) -> Ending {
        let mut alarm = pin!(sleep_until(Instant::now()));
        loop {
            match poll_fn(|context| self.poll_next(alarm.as_mut(), context)).await {
                Ok(input) => self.step(input),
                Err(ending) => return ending,
            }
            if self.closing {
                return Ending::Closing;
            }
        }
    }

    /// What happens next, and what waits is written on the way. First what others have for this
    /// connection and what its player says: what both lead to is written in one.
    fn poll_next(
        &mut self,
        alarm: Pin<&mut Sleep>,
        context: &mut Context<'_>,
    ) -> Poll<Result<Input, Ending>> {
        match self.registered.inbox.poll_next(context) {
            Poll::Ready(Some(input)) => return Poll::Ready(Ok(*input)),
            Poll::Ready(None) => {
                // Its task got no time to run: the player shall come back.
                debug!("closed: more came in than was taken");
                return Poll::Ready(Err(self.close_now(CloseCode::Restart)));
            }
            Poll::Pending => {}
        }
        if let Poll::Ready(input) = self.poll_errands(context) {
            return Poll::Ready(Ok(input));
        }
        if let Poll::Ready(read) = self.poll_frame(context) {
            return Poll::Ready(read);
        }
        if self
            .wire
            .poll_write(context, &self.gateway.metrics)
            .is_ready()
        {
            return Poll::Ready(Err(Ending::Broken));
        }
        ready!(self.poll_alarm(alarm, context));
        Poll::Ready(if self.is_slow() {
            Err(self.close_now(CloseCode::SlowReader))
        } else {
            Ok(Input::Time)
        })
    }

    fn poll_errands(&mut self, context: &mut Context<'_>) -> Poll<Input> {
        let mut place = 0;
        while let Some(errand) = self.errands.get_mut(place) {
            match errand.as_mut().poll(context) {
                Poll::Pending => place += 1,
                Poll::Ready(answer) => {
                    drop(self.errands.swap_remove(place));
                    if let Some(input) = answer {
                        return Poll::Ready(input);
                    }
                }
            }
        }
        Poll::Pending
    }

    fn poll_frame(&mut self, context: &mut Context<'_>) -> Poll<Result<Input, Ending>> {
        while self.session.reads() {
            return Poll::Ready(Err(match ready!(self.wire.poll_read(context)) {
                Some(Ok(message)) => match self.receive(message) {
                    Some(input) => return Poll::Ready(Ok(input)),
                    // The answer to it comes with the end of the stream.
                    None => continue,
                },
                Some(Err(error)) => match unreadable(&error) {
                    Some(code) => {
                        self.gateway.metrics.closed(code);
                        self.wire.outbox().close(code);
                        Ending::Unreadable
                    }
                    None => Ending::Broken,
                },
                None => {
                    self.wire.outbox().end();
                    Ending::Closed
                }
            }));
        }
        Poll::Pending
    }

    /// Ready when something is due.
    fn poll_alarm(&mut self, mut alarm: Pin<&mut Sleep>, context: &mut Context<'_>) -> Poll<()> {
        let deadline = self.deadline();
        // One that is too early does nothing but wake: cheaper than setting it twice a message.
        if deadline < alarm.deadline() || alarm.is_elapsed() {
            alarm.as_mut().reset(deadline);
        }
        alarm.poll(context)
    }

    fn close_now(&mut self, code: CloseCode) -> Ending {
        self.gateway.metrics.closed(code);
        self.wire.outbox().close_now(code);
        Ending::Closing
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
            Effect::Show(picture) => self.wire.outbox().show(picture),
            Effect::ShowNothing => self.wire.outbox().show_nothing(now),
            Effect::Partial(partial) => self.wire.outbox().set_partial(partial),
            Effect::Ping => self.wire.outbox().ping(),
            Effect::Close(code) => {
                debug!(code = u16::from(code), "closed");
                self.closing = true;
                self.gateway.metrics.closed(code);
                self.wire.outbox().close(code);
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

    fn send(&mut self, now: std::time::Instant, message: &ServerMessage) {
        self.wire.outbox().push(now, to_json(message));
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
                Effect::Renew { renewal, record } => {
                    let renewed = gateway.renew(renewal, record).await;
                    let done = renewed.is_ok();
                    Some(Input::Renewed { renewal, done })
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

    fn deadline(&mut self) -> Instant {
        let slow_at = self.wire.outbox().slow_at();
        let deadline = self.session.deadline().into_iter().chain(slow_at).min();
        deadline.map_or_else(Instant::now, Instant::from_std)
    }

    fn is_slow(&mut self) -> bool {
        let slow_at = self.wire.outbox().slow_at();
        slow_at.is_some_and(|slow_at| now() >= slow_at)
    }
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

/// How a connection is closed on which something came that can't be read; none if it is lost.
fn unreadable(error: &tungstenite::Error) -> Option<CloseCode> {
    match error {
        tungstenite::Error::Capacity(_) => Some(CloseCode::TooBig),
        tungstenite::Error::Utf8(_) => Some(CloseCode::NoText),
        tungstenite::Error::Protocol(ProtocolError::ResetWithoutClosingHandshake) => None,
        tungstenite::Error::Protocol(_) => Some(CloseCode::NoFrame),
        _ => None,
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
