//! The operating system's chance, for the driver: the lobbies get it as an argument.

use crate::lobby::Chance;

/// Fresh random bytes for one input.
pub(crate) fn draw() -> Chance {
    let mut chance = Chance {
        seed: [0; 32],
        ai_id: [0; 4],
        pick: number(),
    };
    fill(&mut chance.seed);
    fill(&mut chance.ai_id);
    chance
}

/// Any number.
pub(crate) fn number() -> u32 {
    let mut bytes = [0; 4];
    fill(&mut bytes);
    u32::from_ne_bytes(bytes)
}

/// Any number from 0 to 1.
pub(crate) fn fraction() -> f64 {
    f64::from(number()) / f64::from(u32::MAX)
}

/// A life of a lobby.
pub(crate) fn born() -> [u8; 8] {
    let mut bytes = [0; 8];
    fill(&mut bytes);
    bytes
}

fn fill(bytes: &mut [u8]) {
    getrandom::fill(bytes).expect("the operating system has random bytes");
}
