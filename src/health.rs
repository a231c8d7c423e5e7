//! `wizard health`: is the process on this host ready?

use anyhow::bail;
use serde_json::Value;

use crate::operations_port::OperationsPort;

/// Asks `/ready`, and is content if it is.
///
/// # Errors
/// If it is not, or nobody answers; says which checks are missing.
pub(crate) fn ask(port: OperationsPort) -> anyhow::Result<()> {
    let answer = port.get("/ready")?;
    match answer.status {
        200 => Ok(()),
        503 => bail!("not ready: {}", missing(&answer.body)),
        other => bail!("{port} is not an operations port: it answers {other}"),
    }
}

/// `name (detail)` of each check that is not ok.
fn missing(body: &str) -> String {
    let body: Value = serde_json::from_str(body).unwrap_or_default();
    let checks = body["checks"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let open = checks
        .iter()
        .filter(|check| check["ok"] != true)
        .map(|check| {
            let text = |field: &str| check[field].as_str().unwrap_or_default().to_owned();
            format!("{} ({})", text("name"), text("detail"))
        });
    open.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_named() {
        let body = r#"{"ready":false,"checks":[
            {"name":"registry","ok":true,"detail":"","since_ms":1},
            {"name":"link","ok":false,"detail":"refused","since_ms":1}]}"#;
        assert_eq!(missing(body), "link (refused)");
    }
}
