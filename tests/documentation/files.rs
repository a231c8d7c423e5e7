//! The repository's own files, without what is built or fetched.

use std::fs;
use std::path::{Path, PathBuf};

const NOT_OURS: [&str; 8] = [
    "target",
    "node_modules",
    "dist",
    "dist-operations",
    "book",
    ".git",
    "test-results",
    "playwright-report",
];

pub(crate) fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// All files for which `wanted` holds, by their path from the root on, in order.
pub(crate) fn files(wanted: impl Fn(&Path) -> bool) -> Vec<PathBuf> {
    let mut found = Vec::new();
    collect(&root(), &mut found);
    let root = root();
    let mut found: Vec<PathBuf> = found
        .into_iter()
        .map(|path| path.strip_prefix(&root).unwrap().to_owned())
        .filter(|path| wanted(path))
        .collect();
    found.sort();
    found
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let (path, name) = (entry.path(), entry.file_name());
        if NOT_OURS.iter().any(|one| name == *one) {
            continue;
        }
        if entry.file_type().unwrap().is_dir() {
            collect(&path, found);
        } else {
            found.push(path);
        }
    }
}

pub(crate) fn has_extension(path: &Path, extensions: &[&str]) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|extension| extensions.contains(&extension))
}

pub(crate) fn pages() -> Vec<PathBuf> {
    files(|path| has_extension(path, &["md"]))
}

pub(crate) fn read(path: &Path) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

/// Compares a page with what it should say; with `DOCS=write` it is made to.
pub(crate) fn hold(path: &str, wanted: &str) {
    let file = root().join(path);
    if std::env::var_os("DOCS").is_some_and(|mode| mode == "write") {
        fs::write(&file, wanted).unwrap();
    }
    let said = fs::read_to_string(&file).unwrap();
    let first = said
        .lines()
        .zip(wanted.lines())
        .find(|(said, wanted)| said != wanted);
    assert!(
        said == wanted,
        "{path} is out of date: DOCS=write cargo test --test documentation\n{first:#?}"
    );
}
