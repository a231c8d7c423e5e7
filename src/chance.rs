//! The operating system's chance, for what must differ at every start: ids and secrets.

use chassis::environment::Secret;

/// As many random bytes.
pub(crate) fn bytes<const N: usize>() -> anyhow::Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)?;
    Ok(bytes)
}

/// A secret that nobody can guess: 24 bytes in hex.
pub(crate) fn secret() -> anyhow::Result<Secret> {
    Ok(Secret::from(hex::encode(bytes::<24>()?)))
}
