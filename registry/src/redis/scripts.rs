//! The scripts: one an operation, each in a file of its own that says why.

use std::sync::LazyLock;

use redis::{Pipeline, Script};

/// A script together with what is prepended to it.
macro_rules! script {
    ($name:ident: $($file:literal),+) => {
        pub(super) static $name: LazyLock<Source> = LazyLock::new(|| {
            Source::new(concat!($(include_str!(concat!("scripts/", $file, ".lua")), "\n"),+))
        });
    };
}

script!(CREATE: "clock", "record", "create");
script!(COMMIT: "clock", "record", "commit");
script!(CLAIM: "clock", "record", "claim");
script!(TOUCH: "record", "touch");
script!(RELEASE: "clock", "record", "release");
script!(DELETE: "clock", "record", "delete");
script!(BEAT: "clock", "beat");
script!(DEPART: "depart");
script!(SESSION_CREATE: "clock", "session_create");
script!(SESSION_OPEN: "clock", "session_open");
script!(SESSION_SET: "session_set");
script!(SESSION_SIT: "session_sit");
script!(SESSION_STAND: "session_stand");
script!(SESSION_DROP: "session_drop");
script!(PUBLIC_ADD: "clock", "public_add");
script!(PUBLIC_LIST: "clock", "public_list");
script!(COUNT_CREATE: "count_create");

pub(super) struct Source {
    text: &'static str,
    script: Script,
}

impl Source {
    fn new(text: &'static str) -> Self {
        Self {
            text,
            script: Script::new(text),
        }
    }

    pub(super) fn script(&self) -> &Script {
        &self.script
    }

    /// Begins a batch of calls. The script goes along with each batch: a kilobyte, and no special
    /// case for a Redis that has been restarted. Its own answer is ignored.
    pub(super) fn batch(&self) -> Pipeline {
        let mut pipeline = redis::pipe();
        pipeline.cmd("SCRIPT").arg("LOAD").arg(self.text).ignore();
        pipeline
    }

    /// Adds a call; its arguments follow.
    pub(super) fn call<'a>(&self, pipeline: &'a mut Pipeline, keys: &[&str]) -> &'a mut Pipeline {
        pipeline
            .cmd("EVALSHA")
            .arg(self.script.get_hash())
            .arg(keys.len())
            .arg(keys)
    }
}
