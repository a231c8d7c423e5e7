//! What a player's program may send.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use rules::wire::{word, word_or_none};
use rules::{Action, OptionsPatch};
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::code::ErrorCode;
use crate::id::{LobbyCode, PlayerId};
use crate::limit::MAX_ID_CHARS;
use crate::lobby::{AiLevel, Reaction};
use crate::name::PlayerName;

/// One frame of a player: a message, and the `id` by which its error is told apart.
#[derive(Debug, Clone, PartialEq)]
pub struct PlayerFrame {
    /// Repeated in the message's `error`; up to [`MAX_ID_CHARS`] characters.
    pub id: Option<String>,
    /// What the player wants.
    pub message: PlayerMessage,
}

/// Everything a player can say, by its `type`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum PlayerMessage {
    /// First of all: who this is.
    Hello(Hello),
    /// A lobby of one's own.
    CreateLobby(Named),
    /// A seat in somebody's lobby.
    JoinLobby(JoinLobby),
    /// A seat in any public lobby.
    QuickPlay(Named),
    /// To see a lobby without a seat.
    WatchLobby(WatchLobby),
    /// To give up the seat, or stop watching.
    LeaveLobby,
    /// An AI on the next free seat.
    AddAi(AddAi),
    /// Takes somebody's seat away before the game.
    RemovePlayer(OtherPlayer),
    /// How the next game is played.
    SetOptions(SetOptions),
    /// Deals the first round.
    StartGame,
    /// A move.
    Action(Act),
    /// Gives the seat of somebody who is away to an AI.
    ReplacePlayer(OtherPlayer),
    /// A short sign to the table.
    React(React),
    /// Back to the lobby after the game.
    ReturnToLobby,
    /// Asks for a `pong`.
    Ping(Ping),
}

/// Opens a connection; everything before it is refused.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Hello {
    /// What an earlier `welcome` gave, or null. A text that is no token counts as an unknown one: a stranger's.
    #[serde(deserialize_with = "present")]
    pub token: Option<String>,
    /// Whether a `state` may leave out what has not changed.
    #[serde(default, deserialize_with = "true_or_not")]
    pub partial: bool,
}

/// Hides the token: whatever is logged of a message, nobody comes back with it.
impl fmt::Debug for Hello {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let token = self.token.as_ref().map(|_| "hidden");
        formatter
            .debug_struct("Hello")
            .field("token", &token)
            .field("partial", &self.partial)
            .finish()
    }
}

/// `create_lobby` and `quick_play`: who sits down.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Named {
    /// What the player wants to be called.
    pub name: PlayerName,
}

/// Asks for a seat.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct JoinLobby {
    /// The lobby's six letters.
    pub code: LobbyCode,
    /// What the player wants to be called.
    pub name: PlayerName,
}

/// Asks to see a lobby.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct WatchLobby {
    /// The lobby's six letters.
    pub code: LobbyCode,
}

/// Adds an AI seat.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct AddAi {
    /// How well it plays.
    #[serde(default, deserialize_with = "level_or_default")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<AiLevel>"))]
    pub level: AiLevel,
}

/// Names another player of the lobby.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct OtherPlayer {
    /// Their id.
    pub player_id: PlayerId,
}

/// Changes some options; those left out stay as they are.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SetOptions {
    /// Options of the game.
    #[serde(flatten)]
    pub options: OptionsPatch,
    /// Whether `quick_play` may bring strangers here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub public: Option<bool>,
}

/// A move of the game.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Act {
    /// The move, as `legal_actions` spelled it.
    #[serde(deserialize_with = "object")]
    pub action: Action,
    /// The observation's `turn` that it answers: with it, a move that is sent twice is played once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub turn: Option<u32>,
}

/// A sign to the table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct React {
    /// Which one.
    #[serde(deserialize_with = "word")]
    pub reaction: Reaction,
}

/// Asks for a `pong` with the same `nonce`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Ping {
    /// Up to [`MAX_ID_CHARS`] characters.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "short_text"
    )]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub nonce: Option<String>,
}

