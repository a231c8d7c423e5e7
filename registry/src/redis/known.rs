//! What a heartbeat has read of the others, so that it reads again only what has changed: with
//! many processes nearly all of a list is the same each time, and when Redis comes back they all
//! read at once.
//!
//! Pure. Invariant: a row is believed as long as the revision listed is the one that was read
//! with it; revisions name the run that said it, so this holds over restarts of Redis too.

use std::collections::HashMap;

use crate::presence::{Listing, Presence};

/// One process' hash.
pub(super) struct Row {
    pub(super) presence: Presence,
    /// Its last heartbeat was so long before the expiry that its index entry shows; 0 from whoever
    /// does not say it.
    pub(super) ttl_ms: u64,
    /// Which revision of what it says this is; none from whoever does not count them.
    pub(super) revision: Option<String>,
}

#[derive(Default)]
pub(super) struct Known {
    /// Nobody but who is in the index, and who has been fetched since that was read.
    rows: HashMap<String, Row>,
    /// The index as read last, in ms.
    expiries: HashMap<String, u64>,
}

impl Known {
    /// Takes an index and the revisions; who must be read.
    pub(super) fn note(
        &mut self,
        now_ms: u64,
        expiries: Vec<(String, f64)>,
        revisions: &HashMap<String, String>,
    ) -> Vec<String> {
        self.expiries = living(now_ms, expiries);
        let expiries = &self.expiries;
        self.rows.retain(|id, row| {
            let same = row.revision.is_some() && row.revision.as_ref() == revisions.get(id);
            same && expiries.contains_key(id)
        });
        let unread = expiries.keys().filter(|id| !self.rows.contains_key(*id));
        unread.cloned().collect()
    }

    /// Takes what was read of them: the list is whole.
    pub(super) fn complete(&mut self, now_ms: u64, read: Vec<Row>) -> Listing {
        self.add(read);
        let listed = self.rows.iter().filter_map(|(id, row)| {
            let mut presence = row.presence.clone();
            let expiry = self.expiries.get(id)?;
            if row.ttl_ms > 0 {
                // The row's own time may be of before Redis' clock went back.
                presence.last_seen = expiry.saturating_sub(row.ttl_ms);
            }
            Some(presence)
        });
        Listing {
            now_ms,
            servers: listed.collect(),
        }
    }

    /// Takes what was read for another reason.
    pub(super) fn add(&mut self, read: Vec<Row>) {
        let key = |row: Row| (row.presence.id.to_string(), row);
        self.rows.extend(read.into_iter().map(key));
    }

    /// Which revision of this process has been read.
    pub(super) fn revision(&self, id: &str) -> Option<&str> {
        self.rows.get(id)?.revision.as_deref()
    }
}

/// Who has not lapsed, and until when, of an index as Redis gives it.
pub(super) fn living(now_ms: u64, expiries: Vec<(String, f64)>) -> HashMap<String, u64> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "whole milliseconds of an epoch, far below 2^53"
    )]
    let whole = |(id, expiry): (String, f64)| (id, expiry as u64);
    let expiries = expiries.into_iter().map(whole);
    expiries.filter(|(_, expiry)| *expiry > now_ms).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::presence::tests::presence;

    fn row(id: &str, last_seen: u64, revision: &str) -> Row {
        let mut presence = presence(id, 1, 1);
        presence.last_seen = last_seen;
        Row {
            presence,
            ttl_ms: 100,
            revision: Some(revision.to_owned()),
        }
    }

    /// Notes ids with expiry and revision; who is to be read, in order.
    fn note(known: &mut Known, entries: &[(&str, f64, &str)]) -> Vec<String> {
        let expiry = |(id, expiry, _): &(&str, f64, &str)| ((*id).to_owned(), *expiry);
        let revision =
            |(id, _, revision): &(&str, f64, &str)| ((*id).to_owned(), (*revision).to_owned());
        let mut unread = known.note(
            0,
            entries.iter().map(expiry).collect(),
            &entries.iter().map(revision).collect(),
        );
        unread.sort();
        unread
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
        let first = [("a", 110.0, "x-1"), ("b", 120.0, "y-1")];
        assert_eq!(note(&mut known, &first), ["a", "b"]);
        known.complete(20, vec![row("a", 10, "x-1"), row("b", 20, "y-1")]);

        let second = [
            ("a", 210.0, "x-1"),
            ("b", 220.0, "y-2"),
            ("c", 225.0, "z-1"),
        ];
        assert_eq!(note(&mut known, &second), ["b", "c"]);
        let listing = known.complete(130, vec![row("b", 120, "y-2"), row("c", 125, "z-1")]);
        let expected = [("a", 110), ("b", 120), ("c", 125)];
        assert_eq!(seen(listing), expected.map(|(id, ms)| (id.to_owned(), ms)));
    }

    #[test]
    fn a_heartbeat_is_as_old_as_the_index_says_also_where_the_clock_has_gone_back() {
        let mut known = Known::default();
        note(&mut known, &[("a", 1_110.0, "x-1"), ("b", 1_110.0, "y-1")]);
        let rows = vec![row("a", 1_010, "x-1"), row("b", 1_010, "y-1")];
        known.complete(1_010, rows);

        let unread = note(&mut known, &[("a", 150.0, "x-1"), ("b", 150.0, "y-2")]);
        assert_eq!(unread, ["b"]);
        let listing = known.complete(60, vec![row("b", 50, "y-2")]);
        let expected = [("a", 50), ("b", 50)];
        assert_eq!(seen(listing), expected.map(|(id, ms)| (id.to_owned(), ms)));
    }

    #[test]
    fn what_could_not_be_read_is_asked_for_again() {
        let mut known = Known::default();
        let index = [("a", 110.0, "x-1")];
        assert_eq!(note(&mut known, &index), ["a"]);
        assert_eq!(note(&mut known, &index), ["a"], "no answer came");
        known.complete(20, vec![]);
        assert_eq!(note(&mut known, &index), ["a"], "it could not be read");
    }

    #[test]
    fn whoever_counts_no_revisions_is_always_read() {
        let mut known = Known::default();
        let mut uncounted = row("a", 10, "");
        uncounted.revision = None;
        known.add(vec![uncounted]);
        let index = || vec![("a".to_owned(), 110.0)];
        assert_eq!(known.note(0, index(), &HashMap::new()), ["a"]);
    }

    #[test]
    fn whoever_has_lapsed_is_not_there() {
        let index = vec![("a".to_owned(), 100.0), ("b".to_owned(), 101.0)];
        assert_eq!(living(100, index).into_keys().collect::<Vec<_>>(), ["b"]);
    }

    #[test]
    fn whoever_was_fetched_and_is_not_listed_is_left_out() {
        let mut known = Known::default();
        known.add(vec![row("a", 10, "x-1")]);
        assert_eq!(known.revision("a"), Some("x-1"));
        assert_eq!(note(&mut known, &[("b", 110.0, "y-1")]), ["b"]);
        assert_eq!(known.revision("a"), None, "and forgotten");
        let listing = known.complete(20, vec![row("b", 10, "y-1")]);
        assert_eq!(seen(listing), [("b".to_owned(), 10)]);
    }
}
