//! A collector of OpenTelemetry's, in the test's own process: over gRPC or HTTP, as real ones are.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use opentelemetry_proto::tonic::collector::metrics::v1::metrics_service_server::{
    MetricsService, MetricsServiceServer,
};
use opentelemetry_proto::tonic::collector::metrics::v1::{
    ExportMetricsServiceRequest, ExportMetricsServiceResponse,
};
use opentelemetry_proto::tonic::collector::trace::v1::trace_service_server::{
    TraceService, TraceServiceServer,
};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::trace::v1::Span as Sent;
use prost::Message;
use tokio::net::TcpListener;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::{Request, Response, Status};

/// Set as a header by the processes that send here.
pub(crate) const TENANT: (&str, &str) = ("x-tenant", "card-players");

/// A span that has come.
#[derive(Clone, Debug)]
pub(crate) struct Span {
    pub(crate) service: String,
    pub(crate) name: String,
    pub(crate) trace: Vec<u8>,
    pub(crate) id: Vec<u8>,
    /// Empty for the first of its trace.
    pub(crate) parent: Vec<u8>,
    /// Spans of other traces that it follows.
    pub(crate) follows: Vec<Vec<u8>>,
    pub(crate) attributes: BTreeMap<String, String>,
}

#[derive(Clone, Debug)]
pub(crate) struct Collector {
    pub(crate) address: SocketAddr,
    received: Arc<Mutex<Received>>,
}

#[derive(Debug, Default)]
struct Received {
    spans: Vec<Span>,
    metrics: BTreeSet<String>,
}

impl Collector {
    pub(crate) async fn over_grpc() -> Self {
        let (listener, collector) = Self::bound().await;
        let routes = tonic::transport::Server::builder()
            .add_service(TraceServiceServer::new(collector.clone()))
            .add_service(MetricsServiceServer::new(collector.clone()));
        tokio::spawn(routes.serve_with_incoming(TcpListenerStream::new(listener)));
        collector
    }

    pub(crate) async fn over_http() -> Self {
        let (listener, collector) = Self::bound().await;
        let routes = Router::new()
            .route("/v1/traces", post(traces))
            .route("/v1/metrics", post(metrics))
            .with_state(collector.clone());
        tokio::spawn(async move { axum::serve(listener, routes).await });
        collector
    }

    async fn bound() -> (TcpListener, Self) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let received = Arc::default();
        (listener, Self { address, received })
    }

    /// What a process needs to know to send here, soon.
    pub(crate) fn variables(&self, protocol: &str) -> Vec<(&'static str, String)> {
        let (name, value) = TENANT;
        vec![
            (
                "OTEL_EXPORTER_OTLP_ENDPOINT",
                format!("http://{}", self.address),
            ),
            ("OTEL_EXPORTER_OTLP_PROTOCOL", protocol.to_owned()),
            ("OTEL_EXPORTER_OTLP_HEADERS", format!("{name}={value}")),
            ("OTEL_BSP_SCHEDULE_DELAY", "100".to_owned()),
            ("OTEL_METRIC_EXPORT_INTERVAL", "200".to_owned()),
        ]
    }

    pub(crate) fn spans(&self) -> Vec<Span> {
        self.lock().spans.clone()
    }

    /// The names of all metrics that have come.
    pub(crate) fn metrics(&self) -> BTreeSet<String> {
        self.lock().metrics.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Received> {
        self.received.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take_traces(&self, request: ExportTraceServiceRequest) {
        for resource in request.resource_spans {
            let attributes = resource.resource.unwrap_or_default().attributes;
            let service = texts(attributes).remove("service.name").unwrap_or_default();
            let spans = resource
                .scope_spans
                .into_iter()
                .flat_map(|scope| scope.spans);
            let spans = spans.map(|span| span_of(&service, span));
            self.lock().spans.extend(spans);
        }
    }

    fn take_metrics(&self, request: ExportMetricsServiceRequest) {
        let scopes = request
            .resource_metrics
            .into_iter()
            .flat_map(|one| one.scope_metrics);
        let names = scopes
            .flat_map(|scope| scope.metrics)
            .map(|metric| metric.name);
        self.lock().metrics.extend(names);
    }
}

fn span_of(service: &str, span: Sent) -> Span {
    Span {
        service: service.to_owned(),
        name: span.name,
        trace: span.trace_id,
        id: span.span_id,
        parent: span.parent_span_id,
        follows: span.links.into_iter().map(|link| link.span_id).collect(),
        attributes: texts(span.attributes),
    }
}

fn texts(attributes: Vec<KeyValue>) -> BTreeMap<String, String> {
    let text = |value: Option<AnyValue>| match value.and_then(|value| value.value) {
        Some(Value::StringValue(text)) => text,
        Some(Value::IntValue(number)) => number.to_string(),
        other => format!("{other:?}"),
    };
    let attributes = attributes.into_iter();
    attributes.map(|one| (one.key, text(one.value))).collect()
}

#[tonic::async_trait]
impl TraceService for Collector {
    async fn export(
        &self,
        request: Request<ExportTraceServiceRequest>,
    ) -> Result<Response<ExportTraceServiceResponse>, Status> {
        let tenant = request.metadata().get(TENANT.0);
        assert!(
            tenant.is_some_and(|tenant| tenant == TENANT.1),
            "{request:?}"
        );
        self.take_traces(request.into_inner());
        Ok(Response::new(ExportTraceServiceResponse::default()))
    }
}

#[tonic::async_trait]
impl MetricsService for Collector {
    async fn export(
        &self,
        request: Request<ExportMetricsServiceRequest>,
    ) -> Result<Response<ExportMetricsServiceResponse>, Status> {
        self.take_metrics(request.into_inner());
        Ok(Response::new(ExportMetricsServiceResponse::default()))
    }
}

async fn traces(State(collector): State<Collector>, headers: HeaderMap, body: Bytes) -> StatusCode {
    if headers
        .get(TENANT.0)
        .is_none_or(|tenant| tenant != TENANT.1)
    {
        return StatusCode::UNAUTHORIZED;
    }
    collector.take_traces(ExportTraceServiceRequest::decode(body).unwrap());
    StatusCode::OK
}

async fn metrics(State(collector): State<Collector>, body: Bytes) -> StatusCode {
    collector.take_metrics(ExportMetricsServiceRequest::decode(body).unwrap());
    StatusCode::OK
}
