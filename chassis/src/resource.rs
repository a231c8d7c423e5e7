//! What this process calls itself in metrics and traces.

use std::env;

use opentelemetry::KeyValue;
use opentelemetry_sdk::Resource;

/// `service`, unless OpenTelemetry's own variables say otherwise, and what tells this run of it from
/// the others that send to the same collector.
pub(crate) fn own(service: &'static str) -> Resource {
    let run = format!(
        "{}-{}",
        std::process::id(),
        crate::clock::unix_milliseconds()
    );
    let resource = Resource::builder()
        .with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")))
        .with_attribute(KeyValue::new("service.instance.id", run));
    let is_named = env::var_os("OTEL_SERVICE_NAME").is_some_and(|name| !name.is_empty());
    let resource = if is_named {
        resource
    } else {
        resource.with_service_name(service)
    };
    resource.build()
}
