//! Every `WARN` and `ERROR` of the sources is explained, and nothing is explained that is not there.

use std::collections::BTreeMap;
use std::path::Path;

use crate::files::{files, has_extension, read};

const PAGE: &str = "docs/operate/messages.md";

#[test]
fn every_warning_and_error_is_explained() {
    let said = messages();
    assert!(said.len() > 20, "the sources are read wrongly: {said:?}");
    let explained: BTreeMap<String, String> = read(Path::new(PAGE))
        .lines()
        .filter(|line| line.starts_with("| `"))
        .map(|line| {
            let cells: Vec<&str> = line.split(" | ").collect();
            let message = cells[0].trim_start_matches("| ").trim_matches('`');
            assert!(cells.len() == 4, "four cells: {line}");
            (message.to_owned(), cells[1].to_owned())
        })
        .collect();
    assert_eq!(explained, said, "left: {PAGE}, right: the sources");
}

/// Each message with its level.
fn messages() -> BTreeMap<String, String> {
    let is_source = |path: &Path| {
        let in_tests = path.components().any(|part| {
            ["tests", "benches", "examples", "tests.rs", "testing.rs"]
                .iter()
                .any(|one| part.as_os_str() == *one)
        });
        has_extension(path, &["rs"])
            && !in_tests
            && !path.starts_with("loadtest")
            && !path.starts_with("simulation")
    };
    let mut messages = BTreeMap::new();
    for path in files(is_source) {
        let text = read(&path);
        let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
        for (macro_name, level) in [("warn!(", "WARN"), ("error!(", "ERROR")] {
            for (at, _) in text.match_indices(macro_name) {
                let is_name_part =
                    text[..at].ends_with(|letter: char| letter.is_alphanumeric() || letter == '_');
                let line = text[..at].rsplit('\n').next().unwrap();
                if is_name_part || line.contains("//") {
                    continue;
                }
                let message = message(&text[at + macro_name.len()..])
                    .unwrap_or_else(|| panic!("{}: a {macro_name} without a text", path.display()));
                messages.insert(message, level.to_owned());
            }
        }
    }
    messages
}

/// The text of a call whose arguments these are: its only literal that is no field's.
fn message(arguments: &str) -> Option<String> {
    let (_, rest) = arguments.split_once('"')?;
    let mut text = String::new();
    let mut letters = rest.chars();
    loop {
        match letters.next()? {
            '"' => return Some(text),
            '\\' => match letters.next()? {
                // A text that goes on in the next line.
                '\n' => {
                    let rest = letters.as_str().trim_start();
                    letters = rest.chars();
                }
                letter => text.push(letter),
            },
            letter => text.push(letter),
        }
    }
}

#[test]
fn a_text_is_read_over_lines_and_behind_fields() {
    let read = |arguments| message(arguments).unwrap();
    assert_eq!(read("%id, why = %refused, \"a drain\");"), "a drain");
    assert_eq!(read("\n \"one \\\n   \\\"two\\\"\",\n x)"), "one \"two\"");
}

#[test]
fn every_alert_is_explained_where_its_runbook_says() {
    for file in files(|path| path.ends_with("files/alerts.yaml")) {
        let text = read(&file);
        let (mut alert, mut explained) = ("", 0);
        for line in text.lines().map(str::trim) {
            if let Some(name) = line.strip_prefix("- alert: ") {
                alert = name;
            } else if let Some(runbook) = line.strip_prefix("runbook: ") {
                let page = runbook.split('#').next().unwrap();
                assert!(read(Path::new(page)).contains(alert), "{page}: {alert}");
                explained += 1;
            }
        }
        assert!(explained > 3, "{} is read wrongly", file.display());
    }
}
