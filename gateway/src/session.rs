//! One player's connection as a machine with one door: [`Session::step`].
//!
//! It holds no game truth: it knows who the player is, at which table they are, and what of their
//! messages is not answered yet. No await, clock, chance or socket is inside; whatever needs one
//! is an [`Effect`] for the driver, whose result comes back as an [`Input`].
//!
//! Messages to the table flow on without waiting for each other. What changes the table (a
//! [`journey`]) is one at a time, and everything behind it waits, so that a message always goes
//! to the table that the player was at when it is read. From the loss of a table until its new
//! owner has answered nothing flows to it; what was not answered is sent again, in its order.
//!
//! Invariant: nothing goes to a game node before `hello` has been answered, and nothing at all
//! happens after the close.

mod asks;
mod door;
mod flood;
mod journey;
mod place;
#[cfg(test)]
mod tests;
mod vigil;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use chassis::trace::TraceContext;
use protocol::limit::MAX_WAITING_MESSAGES;
use protocol::link::Person;
use protocol::player::{Hello, Malformed, PlayerFrame, PlayerMessage};
use protocol::server::{LoadLevel, Pong, Refused, ServerMessage, ServerStatus, Welcome};
use protocol::{CloseCode, ConnectionId, ErrorCode, LobbyCode, PlayerName};

use crate::status::Overview;
use asks::{Pending, Waiting, Wish};
pub(crate) use door::{
    Drawn, Effect, Entered, Input, NoNode, NotEntered, RegistryAway, SessionRecord, Whereabouts,
};
pub(crate) use flood::FloodLimits;
use flood::{Flood, Verdict};
pub(crate) use journey::MAX_QUICK_PLAY_TRIES;
use journey::{Abandoned, Goal, Journey};
use place::Place;
pub(crate) use vigil::Renewal;
use vigil::Vigil;

/// Whatever a player asks is answered within two seconds, if only by `unavailable`; the rest is for
/// the way to them.
pub(crate) const ANSWER_WITHIN: Duration = Duration::from_millis(1_800);
/// What a client is told to wait before it tries again what was `unavailable`.
const UNAVAILABLE_RETRY_MS: u32 = 1_000;

/// What a session is told at its start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SessionConfig {
    /// How many messages are too many.
    pub(crate) flood: FloodLimits,
    /// Between two renewals of the player's session in the registry.
    pub(crate) renew_every: Duration,
    /// Told to the client in `welcome` and `server_status`: longer where the servers are loaded.
    pub(crate) reconnect_within_ms: u32,
}

/// One player's connection.
#[derive(Debug)]
pub(crate) struct Session {
    connection: ConnectionId,
    config: SessionConfig,
    phase: Phase,
    /// The table at which the player is, seated or watching.
    place: Option<Place>,
    /// The way to another table, to none, or back to one's own.
    journey: Option<Journey>,
    /// Asked of the table, and not answered.
    asks: BTreeMap<u64, Pending>,
    /// Places that were asked for and given up for lost, but may still come; bounded by
    /// [`journey::MAX_ABANDONED`].
    abandoned: VecDeque<Abandoned>,
    /// What waits for the journey's end, in the order in which it came.
    waiting: VecDeque<Waiting>,
    /// The newest `hello` of this player that has been heard of.
    newest_generation: u64,
    last_number: u64,
    last_journey: u64,
    /// Where the message that is acted on is in its trace.
    trace: TraceContext,
    overview: Arc<Overview>,
    /// The last `server_status`.
    told: Option<ServerStatus>,
    flood: Flood,
    vigil: Vigil,
    /// Collected during one step.
    effects: Vec<Effect>,
}

#[derive(Debug)]
enum Phase {
    /// No `hello` yet.
    Greeting,
    /// The registry is asked who this is.
    Entering { hello: Hello, reply: Option<String> },
    /// The player is known.
    Inside {
        person: Person,
        name: Option<PlayerName>,
    },
    /// Nothing more is done.
    Closed,
}

impl Session {
    /// A connection that has just opened.
    pub(crate) fn new(
        now: Instant,
        connection: ConnectionId,
        config: SessionConfig,
        overview: Arc<Overview>,
    ) -> Self {
        Self {
            connection,
            config,
            phase: Phase::Greeting,
            place: None,
            journey: None,
            asks: BTreeMap::new(),
            abandoned: VecDeque::new(),
            waiting: VecDeque::new(),
            newest_generation: 0,
            last_number: 0,
            last_journey: 0,
            trace: TraceContext::NONE,
            overview,
            told: None,
            flood: Flood::new(now, config.flood),
            vigil: Vigil::new(now),
            effects: Vec::new(),
        }
    }

