//! Ready means tried: the gateway says that it is ready once a WebSocket to itself opened and a
//! lobby was really played on some game node.

use std::future::ready;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use chassis::{Check, Process, Pulse};
use tokio::time::{Instant, sleep, timeout};
use tokio_tungstenite::connect_async;
use tracing::{info, warn};

use crate::gateway::Gateway;

/// Between two tries of what has not worked yet.
const RETRY_AFTER: Duration = Duration::from_millis(200);
/// How long the own listener may take.
const LISTENER_WITHIN: Duration = Duration::from_secs(2);
/// Between two looks at the links, and two counts for the registry.
const WATCH_EVERY: Duration = Duration::from_millis(500);
/// Without any live link for so long, nobody can be served here.
const CUT_OFF_AFTER: Duration = Duration::from_secs(10);

/// What the gateway tries.
pub(crate) struct Checks {
    registry: Check,
    listener: Check,
    game_node: Check,
}

impl Checks {
    /// Names them.
    pub(crate) fn new(process: &Process) -> Self {
        let [registry, listener, game_node] =
            process
                .readiness
                .checks(["registry", "listener", "game node"]);
        Self {
            registry,
            listener,
            game_node,
        }
    }

    /// Tries everything until it has worked, says hello, and then watches the links.
    pub(crate) async fn run(self, gateway: Arc<Gateway>, process: Process, address: SocketAddr) {
        let shared: &Gateway = &gateway;
        let trying = async {
            tokio::join!(
                until_ok(&self.registry, || ready(registry_works(shared))),
                until_ok(&self.listener, || listener_answers(address)),
                until_ok(&self.game_node, || lobby_answers(shared)),
            );
        };
        tokio::select! {
            () = trying => {}
            () = say_why_when_late(&gateway, &process) => {}
        }
        gateway.membership.update(|own| own.why = None);
        gateway.membership.ready().await;
        info!("ready");
        let pulse = process.supervisor.watch();
        tokio::join!(
            self.watch(&gateway, &pulse),
            follow_registry(&self.registry, &gateway)
        );
    }

    async fn watch(&self, gateway: &Gateway, pulse: &Pulse) {
        let mut last_up = Instant::now();
        let mut cut_off = false;
        loop {
            pulse.beat();
            let players = u32::try_from(gateway.admission.total()).unwrap_or(u32::MAX);
            gateway.membership.update(|own| own.players = players);
            if gateway.links.any_up() {
                last_up = Instant::now();
                if std::mem::replace(&mut cut_off, false) {
                    self.game_node.pass("a game node is linked again");
                    info!("linked to a game node again");
                }
            } else if !cut_off && last_up.elapsed() >= CUT_OFF_AFTER {
                cut_off = true;
                self.game_node.block("no live link to any game node");
                // All game nodes are gone, or this gateway is cut off from them.
                warn!(
                    "no live link to any game node for {} s",
                    CUT_OFF_AFTER.as_secs()
                );
            }
            sleep(WATCH_EVERY).await;
        }
    }
}

/// Never ends; after `READY_TIMEOUT` it says to operators what is missing.
async fn say_why_when_late(gateway: &Gateway, process: &Process) {
    process.late(gateway.config.ready_timeout).await;
    loop {
        let missing = process.readiness.missing();
        gateway.membership.update(|own| own.why = Some(missing));
        sleep(WATCH_EVERY).await;
    }
}

async fn until_ok<F>(check: &Check, attempt: impl Fn() -> F)
where
    F: Future<Output = Result<String, String>>,
{
    loop {
        match attempt().await {
            Ok(detail) => return check.pass(detail),
            Err(why) => check.fail(why),
        }
        sleep(RETRY_AFTER).await;
    }
}

/// Shows for ever whether the registry answers. Once ready, that alone takes nothing away.
async fn follow_registry(check: &Check, gateway: &Gateway) {
    let mut checks = gateway.membership.checks();
    while checks.changed().await.is_ok() {
        checks.borrow_and_update();
        match registry_works(gateway) {
            Ok(detail) => check.pass(detail),
            Err(why) => check.fail(why),
        }
    }
}

fn registry_works(gateway: &Gateway) -> Result<String, String> {
    let checks = *gateway.membership.checks().borrow();
    match () {
        () if !checks.heartbeat_written => Err("no heartbeat was written yet".to_owned()),
        () if !checks.probe_heard => Err("no published probe came back yet".to_owned()),
        () if !checks.current => Err("it can't be reached; what was known stays".to_owned()),
        () => Ok("a heartbeat was written, a probe came back".to_owned()),
    }
}

async fn listener_answers(address: SocketAddr) -> Result<String, String> {
    let url = format!("ws://{}/ws", dialled(address));
    match timeout(LISTENER_WITHIN, connect_async(url)).await {
        Ok(Ok((mut socket, _response))) => {
            // It has opened: that was the question.
            let _closed = socket.close(None).await;
            Ok("a WebSocket opened".to_owned())
        }
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err(format!(
            "no WebSocket within {} s",
            LISTENER_WITHIN.as_secs()
        )),
    }
}

async fn lobby_answers(gateway: &Gateway) -> Result<String, String> {
    let node = gateway.links.probe().await?;
    Ok(format!("a probe lobby answered on {node}"))
}

/// Where this host reaches a listener: on all addresses means also on loopback.
fn dialled(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}
