//! A map whose entries lapse, as keys of Redis do.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;
use std::time::Duration;

/// Lapsed entries are thrown out whenever the map has doubled since that was done last, so it is
/// at most twice as large as what lives.
const SMALLEST_TRIM: usize = 64;

#[derive(Clone, Debug)]
pub(crate) struct Expiring<K, V> {
    entries: HashMap<K, (V, u64)>,
    trim_at: usize,
}

impl<K, V> Default for Expiring<K, V> {
    fn default() -> Self {
        Self {
            entries: HashMap::new(),
            trim_at: SMALLEST_TRIM,
        }
    }
}

impl<K: Hash + Eq, V> Expiring<K, V> {
    pub(crate) fn put(&mut self, key: K, value: V, ttl: Duration, now_ms: u64) {
        if self.entries.len() >= self.trim_at {
            self.trim(now_ms);
            self.trim_at = (self.entries.len() * 2).max(SMALLEST_TRIM);
        }
        self.entries.insert(key, (value, expiry(ttl, now_ms)));
    }

    pub(crate) fn get<Q: Hash + Eq + ?Sized>(&self, key: &Q, now_ms: u64) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        let (value, expires_ms) = self.entries.get(key)?;
        (*expires_ms > now_ms).then_some(value)
    }

    pub(crate) fn get_mut<Q: Hash + Eq + ?Sized>(&mut self, key: &Q, now_ms: u64) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        let (value, expires_ms) = self.entries.get_mut(key)?;
        (*expires_ms > now_ms).then_some(value)
    }

    /// Lets an entry live anew; false if it is gone.
    pub(crate) fn renew<Q: Hash + Eq + ?Sized>(
        &mut self,
        key: &Q,
        ttl: Duration,
        now_ms: u64,
    ) -> bool
    where
        K: Borrow<Q>,
    {
        match self.entries.get_mut(key) {
            Some((_, expires_ms)) if *expires_ms > now_ms => {
                *expires_ms = expiry(ttl, now_ms);
                true
            }
            _ => false,
        }
    }

    pub(crate) fn remove<Q: Hash + Eq + ?Sized>(&mut self, key: &Q)
    where
        K: Borrow<Q>,
    {
        self.entries.remove(key);
    }

    pub(crate) fn trim(&mut self, now_ms: u64) {
        self.entries
            .retain(|_, (_, expires_ms)| *expires_ms > now_ms);
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.entries.iter().map(|(key, (value, _))| (key, value))
    }
}

fn expiry(ttl: Duration, now_ms: u64) -> u64 {
    now_ms.saturating_add(u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lapsed_is_thrown_out_as_the_map_grows() {
        let mut map = Expiring::default();
        let ttl = Duration::from_millis(10);
        for number in 0..10_000_u64 {
            map.put(number, (), ttl, number);
        }
        assert!(map.entries.len() <= SMALLEST_TRIM, "{}", map.entries.len());
        assert!(map.get(&9_999, 10_008).is_some());
        assert!(map.get(&9_999, 10_009).is_none());
    }
}
