//! Writes the messages' TypeScript types to `web/src/protocol/`, and fails when they were out of date.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use ts_rs::{Config, TS};

use crate::player::PlayerMessage;
use crate::server::ServerMessage;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../web/src/protocol")
}

fn files(folder: &Path) -> BTreeMap<String, String> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return BTreeMap::new();
    };
    entries
        .map(|entry| entry.unwrap())
        .map(|entry| {
            let text = std::fs::read_to_string(entry.path()).unwrap();
            (entry.file_name().into_string().unwrap(), text)
        })
        .collect()
}

/// `TYPESCRIPT=write cargo test -p protocol --features typescript` writes the types; without it this is the check.
#[test]
fn the_clients_types_are_fresh() {
    let fresh = std::env::temp_dir().join(format!("wizard-typescript-{}", std::process::id()));
    let config = Config::new().with_out_dir(&fresh).with_large_int("number");
    PlayerMessage::export_all(&config).unwrap();
    ServerMessage::export_all(&config).unwrap();
    crate::ErrorCode::export_all(&config).unwrap();

    let written = files(&fresh);
    std::fs::remove_dir_all(&fresh).unwrap();
    assert!(
        written.contains_key("PlayerMessage.ts"),
        "{:?}",
        written.keys()
    );
    assert!(
        written.values().all(|text| !text.contains("bigint")),
        "JSON has no bigint"
    );
    if std::env::var_os("TYPESCRIPT").is_some_and(|mode| mode == "write") {
        let _ = std::fs::remove_dir_all(folder());
        std::fs::create_dir_all(folder()).unwrap();
        for (name, text) in &written {
            std::fs::write(folder().join(name), text).unwrap();
        }
    }
    let known = files(&folder());
    let names: BTreeSet<&String> = known.keys().chain(written.keys()).collect();
    let mut stale = names
        .into_iter()
        .filter(|name| known.get(*name) != written.get(*name));
    assert_eq!(
        stale.next(),
        None,
        "and maybe others; run: TYPESCRIPT=write cargo test -p protocol --features typescript"
    );
}
