//! The page of variables is what `wizard --help` says, and no page names another.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::process::Command;

use crate::files::{files, has_extension, hold, read};

const PAGE: &str = "docs/operate/variables.md";
const HEAD: &str = "\
# Variables

Every variable of the environment is also the flag of its name (`MAX_LOBBIES`, `--max-lobbies`); an empty one counts as not set. Durations
are seconds (`0.8`) or carry a unit (`800ms`, `5s`, `30m`). A wrong value ends the start with exit code 78 and a message that names
the variable. This page is made of `wizard --help`; a test compares them.

Those of OpenTelemetry (`OTEL_…`) are in [Traces and logs](traces-and-logs.md).

Read by: **G** `wizard gateway`, **N** `wizard game-node`, **A** `wizard ai-node`. `wizard` alone reads all.
";

#[derive(Debug, PartialEq, Eq)]
struct Variable {
    section: String,
    name: String,
    default: String,
    meaning: String,
}

#[test]
fn the_page_of_variables_is_what_the_help_says() {
    let all = variables(&[]);
    assert!(all.len() > 40, "{all:?}");
    let readers = [("gateway", 'G'), ("game-node", 'N'), ("ai-node", 'A')];
    let readers = readers.map(|(role, letter)| (names(&variables(&[role])), letter));
    let mut page = HEAD.to_owned();
    let mut section = "";
    for variable in &all {
        if variable.section != section {
            section = &variable.section;
            write!(page, "\n## {section}\n\n").unwrap();
            page.push_str("| variable | default | read by | is |\n|---|---|---|---|\n");
        }
        let by = readers
            .iter()
            .filter(|(names, _)| names.contains(&variable.name));
        let by: String = by.map(|(_, letter)| *letter).collect();
        let Variable {
            name,
            default,
            meaning,
            ..
        } = variable;
        writeln!(page, "| `{name}` | {default} | {by} | {meaning} |").unwrap();
    }
    hold(PAGE, &page);
}

/// A variable that was renamed or taken away must not live on in a page, a compose file or a chart.
#[test]
fn no_page_and_no_deployment_names_a_variable_that_is_not_there() {
    let mut known = names(&variables(&[]));
    let stems: BTreeSet<String> = known
        .iter()
        .filter_map(|name| name.split('_').next().map(str::to_owned))
        .collect();
    let looks_like_one = |word: &str| {
        word.contains('_')
            && word
                .bytes()
                .all(|byte| byte.is_ascii_uppercase() || byte == b'_' || byte.is_ascii_digit())
            && word
                .split('_')
                .next()
                .is_some_and(|stem| stems.contains(stem))
            && !word.ends_with('_')
    };
    // What compose makes of a host's own settings.
    known.extend(of_the_host());
    let mut unknown: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for path in files(|path| {
        let is_compose = ["compose.yaml", ".env.example"]
            .iter()
            .any(|one| path.as_os_str() == *one);
        has_extension(path, &["md"]) || path.starts_with("charts") || is_compose
    }) {
        let text = read(&path);
        let words = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
        for word in words.filter(|word| looks_like_one(word)) {
            if !known.contains(word) {
                let pages = unknown.entry(word.to_owned()).or_default();
                pages.insert(path.display().to_string());
            }
        }
    }
    assert!(unknown.is_empty(), "{unknown:#?}");
}

/// What the compose file and the scripts read themselves: `${NAME}`.
fn of_the_host() -> BTreeSet<String> {
    let files = files(|path| path.starts_with("scripts") || path.as_os_str() == "compose.yaml");
    let mut names = BTreeSet::new();
    for path in files {
        for expansion in read(&path).split("${").skip(1) {
            let is_name = |letter: char| letter.is_ascii_uppercase() || letter == '_';
            let end = expansion.find(|letter| !is_name(letter));
            names.insert(expansion[..end.unwrap_or_default()].to_owned());
        }
    }
    names
}

fn names(variables: &[Variable]) -> BTreeSet<String> {
    variables
        .iter()
        .map(|variable| variable.name.clone())
        .collect()
}

fn variables(role: &[&str]) -> Vec<Variable> {
    let output = Command::new(env!("CARGO_BIN_EXE_wizard"))
        .env_clear()
        .args(role)
        .arg("--help")
        .output()
        .unwrap();
    let help = String::from_utf8(output.stdout).unwrap();
    let mut variables = Vec::new();
    let (mut section, mut entry) = (String::new(), String::new());
    for line in help.lines().chain(["End:"]) {
        let begins = line.trim_start().starts_with("--");
        if begins || !line.starts_with(' ') {
            variables.extend(variable(&section, &std::mem::take(&mut entry)));
        }
        if line.starts_with(' ') {
            entry.push_str(line.trim());
            entry.push(' ');
        } else if let Some(title) = line.strip_suffix(':') {
            title.clone_into(&mut section);
        }
    }
    variables
}

/// `--flag <NAME> What it is [env: NAME] [default: …]`
fn variable(section: &str, entry: &str) -> Option<Variable> {
    let (_, rest) = entry.split_once('<')?;
    let (_, rest) = rest.split_once('>')?;
    let mut rest = rest.to_owned();
    let name = cut(&mut rest, "[env: ")?;
    let default = cut(&mut rest, "[default: ").unwrap_or_else(|| "none".to_owned());
    let values = cut(&mut rest, "[possible values: ");
    let mut meaning = rest.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some(values) = values {
        meaning = format!("{meaning}: {values}");
    }
    Some(Variable {
        section: section.to_owned(),
        name,
        default: default.replace('|', "\\|").replace('<', "&lt;"),
        meaning: meaning.replace('|', "\\|").replace('<', "&lt;"),
    })
}

/// What stands in such brackets, taken out of the text.
fn cut(text: &mut String, opening: &str) -> Option<String> {
    let begin = text.find(opening)?;
    let end = begin + text[begin..].find(']')?;
    let inside = text[begin + opening.len()..end].to_owned();
    text.replace_range(begin..=end, "");
    Some(inside)
}
