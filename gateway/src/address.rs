//! Which address a player comes from, and what of it limits count by.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};

use axum::http::HeaderMap;
use chassis::environment::Networks;

const FORWARDED_FOR: &str = "x-forwarded-for";

/// The player's address: the peer's, or what trusted proxies say.
///
/// Each proxy appends whom it heard from, so the list is read from its end; the first address
/// that is no trusted proxy is the player's. What stands before it anybody may have written.
pub(crate) fn client_address(peer: IpAddr, headers: &HeaderMap, trusted: &Networks) -> IpAddr {
    let mut client = peer.to_canonical();
    let lines = headers.get_all(FORWARDED_FOR);
    let listed: Vec<&str> = lines
        .iter()
        .filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(','))
        .collect();
    for entry in listed.into_iter().rev() {
        if !trusted.contains(client) {
            break;
        }
        let Ok(address) = entry.trim().parse::<IpAddr>() else {
            break;
        };
        client = address.to_canonical();
    }
    client
}

/// What limits count by: an IPv4 address, or the 64 bits of IPv6 that one household gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Origin(IpAddr);

impl Origin {
    pub(crate) fn of(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V4(address) => Self(IpAddr::V4(address)),
            IpAddr::V6(address) => {
                let network = u128::from(address) >> 64 << 64;
                Self(IpAddr::V6(Ipv6Addr::from(network)))
            }
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            IpAddr::V4(address) => address.fmt(formatter),
            IpAddr::V6(network) => write!(formatter, "{network}/64"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(peer: &str, forwarded: &[&str]) -> String {
        let mut headers = HeaderMap::new();
        for line in forwarded {
            headers.append(FORWARDED_FOR, line.parse().unwrap());
        }
        let trusted = "10.0.0.0/8, fd00::/8".parse().unwrap();
        client_address(peer.parse().unwrap(), &headers, &trusted).to_string()
    }

    #[test]
    fn only_trusted_proxies_are_believed() {
        for (peer, forwarded, expected) in [
            ("192.0.2.1", &["198.51.100.7"][..], "192.0.2.1"),
            ("10.0.0.1", &["198.51.100.7"], "198.51.100.7"),
            ("10.0.0.1", &["203.0.113.9, 198.51.100.7"], "198.51.100.7"),
            (
                "10.0.0.1",
                &["203.0.113.9, 198.51.100.7, 10.0.0.2"],
                "198.51.100.7",
            ),
            ("10.0.0.1", &["203.0.113.9", "198.51.100.7"], "198.51.100.7"),
            ("10.0.0.1", &["203.0.113.9, nonsense"], "10.0.0.1"),
            ("10.0.0.1", &[], "10.0.0.1"),
            ("::ffff:10.0.0.1", &["2001:db8::1"], "2001:db8::1"),
        ] {
            assert_eq!(client(peer, forwarded), expected, "{peer} {forwarded:?}");
        }
    }

    #[test]
    fn one_household_counts_as_one() {
        let origin = |text: &str| Origin::of(text.parse().unwrap());
        assert_eq!(origin("2001:db8::1"), origin("2001:db8::ffff:2"));
        assert_ne!(origin("2001:db8::1"), origin("2001:db8:0:1::1"));
        assert_eq!(origin("::ffff:192.0.2.1"), origin("192.0.2.1"));
        assert_eq!(origin("2001:db8::1").to_string(), "2001:db8::/64");
    }
}
