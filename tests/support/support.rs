//! What whole-system tests stand on: real processes, a real Redis, and players over real connections.
//!
//! Every test starts its own, on free ports of loopback, and every process ends with the test that started it.

pub(crate) mod cgroup;
pub(crate) mod fleet;
pub(crate) mod http;
pub(crate) mod process;
pub(crate) mod redis;
pub(crate) mod table;

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::time::Duration;

/// No wait for one thing takes longer; reached only when something is broken.
pub(crate) const CEILING: Duration = Duration::from_secs(30);

/// An address that nobody uses just now.
pub(crate) fn free_address() -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("loopback has free ports");
    listener
        .local_addr()
        .expect("a bound listener has an address")
}

/// Tries again and again until it works, and panics with what was waited for at the ceiling.
pub(crate) async fn eventually<T>(what: &str, mut attempt: impl AsyncFnMut() -> Option<T>) -> T {
    let tries = async {
        loop {
            if let Some(value) = attempt().await {
                return value;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(CEILING, tries)
        .await
        .unwrap_or_else(|_| panic!("{what}: not within {CEILING:?}"))
}
