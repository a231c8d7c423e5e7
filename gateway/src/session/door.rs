//! What goes into a session and what comes out.

use std::sync::Arc;
use std::time::Instant;

use chassis::trace::TraceContext;
use protocol::link::{Ask, Outcome, Parting, Person};
use protocol::player::{Malformed, PlayerFrame};
use protocol::server::{Refused, ServerMessage};
use protocol::{CloseCode, LobbyCode, PlayerName, Token, TokenHash};
use registry::NodeId;

use super::vigil::Renewal;
use crate::gathering::{Listing, Turn};
use crate::links::NotSent;
use crate::outbox::Picture;
use crate::status::Overview;

/// What a session is told.
#[derive(Debug)]
pub(crate) enum Input {
    /// A frame of the player.
    Message(Result<PlayerFrame, Malformed>),
    /// Another sign of life, e.g. an answered ping.
    Heard,
    /// A deadline may have passed.
    Time,
    /// The socket is closed.
    Gone,
    /// The gateway stops.
    Stop,
    /// Answers [`Effect::Enter`].
    Entered(Result<Entered, NotEntered>),
    /// Answers [`Effect::Renew`].
    Renewed { renewal: Renewal, done: bool },
    /// Answers [`Effect::CountCreate`].
    Counted { journey: u64, allowed: bool },
    /// Answers [`Effect::Draw`].
    Drawn {
        journey: u64,
        drawn: Result<Drawn, NoNode>,
    },
    /// Answers [`Effect::ListPublic`].
    Listed {
        journey: u64,
        listing: Result<Listing, RegistryAway>,
    },
    /// Answers [`Effect::Find`].
    Found {
        journey: u64,
        whereabouts: Whereabouts,
    },
    /// Answers [`Effect::Ask`]: that node has spoken.
    Answer {
        node: NodeId,
        number: u64,
        outcome: Outcome,
    },
    /// Answers [`Effect::Ask`]: the node was not told.
    Unreachable { number: u64, why: NotSent },
    /// A new picture of a table.
    Show(Picture),
    /// The player is at that table of that node no longer.
    Parted {
        node: NodeId,
        code: LobbyCode,
        reason: Parting,
    },
    /// The link to that node is down.
    LinkLost { node: NodeId },
    /// That node shows some or all of its lobbies no more, and wants others to take them.
    HandedOver { node: NodeId },
    /// The servers do otherwise than before.
    Overview(Arc<Overview>),
    /// This player has said `hello` with this generation, here or elsewhere.
    Opened { generation: u64 },
}

/// What the driver does for a session.
#[derive(Debug)]
pub(crate) enum Effect {
    /// To the player.
    Send(ServerMessage),
    /// To the player: what they asked for there in its trace is not done.
    Refuse {
        refused: Refused,
        place: TraceContext,
    },
    /// To the player: a table.
    Show(Picture),
    /// To the player: no table.
    ShowNothing,
    /// Whether states may leave out what has not changed.
    Partial(bool),
    /// A WebSocket ping.
    Ping,
    /// The last effect of all but [`Effect::Detach`].
    Close(CloseCode),
    /// Recognises a player, or makes a new one.
    Enter { token: Option<Token> },
    /// Does what is due for the player's session.
    Renew {
        renewal: Renewal,
        record: SessionRecord,
    },
    /// Writes that the player's session does not name that lobby any more.
    ForgetLobby { token: TokenHash, code: LobbyCode },
    /// Counts a creation by this connection's address.
    CountCreate { journey: u64 },
    /// Draws a code and a node for a new lobby.
    Draw { journey: u64 },
    /// Asks for public lobbies that were not tried yet, or for the turn to make one.
    ListPublic { journey: u64, tried: Vec<LobbyCode> },
    /// A public lobby was made: whoever waits for it finds it.
    Gathered { code: LobbyCode, turn: Option<Turn> },
    /// Asks who owns a code; `home`: it is the player's table, so that it is missed if it is not
    /// found; `fresh`: what was found before is wrong. `shown` is the newest picture of it that the
    /// player has seen. Nobody waits for the answer after `until`.
    Find {
        journey: u64,
        code: LobbyCode,
        home: bool,
        fresh: bool,
        shown: (u64, u64),
        until: Instant,
    },
    /// Sends to a node.
    Ask { node: NodeId, ask: Ask },
    /// Tells a node that this connection is no more.
    Detach { node: NodeId, code: LobbyCode },
}

/// A player whom the registry knows now.
#[derive(Debug)]
pub(crate) struct Entered {
    pub(crate) person: Person,
    pub(crate) token: Token,
    pub(crate) name: Option<PlayerName>,
    /// Where they sat or watched last.
    pub(crate) lobby: Option<LobbyCode>,
    /// Whether the registry has all this; if not, it is written soon.
    pub(crate) written: bool,
}

/// What is written of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SessionRecord {
    pub(crate) person: Person,
    pub(crate) name: Option<PlayerName>,
    pub(crate) lobby: Option<LobbyCode>,
}

/// Why a player was not recognised, and did not become a new one either.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotEntered {
    /// Whoever may know them does not answer just now.
    Unavailable,
    /// The owner of their table knows of a connection that seems newer than this one: they shall
    /// come through another gateway.
    Elsewhere,
    /// Another connection of theirs has come since, and been let in.
    Older,
}

/// The registry did not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RegistryAway;

/// A new lobby's code, life and node.
#[derive(Clone, Debug)]
pub(crate) struct Drawn {
    pub(crate) code: LobbyCode,
    /// 16 hexadecimal digits.
    pub(crate) born: String,
    pub(crate) node: NodeId,
}

/// Why a new lobby has no node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoNode {
    /// None takes new games.
    Busy,
    /// The registry is away: nothing new can be saved.
    Unavailable,
}

/// Who owns a lobby.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Whereabouts {
    /// This node; where it has said so itself just now, at this epoch.
    At { node: NodeId, epoch: Option<u64> },
    /// There is no such lobby.
    Unknown,
    /// Nobody just now, or the registry doesn't answer.
    Unavailable,
    /// A node that lives, but that this gateway can't reach: others can.
    Alone,
}
