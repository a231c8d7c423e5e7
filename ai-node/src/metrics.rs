//! What an AI node records, by OpenTelemetry's names.

use std::time::Duration;

use chassis::metrics::SECONDS;
use opentelemetry::metrics::Histogram;
use opentelemetry::{KeyValue, global};

/// The instruments of one node.
#[derive(Debug)]
pub(crate) struct Metrics {
    decision: Histogram<f64>,
}

/// What has become of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// A move was found.
    Decided,
    /// There was nothing to choose from.
    NothingToDecide,
    /// A policy has panicked.
    Internal,
    /// Its time had passed before a worker got to it.
    Late,
    /// The queue was full.
    Refused,
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let decision = global::meter("ai")
            .f64_histogram("ai.decision.duration")
            .with_unit("s")
            .with_description("From a request until it is decided, its wait for a worker included")
            .with_boundaries(SECONDS.to_vec())
            .build();
        Self { decision }
    }

    /// A request has come to its end; by which policy, where one was asked.
    pub(crate) fn decided(&self, took: Duration, policy: &'static str, outcome: Outcome) {
        let outcome = match outcome {
            Outcome::Decided => "decided",
            Outcome::NothingToDecide => "nothing_to_decide",
            Outcome::Internal => "internal",
            Outcome::Late => "late",
            Outcome::Refused => "refused",
        };
        let attributes = [
            KeyValue::new("ai.policy.name", policy),
            KeyValue::new("ai.decision.outcome", outcome),
        ];
        self.decision.record(took.as_secs_f64(), &attributes);
    }
}
