//! A process of the benchmark, what it uses, and when it is there.

use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// What the kernel counts CPU in.
const TICKS_PER_SECOND: f64 = 100.0;

pub(crate) struct Process(Child);

impl Process {
    pub(crate) fn spawn(program: &str, arguments: &[String], variables: &[(&str, String)]) -> Self {
        Self::try_spawn(program, arguments, variables).expect("the program starts")
    }

    pub(crate) fn try_spawn(
        program: &str,
        arguments: &[String],
        variables: &[(&str, String)],
    ) -> Option<Self> {
        let child = Command::new(program)
            .args(arguments)
            .envs(variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        child.ok().map(Self)
    }

    pub(crate) fn first_line(&mut self) -> String {
        let mut line = String::new();
        let output = self.0.stdout.as_mut().expect("piped");
        BufReader::new(output).read_line(&mut line).unwrap();
        line.trim().to_owned()
    }

    /// In user and kernel mode.
    pub(crate) fn cpu_seconds(&self) -> f64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.0.id())).unwrap();
        let (_, fields) = stat.rsplit_once(')').unwrap();
        let fields: Vec<&str> = fields.split_whitespace().collect();
        let ticks = |place: usize| fields[place].parse::<f64>().unwrap();
        (ticks(11) + ticks(12)) / TICKS_PER_SECOND
    }

    pub(crate) fn resident_kib(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.0.id())).unwrap();
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("VmRSS:"))
            .unwrap();
        line.trim().strip_suffix(" kB").unwrap().parse().unwrap()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It has ended already, or ends now.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub(crate) fn free_address() -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    listener.local_addr().unwrap()
}

pub(crate) async fn until_open(address: SocketAddr) {
    while TcpStream::connect(address).await.is_err() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

pub(crate) async fn until_ready(operations: SocketAddr) {
    until_open(operations).await;
    loop {
        let mut stream = TcpStream::connect(operations).await.unwrap();
        let request = "GET /ready HTTP/1.1\r\nhost: bench\r\nconnection: close\r\n\r\n";
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        if answer.starts_with("HTTP/1.1 200") {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
