//! Logs, and traces and metrics for whoever collects them.
//!
//! Logs go to standard error, one line an event, so that standard output stays free for what the
//! program says to a person. Traces and metrics go out by OTLP if the environment names a collector by
//! OpenTelemetry's own variables; without one nothing of it is set up, and [`crate::trace`] makes no
//! span. What is recorded in either case is shown on `/metrics`: [`crate::metrics`].

mod collector;
mod lines;
mod settings;
mod trust;

use std::io;
use std::panic::{self, PanicHookInfo};

use opentelemetry::trace::TracerProvider;
use opentelemetry_otlp::ExporterBuildError;
use opentelemetry_sdk::error::OTelSdkError;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tokio::runtime::Runtime;
use tracing_subscriber::filter::EnvFilter;
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::util::{SubscriberInitExt, TryInitError};

use self::collector::Collector;
pub use self::settings::{InvalidLogFormat, InvalidLogLevel, LogFormat, LogLevel};
use crate::metrics::Metrics;
use crate::{resource, trace};

/// Telemetry could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The collector's address or another `OTEL_…` variable can't be used.
    #[error("OTEL_EXPORTER_OTLP_ENDPOINT and its kin: {0}")]
    Exporter(#[from] ExporterBuildError),
    /// A certificate or key for TLS to the collector can't be used.
    #[error("{variable}: {why}")]
    Trust {
        /// Which variable names it.
        variable: String,
        /// What is wrong with it, for people.
        why: String,
    },
    /// Nothing can speak TLS to the collector.
    #[error("TLS to the collector can't be set up: {0}")]
    Tls(#[from] reqwest::Error),
    /// The exporter's thread could not be started.
    #[error("the exporter of traces and metrics can't start: {0}")]
    Thread(#[from] io::Error),
    /// What is shown on `/metrics` can't be set up.
    #[error("metrics can't be recorded: {0}")]
    Metrics(#[from] OTelSdkError),
    /// The process has set up its logs before.
    #[error(transparent)]
    Twice(#[from] TryInitError),
}

/// Keeps telemetry going; what is still unsent goes out when it is dropped.
#[must_use]
#[derive(Debug)]
pub struct Telemetry {
    metrics: Metrics,
    traces: Option<SdkTracerProvider>,
    _runtime: Option<Runtime>,
}

impl Telemetry {
    /// What this process records.
    pub fn metrics(&self) -> Metrics {
        self.metrics.clone()
    }
}

impl Drop for Telemetry {
    fn drop(&mut self) {
        // A collector that is away must not keep the process from ending well.
        if let Some(traces) = &self.traces {
            let _ = traces.shutdown();
        }
        self.metrics.shut_down();
    }
}

/// Starts logging for the whole process, panics included, metrics, and traces if a collector is named.
/// `service` is what the process calls itself there, unless `OTEL_SERVICE_NAME` says otherwise.
///
/// # Errors
/// If it was called before, or what the `OTEL_…` variables say can't be done.
pub fn start(
    service: &'static str,
    level: &LogLevel,
    format: LogFormat,
) -> Result<Telemetry, Error> {
    let resource = resource::own(service);
    let collector = Collector::of_this_environment(&resource)?;
    let logs = lines::lines(format, io::stderr)
        .with_filter(EnvFilter::new(format!("{QUIET},{}", level.0)));
    tracing_subscriber::registry().with(logs).try_init()?;
    panic::set_hook(Box::new(log_panic));
    let (traces, exporter, runtime) = match collector {
        Some(Collector {
            traces,
            metrics,
            runtime,
        }) => (traces, metrics, Some(runtime)),
        None => (None, None, None),
    };
    if let Some(traces) = &traces {
        trace::collect(traces.tracer("wizard"));
    }
    Ok(Telemetry {
        metrics: Metrics::install(resource, exporter)?,
        traces,
        _runtime: runtime,
    })
}

/// What libraries say of their own life is not ours to report, and the frames that some of them
/// print hold tokens and cards. A level that names them brings them back.
const QUIET: &str = "opentelemetry=warn,opentelemetry_sdk=warn,opentelemetry-otlp=warn,\
    tungstenite=warn,tokio_tungstenite=warn,hyper=info,hyper_util=info,h2=info,tonic=info,\
    reqwest=info,tower=info,memory_serve=warn";

/// The standard hook writes several lines past the log.
fn log_panic(info: &PanicHookInfo<'_>) {
    let message = info.payload_as_str().unwrap_or("no message");
    let location = info.location().map(ToString::to_string).unwrap_or_default();
    let thread = std::thread::current();
    tracing::error!(
        thread = thread.name(),
        location,
        "a bug: panicked: {message}"
    );
}
