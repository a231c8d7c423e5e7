//! A list of networks, e.g. of the proxies whose word is believed.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use ipnet::IpNet;

/// Networks in CIDR notation, comma separated; a plain address is a network of one host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Networks(Vec<IpNet>);

/// One of the networks can't be read.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("'{0}' is not a network: write an address or address/bits, e.g. 10.0.0.0/8")]
pub struct InvalidNetwork(String);

impl Networks {
    /// Whether one of them holds `address`. An IPv4 address in IPv6 clothes counts as IPv4, since
    /// that is how a listener on `[::]` sees it.
    pub fn contains(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.0.iter().any(|network| network.contains(&address))
    }
}

impl FromStr for Networks {
    type Err = InvalidNetwork;

    fn from_str(text: &str) -> Result<Self, InvalidNetwork> {
        let entries = text
            .split(',')
            .map(str::trim)
            .filter(|entry| !entry.is_empty());
        let network = |entry: &str| {
            let read = entry
                .parse::<IpNet>()
                .or_else(|_| entry.parse::<IpAddr>().map(IpNet::from));
            read.map_err(|_| InvalidNetwork(entry.to_owned()))
        };
        entries.map(network).collect::<Result<_, _>>().map(Self)
    }
}

impl fmt::Display for Networks {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entries: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        formatter.write_str(&entries.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(networks: &str, address: &str) -> bool {
        networks
            .parse::<Networks>()
            .unwrap()
            .contains(address.parse().unwrap())
    }

    #[test]
    fn an_address_is_found_in_its_network() {
        assert!(holds("10.0.0.0/8, fd00::/8", "10.1.2.3"));
        assert!(holds("10.0.0.0/8, fd00::/8", "fd12::1"));
        assert!(holds("10.0.0.0/8", "::ffff:10.1.2.3"));
        assert!(holds("192.0.2.7", "192.0.2.7"));
        assert!(!holds("192.0.2.7", "192.0.2.8"));
        assert!(!holds("", "127.0.0.1"));
    }

    #[test]
    fn the_entry_that_is_wrong_is_named() {
        let error = "10.0.0.0/8,example.org".parse::<Networks>().unwrap_err();
        assert_eq!(error, InvalidNetwork("example.org".to_owned()));
    }
}
