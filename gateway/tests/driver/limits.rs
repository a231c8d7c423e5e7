//! Each limit, with its exact code.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use chassis::environment::Limit;
use protocol::ErrorCode;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::{Instant, timeout};

use crate::bench::Bench;
use crate::client::Client;

const FORWARDED_FOR: &str = "x-forwarded-for";
/// No wait for one thing takes longer.
const CEILING: Duration = Duration::from_secs(15);

#[tokio::test]
async fn a_frame_that_is_too_long_is_1009() {
    let bench = Bench::start().await;
    let mut just = bench.client().await;
    just.enter().await;
    let padding = |bytes: usize| {
        let head = r#"{"type":"ping","x":""#;
        format!("{head}{}\"}}", "x".repeat(bytes - head.len() - 2))
    };
    just.send_text(&padding(64 * 1024)).await;
    assert_eq!(just.receive().await["type"], "pong");
    just.send_text(&padding(64 * 1024 + 1)).await;
    assert_eq!(just.closed().await, 1009);
    let mut far = bench.client().await;
    far.send_text(&padding(4 * 1024 * 1024)).await;
    assert_eq!(far.closed().await, 1009);
}

#[tokio::test]
async fn a_flood_is_closed_with_1008() {
    let bench = Bench::start().await;
    let mut ada = bench.client().await;
    ada.enter().await;
    for _ in 0..200 {
        ada.send_text(r#"{"type":"ping"}"#).await;
    }
    let limited = ada
        .receive_until(|message| message["type"] == "error")
        .await;
    assert_eq!(limited["code"], "rate_limited");
    assert!(limited["retry_after_ms"].as_u64().unwrap() > 0);
    assert_eq!(ada.closed().await, 1008);
}

#[tokio::test]
async fn whoever_says_no_hello_is_closed_with_4408() {
    let bench = Bench::start().await;
    let mut silent = bench.client().await;
    let began = tokio::time::Instant::now();
    assert_eq!(silent.closed().await, 4408);
    assert!(began.elapsed() >= Duration::from_secs(9));
}

#[tokio::test]
async fn whoever_does_not_read_is_closed_with_4413_and_keeps_their_seat() {
    let mut bench = Bench::start().await;
    let (mut ada, seat) = bench.seated_client().await;
    // More and more than the system's own buffers hold.
    let large = json!({ "padding": "x".repeat(200_000) });
    for seq in 2.. {
        bench
            .node
            .show_lobby(seat.code, seq, &large, &[seat.connection]);
        // No leave, only gone.
        if bench.node.detached_within(Duration::from_millis(10)).await == Some(seat.connection) {
            break;
        }
        assert!(seq < 2000, "still there after {seq} pictures");
    }
    assert!(bench.node.asks_so_far().is_empty());
    assert_eq!(ada.closed().await, 4413);
}

#[tokio::test]
async fn whoever_does_not_read_their_answers_is_closed_and_misses_none_unawares() {
    let mut bench = Bench::with(|config| config.message_rate = Limit::NONE).await;
    let (mut ada, seat) = bench.seated_client().await;
    // More than the system's own buffers hold, so that a write is stuck.
    let large = json!({ "padding": "x".repeat(500_000) });
    for seq in 2..60 {
        bench
            .node
            .show_lobby(seat.code, seq, &large, &[seat.connection]);
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    // Answers for twice what may wait.
    for number in 0..4_000 {
        ada.send(json!({ "type": "ping", "nonce": number.to_string() }))
            .await;
    }
    let mut answered = 0;
    let code = loop {
        match ada.receive_or_close().await {
            Ok(message) if message["type"] == "pong" => {
                assert_eq!(message["nonce"], answered.to_string());
                answered += 1;
            }
            Ok(_) => {}
            Err(code) => break code,
        }
    };
    assert_eq!(code, 4413);
    assert!(answered < 4_000, "all {answered}");
}

#[tokio::test]
async fn too_many_connections_are_busy_and_1013() {
    let bench = Bench::with(|config| config.max_connections_per_ip = Limit::at_most(2)).await;
    let first = bench.client().await;
    let _second = bench.client().await;
    let mut third = bench.client().await;
    let busy = third.receive().await;
    assert_eq!(
        (&busy["code"], busy["retry_after_ms"].is_u64()),
        (&json!("busy"), true)
    );
    assert_eq!(third.closed().await, 1013);
    drop(first);
    bench.until(|health| health["connections"] == 1).await;
    let mut fourth = bench.client().await;
    fourth.enter().await;
}

#[tokio::test]
async fn too_many_connections_of_all_addresses_are_1013() {
    let bench = Bench::with(|config| {
        config.max_connections = Limit::at_most(2);
        config.trusted_proxies = "127.0.0.0/8".parse().unwrap();
    })
    .await;
    let mut clients = Vec::new();
    for number in 0..3 {
        let forwarded = format!("192.0.2.{number}");
        clients.push(Client::connect_with(bench.address(), FORWARDED_FOR, &forwarded).await);
    }
    let [first, second, third] = &mut clients[..] else {
        panic!("three");
    };
    assert_eq!(third.receive().await["code"], "busy");
    assert_eq!(third.closed().await, 1013);
    first.enter().await;
    second.enter().await;
}

#[tokio::test]
async fn beyond_sixteen_unanswered_messages_a_socket_is_not_read_on() {
    let mut bench = Bench::start().await;
    let (mut ada, _seat) = bench.seated_client().await;
    for _ in 0..16 {
        ada.send(json!({ "type": "react", "reaction": "hello" }))
            .await;
    }
    ada.send(json!({ "type": "ping" })).await;
    let first = bench.node.ask().await;
    for _ in 1..16 {
        bench.node.ask().await;
    }
    let unread = timeout(Duration::from_millis(300), ada.receive()).await;
    assert!(unread.is_err(), "{unread:?}");
    bench.node.done(&first);
    // What is not answered in time is answered by the gateway itself, and may be before it.
    ada.receive_until(|message| message["type"] == "pong").await;
}

#[tokio::test]
async fn pages_of_other_origins_are_turned_away() {
    let origins = vec!["https://wizard.example".to_owned()];
    let bench = Bench::with(|config| config.allowed_origins = origins).await;
    let mut page = Client::connect_from(bench.address(), "https://elsewhere.example").await;
    assert_eq!(page.closed().await, 1008);
    let mut own = Client::connect_from(bench.address(), "https://wizard.example").await;
    own.enter().await;
    let mut program = bench.client().await;
    program.enter().await;
}

#[tokio::test]
async fn one_address_creates_only_so_many_lobbies() {
    let mut bench = Bench::with(|config| config.lobby_create_rate = Limit::at_most(1)).await;
    let (_ada, _seat) = bench.seated_client().await;
    let mut ben = bench.client().await;
    ben.enter().await;
    ben.send(json!({ "type": "create_lobby", "name": "Ben" }))
        .await;
    assert_eq!(ben.receive().await["code"], "rate_limited");
    assert!(bench.node.asks_so_far().is_empty());
}

#[tokio::test]
async fn beyond_the_http_concurrency_everything_is_503() {
    let bench = Bench::with(|config| {
        config.max_connections = Limit::at_most(2);
        config.max_http_concurrency = Limit::at_most(2);
    })
    .await;
    let mut first = bench.client().await;
    first.enter().await;
    let _second = bench.client().await;
    for path in ["/", "/ws"] {
        let answer = bench.gateway.get(path).await;
        assert!(answer.starts_with("HTTP/1.1 503"), "{path}: {answer}");
        assert!(answer.contains("retry-after: "), "{answer}");
    }
    // Whoever is in goes on.
    first.send(json!({ "type": "ping" })).await;
    assert_eq!(first.receive().await["type"], "pong");
    drop(first);
    bench.until(|health| health["connections"] == 1).await;
    let freed = async {
        while !bench.gateway.get("/").await.starts_with("HTTP/1.1 200") {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(CEILING, freed)
        .await
        .expect("a place that is free again");
}

/// Whoever opens sockets and sends nothing keeps nobody else out.
#[tokio::test]
async fn one_address_has_only_a_part_of_the_sockets_that_send_nothing() {
    let bench = Bench::with(|config| {
        config.max_http_concurrency = Limit::at_most(200);
        config.max_connections = Limit::at_most(100);
        config.max_connections_per_ip = Limit::at_most(10);
        config.accept_rate = Limit::NONE;
    })
    .await;
    let gateway = bench.gateway.address;
    let mut silent = Vec::new();
    for _ in 0..21 {
        silent.push(TcpStream::connect(gateway).await.unwrap());
    }
    let mut answer = Vec::new();
    let reading = silent[20].read_to_end(&mut answer);
    timeout(CEILING, reading).await.expect("it ends").unwrap();
    assert!(answer.starts_with(b"HTTP/1.1 503"), "{answer:?}");
    let answer = page_for("127.0.0.2", gateway).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    // As soon as they are gone, the address is as good as any other.
    drop(silent);
    let freed = async {
        while !page_for("127.0.0.1", gateway)
            .await
            .is_ok_and(|answer| answer.starts_with("HTTP/1.1 200"))
        {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(CEILING, freed)
        .await
        .expect("room for that address");
}

/// What somebody of an address gets; who is refused may be reset before the answer is read.
async fn page_for(address: &str, gateway: SocketAddr) -> io::Result<String> {
    let socket = TcpSocket::new_v4()?;
    socket.bind(SocketAddr::new(address.parse().unwrap(), 0))?;
    let mut stream = socket.connect(gateway).await?;
    stream
        .write_all(b"GET / HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\r\n")
        .await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    Ok(answer)
}

#[tokio::test]
async fn a_herd_is_accepted_at_its_pace_and_costs_those_who_play_nothing() {
    const HERD: u32 = 60;
    let bench = Bench::with(|config| {
        config.accept_rate = Limit::at_most(30);
        config.message_rate = Limit::NONE;
    })
    .await;
    let mut player = bench.client().await;
    player.enter().await;
    let began = Instant::now();
    let mut herd = tokio::task::JoinSet::new();
    for _ in 0..HERD {
        herd.spawn(page(bench.address()));
    }
    let mut slowest = Duration::ZERO;
    while let Some(answer) = herd.join_next().await {
        let answer = answer.unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        let asked = Instant::now();
        player.send(json!({ "type": "ping" })).await;
        assert_eq!(player.receive().await["type"], "pong");
        slowest = slowest.max(asked.elapsed());
    }
    // All but what may come at once.
    let taken = began.elapsed();
    assert!(taken >= Duration::from_millis(1_700), "{taken:?}");
    // Behind the herd it would be as long as that took, however fast the machine is.
    assert!(slowest < taken / 2, "{slowest:?} of {taken:?}");
}

async fn page(address: SocketAddr) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = "GET / HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\r\n";
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

#[tokio::test]
async fn whoever_sends_no_whole_request_is_closed_after_ten_seconds() {
    let bench = Bench::start().await;
    let began = Instant::now();
    let slow = ["", "GET /ws HTTP/1.1\r\nhost: te"].map(async |head: &'static str| {
        let mut stream = TcpStream::connect(bench.address()).await.unwrap();
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        let closed = timeout(Duration::from_secs(25), stream.read_to_end(&mut answer)).await;
        // Closed in good order or not: it is over.
        let _end = closed.expect("closed in time");
        began.elapsed()
    });
    for time in futures_util::future::join_all(slow).await {
        assert!(time >= Duration::from_secs(9), "{time:?}");
    }
}

#[tokio::test]
async fn a_head_without_end_is_refused() {
    let bench = Bench::start().await;
    let mut stream = TcpStream::connect(bench.address()).await.unwrap();
    let head = format!(
        "GET / HTTP/1.1\r\nhost: test\r\ncookie: {}\r\n\r\n",
        "x".repeat(64 * 1024)
    );
    // It may be closed before all is sent.
    let _refused = stream.write_all(head.as_bytes()).await;
    let mut answer = Vec::new();
    let _reset = timeout(CEILING, stream.read_to_end(&mut answer))
        .await
        .expect("an end");
    let answer = String::from_utf8_lossy(&answer).into_owned();
    assert!(
        answer.is_empty() || answer.starts_with("HTTP/1.1 431"),
        "{answer}"
    );
}

#[tokio::test]
async fn a_forged_forwarded_address_changes_nothing() {
    let bench = Bench::with(|config| config.max_connections_per_ip = Limit::at_most(2)).await;
    let mut inside = Vec::new();
    for number in 0..2 {
        let mut client =
            Client::connect_with(bench.address(), FORWARDED_FOR, &format!("192.0.2.{number}"))
                .await;
        client.enter().await;
        inside.push(client);
    }
    let mut third = Client::connect_with(bench.address(), FORWARDED_FOR, "192.0.2.7").await;
    assert_eq!(third.receive().await["code"], "busy");
    assert_eq!(third.closed().await, 1013);
}

#[tokio::test]
async fn behind_a_trusted_proxy_each_address_counts_for_itself() {
    let bench = Bench::with(|config| {
        config.max_connections_per_ip = Limit::at_most(1);
        config.trusted_proxies = "127.0.0.0/8".parse().unwrap();
    })
    .await;
    let mut inside = Vec::new();
    for number in 0..11 {
        let forwarded = format!("198.51.100.{number}");
        let mut client = Client::connect_with(bench.address(), FORWARDED_FOR, &forwarded).await;
        client.enter().await;
        inside.push(client);
    }
    // What stands before the proxy's own entry anybody may have written.
    for forwarded in ["198.51.100.3", "203.0.113.9, 198.51.100.3"] {
        let mut second = Client::connect_with(bench.address(), FORWARDED_FOR, forwarded).await;
        assert_eq!(second.closed().await, 1013, "{forwarded}");
    }
    // Two of one IPv6 network are one household.
    let mut one = Client::connect_with(bench.address(), FORWARDED_FOR, "2001:db8::1").await;
    one.enter().await;
    let mut other = Client::connect_with(bench.address(), FORWARDED_FOR, "2001:db8::2:3").await;
    assert_eq!(other.closed().await, 1013);
}

#[tokio::test]
async fn lobbies_of_one_address_are_counted_over_all_gateways() {
    let mut bench = Bench::with(|config| config.lobby_create_rate = Limit::at_most(3)).await;
    let second = bench
        .another_gateway_with(|config| config.lobby_create_rate = Limit::at_most(3))
        .await;
    // Over the turn of a minute the count begins anew: then it is done once more.
    for _ in 0..2 {
        let minute = chassis::clock::unix_milliseconds() / 60_000;
        let mut codes = Vec::new();
        for address in [
            bench.address(),
            second.address,
            bench.address(),
            second.address,
        ] {
            let mut client = Client::connect(address).await;
            client.enter().await;
            client
                .send(json!({ "type": "create_lobby", "name": "Ada" }))
                .await;
            let answer = tokio::select! {
                ask = bench.node.ask() => {
                    bench.node.refuse(&ask, ErrorCode::Internal);
                    client.receive().await
                }
                answer = client.receive() => answer,
            };
            codes.push(answer["code"].as_str().unwrap().to_owned());
        }
        if chassis::clock::unix_milliseconds() / 60_000 == minute {
            assert_eq!(codes, ["internal", "internal", "internal", "rate_limited"]);
            return;
        }
    }
    panic!("two turns of a minute within one test");
}

#[tokio::test]
async fn a_half_open_socket_keeps_nobody_out() {
    let mut bench = Bench::with(|config| config.max_connections_per_ip = Limit::at_most(2)).await;
    let (half_open, seat) = bench.seated_client().await;
    let began = Instant::now();
    // The phone has another network now; the old socket says nothing any more, and hears nothing.
    let mut again = bench.client().await;
    again.hello(json!(half_open.token)).await;
    let attach = bench.node.ask().await;
    assert_eq!(attach.code, seat.code);
    bench.node.done(&attach);
    bench.node.show(seat.code, 2, &[attach.connection]);
    again.receive_until(|message| message["seq"] == 2).await;
    // Long before the old one is missed.
    assert!(
        began.elapsed() < Duration::from_secs(5),
        "{:?}",
        began.elapsed()
    );
    // And its place is free.
    bench.until(|health| health["connections"] == 1).await;
    drop(half_open);
    again.send(json!({ "type": "ping" })).await;
    let pong: Value = again.receive().await;
    assert_eq!(pong["type"], "pong");
}
