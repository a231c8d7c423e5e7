//! The way to a collector: OTLP over gRPC or HTTP, by OpenTelemetry's own variables.
//!
//! They are read where the library reads its others, unlike all of ours. Which of them count here is
//! only what says whether there is a collector at all; everything else (protocol, headers, time-outs,
//! sampler, intervals) is the library's to read.

use std::env;

use opentelemetry_otlp::{MetricExporter, SpanExporter};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tokio::runtime::Runtime;

use super::Error;

/// What goes to a collector, and the thread that carries it.
#[derive(Debug)]
pub(super) struct Collector {
    pub(super) traces: Option<SdkTracerProvider>,
    pub(super) metrics: Option<MetricExporter>,
    /// Carries the connection, if it is gRPC.
    pub(super) runtime: Runtime,
}

impl Collector {
    /// Nothing if no collector is named.
    pub(super) fn of_this_environment(resource: &Resource) -> Result<Option<Self>, Error> {
        let traces = is_wanted("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_TRACES_EXPORTER")?;
        let metrics = is_wanted(
            "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
            "OTEL_METRICS_EXPORTER",
        )?;
        if !traces && !metrics {
            return Ok(None);
        }
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("telemetry")
            .enable_all()
            .build()?;
        // A connection over gRPC belongs to the runtime in which it is made.
        let (traces, metrics) = {
            let _inside = runtime.enter();
            (
                traces.then(|| SpanExporter::builder().build()),
                metrics.then(|| MetricExporter::builder().build()),
            )
        };
        let provider = |exporter: SpanExporter| {
            SdkTracerProvider::builder()
                .with_batch_exporter(exporter)
                .with_resource(resource.clone())
                .build()
        };
        Ok(Some(Self {
            traces: traces.transpose()?.map(provider),
            metrics: metrics.transpose()?,
            runtime,
        }))
    }
}

/// Whether this signal has somewhere to go, and nobody has said that it shall not.
fn is_wanted(own_endpoint: &'static str, exporter: &str) -> Result<bool, Error> {
    let value = |name: &str| env::var(name).unwrap_or_default();
    let endpoints = [own_endpoint, "OTEL_EXPORTER_OTLP_ENDPOINT"];
    let named = endpoints
        .into_iter()
        .find(|variable| !value(variable).is_empty());
    let is_off =
        value("OTEL_SDK_DISABLED").eq_ignore_ascii_case("true") || value(exporter) == "none";
    match named {
        Some(variable) if !is_off && value(variable).starts_with("https:") => {
            Err(Error::Encrypted { variable })
        }
        named => Ok(named.is_some() && !is_off),
    }
}
