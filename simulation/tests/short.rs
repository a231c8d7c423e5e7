//! Some schedules of faults, for every change; `make simulate` runs thousands.

use std::process::Command;

#[test]
fn no_schedule_breaks_a_promise() {
    let output = Command::new(env!("CARGO_BIN_EXE_simulate"))
        .args(["--count", "20", "--from", "5000"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("20 schedules"), "{said}");
}

#[test]
fn the_same_seed_is_the_same_run() {
    let run = || {
        let output = Command::new(env!("CARGO_BIN_EXE_simulate"))
            .args(["--seed", "5007"])
            .env("RUST_LOG", "debug")
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let (one, other) = (run(), run());
    assert!(one.lines().count() > 100, "{one}");
    assert_eq!(one, other);
}
