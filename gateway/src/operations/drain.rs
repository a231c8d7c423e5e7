//! `POST /nodes/{id}/drain`: asks a node to leave.

use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Json, http::HeaderValue};
use chassis::environment::Secret;
use registry::NodeId;
use serde_json::json;
use tracing::{info, warn};

use super::Desk;

pub(super) async fn drain(
    State(desk): State<Desk>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Response {
    let shown = headers.get(header::AUTHORIZATION);
    if let Err(refused) = authorise(&desk.gateway.config.operator_token, shown) {
        // Somebody without the token, or an operator who has mistyped it.
        warn!(%id, why = %refused, "a drain was refused");
        return refused.into_response();
    }
    let node = NodeId::new(id).ok();
    let Some(node) = node.and_then(|id| desk.gateway.membership.server(&id)) else {
        return (StatusCode::NOT_FOUND, "no such node").into_response();
    };
    let (gateway, id) = (desk.gateway, node.id.clone());
    let asked = desk
        .runtime
        .spawn(async move { gateway.registry.request_drain(&id).await });
    match asked.await {
        Ok(Ok(())) => {
            info!(id = %node.id, "an operator asks this node to leave");
            (StatusCode::ACCEPTED, Json(json!({ "id": node.id }))).into_response()
        }
        Ok(Err(error)) => (StatusCode::SERVICE_UNAVAILABLE, error.to_string()).into_response(),
        // The gateway's runtime has ended.
        Err(_) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
    }
}

/// Why somebody may not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
enum Refused {
    #[error("this gateway has no OPERATOR_TOKEN: nobody may drain through it")]
    NoTokenSet,
    #[error("that is not the operators' token")]
    WrongToken,
    #[error("the operators' token is needed: Authorization: Bearer …")]
    NoneShown,
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let why = self.to_string();
        match self {
            Self::NoTokenSet => (StatusCode::FORBIDDEN, why).into_response(),
            Self::WrongToken | Self::NoneShown => {
                let scheme = [(header::WWW_AUTHENTICATE, "Bearer")];
                (StatusCode::UNAUTHORIZED, scheme, why).into_response()
            }
        }
    }
}

/// The comparison takes as long wherever the two differ: see [`Secret::matches`].
fn authorise(token: &Secret, shown: Option<&HeaderValue>) -> Result<(), Refused> {
    if token.is_empty() {
        return Err(Refused::NoTokenSet);
    }
    let shown = shown.ok_or(Refused::NoneShown)?.as_bytes();
    let (scheme, presented) = shown.split_at(shown.len().min(SCHEME.len()));
    if !scheme.eq_ignore_ascii_case(SCHEME) {
        return Err(Refused::NoneShown);
    }
    if token.matches(presented) {
        Ok(())
    } else {
        Err(Refused::WrongToken)
    }
}

const SCHEME: &[u8] = b"bearer ";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_token_itself_is_let_in() {
        let check = |set: &str, shown: Option<&str>, expected: Result<(), Refused>| {
            let token = Secret::from(set.to_owned());
            let shown = shown.map(|text| HeaderValue::from_str(text).unwrap());
            assert_eq!(
                authorise(&token, shown.as_ref()),
                expected,
                "{set:?} {shown:?}"
            );
        };
        check("", None, Err(Refused::NoTokenSet));
        check("", Some("Bearer "), Err(Refused::NoTokenSet));
        check("", Some("Bearer x"), Err(Refused::NoTokenSet));
        check("secret", None, Err(Refused::NoneShown));
        check("secret", Some("secret"), Err(Refused::NoneShown));
        check("secret", Some("Basic secret"), Err(Refused::NoneShown));
        check("secret", Some("Bearer "), Err(Refused::WrongToken));
        check("secret", Some("Bearer secre"), Err(Refused::WrongToken));
        check("secret", Some("Bearer secrets"), Err(Refused::WrongToken));
        check("secret", Some("Bearer Secret"), Err(Refused::WrongToken));
        check("secret", Some("Bearer secret"), Ok(()));
        check("secret", Some("bearer secret"), Ok(()));
    }
}
