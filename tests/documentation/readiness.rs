//! Nowhere in the repository does time that has passed stand for being ready.

use std::path::Path;

use crate::files::{files, has_extension, read};

#[test]
fn no_probe_begins_after_a_delay() {
    let yaml = files(|path| has_extension(path, &["yaml", "yml", "tpl", "json"]));
    let wrong = lines_with(&yaml, |line| line.contains("initialDelaySeconds"));
    assert!(wrong.is_empty(), "ask what is ready instead: {wrong:#?}");
}

#[test]
fn whoever_depends_on_a_service_waits_until_it_is_healthy() {
    let compose = files(|path| {
        let name = path.file_name().unwrap().to_string_lossy();
        name.contains("compose") && has_extension(path, &["yaml", "yml"])
    });
    let mut wrong = Vec::new();
    for path in compose {
        let text = read(&path);
        let lines: Vec<&str> = text.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            if line.trim_start().starts_with("depends_on:") {
                wrong.extend(
                    bare(&lines, at).map(|why| format!("{}:{}: {why}", path.display(), at + 1)),
                );
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// What is wrong with the dependencies that begin at this line, if something is.
fn bare(lines: &[&str], at: usize) -> Option<&'static str> {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let inner: Vec<&str> = lines[at + 1..]
        .iter()
        .take_while(|line| line.trim().is_empty() || indent(line) > indent(lines[at]))
        .copied()
        .collect();
    let names = inner
        .iter()
        .filter(|line| !line.contains("condition:"))
        .count();
    let healthy = inner
        .iter()
        .filter(|line| line.contains("service_healthy"))
        .count();
    let is_inline = lines[at].contains("service_healthy");
    if lines[at].trim_end().ends_with(':')
        && inner.iter().any(|line| line.trim_start().starts_with("- "))
    {
        Some("a list waits for a start only")
    } else if healthy == 0 && !is_inline && !lines[at].contains('*') && names > 0 {
        Some("no condition")
    } else {
        None
    }
}

/// In scripts a pause is allowed between two looks at the thing itself, which is in a loop.
#[test]
fn no_script_sleeps_and_hopes() {
    let scripts = files(|path| {
        has_extension(path, &["sh"])
            || path.starts_with("scripts")
            || path.starts_with(".ci")
            || path
                .file_name()
                .is_some_and(|name| name == "Makefile" || name == "Dockerfile")
    });
    assert!(scripts.len() > 3, "{scripts:?}");
    let mut wrong = Vec::new();
    for path in scripts {
        let mut loops = 0_i32;
        for (number, line) in (1..).zip(read(&path).lines()) {
            let line = line.trim();
            if line.starts_with('#') {
                continue;
            }
            let begins = |word: &str| line.starts_with(word) || line.contains(&format!("; {word}"));
            loops += i32::from(begins("while ") || begins("until ") || begins("for "));
            let words: Vec<&str> = line
                .split(|letter: char| !letter.is_ascii_alphanumeric())
                .collect();
            if words.contains(&"sleep") && loops == 0 {
                wrong.push(format!("{}:{number}: {line}", path.display()));
            }
            loops -= i32::from(words.contains(&"done"));
        }
    }
    assert!(wrong.is_empty(), "wait for the thing itself: {wrong:#?}");
}

#[test]
fn no_browser_test_waits_for_time_to_pass() {
    let tests =
        files(|path| path.starts_with("web") && has_extension(path, &["ts", "js", "svelte"]));
    let wrong = lines_with(&tests, |line| line.contains("waitForTimeout("));
    assert!(wrong.is_empty(), "{wrong:#?}");
}

fn lines_with(paths: &[std::path::PathBuf], is_wrong: impl Fn(&str) -> bool) -> Vec<String> {
    let of = |path: &Path| -> Vec<String> {
        let text = read(path);
        let lines = (1..).zip(text.lines());
        let wrong = lines.filter(|(_, line)| is_wrong(line));
        wrong
            .map(|(number, line)| format!("{}:{number}: {}", path.display(), line.trim()))
            .collect()
    };
    paths.iter().flat_map(|path| of(path)).collect()
}

#[test]
fn a_bare_dependency_is_seen() {
    let check = |text: &str| bare(&text.lines().collect::<Vec<_>>(), 0);
    assert!(check("depends_on:\n  - redis").is_some());
    assert!(check("depends_on:\n  redis:\n    condition: service_started").is_some());
    assert_eq!(
        check("depends_on:\n  redis:\n    condition: service_healthy\nnext:"),
        None
    );
    assert_eq!(check("depends_on: *everything"), None);
}
