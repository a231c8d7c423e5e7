//! Where a role that is connected to listens, and by which address others reach it.

use std::net::SocketAddr;

use clap::Args;

/// Addresses of players' connections (gateway) and of links (game node).
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Addresses")]
pub(crate) struct ListenVariables {
    /// Where players (gateway) or links (game node) connect [default: 0.0.0.0:8080 for a gateway,
    /// 0.0.0.0:7000 for a game node, 127.0.0.1:8080 for all roles together]
    #[arg(long, env)]
    pub(crate) listen_addr: Option<SocketAddr>,

    /// What the registry tells others to connect to [default: from LISTEN_ADDR and the host's name]
    #[arg(long, env, value_parser = host_and_port)]
    pub(crate) advertise_addr: Option<String>,
}

/// Others dial exactly this, so what can't be dialled must not wait for them to find out.
fn host_and_port(text: &str) -> Result<String, String> {
    let complete = text.rsplit_once(':').is_some_and(|(host, port)| {
        let is_in_brackets = host.starts_with('[') && host.ends_with(']');
        let is_host = !host.is_empty() && !host.contains(['/', '@', ' ']);
        is_host
            && (is_in_brackets || !host.contains(':'))
            && port.parse::<u16>().is_ok_and(|port| port > 0)
    });
    if complete {
        Ok(text.to_owned())
    } else {
        Err("write a host and a port, as in game-1.example.org:7000 or [::1]:7000".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_for_others_is_a_host_and_a_port() {
        for right in [
            "game-1:7000",
            "10.0.0.1:7000",
            "[::1]:7000",
            "a.example.org:1",
        ] {
            assert_eq!(host_and_port(right).as_deref(), Ok(right));
        }
        for wrong in [
            "",
            "game-1",
            ":7000",
            "game-1:",
            "game-1:0",
            "game-1:70000",
            "::1",
            "::1:7000",
            "http://game-1:7000",
            "game 1:7000",
        ] {
            assert!(host_and_port(wrong).is_err(), "{wrong}");
        }
    }
}
