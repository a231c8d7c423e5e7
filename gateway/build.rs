//! Puts the built web client and operators' page into the program, if there are any.
//!
//! Without them the gateway is built all the same, and serves a page that says what is missing.

use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    embed_if_built("dist", "index.html", "web_client.rs");
    embed_if_built("dist-operations", "operations.html", "operations_page.rs");
}

/// Writes the list of files in `web/<folder>`, an empty one as long as `page` is not there.
fn embed_if_built(folder: &str, page: &str, list: &str) {
    let manifest = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("set by cargo"));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("set by cargo"));
    let built = manifest.join("../web").join(folder);
    // While it does not exist, cargo asks anew at every build: so its appearing is noticed.
    println!("cargo::rerun-if-changed={}", built.display());
    let assets = if built.join(page).is_file() {
        embed(&built, &out)
    } else {
        "&[]".to_owned()
    };
    fs::write(out.join(list), assets).expect("OUT_DIR is ours to write");
}

fn embed(built: &Path, out: &Path) -> String {
    let built = built.canonicalize().expect("it has just been found");
    let quiet = |_: &str| {};
    memory_serve::assets_to_code(&built.to_string_lossy(), &built, out, true, quiet)
}
