//! What a gateway records, by OpenTelemetry's names.

use opentelemetry::metrics::{Counter, UpDownCounter};
use opentelemetry::{KeyValue, global};
use protocol::{CloseCode, ErrorCode};

/// The instruments of one gateway. Clones share them.
#[derive(Clone, Debug)]
pub(crate) struct Metrics {
    active: UpDownCounter<i64>,
    refused: Counter<u64>,
    closed: Counter<u64>,
    errors: Counter<u64>,
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
        Self {
            active: meter
                .i64_up_down_counter("gateway.connection.active")
                .with_description("Players' sockets that are open")
                .build(),
            refused: counter("gateway.connection.refused", "Players' sockets turned away"),
            closed: counter(
                "gateway.connection.closed",
                "Players' sockets closed by the gateway",
            ),
            errors: counter("gateway.error.sent", "Errors told to players"),
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

    /// A player was told an error.
    pub(crate) fn error(&self, code: ErrorCode) {
        self.errors
            .add(1, &[KeyValue::new("error.type", code.as_str())]);
    }
}
