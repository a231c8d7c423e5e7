//! What this process calls itself in metrics and traces.

use std::env;

use opentelemetry_sdk::Resource;

/// `wizard`, unless OpenTelemetry's own variables say otherwise.
pub(crate) fn own() -> Resource {
    let resource = Resource::builder();
    let named = env::var_os("OTEL_SERVICE_NAME").is_some();
    let resource = if named {
        resource
    } else {
        resource.with_service_name("wizard")
    };
    resource.build()
}
