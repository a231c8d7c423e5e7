//! Every message between processes and with players, the codes they carry and the limits they keep.
//!
//! The text of the contract is `docs/protocol.md`; `golden/` holds one JSON file a message, read by the tests here and by
//! the web client's. This crate does no I/O and knows nothing of connections: it says what may be sent, and refuses what
//! may not.
//!
//! * [`player`]: from a player to the gateway. [`server`]: from the gateway to a player.
//! * [`link`]: between a gateway and a game node. [`decide`]: between a game node and an AI node.
//! * [`version`]: how processes of two versions talk.
//! * [`parts`]: a `state` in pieces, each serialised once however many see it.

pub mod code;
pub mod decide;
pub mod event;
pub mod frame;
pub mod id;
pub mod limit;
pub mod link;
pub mod lobby;
pub mod name;
pub mod parts;
pub mod player;
pub mod role;
pub mod server;
pub mod trace;
pub mod version;

#[cfg(test)]
mod golden;
#[cfg(test)]
#[cfg(feature = "typescript")]
mod typescript;

pub use code::{CloseCode, ErrorCode};
pub use event::Event;
pub use id::{ConnectionId, LobbyCode, PlayerId, Token, TokenHash};
pub use name::PlayerName;
pub use trace::TraceParent;
