//! Frames as each version of the links' messages wrote them, in `protocol/golden/links/version-<n>.json`: later ones
//! must read them, for as long as processes of two versions may meet. Such a file is never written anew.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Serialize;

use super::samples;
use crate::code::ErrorCode;
use crate::id::ConnectionId;
use crate::link::{Outcome, ToGateway, ToNode};
use crate::version::{Peer, VERSION};
use crate::{decide, frame};

/// Hexadecimal, by direction and name.
type Frames = BTreeMap<String, String>;

fn path(version: u32) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("golden/links/version-{version}.json"))
}

fn kept(version: u32) -> Frames {
    let path = path(version);
    let text = std::fs::read_to_string(&path);
    let text = text.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap()
}

/// One a message, and one a code of a refusal.
fn today() -> Frames {
    fn written<T: Serialize>(
        direction: &str,
        samples: Vec<(&'static str, T)>,
    ) -> impl Iterator<Item = (String, String)> {
        samples.into_iter().map(move |(name, message)| {
            let bytes = frame::encode(&message);
            (format!("{direction}/{name}"), hex::encode(bytes))
        })
    }
    let refused = ErrorCode::ALL.iter().map(|code| {
        let answer = ToGateway::Answer {
            connection: ConnectionId(7),
            number: 12,
            outcome: Outcome::Refused {
                code: *code,
                message: "No.".to_owned(),
                retry_after_ms: None,
            },
        };
        (code.as_str(), answer)
    });
    written("gateway_to_node", samples::gateway_to_node())
        .chain(written("node_to_gateway", samples::node_to_gateway()))
        .chain(written("node_to_ai", samples::node_to_ai()))
        .chain(written("ai_to_node", samples::ai_to_node()))
        .chain(written("refused", refused.collect()))
        .collect()
}

#[test]
fn frames_of_every_version_are_read() {
    for version in 1..=VERSION {
        for (name, hexadecimal) in kept(version) {
            let frame = hex::decode(hexadecimal).unwrap();
            // As of a peer of that version.
            let peer = Peer::of(Some(version.to_string().as_bytes()));
            let direction = name.split('/').next().unwrap();
            let read = match direction {
                "gateway_to_node" => peer.read::<ToNode>(&frame).map(drop),
                "node_to_gateway" | "refused" => peer.read::<ToGateway>(&frame).map(drop),
                "node_to_ai" => peer.read::<decide::ToAi>(&frame).map(drop),
                "ai_to_node" => peer.read::<decide::ToNode>(&frame).map(drop),
                other => panic!("{other} is no direction"),
            };
            assert!(read.is_ok(), "{name} of version {version}: {read:?}");
        }
    }
}

#[test]
fn what_is_new_has_a_new_version() {
    let today = today();
    let path = path(VERSION);
    if std::env::var_os("GOLDEN").is_some_and(|mode| mode == "write") && !path.exists() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let text = serde_json::to_string_pretty(&today).unwrap();
        std::fs::write(&path, format!("{text}\n")).unwrap();
    }
    let kept = kept(VERSION);
    let new: Vec<_> = today
        .keys()
        .filter(|name| !kept.contains_key(*name))
        .collect();
    assert!(
        new.is_empty(),
        "older peers can't read {new:?}: raise version::VERSION, and write its frames with GOLDEN=write"
    );
}
