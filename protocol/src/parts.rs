//! A `state` in pieces: each is serialised once by the game node, however many players see it, and put together by the
//! gateway, which never parses one.

use bytes::Bytes;
use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::limit::MAX_EVENTS;

/// A finished piece of JSON. On a link it travels as bytes; in a human-readable format as a string.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fragment(Bytes);

impl Fragment {
    /// Serialises a value.
    pub fn of(value: &impl Serialize) -> Self {
        Self(
            serde_json::to_vec(value)
                .expect("our types have string keys and finite numbers")
                .into(),
        )
    }

    /// The JSON text.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// An object's members without the braces around them.
    fn members(&self) -> &[u8] {
        match self.0.as_ref() {
            [b'{', members @ .., b'}'] => members,
            _ => &[],
        }
    }
}

impl Serialize for Fragment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            let text = std::str::from_utf8(&self.0).map_err(serde::ser::Error::custom)?;
            serializer.serialize_str(text)
        } else {
            serializer.serialize_bytes(&self.0)
        }
    }
}

impl<'de> Deserialize<'de> for Fragment {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_byte_buf(FragmentVisitor)
    }
}

struct FragmentVisitor;

impl Visitor<'_> for FragmentVisitor {
    type Value = Fragment;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a piece of JSON")
    }

    fn visit_bytes<E: serde::de::Error>(self, bytes: &[u8]) -> Result<Fragment, E> {
        // The gateway sends it on as text: that much it has to know.
        std::str::from_utf8(bytes).map_err(E::custom)?;
        Ok(Fragment(Bytes::copy_from_slice(bytes)))
    }

    fn visit_byte_buf<E: serde::de::Error>(self, bytes: Vec<u8>) -> Result<Fragment, E> {
        std::str::from_utf8(&bytes).map_err(E::custom)?;
        Ok(Fragment(bytes.into()))
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Fragment, E> {
        Ok(Fragment(Bytes::copy_from_slice(text.as_bytes())))
    }
}

/// The pieces of a `state` that everybody at the table shares.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SharedParts {
    /// The state's number.
    pub seq: u64,
    /// A [`crate::lobby::LobbyView`].
    pub lobby: Fragment,
    /// The game's pieces; none before it has begun.
    pub game: Option<GameParts>,
}

/// The pieces of the game that everybody shares.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GameParts {
    /// An object with `deal_commitment` and `seed`.
    pub deal: Fragment,
    /// An object with the public members of the observation, `deadline_ms` among them.
    pub table: Fragment,
    /// The array of finished rounds.
    pub sheet: Fragment,
    /// The last trick, or null.
    pub last_trick: Fragment,
}

/// The piece that one seat sees, or every spectator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OwnPart {
    /// An object with `you`.
    pub you: Fragment,
    /// An object with the observation's members that only this seat sees.
    pub own: Fragment,
}

/// What a connection was last sent of the parts that change seldom; whoever asked for partial states gets them only anew.
#[derive(Debug, Clone, Default)]
pub struct LastSent {
    lobby: Option<Fragment>,
    sheet: Option<Fragment>,
    last_trick: Option<Fragment>,
}

/// Events that wait to be shown, oldest first; the oldest make room when there are more than [`MAX_EVENTS`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WaitingEvents(Vec<Fragment>);

impl WaitingEvents {
    /// Adds what happened after.
    pub fn append(&mut self, events: &[Fragment]) {
        self.0.extend_from_slice(events);
        let surplus = self.0.len().saturating_sub(MAX_EVENTS);
        self.0.drain(..surplus);
    }

    /// The events that wait.
    pub fn as_slice(&self) -> &[Fragment] {
        &self.0
    }
}

/// Puts a `state` together in full.
///
/// `own` is what the receiver alone sees; it is none exactly where `shared.game` is.
pub fn full_state(shared: &SharedParts, own: Option<&OwnPart>, events: &WaitingEvents) -> Vec<u8> {
    let mut json = Vec::new();
    write_state(&mut json, shared, own, events, None);
    json
}

/// Writes a `state` after what is there, so that it need not be copied to where it is sent from.
///
/// With `last_sent` it leaves out the parts that this connection has already, and remembers what it now has.
pub fn write_state(
    json: &mut Vec<u8>,
    shared: &SharedParts,
    own: Option<&OwnPart>,
    events: &WaitingEvents,
    mut last_sent: Option<&mut LastSent>,
) {
    json.extend_from_slice(br#"{"type":"state","seq":"#);
    json.extend_from_slice(shared.seq.to_string().as_bytes());
    if is_news(
        last_sent.as_deref_mut().map(|last| &mut last.lobby),
        &shared.lobby,
    ) {
        member(json, "lobby", shared.lobby.as_bytes());
    }
    if let (Some(game), Some(own)) = (&shared.game, own) {
        write_game(json, game, own, last_sent);
    } else {
        // A client that had a game forgets it here, its sheet included.
        if let Some(last) = last_sent {
            last.sheet = None;
            last.last_trick = None;
        }
        member(json, "game", b"null");
    }
    json.extend_from_slice(br#","events":["#);
    for (place, event) in events.as_slice().iter().enumerate() {
        if place > 0 {
            json.push(b',');
        }
        json.extend_from_slice(event.as_bytes());
    }
    json.extend_from_slice(b"]}");
}

/// The `state` of somebody who is at no table.
pub fn empty_state() -> Vec<u8> {
    serde_json::to_vec(&crate::server::ServerMessage::State(Box::new(
        crate::server::State::empty(),
    )))
    .expect("an empty state is plain JSON")
}

fn write_game(
    json: &mut Vec<u8>,
    game: &GameParts,
    own: &OwnPart,
    mut last_sent: Option<&mut LastSent>,
) {
    json.extend_from_slice(br#","game":{"#);
    json.extend_from_slice(own.you.members());
    json.push(b',');
    json.extend_from_slice(game.deal.members());
    json.extend_from_slice(br#","observation":{"#);
    json.extend_from_slice(game.table.members());
    if is_news(
        last_sent.as_deref_mut().map(|last| &mut last.sheet),
        &game.sheet,
    ) {
        member(json, "sheet", game.sheet.as_bytes());
    }
    if is_news(last_sent.map(|last| &mut last.last_trick), &game.last_trick) {
        member(json, "last_trick", game.last_trick.as_bytes());
    }
    json.push(b',');
    json.extend_from_slice(own.own.members());
    json.extend_from_slice(b"}}");
}

fn member(json: &mut Vec<u8>, name: &str, value: &[u8]) {
    json.extend_from_slice(b",\"");
    json.extend_from_slice(name.as_bytes());
    json.extend_from_slice(b"\":");
    json.extend_from_slice(value);
}

/// Whether this differs from what was last sent, which it is from now on; where nothing is remembered everything is news.
fn is_news(last: Option<&mut Option<Fragment>>, now: &Fragment) -> bool {
    let Some(last) = last else {
        return true;
    };
    if last.as_ref() == Some(now) {
        return false;
    }
    *last = Some(now.clone());
    true
}
