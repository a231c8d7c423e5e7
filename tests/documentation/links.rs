//! Every relative link of every page leads somewhere, and every page is in the book.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use crate::files::{pages, read, root};

#[test]
fn every_relative_link_leads_to_a_file_and_a_heading() {
    let mut wrong = Vec::new();
    for page in pages() {
        for target in targets(&read(&page)) {
            if let Some(why) = fault(&page, &target) {
                wrong.push(format!("{}: {target}: {why}", page.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_page_of_the_docs_is_in_the_book() {
    let summary = Path::new("docs/SUMMARY.md");
    let listed: BTreeSet<PathBuf> = targets(&read(summary))
        .iter()
        .map(|target| normal(&Path::new("docs").join(target)))
        .collect();
    let there: BTreeSet<PathBuf> = pages()
        .into_iter()
        .filter(|page| page.starts_with("docs") && page != summary)
        .collect();
    assert_eq!(listed, there);
}

/// What is wrong with it, if something is.
fn fault(page: &Path, target: &str) -> Option<&'static str> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
    let file = if path.is_empty() {
        page.to_owned()
    } else {
        normal(&page.parent().unwrap().join(path))
    };
    if !root().join(&file).exists() {
        return Some("no such file");
    }
    let is_page = file.extension().is_some_and(|extension| extension == "md");
    if anchor.is_empty() || !is_page {
        return None;
    }
    let found = headings(&read(&file)).contains(anchor);
    (!found).then_some("no such heading")
}

/// Where inline links lead, outside of code.
fn targets(text: &str) -> Vec<String> {
    let mut targets = Vec::new();
    for line in prose(text) {
        let mut rest = line.as_str();
        while let Some(at) = rest.find("](") {
            rest = &rest[at + 2..];
            if let Some(end) = rest.find(')') {
                targets.push(rest[..end].trim_matches(['<', '>']).to_owned());
            }
        }
    }
    targets
}

/// The lines outside of fenced blocks, without what stands in backticks.
fn prose(text: &str) -> Vec<String> {
    let mut is_code = false;
    let mut lines = Vec::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if !is_code {
            lines.push(line.split('`').step_by(2).collect());
        }
    }
    lines
}

/// The anchors of all headings, as forges and the book make them.
fn headings(text: &str) -> BTreeSet<String> {
    let mut is_code = false;
    let mut anchors = BTreeSet::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if !is_code && line.starts_with('#') {
            let title = line.trim_start_matches('#').trim();
            let anchor = title.chars().filter_map(|letter| match letter {
                ' ' => Some('-'),
                '-' | '_' => Some(letter),
                letter if letter.is_alphanumeric() => Some(letter.to_ascii_lowercase()),
                _ => None,
            });
            anchors.insert(anchor.collect());
        }
    }
    anchors
}

fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                normal.pop();
            }
            Component::CurDir => {}
            other => normal.push(other),
        }
    }
    normal
}

#[test]
fn a_link_is_read_and_a_heading_is_named_as_forges_do() {
    assert_eq!(
        targets("see [a](b.md#c) and `[not](this)`\n```\n[nor](this)\n```\n"),
        ["b.md#c"]
    );
    let anchors = headings("# Fair deals\n## 4. What `x` is\n```\n# no\n```\n");
    assert_eq!(
        anchors,
        BTreeSet::from(["fair-deals".to_owned(), "4-what-x-is".to_owned()])
    );
}
