//! Sockets on which nothing happens.

use std::net::SocketAddr;
use std::time::Duration;

use protocol::CloseCode;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};

use crate::support::CEILING;
use crate::support::fleet::Fleet;
use crate::support::table::arrive;

/// As in `docs/protocol.md`: without a frame and without an answered ping.
const SILENT: Duration = Duration::from_mins(1);
const SLACK: Duration = Duration::from_secs(5);
const REQUEST: &str = "GET /ws HTTP/1.1\r\nhost: test\r\nupgrade: websocket\r\nconnection: Upgrade\r\n\
    sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

/// A phone without a network, and one on the table while its player thinks.
#[tokio::test]
async fn who_answers_no_ping_for_a_minute_is_closed_with_4408_and_who_only_thinks_is_not() {
    let fleet = Fleet::over_redis(&[]).await;
    let url = fleet.url();
    let address = url.trim_start_matches("ws://").trim_end_matches("/ws");
    let mut thinking = arrive(&url).await;
    let code = thinking.create("Ada").await.unwrap();
    let (silent, closed) = tokio::join!(
        silence_of_one_who_joins(address.parse().unwrap(), code.as_str()),
        thinking.closed(SILENT + SLACK),
    );
    assert!(closed.is_err(), "its pings were answered: {closed:?}");
    thinking.echo(CEILING).await.unwrap();

    let (after, heard) = silent;
    assert!(after + SLACK > SILENT, "{after:?}");
    let [.., 0x88, 2, high, low] = heard[..] else {
        panic!("no close at the end");
    };
    let idle: u16 = CloseCode::Idle.into();
    assert_eq!(u16::from_be_bytes([high, low]), idle);
    // Neither has lost the seat.
    let seats = &thinking.state().lobby.as_ref().unwrap().players;
    assert_eq!(seats.len(), 2);
    assert!(seats[0].connected && !seats[1].connected);
}

/// What came until the socket's end, and when that was. Everything is read, and no ping answered.
async fn silence_of_one_who_joins(gateway: SocketAddr, code: &str) -> (Duration, Vec<u8>) {
    let mut socket = TcpStream::connect(gateway).await.unwrap();
    socket.write_all(REQUEST.as_bytes()).await.unwrap();
    let join = format!(r#"{{"type":"join_lobby","code":"{code}","name":"Ben"}}"#);
    for text in [r#"{"type":"hello","token":null}"#, &join] {
        socket.write_all(&frame(text)).await.unwrap();
    }
    let began = Instant::now();
    let mut heard = Vec::new();
    let end = timeout(SILENT + SLACK, socket.read_to_end(&mut heard)).await;
    end.expect("an end in time").unwrap();
    (began.elapsed(), heard)
}

/// Masked with zeros.
fn frame(text: &str) -> Vec<u8> {
    let length = u8::try_from(text.len()).unwrap();
    assert!(length < 126);
    [&[0x81, 0x80 | length, 0, 0, 0, 0], text.as_bytes()].concat()
}
