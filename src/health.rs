//! `wizard health`: is the process on this host ready?
//!
//! Plain sockets instead of an HTTP client: a container runs it every few seconds.

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::{Context, bail};
use serde_json::Value;

/// The operations port answers from a thread of its own: if it takes longer, nobody is there.
const PATIENCE: Duration = Duration::from_secs(3);

/// Far more than any list of checks has.
const LONGEST_ANSWER_BYTES: u64 = 1 << 20;

/// Asks `/ready` at `address`, and is content if it is.
///
/// # Errors
/// If it is not, or nobody answers; says which checks are missing.
pub(crate) fn ask(address: SocketAddr) -> anyhow::Result<()> {
    let address = reachable(address);
    let answer = get_ready(address).with_context(|| format!("nobody answers at {address}"))?;
    let (head, body) = answer
        .split_once("\r\n\r\n")
        .context("the answer is not HTTP")?;
    match head.split(' ').nth(1) {
        Some("200") => Ok(()),
        Some("503") => bail!("not ready: {}", missing(body)),
        _ => bail!(
            "{address} is not an operations port: {}",
            head.lines().next().unwrap_or("")
        ),
    }
}

/// A wildcard is where a process listens, not where it can be reached.
fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        ip if !ip.is_unspecified() => ip,
        IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::LOCALHOST),
    };
    SocketAddr::new(ip, address.port())
}

fn get_ready(address: SocketAddr) -> std::io::Result<String> {
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    // HTTP/1.0: the answer ends with the connection.
    write!(stream, "GET /ready HTTP/1.0\r\nhost: {address}\r\n\r\n")?;
    let mut answer = String::new();
    stream
        .take(LONGEST_ANSWER_BYTES)
        .read_to_string(&mut answer)?;
    Ok(answer)
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
    fn a_wildcard_is_reached_over_loopback() {
        let check = |given: &str, reached: &str| {
            assert_eq!(reachable(given.parse().unwrap()), reached.parse().unwrap());
        };
        check("0.0.0.0:9091", "127.0.0.1:9091");
        check("[::]:9090", "[::1]:9090");
        check("10.1.2.3:9090", "10.1.2.3:9090");
    }

    #[test]
    fn what_is_missing_is_named() {
        let body = r#"{"ready":false,"checks":[
            {"name":"registry","ok":true,"detail":"","since_ms":1},
            {"name":"link","ok":false,"detail":"refused","since_ms":1}]}"#;
        assert_eq!(missing(body), "link (refused)");
    }
}
