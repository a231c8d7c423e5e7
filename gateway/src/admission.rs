//! How many sockets there are, all together and from one address: the players' WebSockets, and
//! what is not one yet.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chassis::environment::Limit;

use crate::address::Origin;

/// Counts sockets of one kind. Its map has at most one entry a socket.
#[derive(Debug)]
pub(crate) struct Admission {
    most: Limit,
    most_per_origin: Limit,
    present: Mutex<Present>,
}

#[derive(Debug, Default)]
struct Present {
    total: usize,
    by_origin: HashMap<Origin, usize>,
}

/// A place among the sockets, given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Admitted {
    admission: Arc<Admission>,
    origin: Option<Origin>,
}

impl Admission {
    pub(crate) fn new(most: Limit, most_per_origin: Limit) -> Arc<Self> {
        Arc::new(Self {
            most,
            most_per_origin,
            present: Mutex::default(),
        })
    }

    /// A place for one more socket, if there is one.
    pub(crate) fn admit(self: &Arc<Self>, origin: Origin) -> Option<Admitted> {
        let mut present = self.lock();
        let from_here = present.by_origin.get(&origin).copied().unwrap_or(0);
        if !self.most.has_room(present.total) || !self.most_per_origin.has_room(from_here) {
            return None;
        }
        present.by_origin.insert(origin, from_here + 1);
        Some(self.place(&mut present, Some(origin)))
    }

    /// The same for one of a proxy, behind which anybody may be: counted in all alone.
    pub(crate) fn admit_proxied(self: &Arc<Self>) -> Option<Admitted> {
        let mut present = self.lock();
        let has_room = self.most.has_room(present.total);
        has_room.then(|| self.place(&mut present, None))
    }

    fn place(self: &Arc<Self>, present: &mut Present, origin: Option<Origin>) -> Admitted {
        present.total += 1;
        Admitted {
            admission: Arc::clone(self),
            origin,
        }
    }

    /// How many sockets there are.
    pub(crate) fn total(&self) -> usize {
        self.lock().total
    }

    fn lock(&self) -> MutexGuard<'_, Present> {
        self.present.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Admitted {
    fn drop(&mut self) {
        let mut present = self.admission.lock();
        present.total -= 1;
        let Some(origin) = self.origin else {
            return;
        };
        if let Some(count) = present.by_origin.get_mut(&origin) {
            *count -= 1;
            if *count == 0 {
                present.by_origin.remove(&origin);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_counted_in_all_and_by_origin_and_come_back() {
        let origin = |text: &str| Origin::of(text.parse().unwrap());
        let admission = Admission::new(Limit::at_most(3), Limit::at_most(2));
        let first = admission.admit(origin("192.0.2.1"));
        let second = admission.admit(origin("192.0.2.1"));
        assert!(first.is_some() && second.is_some());
        assert!(
            admission.admit(origin("192.0.2.1")).is_none(),
            "two from there"
        );
        let third = admission.admit(origin("192.0.2.2"));
        assert!(third.is_some());
        assert!(
            admission.admit(origin("192.0.2.3")).is_none(),
            "three in all"
        );
        drop((first, second, third));
        assert_eq!(admission.total(), 0);
        assert!(admission.lock().by_origin.is_empty());
    }

    #[test]
    fn a_proxys_sockets_are_counted_in_all_alone() {
        let admission = Admission::new(Limit::at_most(3), Limit::at_most(1));
        let all: Vec<_> = (0..3).map(|_| admission.admit_proxied()).collect();
        assert!(all.iter().all(Option::is_some));
        assert!(admission.admit_proxied().is_none(), "three in all");
        drop(all);
        assert_eq!(admission.total(), 0);
    }

    #[test]
    fn without_limits_everybody_finds_a_place() {
        let admission = Admission::new(Limit::NONE, Limit::NONE);
        let origin = Origin::of("192.0.2.1".parse().unwrap());
        let all: Vec<_> = (0..1000).map(|_| admission.admit(origin)).collect();
        assert!(all.iter().all(Option::is_some));
    }
}
