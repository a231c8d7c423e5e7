//! `wizard loadtest` from the outside: what it prints, and how it ends.

use std::net::SocketAddr;
use std::process::Output;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::support::fleet::Fleet;

#[tokio::test]
async fn an_honest_server_gets_a_report() {
    let fleet = Fleet::over_redis(&[]).await;
    let output = load_test(fleet.players()).await;
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["seed"], 5);
    assert_eq!(report["games_finished"], 3);
    assert!(
        report["moves_per_second"].as_f64().unwrap() > 0.0,
        "{report}"
    );
    assert!(
        report["latency"]["p99_ms"].as_f64().unwrap() > 0.0,
        "{report}"
    );
}

#[tokio::test]
async fn a_wrong_state_ends_it_with_exit_1_and_both_values() {
    let fleet = Fleet::in_one_process(&[]).await;
    let proxy = forge(fleet.players(), b"\"min_players\":3", b"\"min_players\":4").await;
    let output = load_test(proxy).await;
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr).unwrap();
    for expected in [
        "seed 5",
        "table ",
        "seat 0",
        "min_players: expected 3, got 4",
    ] {
        assert!(said.contains(expected), "{said}");
    }
}

async fn load_test(address: SocketAddr) -> Output {
    tokio::process::Command::new(env!("CARGO_BIN_EXE_wizard"))
        .args([
            "loadtest",
            "--tables",
            "2",
            "--players",
            "4",
            "--humans",
            "2",
            "--games",
            "3",
        ])
        .args([
            "--duration",
            "60s",
            "--think",
            "0",
            "--seed",
            "5",
            "--json",
            "--url",
        ])
        .arg(format!("ws://{address}/ws"))
        .kill_on_drop(true)
        .output()
        .await
        .unwrap()
}

/// Passes everything on, but for a text in what the server says.
async fn forge(server: SocketAddr, said: &'static [u8], forged: &'static [u8]) -> SocketAddr {
    assert_eq!(said.len(), forged.len(), "the frame keeps its length");
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((player, _)) = listener.accept().await {
            let server = TcpStream::connect(server).await.unwrap();
            tokio::spawn(pass_on(player, server, said, forged));
        }
    });
    address
}

async fn pass_on(player: TcpStream, server: TcpStream, said: &[u8], forged: &[u8]) {
    let (mut from_player, mut to_player) = player.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    tokio::spawn(async move { tokio::io::copy(&mut from_player, &mut to_server).await });
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(length @ 1..) = from_server.read(&mut buffer).await {
        let chunk = &mut buffer[..length];
        if let Some(at) = chunk.windows(said.len()).position(|window| window == said) {
            chunk[at..at + said.len()].copy_from_slice(forged);
        }
        if to_player.write_all(chunk).await.is_err() {
            break;
        }
    }
}
