//! One golden file a message, in `protocol/golden/<direction>/<message>.json`: what is written must read as it was, and what
//! is read must write as it was. The web client's tests read the same files.
//!
//! `GOLDEN=write cargo test -p protocol golden` writes them anew after a message has gained a field.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::path::PathBuf;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::player::{PlayerFrame, PlayerMessage};
use crate::server::ServerMessage;
use crate::{decide, frame, link};

mod samples;
mod versions;

fn path(direction: &str, name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("golden")
        .join(direction)
        .join(format!("{name}.json"))
}

/// Compares with the golden file, and gives its text back.
fn golden(direction: &str, name: &str, message: &impl Serialize) -> String {
    let path = path(direction, name);
    let written = serde_json::to_value(message).unwrap();
    if std::env::var_os("GOLDEN").is_some_and(|mode| mode == "write") {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(
            &path,
            format!("{}\n", serde_json::to_string_pretty(&written).unwrap()),
        )
        .unwrap();
    }
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let kept: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        written, kept,
        "{direction}/{name} is not what its golden file says"
    );
    text
}

/// No file without a message, no message without a file.
fn complete(direction: &str, names: &[&str]) {
    let folder = path(direction, "x");
    let files: BTreeSet<String> = std::fs::read_dir(folder.parent().unwrap())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let expected: BTreeSet<String> = names.iter().map(|name| format!("{name}.json")).collect();
    assert_eq!(files, expected, "{direction}");
}

fn check_link<T>(direction: &str, samples: &[(&'static str, T)])
where
    T: Serialize + DeserializeOwned + PartialEq + Debug,
{
    for (name, message) in samples {
        let text = golden(direction, name, message);
        assert_eq!(
            serde_json::from_str::<T>(&text).unwrap(),
            *message,
            "{direction}/{name} as JSON"
        );
        let bytes = frame::encode(message);
        assert_eq!(
            frame::decode::<T>(&bytes).unwrap(),
            *message,
            "{direction}/{name} as a frame"
        );
    }
    complete(
        direction,
        &samples.iter().map(|(name, _)| *name).collect::<Vec<_>>(),
    );
}

#[test]
fn messages_of_a_player() {
    let samples = samples::player();
    for (name, message) in &samples {
        let text = golden("player", name, message);
        assert_eq!(
            PlayerFrame::parse(&text).unwrap().message,
            *message,
            "{name}"
        );
        let kind = serde_json::to_value(message).unwrap()["type"].clone();
        assert!(
            name.starts_with(kind.as_str().unwrap()),
            "{name} holds a {kind}"
        );
        assert_known(message);
    }
    complete(
        "player",
        &samples.iter().map(|(name, _)| *name).collect::<Vec<_>>(),
    );
}

/// A new message does not compile here: give it a golden file.
fn assert_known(message: &PlayerMessage) {
    match message {
        PlayerMessage::Hello(_)
        | PlayerMessage::CreateLobby(_)
        | PlayerMessage::JoinLobby(_)
        | PlayerMessage::QuickPlay(_)
        | PlayerMessage::WatchLobby(_)
        | PlayerMessage::LeaveLobby
        | PlayerMessage::AddAi(_)
        | PlayerMessage::RemovePlayer(_)
        | PlayerMessage::SetOptions(_)
        | PlayerMessage::StartGame
        | PlayerMessage::Action(_)
        | PlayerMessage::ReplacePlayer(_)
        | PlayerMessage::React(_)
        | PlayerMessage::ReturnToLobby
        | PlayerMessage::Ping(_) => {}
    }
}

#[test]
fn messages_to_a_player() {
    let samples = samples::server();
    for (name, message) in &samples {
        let text = golden("server", name, message);
        assert_eq!(
            serde_json::from_str::<ServerMessage>(&text).unwrap(),
            *message,
            "{name}"
        );
    }
    complete(
        "server",
        &samples.iter().map(|(name, _)| *name).collect::<Vec<_>>(),
    );
}

#[test]
fn messages_of_a_link() {
    check_link::<link::ToNode>("gateway_to_node", &samples::gateway_to_node());
    check_link::<link::ToGateway>("node_to_gateway", &samples::node_to_gateway());
}

#[test]
fn messages_of_a_decision() {
    check_link::<decide::ToAi>("node_to_ai", &samples::node_to_ai());
    check_link::<decide::ToNode>("ai_to_node", &samples::ai_to_node());
}

#[test]
fn a_state_in_parts_is_the_state_in_one() {
    for (name, message) in samples::server() {
        let ServerMessage::State(state) = &message else {
            continue;
        };
        let (Some(lobby), events) = (&state.lobby, &state.events) else {
            continue;
        };
        let (shared, own) = samples::parts(state.seq, lobby, state.game.as_ref());
        let mut waiting = crate::parts::WaitingEvents::default();
        waiting.append(
            &events
                .iter()
                .map(crate::parts::Fragment::of)
                .collect::<Vec<_>>(),
        );
        let json = crate::parts::full_state(&shared, own.as_ref(), &waiting);
        let read: ServerMessage = serde_json::from_slice(&json).unwrap();
        assert_eq!(read, message, "{name}");
    }
}

#[test]
fn a_partial_state_leaves_out_what_the_connection_has() {
    let (_, ServerMessage::State(state)) = samples::server()
        .into_iter()
        .find(|(name, _)| *name == "state_playing")
        .unwrap()
    else {
        panic!("a state");
    };
    let (shared, own) = samples::parts(
        state.seq,
        state.lobby.as_ref().unwrap(),
        state.game.as_ref(),
    );
    let mut last_sent = crate::parts::LastSent::default();
    let mut send = |shared| {
        let mut json = Vec::new();
        crate::parts::write_state(
            &mut json,
            shared,
            own.as_ref(),
            &crate::parts::WaitingEvents::default(),
            Some(&mut last_sent),
        );
        serde_json::from_slice::<Value>(&json).unwrap()
    };
    let has = |json: &Value| {
        let observation = json["game"].get("observation");
        let within = |key| observation.is_some_and(|observation| observation.get(key).is_some());
        (
            json.get("lobby").is_some(),
            within("sheet"),
            within("last_trick"),
        )
    };
    assert_eq!(has(&send(&shared)), (true, true, true), "the first is full");
    assert_eq!(
        has(&send(&shared)),
        (false, false, false),
        "nothing has changed"
    );

    let mut changed = shared.clone();
    changed.game.as_mut().unwrap().last_trick = crate::parts::Fragment::of(&Value::Null);
    let json = send(&changed);
    assert_eq!(
        has(&json),
        (false, false, true),
        "only the last trick has changed"
    );
    assert!(
        json["game"]["observation"]["last_trick"].is_null(),
        "null is a value"
    );

    let before_the_game = crate::parts::SharedParts {
        game: None,
        ..changed.clone()
    };
    assert_eq!(
        has(&send(&before_the_game)),
        (false, false, false),
        "no game, no parts of one"
    );
    assert_eq!(
        has(&send(&changed)),
        (false, true, true),
        "after a state without a game its parts are new again"
    );
}
