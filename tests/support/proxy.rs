//! A way between two processes on which things can go wrong: nothing gets through, or answers come late or not at all.
//!
//! A fault can be for one process alone, which is known by its socket.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::sleep;

use super::free_address;

pub(crate) struct Proxy {
    address: SocketAddr,
    weather: watch::Sender<Weather>,
    accepting: JoinHandle<()>,
}

/// What happens to what is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Weather {
    #[default]
    Clear,
    /// Whatever is sent waits, in both directions; connections neither open nor close.
    Cut,
    /// The same for the connections of one process.
    CutFor(u32),
    /// Answers come so much later.
    Late(Duration),
    /// Answers vanish.
    Deaf,
}

impl Proxy {
    pub(crate) async fn start(to: SocketAddr) -> Self {
        let address = free_address();
        let listener = TcpListener::bind(address).await.expect("a free address");
        let weather = watch::Sender::new(Weather::Clear);
        let reports = weather.clone();
        let accepting = tokio::spawn(async move {
            while let Ok((near, _)) = listener.accept().await {
                tokio::spawn(carry(near, to, reports.subscribe()));
            }
        });
        Self {
            address,
            weather,
            accepting,
        }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn set(&self, weather: Weather) {
        self.weather.send_replace(weather);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

/// One connection, until an end hangs up.
async fn carry(mut near: TcpStream, to: SocketAddr, mut weather: watch::Receiver<Weather>) {
    let Ok(dialler) = near.peer_addr() else {
        return;
    };
    let mut open = lets_through(&mut weather, dialler).await;
    while !open {
        if weather.changed().await.is_err() {
            return;
        }
        open = lets_through(&mut weather, dialler).await;
    }
    let Ok(mut far) = TcpStream::connect(to).await else {
        return;
    };
    let (mut asked, mut answered) = (vec![0; 64 * 1024], vec![0; 64 * 1024]);
    loop {
        tokio::select! {
            changed = weather.changed() => {
                if changed.is_err() {
                    return;
                }
                open = lets_through(&mut weather, dialler).await;
            }
            read = near.read(&mut asked), if open => match read {
                Ok(length) if length > 0 => {
                    if far.write_all(&asked[..length]).await.is_err() {
                        return;
                    }
                }
                _ => return,
            },
            read = far.read(&mut answered), if open => match read {
                Ok(length) if length > 0 => {
                    let now = *weather.borrow();
                    if let Weather::Late(by) = now {
                        sleep(by).await;
                    }
                    if now != Weather::Deaf && near.write_all(&answered[..length]).await.is_err() {
                        return;
                    }
                }
                _ => return,
            },
        }
    }
}

/// Looks for the process only when it matters: that takes its time, and whoever dials waits for it.
async fn lets_through(weather: &mut watch::Receiver<Weather>, dialler: SocketAddr) -> bool {
    let now = *weather.borrow_and_update();
    match now {
        Weather::Cut => false,
        Weather::CutFor(process) => dialler_of(dialler).await != Some(process),
        Weather::Clear | Weather::Late(_) | Weather::Deaf => true,
    }
}

/// The kernel's list of sockets is not of one moment: one that is there can be missing from it.
async fn dialler_of(address: SocketAddr) -> Option<u32> {
    for _ in 0..LOOKS {
        let look = spawn_blocking(move || process_of(address)).await;
        if let Some(process) = look.expect("it only reads") {
            return Some(process);
        }
        sleep(BETWEEN_LOOKS).await;
    }
    None
}

const LOOKS: usize = 20;
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// Which process has the socket with this local address on loopback.
fn process_of(address: SocketAddr) -> Option<u32> {
    let SocketAddr::V4(address) = address else {
        return None;
    };
    let ip = u32::from_le_bytes(address.ip().octets());
    let local = format!("{ip:08X}:{:04X}", address.port());
    let table = std::fs::read_to_string("/proc/net/tcp").ok()?;
    let inode = table.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        (words.nth(1)? == local).then(|| words.nth(7))?
    })?;
    let socket = format!("socket:[{inode}]");
    let processes = std::fs::read_dir("/proc").ok()?;
    let mut ids = processes.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    ids.find(|id: &u32| {
        let files = std::fs::read_dir(format!("/proc/{id}/fd"));
        let mut files = files.into_iter().flatten().flatten();
        files.any(|file| std::fs::read_link(file.path()).is_ok_and(|link| *link == *socket))
    })
}
