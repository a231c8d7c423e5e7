//! Logs, and traces for whoever collects them.
//!
//! Logs go to standard error, one line an event, so that standard output stays free for what the
//! program says to a person. Traces go out by OTLP if the environment names a collector by
//! OpenTelemetry's own variables; without one nothing of it is set up. Metrics are another matter:
//! [`crate::metrics`].

use std::env;
use std::io::{self, IsTerminal};
use std::panic::{self, PanicHookInfo};
use std::str::FromStr;

use opentelemetry::trace::TracerProvider;
use opentelemetry_otlp::{ExporterBuildError, SpanExporter};
use opentelemetry_sdk::trace::SdkTracerProvider;
use tokio::runtime::Runtime;
use tracing_subscriber::filter::{EnvFilter, LevelFilter};
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::{SubscriberInitExt, TryInitError};

/// What is logged: a level (`info`), or directives (`info,gateway=debug`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLevel(String);

/// The text is not a level.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("'{0}' is not a level: write off, error, warn, info, debug or trace")]
pub struct InvalidLogLevel(String);

impl FromStr for LogLevel {
    type Err = InvalidLogLevel;

    fn from_str(text: &str) -> Result<Self, InvalidLogLevel> {
        // A lone word would otherwise be taken for the name of a module, and log nothing.
        let plain = !text.contains(['=', ',']);
        let valid = if plain {
            !text.is_empty() && text.parse::<LevelFilter>().is_ok()
        } else {
            EnvFilter::try_new(text).is_ok()
        };
        if valid {
            Ok(Self(text.to_owned()))
        } else {
            Err(InvalidLogLevel(text.to_owned()))
        }
    }
}

/// How an event is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    Text,
    /// For machines: an object a line.
    Json,
}

impl LogFormat {
    /// Text where a person reads along, otherwise JSON.
    pub fn of_this_terminal() -> Self {
        if io::stderr().is_terminal() {
            Self::Text
        } else {
            Self::Json
        }
    }
}

/// The text is not a format.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("'{0}' is neither text nor json")]
pub struct InvalidLogFormat(String);

impl FromStr for LogFormat {
    type Err = InvalidLogFormat;

    fn from_str(text: &str) -> Result<Self, InvalidLogFormat> {
        match text {
            "text" => Ok(Self::Text),
            "json" => Ok(Self::Json),
            _ => Err(InvalidLogFormat(text.to_owned())),
        }
    }
}

