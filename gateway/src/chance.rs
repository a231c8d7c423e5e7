//! The one place where this crate draws from the operating system.

/// Random bytes that nobody can guess.
pub(crate) fn bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the operating system always has random bytes");
    bytes
}

/// A random number.
pub(crate) fn number() -> u32 {
    u32::from_le_bytes(bytes())
}
