//! What a gateway records, by OpenTelemetry's names.

use std::sync::{Arc, Weak};
use std::time::Duration;

use chassis::metrics::{BYTES, LONG_SECONDS};
use opentelemetry::metrics::{Counter, Histogram, UpDownCounter};
use opentelemetry::{KeyValue, global};
use protocol::link::{Claimed, Why};
use protocol::{CloseCode, ErrorCode};

use crate::links::Links;
use crate::session::Whereabouts;

/// The instruments of one gateway. Clones share them.
#[derive(Clone, Debug)]
pub(crate) struct Metrics {
    active: UpDownCounter<i64>,
    refused: Counter<u64>,
    closed: Counter<u64>,
    errors: Counter<u64>,
    /// Its count is the frames, its sum the bytes.
    frames: Histogram<u64>,
    searches: Histogram<f64>,
    claims: Histogram<f64>,
}

/// Why a connection came to nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// `MAX_HTTP_CONCURRENCY`: 503.
    Concurrency,
    /// `MAX_CONNECTIONS` or `MAX_CONNECTIONS_PER_IP`: `busy`, 1013.
    TooMany,
    /// `ALLOWED_ORIGINS`: 1008.
    Origin,
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let meter = global::meter("gateway");
        let counter = |name, description| {
            meter
                .u64_counter(name)
                .with_description(description)
                .build()
        };
        let seconds = |name, description| {
            meter
                .f64_histogram(name)
                .with_unit("s")
                .with_description(description)
                .with_boundaries(LONG_SECONDS.to_vec())
                .build()
        };
        Self {
            searches: seconds(
                "gateway.search.duration",
                "From the loss of a table, or a code that is not remembered, to its owner",
            ),
            claims: seconds(
                "gateway.claim.duration",
                "From asking a node to take a lobby to its answer",
            ),
            active: meter
                .i64_up_down_counter("gateway.connection.active")
                .with_unit("{connection}")
                .with_description("Players' sockets that are open")
                .build(),
            refused: counter("gateway.connection.refused", "Players' sockets turned away"),
            closed: counter(
                "gateway.connection.closed",
                "Players' sockets closed by the gateway",
            ),
            errors: counter("gateway.error.sent", "Errors told to players"),
            frames: meter
                .u64_histogram("gateway.frame.size")
                .with_unit("By")
                .with_description("Frames of players' sockets")
                .with_boundaries(BYTES.to_vec())
                .build(),
        }
    }

    /// A player's socket has opened (1) or closed (−1).
    pub(crate) fn active(&self, change: i64) {
        self.active.add(change, &[]);
    }

    /// A socket was turned away.
    pub(crate) fn refused(&self, why: Refusal) {
        let why = match why {
            Refusal::Concurrency => "concurrency",
            Refusal::TooMany => "busy",
            Refusal::Origin => "origin",
        };
        self.refused.add(1, &[KeyValue::new("error.type", why)]);
    }

    /// A socket was closed with this code.
    pub(crate) fn closed(&self, code: CloseCode) {
        let code = i64::from(u16::from(code));
        self.closed
            .add(1, &[KeyValue::new("gateway.close.code", code)]);
    }

    /// A frame of so many bytes has come.
    pub(crate) fn received(&self, bytes: usize) {
        self.frame(bytes, "receive");
    }

    /// A frame of so many bytes is being written.
    pub(crate) fn sent(&self, bytes: usize) {
        self.frame(bytes, "transmit");
    }

    fn frame(&self, bytes: usize, direction: &'static str) {
        let direction = [KeyValue::new("network.io.direction", direction)];
        self.frames.record(bytes as u64, &direction);
    }

    /// A player was told an error.
    pub(crate) fn error(&self, code: ErrorCode) {
        self.errors
            .add(1, &[KeyValue::new("error.type", code.as_str())]);
    }

    /// A lobby's owner was searched for; none if everybody gave up.
    pub(crate) fn resolved(&self, found: Option<&Whereabouts>, took: Duration) {
        let outcome = match found {
            Some(Whereabouts::At { .. }) => "found",
            Some(Whereabouts::Unknown) => "unknown",
            Some(Whereabouts::Alone) => "alone",
            Some(Whereabouts::Unavailable) | None => "given_up",
        };
        let outcome = KeyValue::new("gateway.search.outcome", outcome);
        self.searches.record(took.as_secs_f64(), &[outcome]);
    }

    /// A node was asked to take a lobby; none if it did not answer.
    pub(crate) fn claimed(&self, why: Why, outcome: Option<&Claimed>, took: Duration) {
        let outcome = match outcome {
            Some(Claimed::Owned { .. }) => "owned",
            Some(Claimed::MovedOn) => "moved_on",
            Some(Claimed::Gone) => "gone",
            Some(Claimed::Wait { .. }) => "wait",
            Some(Claimed::Refused) => "refused",
            Some(Claimed::Unreadable) => "unreadable",
            Some(Claimed::Unavailable) => "unavailable",
            None => "silent",
        };
        let labels = [
            KeyValue::new("gateway.claim.reason", why.as_str()),
            KeyValue::new("gateway.claim.outcome", outcome),
        ];
        self.claims.record(took.as_secs_f64(), &labels);
    }
}

/// Shows from now on how many links are up, asked whenever somebody reads.
pub(crate) fn watch_links(links: &Arc<Links>) {
    let links: Weak<Links> = Arc::downgrade(links);
    let _registered = global::meter("gateway")
        .u64_observable_gauge("gateway.link.count")
        .with_unit("{link}")
        .with_description("Links to game nodes that the registry names")
        .with_callback(move |count| {
            if let Some(links) = links.upgrade() {
                let (up, down) = links.counts();
                count.observe(up, &[KeyValue::new("gateway.link.state", "up")]);
                count.observe(down, &[KeyValue::new("gateway.link.state", "down")]);
            }
        })
        .build();
}
