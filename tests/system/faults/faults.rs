//! Faults in the middle of running games: processes killed, stopped and replaced, Redis away, networks cut.
//!
//! The players check every state against the rules, and that every move that was acknowledged stays in their game and is
//! there once; a run ends at the first that is not so. Each test prints what it did and what it counted.
//!
//! `make test` runs a short form, `make faults` (`FAULTS=full`) the full one: more tables, more and longer faults, and
//! those of `long`.

mod coming_back;
mod cut_off;
mod killed;
#[path = "long/long.rs"]
mod long;
mod redis_away;
mod rolling;
mod scale;
mod site;
