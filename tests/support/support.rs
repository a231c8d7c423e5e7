//! What whole-system tests stand on: real processes, a real Redis, and players over real connections.
//!
//! Every test starts its own, on free ports of loopback, and every process ends with the test that started it.

pub(crate) mod ai_node;
pub(crate) mod cgroup;
pub(crate) mod cold_start;
pub(crate) mod collector;
pub(crate) mod deadly;
pub(crate) mod encryption;
pub(crate) mod fleet;
pub(crate) mod http;
pub(crate) mod process;
pub(crate) mod proxy;
pub(crate) mod redis;
pub(crate) mod table;

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{self as unix, UnixListener};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// No wait for one thing takes longer; reached only when something is broken.
pub(crate) const CEILING: Duration = Duration::from_secs(90);

/// An address that nobody uses, and that nobody else gets before the process that it is for has bound it, or while that is
/// started anew: from below the range of ports that Linux gives to outgoing connections, and this test's until it ends.
pub(crate) fn free_address() -> SocketAddr {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    // Tests run in processes of their own at the same time: each begins somewhere else.
    let first = std::process::id().wrapping_mul(61);
    for _ in 0..PORTS {
        let drawn = first.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed)) % PORTS;
        let port = LOWEST_PORT + u16::try_from(drawn).expect("PORTS fits");
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        if is_reserved(port) && TcpListener::bind(address).is_ok() {
            return address;
        }
    }
    panic!("no port from {LOWEST_PORT} on is free");
}

/// Among all tests that run on this machine, by a name that the system gives to one of them at a time and takes back at its
/// end, however that comes. The registry's tests use the same names.
fn is_reserved(port: u16) -> bool {
    static RESERVED: Mutex<Vec<UnixListener>> = Mutex::new(Vec::new());
    let name = format!("wizard-test-port-{port}");
    let name = unix::SocketAddr::from_abstract_name(name).expect("a short name");
    let reserved = UnixListener::bind_addr(&name);
    let mut all = RESERVED.lock().expect("nobody panics here");
    reserved.map(|reserved| all.push(reserved)).is_ok()
}

const LOWEST_PORT: u16 = 12_000;
const PORTS: u32 = 20_000;

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
