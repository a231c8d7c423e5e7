//! The operations port of another process: one question, one answer, over plain sockets.
//!
//! No HTTP client: `wizard health` runs every few seconds in a container, and HTTP/1.0, whose
//! answers end with the connection, needs none.

use std::fmt;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::{Context, bail};
use chassis::environment::Secret;

/// The port answers from a thread of its own; it may itself wait two seconds for an owner.
const PATIENCE: Duration = Duration::from_secs(5);

/// Events come every second; a stream that is silent for so long has no other end.
const STREAM_PATIENCE: Duration = Duration::from_secs(15);

/// Far more than the list of a whole fleet has.
const LONGEST_ANSWER_BYTES: u64 = 16 << 20;

/// Where to ask.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OperationsPort(SocketAddr);

/// Status and body.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: String,
}

impl OperationsPort {
    /// The port at this address; a wildcard is where a process listens, not where it is reached.
    pub(crate) fn new(address: SocketAddr) -> Self {
        let ip = match address.ip() {
            ip if !ip.is_unspecified() => ip,
            IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::LOCALHOST),
            IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::LOCALHOST),
        };
        Self(SocketAddr::new(ip, address.port()))
    }

    /// # Errors
    /// If nobody answers, or not in HTTP.
    pub(crate) fn get(self, path: &str) -> anyhow::Result<Answer> {
        self.ask("GET", path, None)
    }

    /// # Errors
    /// As [`OperationsPort::get`].
    pub(crate) fn post(self, path: &str, token: &Secret) -> anyhow::Result<Answer> {
        self.ask("POST", path, Some(token))
    }

    /// The lines of an answer that goes on and on.
    ///
    /// # Errors
    /// If nobody answers, or not with 200.
    pub(crate) fn stream(self, path: &str) -> anyhow::Result<impl Iterator<Item = String> + use<>> {
        let nobody = || format!("nobody answers at {self}");
        let stream = self.send("GET", path, None).with_context(nobody)?;
        stream.set_read_timeout(Some(STREAM_PATIENCE))?;
        let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
        let status = self.status(&lines.next().with_context(nobody)?)?;
        let _headers = lines.by_ref().take_while(|line| !line.is_empty()).count();
        if status != 200 {
            bail!(
                "{self} answers {status}: {}",
                lines.next().unwrap_or_default()
            );
        }
        Ok(lines)
    }

    fn ask(self, method: &str, path: &str, token: Option<&Secret>) -> anyhow::Result<Answer> {
        let asked = || -> io::Result<String> {
            let mut answer = String::new();
            let stream = self.send(method, path, token)?;
            stream
                .take(LONGEST_ANSWER_BYTES)
                .read_to_string(&mut answer)?;
            Ok(answer)
        };
        let answer = asked().with_context(|| format!("nobody answers at {self}"))?;
        let (head, body) = answer
            .split_once("\r\n\r\n")
            .with_context(|| format!("{self} does not speak HTTP"))?;
        Ok(Answer {
            status: self.status(head.lines().next().unwrap_or_default())?,
            body: body.to_owned(),
        })
    }

    fn send(self, method: &str, path: &str, token: Option<&Secret>) -> io::Result<TcpStream> {
        let mut stream = TcpStream::connect_timeout(&self.0, PATIENCE)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let authorization = token.map_or(String::new(), |token| {
            format!("authorization: Bearer {}\r\n", token.reveal())
        });
        let request = format!(
            "{method} {path} HTTP/1.0\r\nhost: {self}\r\ncontent-length: 0\r\n{authorization}\r\n"
        );
        stream.write_all(request.as_bytes())?;
        Ok(stream)
    }

    fn status(self, first_line: &str) -> anyhow::Result<u16> {
        let status = first_line
            .strip_prefix("HTTP/1.")
            .and_then(|rest| rest.split(' ').nth(1)?.parse().ok());
        status.with_context(|| format!("{self} does not speak HTTP: {first_line}"))
    }
}

impl fmt::Display for OperationsPort {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wildcard_is_reached_over_loopback() {
        let check = |given: &str, reached: &str| {
            let port = OperationsPort::new(given.parse().unwrap());
            assert_eq!(port.to_string(), reached);
        };
        check("0.0.0.0:9091", "127.0.0.1:9091");
        check("[::]:9090", "[::1]:9090");
        check("10.1.2.3:9090", "10.1.2.3:9090");
    }
}
