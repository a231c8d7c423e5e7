//! Puts the built web client into the program, if there is one.
//!
//! Without one the gateway is built all the same, and serves a page that says what is missing.

use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let manifest = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("set by cargo"));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("set by cargo"));
    let client = manifest.join("../web/dist");
    // While it does not exist, cargo asks anew at every build: so its appearing is noticed.
    println!("cargo::rerun-if-changed={}", client.display());
    println!("cargo::rerun-if-changed=build.rs");
    let assets = if client.join("index.html").is_file() {
        embed(&client, &out)
    } else {
        "&[]".to_owned()
    };
    fs::write(out.join("web_client.rs"), assets).expect("OUT_DIR is ours to write");
}

fn embed(client: &Path, out: &Path) -> String {
    let client = client.canonicalize().expect("it has just been found");
    let quiet = |_: &str| {};
    memory_serve::assets_to_code(&client.to_string_lossy(), &client, out, true, quiet)
}