/// A frame that is no message: always `invalid_message`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Malformed {
    /// The frame's `id`, where that much could be read.
    pub id: Option<String>,
    /// English, for people: names the field and what is wrong with it.
    pub message: String,
}

/// Shown of a [`Malformed::message`] at its beginning, in characters: the field, and what was there.
const HEAD_CHARS: usize = 100;
/// Likewise at its end: what should have been there, be it all the words that a field knows.
const TAIL_CHARS: usize = 160;

impl Malformed {
    /// The code it is answered with.
    pub const CODE: ErrorCode = ErrorCode::InvalidMessage;

    /// What was sent is repeated in part only: an answer must not be as long as the longest frame.
    fn new(id: Option<String>, message: &str) -> Self {
        let chars = message.chars().count();
        let message = if chars <= HEAD_CHARS + TAIL_CHARS {
            message.to_owned()
        } else {
            let head = message.chars().take(HEAD_CHARS);
            let tail = message.chars().skip(chars - TAIL_CHARS);
            head.chain(['…']).chain(tail).collect()
        };
        Self { id, message }
    }
}

impl PlayerFrame {
    /// Reads one text frame. Unknown fields are ignored.
    ///
    /// # Errors
    /// [`Malformed`] if the text is not one JSON object of a known `type` whose fields are all there and well formed.
    pub fn parse(text: &str) -> Result<Self, Malformed> {
        // Serde would read the fields of a list by their order.
        if !text.trim_ascii_start().starts_with('{') {
            return Err(Malformed::new(None, "not a JSON object with a type"));
        }
        let head: Head = serde_json::from_str(text).map_err(|error| {
            Malformed::new(None, &format!("not a JSON object with a type: {error}"))
        })?;
        let id = match head.id {
            None | Some(serde_json::Value::Null) => None,
            Some(serde_json::Value::String(id)) if id.chars().count() <= MAX_ID_CHARS => Some(id),
            Some(_) => {
                let message = format!("id: must be a string of up to {MAX_ID_CHARS} characters");
                return Err(Malformed::new(None, &message));
            }
        };
        match read_message(&head.kind, text) {
            Ok(message) => Ok(Self { id, message }),
            Err(message) => Err(Malformed::new(id, &message)),
        }
    }
}

#[derive(Deserialize)]
struct Head<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    id: Option<serde_json::Value>,
}

/// Two passes over the text, where serde's own enum by tag would take one: only so does an error name its field.
fn read_message(kind: &str, text: &str) -> Result<PlayerMessage, String> {
    Ok(match kind {
        "hello" => PlayerMessage::Hello(fields(text)?),
        "create_lobby" => PlayerMessage::CreateLobby(fields(text)?),
        "join_lobby" => PlayerMessage::JoinLobby(fields(text)?),
        "quick_play" => PlayerMessage::QuickPlay(fields(text)?),
        "watch_lobby" => PlayerMessage::WatchLobby(fields(text)?),
        "leave_lobby" => PlayerMessage::LeaveLobby,
        "add_ai" => PlayerMessage::AddAi(fields(text)?),
        "remove_player" => PlayerMessage::RemovePlayer(fields(text)?),
        "set_options" => PlayerMessage::SetOptions(fields(text)?),
        "start_game" => PlayerMessage::StartGame,
        "action" => PlayerMessage::Action(fields(text)?),
        "replace_player" => PlayerMessage::ReplacePlayer(fields(text)?),
        "react" => PlayerMessage::React(fields(text)?),
        "return_to_lobby" => PlayerMessage::ReturnToLobby,
        "ping" => PlayerMessage::Ping(fields(text)?),
        unknown => {
            let shown: String = unknown.chars().take(MAX_ID_CHARS).collect();
            return Err(format!("type: there is no message {shown:?}"));
        }
    })
}

fn fields<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_json::from_str(text).or_else(|_| fields_by_name(text))
}

