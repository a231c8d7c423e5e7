//! What waits to be written to one player.
//!
//! It is not a queue of everything that happened: of the pictures of a table only the newest
//! waits, with the events of those it replaced. Small messages queue in order, up to a bound in
//! bytes. Pure: the time is passed in.
//!
//! Invariant: at most one picture waits, and what a connection was last sent of it is known here,
//! where the sending is.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use chassis::trace::Span;
use protocol::parts::{LastSent, WaitingEvents, empty_state, write_state};
use protocol::{CloseCode, LobbyCode, link::Show};

use crate::frame;

/// Small messages that may wait or be under way, in bytes. A player who reads gets far fewer; one who doesn't
/// shall not cost more.
const MAX_WAITING_BYTES: usize = 256 * 1024;
/// What an entry costs besides its text: no player shall make the queue long with tiny ones.
const ENTRY_BYTES: usize = 64;
/// A connection that has not taken a single write in so long reads too slowly.
const SLOW_READER_AFTER: Duration = Duration::from_secs(10);

/// One picture of a lobby for one player.
#[derive(Clone, Debug)]
pub(crate) struct Picture {
    show: Arc<Show>,
    own: Option<u32>,
    events: WaitingEvents,
    /// Of the moves that have led to it: they end with the last of its copies, once it is written to
    /// all of its players, or a newer one is.
    _spans: Option<Arc<[Span]>>,
}

impl Picture {
    /// What a game node shows; `own` is the player's place in [`Show::own`].
    pub(crate) fn new(show: Arc<Show>, own: Option<u32>) -> Self {
        let mut events = WaitingEvents::default();
        events.append(&show.events);
        Self {
            show,
            own,
            events,
            _spans: None,
        }
    }

    /// With the spans of its way to the players.
    pub(crate) fn traced(self, spans: Option<Arc<[Span]>>) -> Self {
        Self {
            _spans: spans,
            ..self
        }
    }

    /// Which lobby it is of.
    pub(crate) fn code(&self) -> LobbyCode {
        self.show.code
    }

    /// Its place in time: of two pictures of one lobby the higher is the newer.
    pub(crate) fn time(&self) -> (u64, u64) {
        (self.show.epoch, self.show.shared.seq)
    }

    /// This picture with the events of one that it replaces before anybody saw that.
    pub(crate) fn after(self, missed: &Picture) -> Self {
        if missed.code() != self.code() {
            return self;
        }
        let mut events = missed.events.clone();
        events.append(self.events.as_slice());
        Self { events, ..self }
    }

    fn write(&self, json: &mut Vec<u8>, last_sent: Option<&mut LastSent>) {
        let own = self.own.and_then(|place| self.show.own.get(place as usize));
        write_state(json, &self.show.shared, own, &self.events, last_sent);
    }
}

/// One thing to be written, in the order of the outbox.
#[derive(Debug)]
enum Entry {
    /// JSON.
    Text(Bytes),
    /// A whole frame already, in the bytes that are sent.
    Ready(Bytes),
    Picture(Picture),
    /// A WebSocket ping.
    Ping,
}

/// The frames of one connection that are not written yet.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    entries: VecDeque<Entry>,
    /// Of the texts among the entries.
    waiting_bytes: usize,
    /// Of the texts that are being written.
    writing_bytes: usize,
    /// Whether states may leave out what has not changed.
    partial: bool,
    last_sent: LastSent,
    closing: Option<CloseCode>,
    /// What waits is the last, without a close of ours.
    ending: bool,
    /// When a message went beyond the bound, and was lost.
    lost_at: Option<Instant>,
    /// Since when a write has been under way.
    writing_since: Option<Instant>,
    /// Nothing comes after the write under way.
    is_writing_last: bool,
}

impl Outbox {
    /// From now on states leave out what has not changed, if `partial`.
    pub(crate) fn set_partial(&mut self, partial: bool) {
        self.partial = partial;
    }

    /// Adds a small message. One beyond the bound is lost: the connection is to be closed at once,
    /// since its player would wait for it in vain.
    pub(crate) fn push(&mut self, now: Instant, text: impl Into<Bytes>) {
        self.push_entry(now, text.into(), Entry::Text);
    }

    /// Adds a whole frame, under the same bound.
    pub(crate) fn push_ready(&mut self, now: Instant, frame: Bytes) {
        self.push_entry(now, frame, Entry::Ready);
    }

    fn push_entry(&mut self, now: Instant, content: Bytes, entry: fn(Bytes) -> Entry) {
        let bytes = content.len() + ENTRY_BYTES;
        if self.writing_bytes + self.waiting_bytes + bytes > MAX_WAITING_BYTES {
            self.lost_at.get_or_insert(now);
            return;
        }
        self.waiting_bytes += bytes;
        self.entries.push_back(entry(content));
    }

