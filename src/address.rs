//! Ports of this process, and how others reach them.

use std::fs;
use std::net::{SocketAddr, TcpListener};

use anyhow::Context;

/// Binds the port that `variable` asks for. It takes connections from now on; they wait until
/// the role that gets it answers.
///
/// # Errors
/// If the port is taken or the address is not this host's.
pub(crate) fn bind(variable: &str, address: SocketAddr) -> anyhow::Result<TcpListener> {
    let bound = TcpListener::bind(address).and_then(|listener| {
        listener.set_nonblocking(true)?;
        Ok(listener)
    });
    bound.with_context(|| format!("{variable}: can't listen on {address}"))
}

/// What others connect to: as configured, or where the port is bound, with the host's name in
/// place of a wildcard.
pub(crate) fn advertised(configured: Option<&str>, bound: SocketAddr) -> String {
    match configured {
        Some(address) => address.to_owned(),
        None if bound.ip().is_unspecified() => format!("{}:{}", host_name(), bound.port()),
        None => bound.to_string(),
    }
}

fn host_name() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name = name.trim();
    if name.is_empty() {
        "localhost".to_owned()
    } else {
        name.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn others_are_told_what_they_can_reach() {
        let bound = |text: &str| text.parse::<SocketAddr>().unwrap();
        assert_eq!(advertised(Some("lb:80"), bound("0.0.0.0:7000")), "lb:80");
        assert_eq!(advertised(None, bound("10.0.0.1:7000")), "10.0.0.1:7000");
        let named = advertised(None, bound("0.0.0.0:7000"));
        assert!(
            named.ends_with(":7000") && !named.starts_with("0.0.0.0"),
            "{named}"
        );
    }

    #[test]
    fn a_taken_port_is_named_with_its_variable() {
        let taken = bind("LISTEN_ADDR", "127.0.0.1:0".parse().unwrap()).unwrap();
        let address = taken.local_addr().unwrap();
        let error = format!("{:#}", bind("LISTEN_ADDR", address).unwrap_err());
        assert!(
            error.contains("LISTEN_ADDR") && error.contains(&address.to_string()),
            "{error}"
        );
    }
}
