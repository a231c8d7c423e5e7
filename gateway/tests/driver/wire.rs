//! WebSocket as the standard has it, on bare bytes.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::bench::Bench;

const CEILING: Duration = Duration::from_secs(10);
const MASK: [u8; 4] = [7, 1, 200, 90];
const REQUEST: &str = "GET /ws HTTP/1.1\r\nhost: test\r\nupgrade: websocket\r\n\
    connection: keep-alive, Upgrade\r\nsec-websocket-version: 13\r\n\
    sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

/// A client's frame; its first byte holds the opcode and whether it is the last of its message.
fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let length = u8::try_from(payload.len()).unwrap();
    assert!(length < 126);
    let mut bytes = vec![first, 0x80 | length];
    bytes.extend(MASK);
    bytes.extend(
        payload
            .iter()
            .zip(MASK.iter().cycle())
            .map(|(byte, mask)| byte ^ mask),
    );
    bytes
}

async fn receive(socket: &mut TcpStream, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    let read = timeout(CEILING, socket.read_exact(&mut bytes)).await;
    read.expect("an answer in time").unwrap();
    bytes
}

/// Sends `request`, and `with_it` in the same packet.
async fn open(bench: &Bench, request: &str, with_it: &[u8]) -> (TcpStream, String) {
    let mut socket = TcpStream::connect(bench.address()).await.unwrap();
    socket
        .write_all(&[request.as_bytes(), with_it].concat())
        .await
        .unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.extend(receive(&mut socket, 1).await);
    }
    (socket, String::from_utf8(head).unwrap())
}

#[tokio::test]
async fn a_ping_is_answered_and_a_message_may_come_in_parts() {
    let bench = Bench::start().await;
    // What comes with the request is not lost.
    let (mut socket, head) = open(&bench, REQUEST, &frame(0x89, b"hey")).await;
    assert!(head.starts_with("HTTP/1.1 101"), "{head}");
    let key = "sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";
    assert!(head.to_lowercase().contains(&key.to_lowercase()), "{head}");
    assert_eq!(receive(&mut socket, 5).await, b"\x8a\x03hey");
    for part in [
        frame(0x01, br#"{"type":"#),
        frame(0x89, b""),
        frame(0x80, br#""ping"}"#),
    ] {
        socket.write_all(&part).await.unwrap();
    }
    assert_eq!(receive(&mut socket, 2).await, b"\x8a\x00");
    let head = receive(&mut socket, 2).await;
    assert_eq!(head[0], 0x81, "a whole text");
    let refused = receive(&mut socket, usize::from(head[1])).await;
    let refused = String::from_utf8(refused).unwrap();
    assert!(refused.contains("hello_required"), "{refused}");
}

#[tokio::test]
async fn a_close_is_answered_with_its_code_and_then_the_socket_ends() {
    let bench = Bench::start().await;
    let (mut socket, _) = open(&bench, REQUEST, &[]).await;
    socket
        .write_all(&frame(0x88, b"\x03\xe8bye"))
        .await
        .unwrap();
    let mut answer = Vec::new();
    let ended = timeout(CEILING, socket.read_to_end(&mut answer)).await;
    ended.expect("an end in time").unwrap();
    assert_eq!(answer[0], 0x88);
    assert_eq!(answer[2..4], [0x03, 0xe8], "1000 for 1000: {answer:?}");
    bench.until(|health| health["connections"] == 0).await;
}

#[tokio::test]
async fn a_request_that_is_no_websocket_is_refused_and_counts_nowhere() {
    let bench = Bench::start().await;
    for missing in ["upgrade: websocket\r\n", "sec-websocket-version: 13\r\n"] {
        let (_socket, head) = open(&bench, &REQUEST.replace(missing, ""), &[]).await;
        assert!(head.starts_with("HTTP/1.1 400"), "{head}");
    }
    bench.until(|health| health["connections"] == 0).await;
}

#[tokio::test]
async fn what_can_not_be_read_is_closed_with_the_reason() {
    let bench = Bench::start().await;
    let unmasked = b"\x81\x02{}".to_vec();
    for (what, bytes, code) in [
        ("a text that is not UTF-8", frame(0x81, b"\xff\xfe"), 1007),
        ("a frame without a mask", unmasked, 1002),
        ("an opcode that does not exist", frame(0x83, b""), 1002),
        ("a compressed frame", frame(0xc1, b"x"), 1002),
        ("the middle of no message", frame(0x80, b"x"), 1002),
        ("a ping in parts", frame(0x09, b"x"), 1002),
    ] {
        let (mut socket, _) = open(&bench, REQUEST, &[]).await;
        socket.write_all(&bytes).await.unwrap();
        let close = receive(&mut socket, 4).await;
        let [0x88, 2, high, low] = close[..] else {
            panic!("{what}: {close:?}")
        };
        assert_eq!(u16::from_be_bytes([high, low]), code, "{what}");
        let ended = timeout(CEILING, socket.read_to_end(&mut Vec::new())).await;
        let _reset = ended.unwrap_or_else(|_| panic!("still open after {what}"));
    }
    bench.until(|health| health["connections"] == 0).await;
}

#[tokio::test]
async fn a_flood_of_pings_is_closed_with_1008() {
    let bench = Bench::start().await;
    let (mut socket, _) = open(&bench, REQUEST, &[]).await;
    socket
        .write_all(&frame(0x89, b"").repeat(10_000))
        .await
        .unwrap();
    let mut received = Vec::new();
    while !received.ends_with(b"\x88\x02\x03\xf0") {
        received.extend(receive(&mut socket, 1).await);
    }
    let pongs = received.windows(2).filter(|bytes| bytes == b"\x8a\x00");
    assert!(pongs.count() <= 100, "no more than what is let through");
}
