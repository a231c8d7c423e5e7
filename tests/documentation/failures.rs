//! Every failure, and every rule against one, is shown by tests that exist, and every test of the fault suite shows one.

use std::collections::BTreeSet;
use std::path::Path;

use crate::files::{files, has_extension, read};

const FAILURES: &str = "docs/failures.md";
const RULES: &str = "docs/decisions/rules-left-out.md";
const SUITE: &str = "tests/system/faults";

#[test]
fn every_failure_is_shown_by_tests_that_exist() {
    let all = functions(|_| true);
    let mut named = BTreeSet::new();
    for page in [FAILURES, RULES] {
        let rows = shown_by(&read(Path::new(page)));
        assert!(rows.len() > 20, "{page} is read wrongly");
        for (what, shown) in rows {
            for name in &shown {
                assert!(all.contains(name), "{what}: there is no test {name}");
            }
            if page == FAILURES {
                assert!(!shown.is_empty(), "{what}: shown by no test");
                named.extend(shown);
            }
        }
    }
    let suite = functions(|path| path.starts_with(SUITE));
    let missing: Vec<&String> = suite.difference(&named).collect();
    assert!(missing.is_empty(), "{FAILURES} does not name {missing:?}");
}

/// The first cell of each row whose last one says by which tests it is shown, and their names.
fn shown_by(page: &str) -> Vec<(String, Vec<String>)> {
    let mut rows = Vec::new();
    let mut is_shown = false;
    for line in page.lines() {
        let Some(row) = line.strip_prefix("| ") else {
            // What divides a head from its rows ends no table.
            is_shown &= line.starts_with("|-");
            continue;
        };
        let cells: Vec<&str> = row.trim_end_matches(" |").split(" | ").collect();
        let last = *cells.last().expect("a split has a part");
        if last == "shown by" {
            is_shown = true;
        } else if is_shown {
            let names = last.split('`').skip(1).step_by(2).map(str::to_owned);
            rows.push((cells[0].to_owned(), names.collect()));
        }
    }
    rows
}

/// Names of tests: functions after an attribute that makes one, and those of the registry's suite, which are listed.
fn functions(wanted: impl Fn(&Path) -> bool) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for path in files(|path| has_extension(path, &["rs"]) && wanted(path)) {
        let text = read(&path);
        let mut is_test = path.starts_with("registry/tests/suite");
        for line in text.lines().map(str::trim) {
            if line.starts_with("#[test]") || line.starts_with("#[tokio::test") {
                is_test = true;
            } else if let Some((_, rest)) = line.split_once("fn ") {
                let name = rest.split(['(', '<']).next().unwrap();
                if std::mem::replace(&mut is_test, path.starts_with("registry/tests/suite")) {
                    found.insert(name.to_owned());
                }
            }
        }
    }
    found
}
