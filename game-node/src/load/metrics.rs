//! The load as operators chart it.
//!
//! Ids are no labels: of two game nodes in one process, the newest sample of either is shown.

use opentelemetry::global;
use opentelemetry::metrics::Gauge;
use protocol::server::LoadLevel;

use super::Load;

pub(super) struct Metrics {
    level: Gauge<u64>,
    loop_lag: Gauge<f64>,
    cpu: Gauge<f64>,
    throttled: Gauge<f64>,
}

impl Metrics {
    pub(super) fn new() -> Self {
        let meter = global::meter("game");
        let gauge = |name, unit, description| {
            meter
                .f64_gauge(name)
                .with_unit(unit)
                .with_description(description)
                .build()
        };
        Self {
            level: meter
                .u64_gauge("game.load.level")
                .with_description("0: normal, 1: busy, 2: overloaded")
                .build(),
            loop_lag: gauge(
                "game.loop.lag",
                "s",
                "How late the lobby thread was at worst",
            ),
            cpu: gauge(
                "game.cpu.utilization",
                "1",
                "Share of the CPU that may be used",
            ),
            throttled: gauge(
                "game.cpu.throttled",
                "1",
                "Share of the CPU quota's periods in which it was used up",
            ),
        }
    }

    pub(super) fn record(&self, load: &Load) {
        let level = match load.level {
            LoadLevel::Normal => 0,
            LoadLevel::Busy => 1,
            LoadLevel::Overloaded => 2,
        };
        self.level.record(level, &[]);
        self.loop_lag
            .record(load.sample.loop_lag.as_secs_f64(), &[]);
        self.cpu.record(load.sample.cpu, &[]);
        self.throttled.record(load.sample.throttled, &[]);
    }
}
