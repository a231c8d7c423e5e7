//! What `run` of every role gets of its process.

use std::io;
use std::net::TcpListener;
use std::time::{Duration, Instant};

use tracing::warn;

use crate::{Metrics, Operations, Readiness, Shutdown, Supervisor, clock};

/// The process as one role sees it: when to end, where to say that it is ready, and the operations
/// port.
///
/// The program makes one; in a process of several roles each gets a [`Process::part`] of it. A
/// test makes one like the program does:
///
/// ```
/// let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
/// let process = chassis::Process::start(listener, chassis::Metrics::default())?;
/// process.shutdown.begin();
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Process {
    /// When it begins, the role drains and its `run` returns.
    pub shutdown: Shutdown,
    /// Where the role reports what it has tried.
    pub readiness: Readiness,
    /// `/health`, `/ready`, `/metrics` and what the role adds.
    pub operations: Operations,
    /// systemd, if it has started this process.
    pub supervisor: Supervisor,
    /// When the process started: `READY_TIMEOUT` counts from here.
    pub started: Instant,
}

impl Process {
    /// Starts the operations port on `listener` and answers there from now on.
    ///
    /// # Errors
    /// If the listener or the thread of the operations port can't be set up.
    pub fn start(listener: TcpListener, metrics: Metrics) -> io::Result<Self> {
        let readiness = Readiness::new();
        let operations = Operations::start(listener, readiness.clone(), metrics)?;
        Ok(Self {
            shutdown: Shutdown::new(),
            readiness,
            operations,
            supervisor: Supervisor::of_this_process(),
            started: clock::now(),
        })
    }

    /// A process of a simulation, which has no operations port.
    #[cfg(feature = "simulation")]
    pub fn simulated() -> Self {
        let readiness = Readiness::new();
        Self {
            shutdown: Shutdown::new(),
            operations: Operations::unserved(readiness.clone()),
            readiness,
            supervisor: Supervisor::of_this_process(),
            started: clock::now(),
        }
    }

    /// Waits until `ready_timeout` has passed since the start of the process, and says what has not
    /// worked until then. It is tried on: this ends nothing.
    pub async fn late(&self, ready_timeout: Duration) {
        tokio::time::sleep_until((self.started + ready_timeout).into()).await;
        // A part that its users need has not come up in time.
        warn!(missing = self.readiness.missing(), "still not ready");
    }

    /// The same process for one of several roles: its checks are shown as `name: check`, its
    /// fields in `/health` under `name`. It ends together with the process.
    #[must_use]
    pub fn part(&self, name: &str) -> Self {
        Self {
            shutdown: self.shutdown.clone(),
            readiness: self.readiness.part(name),
            operations: self.operations.part(name),
            supervisor: self.supervisor.clone(),
            started: self.started,
        }
    }
}
