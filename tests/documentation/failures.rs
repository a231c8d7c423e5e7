//! Every failure is shown by tests that exist, and every test of the fault suite shows one.

use std::collections::BTreeSet;
use std::path::Path;

use crate::files::{files, has_extension, read};

const PAGE: &str = "docs/failures.md";
const SUITE: &str = "tests/system/faults";

#[test]
fn every_failure_is_shown_by_tests_that_exist() {
    let page = read(Path::new(PAGE));
    let rows = page.lines().filter_map(|line| line.strip_prefix("| "));
    let rows: Vec<Vec<&str>> = rows.map(|row| row.split(" | ").collect()).collect();
    assert!(rows.len() > 20, "{PAGE} is read wrongly");
    let all = functions(|_| true);
    let mut named = BTreeSet::new();
    for row in rows.iter().filter(|row| row[0] != "what fails") {
        let [what, _, _, shown_by] = row[..] else {
            panic!("four cells: {row:?}");
        };
        let shown: Vec<&str> = shown_by.split('`').skip(1).step_by(2).collect();
        assert!(!shown.is_empty(), "{what}: shown by no test");
        for name in shown {
            assert!(all.contains(name), "{what}: there is no test {name}");
            named.insert(name.to_owned());
        }
    }
    let suite = functions(|path| path.starts_with(SUITE));
    let missing: Vec<&String> = suite.difference(&named).collect();
    assert!(missing.is_empty(), "{PAGE} does not name {missing:?}");
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