    /// Adds a picture; one that waits is replaced by it.
    pub(crate) fn show(&mut self, picture: Picture) {
        let picture = match self.remove_picture() {
            Some(missed) => picture.after(&missed),
            None => picture,
        };
        self.entries.push_back(Entry::Picture(picture));
    }

    /// Adds the picture of being at no table; one of a table that waits is not needed any more.
    pub(crate) fn show_nothing(&mut self, now: Instant) {
        self.remove_picture();
        // The next table's parts are new to the client, whatever it had before.
        self.last_sent = LastSent::default();
        self.push(now, empty_state());
    }

    /// Adds a ping.
    pub(crate) fn ping(&mut self) {
        if !matches!(self.entries.back(), Some(Entry::Ping)) {
            self.entries.push_back(Entry::Ping);
        }
    }

    /// Ends the connection after what waits now; nothing is added after it.
    pub(crate) fn close(&mut self, code: CloseCode) {
        self.closing.get_or_insert(code);
    }

    /// Ends the connection at once: a slow reader's outbox will not get empty.
    pub(crate) fn close_now(&mut self, code: CloseCode) {
        self.entries.clear();
        self.waiting_bytes = 0;
        self.closing.get_or_insert(code);
    }

    /// Ends the connection after what waits now: the player has closed it.
    pub(crate) fn end(&mut self) {
        self.ending = true;
    }

