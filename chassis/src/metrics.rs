//! Metrics for Prometheus, recorded through OpenTelemetry.
//!
//! Roles record with `opentelemetry::global::meter("gateway")` and know nothing of this module.
//! OpenTelemetry's names become Prometheus' here: `game.command.duration` in seconds is shown as
//! `game_command_duration_seconds`.

use opentelemetry::global;
use opentelemetry_sdk::error::OTelSdkError;
use opentelemetry_sdk::metrics::SdkMeterProvider;
use prometheus::{Registry, TextEncoder};

use crate::resource;

/// Everything that is recorded in this process, ready to be shown. Clones share it.
///
/// [`Metrics::default`] shows nothing: for a process, or a test, whose metrics nobody reads.
#[derive(Clone, Debug, Default)]
pub struct Metrics {
    registry: Registry,
}

impl Metrics {
    /// Takes over the metrics of the whole process; instruments made before it record nothing.
    ///
    /// # Errors
    /// If the exporter can't be set up.
    pub fn install() -> Result<Self, OTelSdkError> {
        let registry = Registry::new();
        let exporter = opentelemetry_prometheus::exporter()
            .with_registry(registry.clone())
            .build()?;
        global::set_meter_provider(
            SdkMeterProvider::builder()
                .with_resource(resource::own())
                .with_reader(exporter)
                .build(),
        );
        Ok(Self { registry })
    }

    /// All of them in the text format of Prometheus.
    ///
    /// # Errors
    /// If two instruments contradict each other.
    pub fn render(&self) -> prometheus::Result<String> {
        TextEncoder::new().encode_to_string(&self.registry.gather())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_recorded_through_opentelemetry_is_shown_under_its_prometheus_name() {
        let metrics = Metrics::install().unwrap();
        let histogram = global::meter("test")
            .f64_histogram("game.command.duration")
            .with_unit("s")
            .build();
        histogram.record(0.25, &[]);
        let text = metrics.render().unwrap();
        assert!(text.contains("game_command_duration_seconds_sum"), "{text}");
        assert!(text.contains(r#"service_name="wizard""#), "{text}");
    }
}
