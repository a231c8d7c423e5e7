//! The examples of the protocol are its golden files.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use crate::files::{files, has_extension, hold, read};

const PAGE: &str = "docs/examples.md";
const HEAD: &str = "\
# Examples

One example of each message between a player's program and the gateway: the golden files in `protocol/golden/`, which the tests of the
server and of the web client read. What the fields mean says [the protocol](protocol.md). This page is made of those files; a test
compares them.
";

#[test]
fn the_examples_are_the_golden_files() {
    let mut page = HEAD.to_owned();
    for (folder, title) in [("player", "From the player"), ("server", "To the player")] {
        writeln!(page, "\n## {title}").unwrap();
        let folder = format!("protocol/golden/{folder}");
        let golden = files(|path| path.starts_with(&folder) && has_extension(path, &["json"]));
        assert!(golden.len() > 5, "{folder}");
        for (name, text) in by_name(&golden) {
            write!(page, "\n### {name}\n\n```json\n{text}```\n").unwrap();
        }
    }
    hold(PAGE, &page);
}

fn by_name(golden: &[std::path::PathBuf]) -> BTreeMap<String, String> {
    let name = |path: &Path| path.file_stem().unwrap().to_string_lossy().into_owned();
    golden.iter().map(|path| (name(path), read(path))).collect()
}