    /// Whether there is nothing to be written.
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty() && !self.is_last()
    }

    /// Adds everything that waits to `bytes` in whole frames, and tells `sent` the length of each text. The
    /// write is under way until [`Outbox::written`].
    pub(crate) fn take(&mut self, now: Instant, bytes: &mut Vec<u8>, mut sent: impl FnMut(usize)) {
        for entry in std::mem::take(&mut self.entries) {
            match entry {
                Entry::Text(text) => {
                    sent(frame::text(bytes, |payload| payload.extend(text)));
                }
                Entry::Ready(frame) => bytes.extend(frame),
                Entry::Picture(picture) => {
                    let last_sent = self.partial.then_some(&mut self.last_sent);
                    sent(frame::text(bytes, |payload| {
                        picture.write(payload, last_sent);
                    }));
                }
                Entry::Ping => frame::ping(bytes),
            }
        }
        if let Some(code) = self.closing {
            frame::close(bytes, code);
        }
        self.writing_bytes += std::mem::take(&mut self.waiting_bytes);
        self.writing_since = Some(now);
        self.is_writing_last = self.is_last();
    }

    /// Whether nothing comes after what waits now.
    fn is_last(&self) -> bool {
        self.closing.is_some() || self.ending
    }

    /// The write under way, if there is one, is done; whether it was the last.
    pub(crate) fn written(&mut self) -> bool {
        if self.writing_since.take().is_none() {
            return false;
        }
        self.writing_bytes = 0;
        self.is_writing_last
    }

    /// When the connection counts as too slow, if nothing changes.
    pub(crate) fn slow_at(&self) -> Option<Instant> {
        if self.closing.is_some() {
            return None;
        }
        let stuck_at = self.writing_since.map(|since| since + SLOW_READER_AFTER);
        [self.lost_at, stuck_at].into_iter().flatten().min()
    }

    fn remove_picture(&mut self) -> Option<Picture> {
        let place = self
            .entries
            .iter()
            .position(|entry| matches!(entry, Entry::Picture(_)))?;
        match self.entries.remove(place) {
            Some(Entry::Picture(picture)) => Some(picture),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use protocol::parts::{Fragment, SharedParts};
    use serde_json::{Value, json};

    use super::*;

    fn picture(code: &str, seq: u64, events: &[&str]) -> Picture {
        let show = Show {
            code: code.parse().unwrap(),
            epoch: 1,
            shared: SharedParts {
                seq,
                lobby: Fragment::of(&json!({ "code": code })),
                game: None,
            },
            events: events.iter().map(Fragment::of).collect(),
            own: Vec::new(),
            to: Vec::new(),
            traces: Vec::new(),
        };
        Picture::new(Arc::new(show), None)
    }

    fn taken(outbox: &mut Outbox) -> Vec<u8> {
        let mut bytes = Vec::new();
        outbox.take(chassis::clock::now(), &mut bytes, |_| {});
        bytes
    }

    /// Of texts of less than 126 bytes and longer ones.
    fn texts(outbox: &mut Outbox) -> Vec<Value> {
        let mut texts = Vec::new();
        let mut bytes = &taken(outbox)[..];
        while let [0x81, length, rest @ ..] = bytes {
            let (length, rest) = match length {
                126 => (
                    usize::from(u16::from_be_bytes([rest[0], rest[1]])),
                    &rest[2..],
                ),
                _ => (usize::from(*length), rest),
            };
            texts.push(serde_json::from_slice(&rest[..length]).unwrap());
            bytes = &rest[length..];
        }
        assert!(bytes.is_empty(), "nothing but texts");
        texts
    }

    #[test]
    fn a_newer_picture_takes_the_place_of_one_that_waits_with_its_events() {
        let now = chassis::clock::now();
        let mut outbox = Outbox::default();
        outbox.show(picture("ABCD23", 1, &["a", "b"]));
        outbox.push(now, "{\"type\":\"pong\"}");
        outbox.show(picture("ABCD23", 2, &[]));
        outbox.show(picture("ABCD23", 3, &["c"]));
        let sent = texts(&mut outbox);
        assert_eq!(sent.len(), 2);
        assert_eq!(sent[0]["type"], "pong");
        assert_eq!(
            (&sent[1]["seq"], &sent[1]["events"]),
            (&json!(3), &json!(["a", "b", "c"]))
        );
    }

    #[test]
    fn what_happened_at_another_table_is_not_told() {
        let mut outbox = Outbox::default();
        outbox.show(picture("ABCD23", 7, &["a"]));
        outbox.show(picture("WXYZ23", 1, &["b"]));
        let sent = texts(&mut outbox);
        assert_eq!(sent.len(), 1);
        assert_eq!(sent[0]["events"], json!(["b"]));
    }

    #[test]
    fn a_partial_state_leaves_out_what_was_written_and_not_what_was_replaced() {
        let now = chassis::clock::now();
        let mut outbox = Outbox::default();
        outbox.set_partial(true);
        outbox.show(picture("ABCD23", 1, &[]));
        outbox.show(picture("ABCD23", 2, &[]));
        assert!(
            texts(&mut outbox)[0].get("lobby").is_some(),
            "the first was never written"
        );
        outbox.show(picture("ABCD23", 3, &[]));
        assert!(texts(&mut outbox)[0].get("lobby").is_none());
        outbox.show_nothing(now);
        outbox.show(picture("ABCD23", 4, &[]));
        let sent = texts(&mut outbox);
        assert_eq!(sent[0]["lobby"], Value::Null);
        assert!(
            sent[1].get("lobby").is_some(),
            "the empty state took it away"
        );
    }

    #[test]
    fn a_full_state_is_always_whole() {
        let mut outbox = Outbox::default();
        for seq in 1..3 {
            outbox.show(picture("ABCD23", seq, &[]));
            assert!(texts(&mut outbox)[0].get("lobby").is_some());
        }
    }

    #[test]
    fn small_messages_are_bounded_and_whoever_has_lost_one_is_slow_for_good() {
        let now = chassis::clock::now();
        let mut outbox = Outbox::default();
        let text = Bytes::from(vec![b' '; 1024]);
        for _ in 0..10_000 {
            outbox.push(now, text.clone());
        }
        assert!(outbox.entries.len() * 1024 <= MAX_WAITING_BYTES);
        assert_eq!(outbox.slow_at(), Some(now));
        taken(&mut outbox);
        assert!(!outbox.written(), "more may come");
        assert_eq!(outbox.slow_at(), Some(now), "an answer is missing");
    }

    #[test]
    fn a_write_that_does_not_end_is_slow() {
        let now = chassis::clock::now();
        let mut outbox = Outbox::default();
        outbox.ping();
        assert_eq!(outbox.slow_at(), None);
        let mut bytes = Vec::new();
        outbox.take(now, &mut bytes, |_| {});
        assert_eq!(bytes, b"\x89\x00");
        assert_eq!(outbox.slow_at(), Some(now + SLOW_READER_AFTER));
        outbox.close_now(CloseCode::SlowReader);
        assert_eq!(outbox.slow_at(), None);
        assert_eq!(taken(&mut outbox), b"\x88\x02\x11\x3d");
        assert!(outbox.written(), "the last");
    }

    #[test]
    fn the_close_comes_after_what_waits() {
        let now = chassis::clock::now();
        let mut outbox = Outbox::default();
        outbox.push(now, "{}");
        outbox.close(CloseCode::TakenOver);
        assert_eq!(taken(&mut outbox), b"\x81\x02{}\x88\x02\x0f\xa0");
        assert!(outbox.written(), "the last");
    }

    #[test]
    fn a_close_during_a_write_is_the_next_one() {
        let mut outbox = Outbox::default();
        assert!(!outbox.written(), "no write is under way");
        outbox.ping();
        taken(&mut outbox);
        outbox.close(CloseCode::TakenOver);
        assert!(!outbox.written(), "the close still waits");
        assert_eq!(taken(&mut outbox), b"\x88\x02\x0f\xa0");
        assert!(outbox.written(), "the last");
    }
}