/// Again, for the name of the field that is wrong: keeping the path to each costs as much as reading it.
fn fields_by_name<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    let mut json = serde_json::Deserializer::from_str(text);
    serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let path = error.path().to_string();
        let reason = without_position(&error.into_inner());
        if path == "." {
            reason
        } else {
            format!("{path}: {reason}")
        }
    })
}

/// The position in the text helps nobody who wrote an object and not a text.
fn without_position(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rfind(" at line ") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}

/// Serde would read the fields of a list by their order.
fn object<'de, D: Deserializer<'de>, T: Deserialize<'de>>(json: D) -> Result<T, D::Error> {
    struct Object<T>(PhantomData<T>);
    impl<'de, T: Deserialize<'de>> Visitor<'de> for Object<T> {
        type Value = T;

        fn expecting(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
            text.write_str("an object")
        }

        fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<T, M::Error> {
            T::deserialize(MapAccessDeserializer::new(map))
        }
    }
    json.deserialize_map(Object(PhantomData))
}

/// Null is a value here, a missing field is an error.
fn present<'de, D: Deserializer<'de>>(json: D) -> Result<Option<String>, D::Error> {
    Option::deserialize(json)
}

/// Null for an optional field is the same as leaving it out.
fn level_or_default<'de, D: Deserializer<'de>>(json: D) -> Result<AiLevel, D::Error> {
    word_or_none(json).map(Option::unwrap_or_default)
}

/// Likewise.
fn true_or_not<'de, D: Deserializer<'de>>(json: D) -> Result<bool, D::Error> {
    Option::deserialize(json).map(Option::unwrap_or_default)
}

