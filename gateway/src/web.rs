//! The web client, from memory, with the headers that keep a page to itself.

use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, header};
use axum::middleware::{Next, from_fn};
use axum::response::{Html, Response};
use axum::routing::get;
use memory_serve::{Asset, CacheControl, MemoryServe};
use tower_http::set_header::SetResponseHeaderLayer;

/// What a page may load: its own files, and a WebSocket to where it came from. Nothing inline, and
/// nothing that is written into an address.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    img-src 'self'; font-src 'self'; media-src 'self'; manifest-src 'self'; connect-src 'self'; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Vite puts a hash of the content into the names of what it writes here.
const HASHED: &str = "/assets/";

/// What `build.rs` found in `web/dist`; empty without a built client.
const CLIENT: &[Asset] = include!(concat!(env!("OUT_DIR"), "/web_client.rs"));

pub(crate) const NOT_BUILT: &str = include_str!("web/not_built.html");

/// Routes of the page.
pub(crate) fn routes() -> Router {
    let pages = if CLIENT.is_empty() {
        Router::new().route("/", get(async || Html(NOT_BUILT)))
    } else {
        MemoryServe::new(CLIENT)
            .cache_control(CacheControl::Long)
            .html_cache_control(CacheControl::NoCache)
            // In debug builds too, so that the tests see what players get.
            .enable_brotli(true)
            .enable_gzip(true)
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

pub(crate) fn always(name: HeaderName, value: &'static str) -> SetResponseHeaderLayer<HeaderValue> {
    SetResponseHeaderLayer::overriding(name, HeaderValue::from_static(value))
}

/// A file that keeps its name when it changes must be asked for anew; its `ETag` makes that cheap.
pub(crate) async fn revalidate_unless_hashed(request: Request, next: Next) -> Response {
    let hashed = request.uri().path().starts_with(HASHED);
    let mut response = next.run(request).await;
    if !hashed {
        let no_cache = HeaderValue::from_static("no-cache");
        response
            .headers_mut()
            .insert(header::CACHE_CONTROL, no_cache);
    }
    response
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::http::StatusCode;
    use tower::ServiceExt;

    use super::*;

    async fn get_page(path: &str) -> Response {
        let request = Request::get(path).header(header::ACCEPT_ENCODING, "br");
        routes()
            .oneshot(request.body(Body::empty()).unwrap())
            .await
            .unwrap()
    }

    #[tokio::test]
    async fn the_page_is_asked_for_anew_and_hashed_files_are_kept() {
        let page = get_page("/").await;
        assert_eq!(page.status(), StatusCode::OK);
        assert_eq!(page.headers()[header::CACHE_CONTROL], "no-cache");
        for asset in CLIENT {
            let file = get_page(asset.route).await;
            assert_eq!(file.status(), StatusCode::OK, "{}", asset.route);
            let cached = &file.headers()[header::CACHE_CONTROL];
            let hashed = asset.route.starts_with(HASHED);
            let expected = if hashed {
                "max-age=31536000, immutable"
            } else {
                "no-cache"
            };
            assert_eq!(cached, expected, "{}", asset.route);
            assert!(file.headers().contains_key(header::CONTENT_SECURITY_POLICY));
            if asset.route.starts_with("/assets/index") {
                assert_eq!(
                    file.headers()[header::CONTENT_ENCODING],
                    "br",
                    "{}",
                    asset.route
                );
            }
        }
    }

    #[test]
    fn the_policy_allows_nothing_inline_and_nothing_from_elsewhere() {
        for loose in ["unsafe", "data:", "*", "http:", "https:"] {
            assert!(!CONTENT_SECURITY_POLICY.contains(loose), "{loose}");
        }
    }

    #[test]
    fn the_page_that_says_what_is_missing_needs_nothing_that_the_policy_forbids() {
        for inline in ["<style", "<script", "style="] {
            assert!(!NOT_BUILT.contains(inline), "{inline}");
        }
    }
}