/// Telemetry could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The collector's address or another `OTEL_…` variable can't be used.
    #[error("OTEL_EXPORTER_OTLP_ENDPOINT and its kin: {0}")]
    Exporter(#[from] ExporterBuildError),
    /// The exporter's thread could not be started.
    #[error("the exporter of traces can't start: {0}")]
    Thread(#[from] io::Error),
    /// The process has set up its logs before.
    #[error(transparent)]
    Twice(#[from] TryInitError),
}

/// Keeps telemetry going; what is still unsent goes out when it is dropped.
#[must_use]
#[derive(Debug)]
pub struct Telemetry {
    traces: Option<Traces>,
}

#[derive(Debug)]
struct Traces {
    provider: SdkTracerProvider,
    /// Carries the exporter's connection, if it is gRPC.
    _runtime: Runtime,
}

impl Drop for Telemetry {
    fn drop(&mut self) {
        if let Some(traces) = &self.traces {
            // A collector that is away must not keep the process from ending well.
            let _ = traces.provider.shutdown();
        }
    }
}

/// Starts logging for the whole process, panics included, and traces if a collector is named.
///
/// # Errors
/// If it was called before, or what the `OTEL_…` variables say can't be done.
pub fn start(level: &LogLevel, format: LogFormat) -> Result<Telemetry, Error> {
    let traces = if collector_is_named() {
        Some(Traces::start()?)
    } else {
        None
    };
    let spans = traces.as_ref().map(|traces| {
        tracing_opentelemetry::layer()
            .with_tracer(traces.provider.tracer("wizard"))
            .with_filter(EnvFilter::new(format!("{},{OWN_TRAFFIC_OFF}", level.0)))
    });
    let logs =
        lines(format, io::stderr).with_filter(EnvFilter::new(format!("{QUIET},{}", level.0)));
    tracing_subscriber::registry()
        .with(logs)
        .with(spans)
        .try_init()?;
    panic::set_hook(Box::new(log_panic));
    Ok(Telemetry { traces })
}

/// What libraries say of their own life is not ours to report, and the frames that some of them
/// print hold tokens and cards. A level that names them brings them back.
const QUIET: &str = "opentelemetry=warn,opentelemetry_sdk=warn,opentelemetry-otlp=warn,\
    tungstenite=warn,tokio_tungstenite=warn,hyper=info,hyper_util=info,h2=info,memory_serve=warn";

/// Exporting a span must not make spans of its own.
const OWN_TRAFFIC_OFF: &str = "h2=off,hyper=off,hyper_util=off,tonic=off,tower=off,reqwest=off";

/// OpenTelemetry's own variables are read where its library reads its others, unlike all of ours.
fn collector_is_named() -> bool {
    [
        "OTEL_EXPORTER_OTLP_ENDPOINT",
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    ]
    .iter()
    .any(|name| env::var_os(name).is_some_and(|value| !value.is_empty()))
}

impl Traces {
    fn start() -> Result<Self, Error> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("traces")
            .enable_all()
            .build()?;
        let exporter = {
            let _inside = runtime.enter();
            SpanExporter::builder().build()?
        };
        let provider = SdkTracerProvider::builder()
            .with_batch_exporter(exporter)
            .with_resource(crate::resource::own())
            .build();
        Ok(Self {
            provider,
            _runtime: runtime,
        })
    }
}

fn lines<S, W>(format: LogFormat, writer: W) -> Box<dyn Layer<S> + Send + Sync>
where
    S: tracing::Subscriber + for<'span> LookupSpan<'span>,
    W: for<'writer> tracing_subscriber::fmt::MakeWriter<'writer> + Send + Sync + 'static,
{
    let lines = tracing_subscriber::fmt::layer().with_writer(writer);
    match format {
        LogFormat::Text => lines.with_ansi(io::stderr().is_terminal()).boxed(),
        LogFormat::Json => lines
            .json()
            .flatten_event(true)
            .with_current_span(false)
            .boxed(),
    }
}

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

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    #[test]
    fn a_level_is_a_level_and_a_typo_is_not_a_module() {
        for text in ["info", "OFF", "info,gateway=debug", "gateway=trace"] {
            assert!(text.parse::<LogLevel>().is_ok(), "{text}");
        }
        for text in ["", "verbose", "info,gateway=loud"] {
            assert_eq!(
                text.parse::<LogLevel>(),
                Err(InvalidLogLevel(text.to_owned()))
            );
        }
    }

    #[derive(Clone, Default)]
    struct Sink(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Sink {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn logged(format: LogFormat) -> String {
        let sink = Sink::default();
        let writer = sink.clone();
        let layer = lines(format, move || writer.clone());
        let subscriber = tracing_subscriber::registry().with(layer);
        tracing::subscriber::with_default(subscriber, || {
            let _span = tracing::info_span!("link", node = "game-1").entered();
            tracing::info!(attempts = 3, "up again");
        });
        let bytes = sink.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn an_event_is_one_line_in_both_formats() {
        let text = logged(LogFormat::Text);
        assert!(
            text.ends_with("up again attempts=3\n") && text.contains("link{node="),
            "{text}"
        );
        let json = logged(LogFormat::Json);
        assert_eq!(json.trim_end().lines().count(), 1);
        let event: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(
            (&event["message"], &event["attempts"]),
            (&"up again".into(), &3.into())
        );
        assert_eq!(event["spans"][0]["node"], "game-1");
    }
}