fn short_text<'de, D: Deserializer<'de>>(json: D) -> Result<Option<String>, D::Error> {
    let text: Option<String> = Option::deserialize(json)?;
    match text {
        Some(text) if text.chars().count() > MAX_ID_CHARS => Err(serde::de::Error::custom(
            format!("must be a string of up to {MAX_ID_CHARS} characters"),
        )),
        other => Ok(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        PlayerFrame::parse(text).expect_err(text).message
    }

    #[test]
    fn unknown_fields_are_ignored_and_the_id_is_kept() {
        let frame = PlayerFrame::parse(
            r#"{"type":"join_lobby","id":"7","code":"abcd23","name":" Ada ","x":[1]}"#,
        );
        let frame = frame.unwrap();
        assert_eq!(frame.id.as_deref(), Some("7"));
        let PlayerMessage::JoinLobby(join) = frame.message else {
            panic!("a join")
        };
        assert_eq!((join.code.as_str(), join.name.as_str()), ("ABCD23", "Ada"));
    }

    #[test]
    fn null_for_an_optional_field_leaves_it_out() {
        for (with_null, without) in [
            (
                r#"{"type":"hello","token":null,"partial":null,"id":null}"#,
                r#"{"type":"hello","token":null}"#,
            ),
            (r#"{"type":"add_ai","level":null}"#, r#"{"type":"add_ai"}"#),
            (
                r#"{"type":"set_options","hidden_bids":null,"bid_rule":null,"length":null,"public":null}"#,
                r#"{"type":"set_options"}"#,
            ),
            (
                r#"{"type":"action","action":{"type":"bid","value":1},"turn":null}"#,
                r#"{"type":"action","action":{"type":"bid","value":1}}"#,
            ),
            (r#"{"type":"ping","nonce":null}"#, r#"{"type":"ping"}"#),
        ] {
            assert_eq!(
                PlayerFrame::parse(with_null),
                PlayerFrame::parse(without),
                "{with_null}"
            );
            assert!(PlayerFrame::parse(with_null).is_ok(), "{with_null}");
        }
    }

    #[test]
    fn a_field_of_another_shape_is_malformed_also_where_serde_would_take_it() {
        for text in [
            r#"["leave_lobby",null]"#,
            r#" ["start_game","x"]"#,
            r#"{"type":"action","action":["bid",2]}"#,
            r#"{"type":"action","action":["play","R13"]}"#,
            r#"{"type":"action","action":{"type":"choose_trump","suit":{"red":null}}}"#,
            r#"{"type":"add_ai","level":{"hard":null}}"#,
            r#"{"type":"react","reaction":{"laugh":null}}"#,
            r#"{"type":"set_options","bid_rule":{"hook":null}}"#,
            r#"{"type":"set_options","length":{"short":null}}"#,
        ] {
            assert!(PlayerFrame::parse(text).is_err(), "{text}");
        }
        let indented = "\n\t {\"type\":\"leave_lobby\"}\r\n";
        assert!(PlayerFrame::parse(indented).is_ok());
    }

    #[test]
    fn an_error_repeats_little_of_what_was_sent() {
        let long = "x".repeat(60_000);
        for (text, begins, ends) in [
            (
                format!(r#"{{"type":"hello","token":null,"partial":"{long}"}}"#),
                "partial: invalid type: string \"xxx",
                "xxx\", expected a boolean",
            ),
            (
                format!(r#"{{"type":"react","reaction":"{long}"}}"#),
                "reaction: unknown variant `xxx",
                "`, `thanks`, `hello`",
            ),
            (
                format!(r#"{{"type":"action","action":{{"type":"{long}"}}}}"#),
                "action.type: unknown variant `xxx",
                "expected one of `choose_trump`, `bid`, `play`",
            ),
            (
                format!(r#"{{"type":"{long}"}}"#),
                "type: there is no message \"xxx",
                "xxx\"",
            ),
        ] {
            let message = refused(&text);
            assert!(message.starts_with(begins), "{message}");
            assert!(message.ends_with(ends), "{message}");
            assert!(message.chars().count() < 300, "{message}");
        }
    }

    #[test]
    fn an_error_names_the_field_and_the_reason() {
        for (text, expected) in [
            (
                r#"{"type":"join_lobby","name":"Ada"}"#,
                "missing field `code`",
            ),
            (
                r#"{"type":"join_lobby","name":5,"code":"ABCD23"}"#,
                "name: invalid type: integer `5`",
            ),
            (
                r#"{"type":"join_lobby","name":"Ada","code":"ABC"}"#,
                "code: a lobby code is six letters",
            ),
            (
                r#"{"type":"create_lobby","name":"   "}"#,
                "name: a name needs at least one",
            ),
            (r#"{"type":"hello"}"#, "missing field `token`"),
            (r#"{"type":"action","action":{"type":"fold"}}"#, "action"),
            (
                r#"{"type":"react","reaction":"cheer"}"#,
                "reaction: unknown variant `cheer`",
            ),
            (r#"{"type":"dance"}"#, "type: there is no message \"dance\""),
            (r#"{"type":5}"#, "not a JSON object with a type"),
            (r#"{"id":"1"}"#, "missing field `type`"),
            ("[]", "not a JSON object"),
            ("nonsense", "not a JSON object"),
            (r#"{"type":"ping","id":5}"#, "id: must be a string"),
        ] {
            let message = refused(text);
            assert!(message.contains(expected), "{text}: {message}");
        }
    }

    #[test]
    fn a_message_hides_its_token_in_debug() {
        let frame = PlayerFrame::parse(r#"{"type":"hello","token":"my-own-secret"}"#).unwrap();
        assert!(!format!("{frame:?}").contains("my-own-secret"));
    }

    #[test]
    fn a_malformed_message_keeps_its_id() {
        let malformed = PlayerFrame::parse(r#"{"type":"join_lobby","id":"a"}"#).unwrap_err();
        assert_eq!(malformed.id.as_deref(), Some("a"));
    }

    #[test]
    fn ids_and_nonces_are_bounded() {
        let long = "x".repeat(MAX_ID_CHARS + 1);
        assert!(refused(&format!(r#"{{"type":"ping","nonce":"{long}"}}"#)).starts_with("nonce: "));
        assert!(refused(&format!(r#"{{"type":"ping","id":"{long}"}}"#)).starts_with("id: "));
        let just = "é".repeat(MAX_ID_CHARS);
        assert!(
            PlayerFrame::parse(&format!(
                r#"{{"type":"ping","nonce":"{just}","id":"{just}"}}"#
            ))
            .is_ok()
        );
    }
}
