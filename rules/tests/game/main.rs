//! The game from outside: its cases by number, its laws, its deals and its shapes on the wire.
#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod cases;
mod deals;
mod laws;
mod snapshots;
mod support;
#[cfg(feature = "typescript")]
mod typescript;
mod wire;
