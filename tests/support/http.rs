//! One GET from an operations port; nothing more than the tests ask for.

use std::net::SocketAddr;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Status and body; None while nobody answers.
pub(crate) async fn get(address: SocketAddr, path: &str) -> Option<(u16, String)> {
    let mut stream = TcpStream::connect(address).await.ok()?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    Some((status, body.to_owned()))
}

/// A body of JSON with status 200.
pub(crate) async fn get_json(address: SocketAddr, path: &str) -> Option<Value> {
    let (status, body) = get(address, path).await?;
    (status == 200).then(|| serde_json::from_str(&body).expect("JSON"))
}
