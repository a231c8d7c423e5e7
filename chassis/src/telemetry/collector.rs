//! The way to a collector: OTLP over gRPC or HTTP, by OpenTelemetry's own variables.
//!
//! They are read where the library reads its others, unlike all of ours. Which of them count here is
//! what says whether there is a collector at all, and what its library leaves to us: TLS. Everything else
//! (headers, sampler, intervals) is the library's to read.

use std::env;
use std::time::Duration;

use opentelemetry_otlp::tonic_types::transport::ClientTlsConfig;
use opentelemetry_otlp::{
    ExporterBuildError, MetricExporter, OTEL_EXPORTER_OTLP_TIMEOUT_DEFAULT, SpanExporter,
    WithHttpConfig, WithTonicConfig,
};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tokio::runtime::Runtime;

use super::Error;
use super::trust::Trust;

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
        let (traces, metrics) = (Way::of("TRACES")?, Way::of("METRICS")?);
        if traces.is_none() && metrics.is_none() {
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
            (traces.map(Way::of_spans), metrics.map(Way::of_metrics))
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

/// How a signal gets to its collector.
enum Way {
    /// As the library does it by itself.
    Plain,
    GrpcOverTls(ClientTlsConfig),
    HttpOverTls(reqwest::blocking::Client),
}

impl Way {
    /// Nothing if this signal (`TRACES`, `METRICS`) has nowhere to go, or somebody has said that it shall not.
    fn of(signal: &str) -> Result<Option<Self>, Error> {
        let is_off = value("OTEL_SDK_DISABLED").eq_ignore_ascii_case("true")
            || value(&format!("OTEL_{signal}_EXPORTER")) == "none";
        let endpoint = of_signal(signal, "ENDPOINT", |endpoint| {
            Some(endpoint.to_owned()).filter(|endpoint| !endpoint.is_empty())
        });
        let Some(endpoint) = endpoint.filter(|_| !is_off) else {
            return Ok(None);
        };
        let is_grpc = of_signal(signal, "PROTOCOL", |protocol| {
            match protocol.to_ascii_lowercase().as_str() {
                "grpc" => Some(true),
                "http/protobuf" => Some(false),
                _ => None,
            }
        });
        let is_grpc = is_grpc.unwrap_or(false);
        // A host alone is an address for gRPC, and means TLS.
        let is_encrypted = endpoint
            .split_once("://")
            .map_or(is_grpc, |(scheme, _)| scheme.eq_ignore_ascii_case("https"));
        // Even a client without TLS wants one. Fails if the process has chosen one already, which is as good.
        let _chosen = rustls::crypto::ring::default_provider().install_default();
        if !is_encrypted {
            return Ok(Some(Self::Plain));
        }
        let trust = Trust::of(signal)?;
        Ok(Some(if is_grpc {
            Self::GrpcOverTls(trust.over_grpc())
        } else {
            let milliseconds = of_signal(signal, "TIMEOUT", |timeout| timeout.parse().ok());
            let timeout = milliseconds.map(Duration::from_millis);
            let client = reqwest::blocking::Client::builder()
                .timeout(timeout.unwrap_or(OTEL_EXPORTER_OTLP_TIMEOUT_DEFAULT));
            Self::HttpOverTls(trust.over_http(client)?.build()?)
        }))
    }

    fn of_spans(self) -> Result<SpanExporter, ExporterBuildError> {
        let builder = SpanExporter::builder();
        match self {
            Self::Plain => builder.build(),
            Self::GrpcOverTls(tls) => builder.with_tonic().with_tls_config(tls).build(),
            Self::HttpOverTls(client) => builder.with_http().with_http_client(client).build(),
        }
    }

    fn of_metrics(self) -> Result<MetricExporter, ExporterBuildError> {
        let builder = MetricExporter::builder();
        match self {
            Self::Plain => builder.build(),
            Self::GrpcOverTls(tls) => builder.with_tonic().with_tls_config(tls).build(),
            Self::HttpOverTls(client) => builder.with_http().with_http_client(client).build(),
        }
    }
}

/// What the signal's own variable says if it says anything, or else the one of all signals.
fn of_signal<T>(signal: &str, what: &str, read: impl Fn(&str) -> Option<T>) -> Option<T> {
    let own = format!("OTEL_EXPORTER_OTLP_{signal}_{what}");
    let common = format!("OTEL_EXPORTER_OTLP_{what}");
    read(&value(&own)).or_else(|| read(&value(&common)))
}

fn value(variable: &str) -> String {
    env::var(variable).unwrap_or_default()
}
