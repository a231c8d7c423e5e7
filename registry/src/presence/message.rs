//! What processes say to each other over the registry's channels.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::Presence;
use crate::{Incarnation, NodeId, Role};

/// One message on `events`. It only says that something happened; what, is read from the
/// registry, so that messages which come late or twice do no harm.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Message {
    /// I am ready (or: I may have been out of sight).
    Hello(Who),
    /// I leave.
    Goodbye(Farewell),
    /// Something about me has changed.
    Changed(Who),
    /// Operators ask that node to leave.
    Drain {
        /// Which node.
        id: NodeId,
    },
    /// A player has connected.
    Session {
        /// Who.
        player_id: String,
        /// The connection that stays.
        generation: u64,
    },
}

/// Who says it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Who {
    pub(crate) id: NodeId,
    pub(crate) role: Role,
    pub(crate) incarnation: Incarnation,
    /// Which revision of what it says is meant, where the back end counts them: whoever has read
    /// that one need not read again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) revision: Option<String>,
}

/// The last that is heard of a run. What it says of itself comes along, since nothing can be read of it afterwards: a
/// node that drains gives its last lobbies away moments before it leaves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Farewell {
    #[serde(flatten)]
    pub(crate) who: Who,
    #[serde(
        default,
        deserialize_with = "if_readable",
        skip_serializing_if = "Option::is_none"
    )]
    pub(crate) last: Option<Box<Presence>>,
}

impl From<&Presence> for Farewell {
    fn from(presence: &Presence) -> Self {
        Self {
            who: Who::from(presence),
            last: Some(Box::new(presence.clone())),
        }
    }
}

/// None where another version says of itself what is not known here: the goodbye counts all the same.
fn if_readable<'de, D: Deserializer<'de>>(input: D) -> Result<Option<Box<Presence>>, D::Error> {
    let value = Value::deserialize(input)?;
    Ok(serde_json::from_value(value).ok())
}

impl From<&Presence> for Who {
    fn from(presence: &Presence) -> Self {
        Self {
            id: presence.id.clone(),
            role: presence.role.clone(),
            incarnation: presence.incarnation,
            revision: None,
        }
    }
}

/// What comes over a subscription.
#[derive(Clone, Debug)]
pub(crate) enum Heard {
    Message(Message),
    /// The own probe: messages still get through.
    Probe,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::presence::tests::presence;

    #[test]
    fn messages_look_as_documented() {
        let hello = Message::Hello(Who::from(&presence("game-1", 0, 1)));
        assert_eq!(
            serde_json::to_string(&hello).expect("plain data"),
            r#"{"type":"hello","id":"game-1","role":"game","incarnation":"00000000-0000-0000-0000-000000000000"}"#
        );
        let session = Message::Session {
            player_id: "0123456789ab".into(),
            generation: 7,
        };
        assert_eq!(
            serde_json::to_string(&session).expect("plain data"),
            r#"{"type":"session","player_id":"0123456789ab","generation":7}"#
        );
        serde_json::from_str::<Message>(r#"{"type":"drain","id":"a b"}"#).expect_err("a bad id");
    }

    #[test]
    fn a_goodbye_counts_whatever_is_said_with_it() {
        let mut leaves = presence("game-1", 0, 1);
        leaves.handed_over = 34;
        let goodbye = Message::Goodbye(Farewell::from(&leaves));
        let text = serde_json::to_string(&goodbye).expect("plain data");
        let read = |text: &str| match serde_json::from_str(text).expect("a goodbye") {
            Message::Goodbye(farewell) => farewell,
            other => panic!("{other:?}"),
        };
        assert_eq!(read(&text).last.as_deref(), Some(&leaves));
        let later = text.replace(r#""state":"starting""#, r#""state":"dozing""#);
        assert_ne!(later, text);
        let bare = serde_json::to_string(&Who::from(&leaves)).expect("plain data");
        let bare = bare.replacen('{', r#"{"type":"goodbye","#, 1);
        for text in [later, bare] {
            assert_eq!(
                (read(&text).who, read(&text).last),
                (Who::from(&leaves), None)
            );
        }
    }
}
