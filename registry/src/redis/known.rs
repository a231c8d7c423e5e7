//! What a heartbeat's connection has read of the others, so that it reads again only what has
//! changed: with many processes nearly all of a list is the same each time.
//!
//! Pure. Invariant: everybody listed who has said nothing new since `until_ms` is known. Nothing
//! is believed over two connections: the next one may lead to another Redis.

use std::collections::{HashMap, HashSet};

use crate::presence::{Listing, Presence};

/// One process' hash.
pub(super) struct Row {
    pub(super) presence: Presence,
    /// Its last heartbeat was so long before the expiry that its index entry shows.
    pub(super) ttl_ms: u64,
}

#[derive(Default)]
pub(super) struct Known {
    connection: u64,
    until_ms: u64,
    rows: HashMap<String, Row>,
    /// The index as read last, in ms.
    expiries: HashMap<String, u64>,
}

impl Known {
    /// Whether anything was read over this connection.
    pub(super) fn is_of(&self, connection: u64) -> bool {
        self.connection == connection
    }

    /// From when on changes must be told; 0 is all of them.
    pub(super) fn until_ms(&self) -> u64 {
        self.until_ms
    }

    /// Takes an index and who has changed since [`Known::until_ms`]; who must be read.
    pub(super) fn note(
        &mut self,
        connection: u64,
        expiries: Vec<(String, f64)>,
        changed: &[String],
    ) -> Vec<String> {
        if connection != self.connection {
            *self = Self {
                connection,
                ..Self::default()
            };
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "whole milliseconds of an epoch, far below 2^53"
        )]
        let whole = |(id, expiry): (String, f64)| (id, expiry as u64);
        self.expiries = expiries.into_iter().map(whole).collect();
        let changed: HashSet<&str> = changed.iter().map(String::as_str).collect();
        let expiries = &self.expiries;
        self.rows
            .retain(|id, _| expiries.contains_key(id) && !changed.contains(id.as_str()));
        let unread = self
            .expiries
            .keys()
            .filter(|id| !self.rows.contains_key(*id));
        unread.cloned().collect()
    }

    /// Takes what was read of them: the list is whole.
    pub(super) fn complete(&mut self, now_ms: u64, read: Vec<Row>) -> Listing {
        let mut servers: Vec<Presence> = read.iter().map(|row| row.presence.clone()).collect();
        for (id, row) in &self.rows {
            let mut presence = row.presence.clone();
            let expiry = self.expiries.get(id).copied().unwrap_or_default();
            presence.last_seen = presence.last_seen.max(expiry.saturating_sub(row.ttl_ms));
            servers.push(presence);
        }
        let key = |row: Row| (row.presence.id.to_string(), row);
        self.rows.extend(read.into_iter().map(key));
        self.until_ms = now_ms;
        Listing { now_ms, servers }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::presence::tests::presence;

    fn row(id: &str, last_seen: u64) -> Row {
        let mut presence = presence(id, 1, 1);
        presence.last_seen = last_seen;
        Row {
            presence,
            ttl_ms: 100,
        }
    }

    fn index(entries: &[(&str, f64)]) -> Vec<(String, f64)> {
        let entry = |(id, expiry): &(&str, f64)| ((*id).to_owned(), *expiry);
        entries.iter().map(entry).collect()
    }

    fn seen(listing: Listing) -> Vec<(String, u64)> {
        let one = |presence: Presence| (presence.id.to_string(), presence.last_seen);
        let mut seen: Vec<_> = listing.servers.into_iter().map(one).collect();
        seen.sort();
        seen
    }

    #[test]
    fn only_what_is_new_or_has_changed_is_read_again() {
        let mut known = Known::default();
        let mut unread = known.note(1, index(&[("a", 110.0), ("b", 120.0)]), &[]);
        unread.sort();
        assert_eq!(unread, ["a", "b"]);
        known.complete(20, vec![row("a", 10), row("b", 20)]);
        assert_eq!(known.until_ms(), 20);

        let all = index(&[("a", 210.0), ("b", 220.0), ("c", 225.0)]);
        let mut unread = known.note(1, all, &["b".to_owned()]);
        unread.sort();
        assert_eq!(unread, ["b", "c"]);
        let listing = known.complete(130, vec![row("b", 120), row("c", 125)]);
        let expected = [("a", 110), ("b", 120), ("c", 125)];
        assert_eq!(seen(listing), expected.map(|(id, ms)| (id.to_owned(), ms)));
    }

    #[test]
    fn what_could_not_be_read_is_asked_for_again() {
        let mut known = Known::default();
        assert_eq!(known.note(1, index(&[("a", 110.0)]), &[]), ["a"]);
        assert_eq!(
            known.note(1, index(&[("a", 110.0)]), &[]),
            ["a"],
            "no answer came"
        );
        known.complete(20, vec![]);
        assert_eq!(
            known.note(1, index(&[("a", 210.0)]), &[]),
            ["a"],
            "unreadable"
        );
    }

    #[test]
    fn a_new_connection_knows_nothing() {
        let mut known = Known::default();
        known.note(1, index(&[("a", 110.0)]), &[]);
        known.complete(20, vec![row("a", 10)]);
        assert_eq!(known.note(2, index(&[("a", 210.0)]), &[]), ["a"]);
        assert_eq!(known.until_ms(), 0);
    }
}