    /// The next input is a message that is there in its trace.
    pub(crate) fn trace(&mut self, place: TraceContext) {
        self.trace = place;
    }

    /// Takes one input and says what must happen now, in this order.
    pub(crate) fn step(&mut self, now: Instant, input: Input) -> Vec<Effect> {
        if matches!(input, Input::Gone) {
            self.detach();
            self.phase = Phase::Closed;
        }
        if !self.is_closed() {
            let before = self.lobby();
            self.take(now, input);
            self.expire(now);
            self.advance(now);
            self.settle_abandoned(now);
            if self.lobby() != before {
                self.vigil.moved(now, self.connection);
            }
            self.tell_status();
        }
        self.trace = TraceContext::NONE;
        std::mem::take(&mut self.effects)
    }

    /// Whether the socket is to be read on.
    pub(crate) fn reads(&self) -> bool {
        let moving = usize::from(self.journey.is_some());
        !self.is_closed() && self.waiting.len() + self.asks.len() + moving < MAX_WAITING_MESSAGES
    }

    /// When to come back with [`Input::Time`], if nothing else happens.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        if self.is_closed() {
            return None;
        }
        let asks = self
            .asks
            .values()
            .map(|pending| pending.asked_at + ANSWER_WITHIN)
            .min();
        let waiting = self
            .waiting
            .iter()
            .map(|waiting| waiting.came_at + ANSWER_WITHIN)
            .min();
        let journey = self.journey.as_ref().map(|journey| journey.deadline);
        let vigil = self.vigil.deadline(self.is_greeting());
        [asks, waiting, journey, Some(vigil)]
            .into_iter()
            .flatten()
            .min()
    }

    /// The table at which the player is, for logs.
    pub(crate) fn lobby(&self) -> Option<LobbyCode> {
        self.place.as_ref().map(|place| place.code)
    }

    fn take(&mut self, now: Instant, input: Input) {
        match input {
            Input::Message(message) => {
                self.vigil.heard(now);
                self.message(now, message);
            }
            Input::Heard => {
                self.vigil.heard(now);
                self.heard(now);
            }
            Input::Time | Input::Gone => {}
            Input::Entered(result) => self.entered(now, result),
            Input::Renewed { renewal, done } => {
                self.vigil.renewed(now, self.connection, renewal, done);
            }
            Input::Counted { journey, allowed } => self.counted(now, journey, allowed),
            Input::Drawn { journey, drawn } => self.drawn(now, journey, drawn),
            Input::Listed { journey, listing } => self.listed(now, journey, listing),
            Input::Found {
                journey,
                whereabouts,
            } => self.found(now, journey, whereabouts),
            Input::Answer {
                node,
                number,
                outcome,
            } => self.answered(now, &node, number, outcome),
            Input::Unreachable { number, why } => self.unreachable(now, number, why),
            Input::Show(picture) => self.show(picture),
            Input::Parted { node, code, reason } => self.parted(&node, code, reason),
            Input::LinkLost { node } => self.link_lost(now, &node),
            Input::HandedOver { node } => self.lose(&node),
            Input::Overview(overview) => self.overview(now, overview),
            Input::Opened { generation } => self.opened_elsewhere(generation),
            Input::Stop => self.close(CloseCode::Restart),
        }
    }

    /// A ping or a pong counts as a message does: answering one costs as much, and nobody needs many.
    fn heard(&mut self, now: Instant) {
        match self.flood.count(now) {
            Verdict::Pass | Verdict::Drop => {}
            Verdict::DropFirst { retry_after_ms } => self.too_many(None, retry_after_ms),
            Verdict::Ban => self.close(CloseCode::Policy),
        }
    }

    fn too_many(&mut self, reply: Option<String>, retry_after_ms: u32) {
        let message = "too many messages: this one and those that follow too soon are lost";
        self.refuse_until(reply, ErrorCode::RateLimited, message, Some(retry_after_ms));
    }

    /// The order of checks is that of `docs/protocol.md`: shape, rate, then whether there was a
    /// `hello`.
    fn message(&mut self, now: Instant, message: Result<PlayerFrame, Malformed>) {
        let verdict = self.flood.count(now);
        let frame = match message {
            Ok(frame) => frame,
            Err(malformed) => {
                self.refuse(malformed.id, Malformed::CODE, malformed.message);
                if verdict == Verdict::Ban {
                    self.close(CloseCode::Policy);
                }
                return;
            }
        };
        match verdict {
            Verdict::Pass => self.accepted(now, frame),
            Verdict::Drop => {}
            Verdict::DropFirst { retry_after_ms } => self.too_many(frame.id, retry_after_ms),
            Verdict::Ban => self.close(CloseCode::Policy),
        }
    }

    fn accepted(&mut self, now: Instant, frame: PlayerFrame) {
        let PlayerFrame { id, message } = frame;
        let greeting = self.is_greeting();
        match message {
            PlayerMessage::Hello(hello) if greeting => {
                self.effects.push(Effect::Enter {
                    token: hello.token.as_deref().and_then(read),
                });
                self.phase = Phase::Entering { hello, reply: id };
            }
            PlayerMessage::Hello(_) => {
                self.refuse(
                    id,
                    ErrorCode::InvalidMessage,
                    "type: hello was said already",
                );
            }
            _ if greeting => {
                self.refuse(
                    id,
                    ErrorCode::HelloRequired,
                    "say hello before anything else",
                );
            }
            PlayerMessage::Ping(ping) => {
                self.send(ServerMessage::Pong(Pong { nonce: ping.nonce }));
            }
            other => {
                let wish = Wish::of(other);
                self.waiting.push_back(Waiting {
                    came_at: now,
                    reply: id,
                    trace: self.trace,
                    wish,
                });
            }
        }
    }

    /// The registry has said who this is.
    fn entered(&mut self, now: Instant, result: Result<Entered, NotEntered>) {
        let Phase::Entering { hello, reply } = std::mem::replace(&mut self.phase, Phase::Greeting)
        else {
            return;
        };
        if result.as_ref().err() == Some(&NotEntered::Elsewhere) {
            self.unavailable(reply, "players can't be recognised here just now");
            return self.close(CloseCode::Restart);
        }
        if result.as_ref().err() == Some(&NotEntered::Older) {
            return self.taken_over();
        }
        let Ok(entered) = result else {
            self.unavailable(reply, "players can't be recognised just now");
            for waiting in std::mem::take(&mut self.waiting) {
                self.waited_in_vain(waiting, "players can't be recognised just now");
            }
            return;
        };
        if entered.person.generation < self.newest_generation {
            return self.taken_over();
        }
        let level = self.overview.status(None, false).level;
        let welcome = Welcome {
            player_id: entered.person.player.clone(),
            token: entered.token,
            name: entered.name.clone(),
            reconnect_within_ms: self.reconnect_within_ms(level),
        };
        self.phase = Phase::Inside {
            person: entered.person,
            name: entered.name,
        };
        self.vigil.entered(now, self.config.renew_every);
        if !entered.written {
            self.vigil.write_soon(now, self.connection);
        }
        self.effects.push(Effect::Partial(hello.partial));
        self.send(ServerMessage::Welcome(welcome));
        self.tell_status();
        match entered.lobby {
            Some(code) => self.begin(now, None, Goal::returning_to(now, code)),
            None => self.effects.push(Effect::ShowNothing),
        }
    }

    /// The same session has said `hello` somewhere, perhaps later than here.
    fn opened_elsewhere(&mut self, generation: u64) {
        // Before `hello` is answered it is not known yet which of the two is the newer one.
        self.newest_generation = self.newest_generation.max(generation);
        if self
            .person()
            .is_some_and(|person| person.generation < generation)
        {
            self.taken_over();
        }
    }

    fn taken_over(&mut self) {
        self.refuse(
            None,
            ErrorCode::TakenOver,
            "this session was opened in another window",
        );
        self.close(CloseCode::TakenOver);
    }

    fn overview(&mut self, now: Instant, overview: Arc<Overview>) {
        if overview.registry_run != self.overview.registry_run {
            // Another run of Redis may have lost the session.
            self.vigil.write_soon(now, self.connection);
        }
        self.overview = overview;
    }

    /// Does what is due.
    fn expire(&mut self, now: Instant) {
        if self.is_closed() {
            return;
        }
        if self.vigil.is_over(now, self.is_greeting()) {
            return self.close(CloseCode::Idle);
        }
        if self.vigil.take_ping(now) {
            self.effects.push(Effect::Ping);
        }
        if let Some(renewal) = self.vigil.take_renewal(now) {
            self.renew(renewal);
        }
        self.expire_asks(now);
        self.expire_journey(now);
    }

    fn renew(&mut self, renewal: Renewal) {
        let Phase::Inside { person, name } = &self.phase else {
            return;
        };
        // Who is still on the way back to a table has a seat there.
        let returning = self.journey.as_ref().and_then(Journey::returns_to);
        let lobby = self.lobby().or(returning);
        let record = SessionRecord {
            person: person.clone(),
            name: name.clone(),
            lobby,
        };
        self.effects.push(Effect::Renew { renewal, record });
    }

    fn tell_status(&mut self) {
        if !matches!(self.phase, Phase::Inside { .. }) {
            return;
        }
        let node = self.place.as_ref().map(|place| &place.node);
        let mut status = self.overview.status(node, self.is_moving());
        status.reconnect_within_ms = Some(self.reconnect_within_ms(status.level));
        if self.told != Some(status) {
            self.told = Some(status);
            self.send(ServerMessage::ServerStatus(status));
        }
    }

    /// The more the servers have to do, the more slowly their players shall come back.
    fn reconnect_within_ms(&self, level: LoadLevel) -> u32 {
        let factor = match level {
            LoadLevel::Normal => 1,
            LoadLevel::Busy => 2,
            LoadLevel::Overloaded => 4,
        };
        self.config.reconnect_within_ms.saturating_mul(factor)
    }

    /// Tells the nodes that this connection is no more, and forgets what nobody waits for.
    fn detach(&mut self) {
        self.asks.clear();
        self.waiting.clear();
        let asked = self.journey.take().and_then(|journey| journey.asked());
        let abandoned = self.abandoned.drain(..).map(|abandoned| abandoned.place);
        let places = self.place.take().into_iter().chain(asked).chain(abandoned);
        let places: BTreeSet<_> = places.map(|place| (place.node, place.code)).collect();
        for (node, code) in places {
            self.effects.push(Effect::Detach { node, code });
        }
    }

    fn person(&self) -> Option<&Person> {
        match &self.phase {
            Phase::Inside { person, .. } => Some(person),
            _ => None,
        }
    }

    fn is_greeting(&self) -> bool {
        matches!(self.phase, Phase::Greeting)
    }

    fn is_closed(&self) -> bool {
        matches!(self.phase, Phase::Closed)
    }

    fn close(&mut self, code: CloseCode) {
        self.detach();
        self.phase = Phase::Closed;
        self.effects.push(Effect::Close(code));
    }

    fn send(&mut self, message: ServerMessage) {
        self.effects.push(Effect::Send(message));
    }

    fn unavailable(&mut self, reply: Option<String>, message: &str) {
        self.refuse_until(
            reply,
            ErrorCode::Unavailable,
            message,
            Some(UNAVAILABLE_RETRY_MS),
        );
    }

    fn refuse(&mut self, reply: Option<String>, code: ErrorCode, message: impl Into<String>) {
        self.refuse_until(reply, code, message, None);
    }

    fn refuse_until(
        &mut self,
        id: Option<String>,
        code: ErrorCode,
        message: impl Into<String>,
        retry_after_ms: Option<u32>,
    ) {
        let refused = Refused {
            code,
            message: message.into(),
            retry_after_ms,
            id,
        };
        let place = self.trace;
        self.effects.push(Effect::Refuse { refused, place });
    }

    /// Does something that belongs to an earlier message, which is there in its trace.
    fn within<T>(&mut self, place: TraceContext, act: impl FnOnce(&mut Self) -> T) -> T {
        let present = std::mem::replace(&mut self.trace, place);
        let done = act(self);
        self.trace = present;
        done
    }

    /// Of a message that has only waited.
    fn waited_in_vain(&mut self, waiting: Waiting, why: &str) {
        self.within(waiting.trace, |session| {
            session.unavailable(waiting.reply, why);
        });
    }
}

/// A text that is no token is a stranger's.
fn read(token: &str) -> Option<protocol::Token> {
    token.parse().ok()
}
