//! The program `wizard`.

fn main() {}
