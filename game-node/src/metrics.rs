//! What a game node records.

use std::time::Duration;

use opentelemetry::metrics::Histogram;
use opentelemetry::{KeyValue, global};

/// The instruments of one node.
pub(crate) struct Metrics {
    command: Histogram<f64>,
    decision: Histogram<f64>,
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let meter = global::meter("game-node");
        let seconds = |name, description| {
            meter
                .f64_histogram(name)
                .with_unit("s")
                .with_description(description)
                .build()
        };
        Self {
            command: seconds(
                "game.command.duration",
                "From a player's wish to its answer",
            ),
            decision: seconds("ai.decision.duration", "From a question to its decision"),
        }
    }

    /// A player's wish was answered, with the code of its error if it was refused.
    pub(crate) fn answered(&self, name: &'static str, took: Duration, error: Option<&'static str>) {
        let mut attributes = vec![KeyValue::new("game.command.name", name)];
        attributes.extend(error.map(|code| KeyValue::new("error.type", code)));
        self.command.record(took.as_secs_f64(), &attributes);
    }

    /// An AI seat's move was decided, by an AI or else at random.
    pub(crate) fn decided(&self, took: Duration, by_ai: bool) {
        let by = KeyValue::new("ai.decision.by", if by_ai { "ai" } else { "chance" });
        self.decision.record(took.as_secs_f64(), &[by]);
    }
}
