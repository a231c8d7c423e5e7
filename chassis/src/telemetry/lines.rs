//! Events as lines: one an event, in text or JSON, with the ids of the trace that they belong to.

use std::fmt;
use std::io::{self, IsTerminal};

use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::format::{DefaultFields, Format, JsonFields, Writer};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::layer::Layer;
use tracing_subscriber::registry::LookupSpan;

use super::LogFormat;
use crate::trace;

/// The layer that writes them.
pub(super) fn lines<S, W>(format: LogFormat, writer: W) -> Box<dyn Layer<S> + Send + Sync>
where
    S: Subscriber + for<'span> LookupSpan<'span>,
    W: for<'writer> tracing_subscriber::fmt::MakeWriter<'writer> + Send + Sync + 'static,
{
    let lines = tracing_subscriber::fmt::layer().with_writer(writer);
    match format {
        LogFormat::Text => {
            let ansi = io::stderr().is_terminal();
            let text = Traced {
                format: Format::default().with_ansi(ansi),
                place: Place::AtTheEnd,
            };
            lines
                .fmt_fields(DefaultFields::new())
                .with_ansi(ansi)
                .event_format(text)
                .boxed()
        }
        LogFormat::Json => {
            let json = Format::default()
                .json()
                .flatten_event(true)
                .with_current_span(false);
            let json = Traced {
                format: json,
                place: Place::InTheObject,
            };
            lines
                .fmt_fields(JsonFields::new())
                .event_format(json)
                .boxed()
        }
    }
}

/// A format with `trace_id` and `span_id` added to events that belong to a trace.
struct Traced<F> {
    format: F,
    place: Place,
}

#[derive(Clone, Copy)]
enum Place {
    AtTheEnd,
    /// Before the brace that closes it.
    InTheObject,
}

impl<S, N, F> FormatEvent<S, N> for Traced<F>
where
    S: Subscriber + for<'span> LookupSpan<'span>,
    N: for<'writer> FormatFields<'writer> + 'static,
    F: FormatEvent<S, N>,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let Some((trace_id, span_id)) = trace::current_ids() else {
            return self.format.format_event(context, writer, event);
        };
        let mut line = String::new();
        self.format
            .format_event(context, Writer::new(&mut line), event)?;
        let line = line.trim_end_matches('\n');
        match (self.place, line.strip_suffix('}')) {
            (Place::InTheObject, Some(open)) => {
                writeln!(
                    writer,
                    "{open},\"trace_id\":\"{trace_id}\",\"span_id\":\"{span_id}\"}}"
                )
            }
            _ => writeln!(writer, "{line} trace_id={trace_id} span_id={span_id}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use tracing_subscriber::layer::SubscriberExt;

    use super::*;
    use crate::trace::TraceContext;

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

    fn logged(format: LogFormat, context: TraceContext) -> String {
        let sink = Sink::default();
        let writer = sink.clone();
        let layer = lines(format, move || writer.clone());
        let subscriber = tracing_subscriber::registry().with(layer);
        tracing::subscriber::with_default(subscriber, || {
            let _span = tracing::info_span!("link", node = "game-1").entered();
            let _trace = context.enter();
            tracing::info!(attempts = 3, "up again");
        });
        let bytes = sink.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn an_event_is_one_line_in_both_formats() {
        let text = logged(LogFormat::Text, TraceContext::NONE);
        assert!(
            text.ends_with("up again attempts=3\n") && text.contains("link{node="),
            "{text}"
        );
        let json = logged(LogFormat::Json, TraceContext::NONE);
        assert_eq!(json.trim_end().lines().count(), 1);
        let event: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(
            (&event["message"], &event["attempts"]),
            (&"up again".into(), &3.into())
        );
        assert_eq!(event["spans"][0]["node"], "game-1");
        assert!(event.get("trace_id").is_none());
    }

    #[test]
    fn an_event_of_a_move_names_its_trace() {
        let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let context: TraceContext = parent.parse().unwrap();
        let text = logged(LogFormat::Text, context);
        let end = "attempts=3 trace_id=0af7651916cd43dd8448eb211c80319c span_id=b7ad6b7169203331\n";
        assert!(text.ends_with(end), "{text}");
        let json = logged(LogFormat::Json, context);
        assert_eq!(json.lines().count(), 1);
        let event: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(event["trace_id"], "0af7651916cd43dd8448eb211c80319c");
        assert_eq!(event["span_id"], "b7ad6b7169203331");
        assert_eq!(event["message"], "up again");
    }
}
