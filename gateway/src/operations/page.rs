//! The operators' page, from memory. Only on the operations port: players never get it.

use axum::Router;
use axum::http::header;
use axum::middleware::from_fn;
use axum::response::Html;
use axum::routing::get;
use memory_serve::{Asset, CacheControl, MemoryServe};

use crate::web::{NOT_BUILT, always, revalidate_unless_hashed};

/// Its own files, and its own port to ask; nothing inline.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'";

/// What `build.rs` found in `web/dist-operations`; empty without a built client.
const PAGE: &[Asset] = include!(concat!(env!("OUT_DIR"), "/operations_page.rs"));

pub(super) fn routes() -> Router {
    let pages = if PAGE.is_empty() {
        Router::new().route("/", get(async || Html(NOT_BUILT)))
    } else {
        MemoryServe::new(PAGE)
            .index_file(Some("/operations.html"))
            .cache_control(CacheControl::Long)
            .html_cache_control(CacheControl::NoCache)
            .into_router()
    };
    pages
        .layer(from_fn(revalidate_unless_hashed))
        .layer(always(
            header::CONTENT_SECURITY_POLICY,
            CONTENT_SECURITY_POLICY,
        ))
        .layer(always(header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .layer(always(header::REFERRER_POLICY, "no-referrer"))
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::extract::Request;
    use axum::http::StatusCode;
    use tower::ServiceExt;

    use super::*;

    #[tokio::test]
    async fn the_page_answers_at_the_root_under_a_strict_policy() {
        let request = Request::get("/").header(header::ACCEPT_ENCODING, "br");
        let answer = routes()
            .oneshot(request.body(Body::empty()).unwrap())
            .await
            .unwrap();
        assert_eq!(answer.status(), StatusCode::OK);
        let policy = answer.headers()[header::CONTENT_SECURITY_POLICY]
            .to_str()
            .unwrap();
        assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"));
        assert_eq!(answer.headers()[header::CACHE_CONTROL], "no-cache");
    }
}
