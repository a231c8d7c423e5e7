//! This gateway's own count of new lobbies by address, for when the registry can't count for all.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::address::Origin;

/// Addresses in a minute, at most: far more than can connect in it. Those beyond count as one.
const MAX_ORIGINS: usize = 64 * 1024;

/// Counts of the present minute; those of an earlier one are forgotten with the first new one.
#[derive(Debug, Default)]
pub(crate) struct Creates {
    minute: Mutex<Minute>,
}

#[derive(Debug, Default)]
struct Minute {
    number: u64,
    counts: HashMap<Origin, u64>,
    beyond: u64,
}

impl Creates {
    /// Counts one more; how many there are in this minute. `minute` is that of the wall clock.
    pub(crate) fn count(&self, minute: u64, origin: Origin) -> u64 {
        let mut present = self.minute.lock().unwrap_or_else(PoisonError::into_inner);
        if present.number != minute {
            *present = Minute {
                number: minute,
                ..Minute::default()
            };
        }
        let known = present.counts.len() < MAX_ORIGINS || present.counts.contains_key(&origin);
        let count = if known {
            present.counts.entry(origin).or_default()
        } else {
            &mut present.beyond
        };
        *count += 1;
        *count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_address_counts_for_itself_and_a_new_minute_forgets_all() {
        let origin = |text: &str| Origin::of(text.parse().unwrap());
        let creates = Creates::default();
        assert_eq!(creates.count(7, origin("192.0.2.1")), 1);
        assert_eq!(creates.count(7, origin("192.0.2.1")), 2);
        assert_eq!(creates.count(7, origin("192.0.2.2")), 1);
        assert_eq!(creates.count(8, origin("192.0.2.1")), 1);
        assert_eq!(creates.minute.lock().unwrap().counts.len(), 1);
    }

    #[test]
    fn it_does_not_grow_for_ever() {
        let creates = Creates::default();
        for number in 0..MAX_ORIGINS + 10 {
            let address = std::net::Ipv4Addr::from(u32::try_from(number).unwrap());
            creates.count(1, Origin::of(address.into()));
        }
        let minute = creates.minute.lock().unwrap();
        assert_eq!((minute.counts.len(), minute.beyond), (MAX_ORIGINS, 10));
    }
}
