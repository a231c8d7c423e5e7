//! What a move costs where nobody collects its trace: nothing.

use chassis::trace::{Kind, Span, TraceContext, is_on, moment};
use opentelemetry::KeyValue;

#[test]
fn without_a_collector_no_span_is_made_and_nothing_is_allocated() {
    assert!(!is_on(), "this test starts no telemetry");
    let counted = allocation_counter::measure(|| {
        for _ in 0..1_000 {
            let mut span = Span::begin("move", Kind::Server, TraceContext::NONE, no_attributes);
            span.set("wizard.seat", || -> i64 {
                unreachable!("nobody wants to know")
            });
            span.failed("late");
            span.follows(TraceContext::NONE);
            let parent = span.context();
            assert!(parent.is_none() && parent.to_string().is_empty());
            assert!(parent.enter().is_none() && moment().is_none());
            drop(Span::begin("step", Kind::Internal, parent, no_attributes));
        }
    });
    assert_eq!(counted.count_total, 0, "{counted:?}");
}

fn no_attributes() -> [KeyValue; 1] {
    unreachable!("nobody wants to know")
}
