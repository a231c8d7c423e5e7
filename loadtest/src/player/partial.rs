//! Makes partial states whole again, as a client does that asked for them.

use protocol::server::ServerMessage;
use serde_json::{Map, Value};

/// What was last sent of the parts that a state may leave out.
#[derive(Default)]
pub(super) struct Whole {
    lobby: Value,
    sheet: Value,
    last_trick: Value,
}

impl Whole {
    pub(super) fn read(&mut self, text: &str) -> serde_json::Result<ServerMessage> {
        let mut message: Value = serde_json::from_str(text)?;
        if message["type"] == "state"
            && let Value::Object(state) = &mut message
        {
            complete(state, "lobby", &mut self.lobby);
            let observation = state
                .get_mut("game")
                .and_then(|game| game.get_mut("observation"));
            if let Some(Value::Object(observation)) = observation {
                complete(observation, "sheet", &mut self.sheet);
                complete(observation, "last_trick", &mut self.last_trick);
            }
        }
        serde_json::from_value(message)
    }
}

/// A missing key: as before; null stays a value.
fn complete(object: &mut Map<String, Value>, key: &str, last: &mut Value) {
    match object.get(key) {
        Some(value) => last.clone_from(value),
        None => {
            object.insert(key.to_owned(), last.clone());
        }
    }
}
