//! Traces: one move on its way through the processes, for whoever collects them.
//!
//! Without a collector there are none: [`Span::begin`] is then the look at one word of memory, nothing
//! is allocated, and no attribute is computed. Spans are passed along with what they are about, not
//! held by the thread: a move waits in queues between its steps. Its place travels to other processes
//! as a [`TraceContext`] in the links' messages, in the text form of W3C's `traceparent`.
//!
//! Invariant: a span's attributes name lobbies, seats, nodes and connections; never a token, a seed, a
//! card or a player's name.

use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;
use std::time::SystemTime;

use opentelemetry::trace::{
    Link, Span as _, SpanContext, SpanId, Status, TraceContextExt, TraceFlags, TraceId, TraceState,
    Tracer as _,
};
use opentelemetry::{Context, ContextGuard, KeyValue, Value};
use opentelemetry_sdk::trace::SdkTracer;

/// What the kinds of a span tell a collector: who asks whom.
pub use opentelemetry::trace::SpanKind as Kind;

/// Set once, at the start of a process whose environment names a collector.
static TRACER: OnceLock<SdkTracer> = OnceLock::new();

/// From now on spans are made.
pub(crate) fn collect(tracer: SdkTracer) {
    // A second start of telemetry has failed before it comes here.
    let _first = TRACER.set(tracer);
}

/// Whether anybody collects traces.
pub fn is_on() -> bool {
    TRACER.get().is_some()
}

/// A moment for [`Span::begin_at`]; none without a collector, and then no clock is read.
#[expect(
    clippy::disallowed_methods,
    reason = "a span's times are the wall clock's, and nothing is decided by them"
)]
pub fn moment() -> Option<SystemTime> {
    is_on().then(SystemTime::now)
}

/// A place in a trace, from which it goes on elsewhere; or none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TraceContext(Option<Place>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    trace: TraceId,
    span: SpanId,
    flags: TraceFlags,
}

impl TraceContext {
    /// In no trace.
    pub const NONE: Self = Self(None);

    /// The place that a text names; none if there is no text, or it names none.
    pub fn read(text: Option<&str>) -> Self {
        text.and_then(|text| text.parse().ok()).unwrap_or_default()
    }

    /// Whether it is in no trace.
    pub fn is_none(&self) -> bool {
        self.0.is_none()
    }

    /// What is logged while the guard lives names this place. For code that does not wait.
    pub fn enter(&self) -> Option<ContextGuard> {
        let place = self.0?;
        Some(
            Context::current()
                .with_remote_span_context(place.into())
                .attach(),
        )
    }
}

impl From<Place> for SpanContext {
    fn from(place: Place) -> Self {
        Self::new(place.trace, place.span, place.flags, true, TraceState::NONE)
    }
}

/// As `traceparent` is written; empty for none.
impl fmt::Display for TraceContext {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(Place { trace, span, flags }) => {
                write!(formatter, "00-{trace}-{span}-{:02x}", flags.to_u8())
            }
            None => Ok(()),
        }
    }
}

/// The text is no `traceparent` of a version that is known here.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("no traceparent")]
pub struct InvalidTraceContext;

impl FromStr for TraceContext {
    type Err = InvalidTraceContext;

    fn from_str(text: &str) -> Result<Self, InvalidTraceContext> {
        let mut parts = text.split('-');
        let mut part = |length: usize| {
            parts
                .next()
                .filter(|part| {
                    part.len() == length && part.bytes().all(|byte| byte.is_ascii_hexdigit())
                })
                .ok_or(InvalidTraceContext)
        };
        let (version, trace, span, flags) = (part(2)?, part(32)?, part(16)?, part(2)?);
        let place = Place {
            trace: TraceId::from_hex(trace).map_err(|_| InvalidTraceContext)?,
            span: SpanId::from_hex(span).map_err(|_| InvalidTraceContext)?,
            flags: TraceFlags::new(u8::from_str_radix(flags, 16).map_err(|_| InvalidTraceContext)?),
        };
        let is_whole = version == "00" && parts.next().is_none();
        if is_whole && SpanContext::from(place).is_valid() {
            Ok(Self(Some(place)))
        } else {
            Err(InvalidTraceContext)
        }
    }
}

/// Something that takes time; ends when it is dropped. Nothing at all without a collector.
#[derive(Debug, Default)]
pub struct Span(Option<Box<opentelemetry_sdk::trace::Span>>);

impl Span {
    /// No span.
    pub const NONE: Self = Self(None);

    /// Begins now, in the parent's trace or in one of its own. The attributes are computed only if
    /// somebody collects them.
    pub fn begin<const N: usize>(
        name: &'static str,
        kind: Kind,
        parent: TraceContext,
        attributes: impl FnOnce() -> [KeyValue; N],
    ) -> Self {
        Self::begin_at(moment(), name, kind, parent, attributes)
    }

    /// The same from an earlier [`moment`] on.
    pub fn begin_at<const N: usize>(
        began: Option<SystemTime>,
        name: &'static str,
        kind: Kind,
        parent: TraceContext,
        attributes: impl FnOnce() -> [KeyValue; N],
    ) -> Self {
        let (Some(tracer), Some(began)) = (TRACER.get(), began) else {
            return Self::NONE;
        };
        let parent = match parent.0 {
            Some(place) => Context::new().with_remote_span_context(place.into()),
            None => Context::new(),
        };
        let span = tracer
            .span_builder(name)
            .with_kind(kind)
            .with_start_time(began)
            .with_attributes(attributes());
        Self(Some(Box::new(tracer.build_with_context(span, &parent))))
    }

    /// Its place in the trace.
    pub fn context(&self) -> TraceContext {
        let place = |span: &opentelemetry_sdk::trace::Span| {
            let context = span.span_context();
            Place {
                trace: context.trace_id(),
                span: context.span_id(),
                flags: context.trace_flags(),
            }
        };
        TraceContext(self.0.as_deref().map(place))
    }

    /// Adds an attribute, computed only if somebody collects it.
    pub fn set<V: Into<Value>>(&mut self, name: &'static str, value: impl FnOnce() -> V) {
        if let Some(span) = self.0.as_mut().filter(|span| span.is_recording()) {
            span.set_attribute(KeyValue::new(name, value()));
        }
    }

    /// It has not been done, for this reason: a stable code, not a text for people.
    pub fn failed(&mut self, code: &'static str) {
        if let Some(span) = &mut self.0 {
            span.set_attribute(KeyValue::new("error.type", code));
            span.set_status(Status::error(code));
        }
    }

    /// It was caused by something in another trace.
    pub fn follows(&mut self, cause: TraceContext) {
        if let (Some(span), Some(cause)) = (&mut self.0, cause.0) {
            let Link {
                span_context,
                attributes,
                ..
            } = Link::with_context(cause.into());
            span.add_link(span_context, attributes);
        }
    }
}

/// The ids of the trace and span that the running code has entered, for its log.
pub(crate) fn current_ids() -> Option<(TraceId, SpanId)> {
    Context::map_current(|context| {
        let span = context.span();
        let context = span.span_context();
        context
            .is_valid()
            .then(|| (context.trace_id(), context.span_id()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_written_as_it_is_read() {
        let text = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let context: TraceContext = text.parse().unwrap();
        assert_eq!(context.to_string(), text);
        assert_eq!(TraceContext::NONE.to_string(), "");
    }

    #[test]
    fn what_is_no_place_is_refused() {
        for text in [
            "",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
            "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0x",
            "00-+af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
        ] {
            assert_eq!(
                text.parse::<TraceContext>(),
                Err(InvalidTraceContext),
                "{text}"
            );
        }
    }
}
