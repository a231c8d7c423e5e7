//! Metrics, recorded through OpenTelemetry: for Prometheus, and for a collector if there is one.
//!
//! Roles record with `opentelemetry::global::meter("gateway")` and take their buckets from here.
//! OpenTelemetry's names become Prometheus' here: `game.command.duration` in seconds is shown as
//! `game_command_duration_seconds`. No id of a lobby, player, node or connection is ever a label: each
//! would be a time series for ever.

use opentelemetry::global;
use opentelemetry_otlp::MetricExporter;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkError;
use opentelemetry_sdk::metrics::SdkMeterProvider;
use prometheus::{Registry, TextEncoder};

/// Buckets for what takes a player's patience: from half a millisecond to five seconds.
pub const SECONDS: [f64; 13] = [
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0,
];
/// Buckets for what an operator waits for: from ten milliseconds to a minute.
pub const LONG_SECONDS: [f64; 12] = [
    0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0,
];
/// Buckets for the bytes of a frame, up to the longest that a player may send.
pub const BYTES: [f64; 8] = [
    64.0, 256.0, 1_024.0, 2_048.0, 4_096.0, 8_192.0, 16_384.0, 65_536.0,
];
/// Buckets for how many things are done at once.
pub const COUNT: [f64; 10] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 1_024.0];

/// Everything that is recorded in this process, ready to be shown. Clones share it.
///
/// [`Metrics::default`] shows nothing: for a process, or a test, whose metrics nobody reads.
#[derive(Clone, Debug, Default)]
pub struct Metrics {
    registry: Registry,
    provider: Option<SdkMeterProvider>,
}

impl Metrics {
    /// Takes over the metrics of the whole process; instruments made before it record nothing.
    ///
    /// # Errors
    /// If the exporter can't be set up.
    pub(crate) fn install(
        resource: Resource,
        collector: Option<MetricExporter>,
    ) -> Result<Self, OTelSdkError> {
        let registry = Registry::new();
        // Who this is, Prometheus knows of whom it asks.
        let shown = opentelemetry_prometheus::exporter()
            .with_registry(registry.clone())
            .without_target_info()
            .build()?;
        let mut provider = SdkMeterProvider::builder()
            .with_resource(resource)
            .with_reader(shown);
        if let Some(collector) = collector {
            provider = provider.with_periodic_exporter(collector);
        }
        let provider = provider.build();
        global::set_meter_provider(provider.clone());
        Ok(Self {
            registry,
            provider: Some(provider),
        })
    }

    /// All of them in the text format of Prometheus.
    ///
    /// # Errors
    /// If two instruments contradict each other.
    pub fn render(&self) -> prometheus::Result<String> {
        TextEncoder::new().encode_to_string(&self.registry.gather())
    }

    /// Sends what is unsent; nothing is recorded afterwards.
    pub(crate) fn shut_down(&self) {
        if let Some(provider) = &self.provider {
            // A collector that is away must not keep the process from ending well.
            let _ = provider.shutdown();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_recorded_through_opentelemetry_is_shown_under_its_prometheus_name() {
        let metrics = Metrics::install(crate::resource::own("wizard"), None).unwrap();
        let histogram = global::meter("test")
            .f64_histogram("game.command.duration")
            .with_unit("s")
            .with_boundaries(SECONDS.to_vec())
            .build();
        histogram.record(0.25, &[]);
        let text = metrics.render().unwrap();
        assert!(text.contains("game_command_duration_seconds_sum"), "{text}");
        assert!(text.contains(r#"le="0.0005""#), "{text}");
        assert!(!text.contains("service_instance_id"), "{text}");
    }
}
