//! A gateway whose players and links come from a simulation: the same sessions, routes, links and tasks.
//!
//! Not here: the listener, its limits and handshakes, the operators' pages, the readiness checks.

mod sockets;

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use chassis::{Process, task};
use futures_util::future::BoxFuture;
use futures_util::{Sink, Stream, StreamExt};
use registry::{Registry, RegistryError};
use tokio_tungstenite::tungstenite::{self, Message};

use crate::address::Origin;
use crate::connection::{Connection, Ending};
use crate::gateway::Gateway;
use crate::link;
use crate::socket::Wire;
use crate::{Config, assemble, follow, stop};
use sockets::{Linked, Played};

/// The other end of a link, as it is dialled by its address.
pub(crate) type Dial = Box<
    dyn Fn(String) -> BoxFuture<'static, Result<Box<dyn link::Wire>, tungstenite::Error>>
        + Send
        + Sync,
>;

/// Runs a gateway until its process is told to stop. `dial` opens a link's transport by a node's address; each of
/// `players` is a player's WebSocket.
///
/// # Errors
/// If the presence settings are wrong.
pub async fn run<S, D>(
    config: Config,
    registry: Registry,
    process: Process,
    dial: impl Fn(String) -> D + Send + Sync + 'static,
    mut players: impl Stream<Item = S> + Unpin,
) -> Result<(), RegistryError>
where
    D: Future<Output = Result<S, tungstenite::Error>> + Send + 'static,
    S: Stream<Item = Result<Message, tungstenite::Error>>
        + Sink<Message, Error = tungstenite::Error>
        + Unpin
        + Send
        + 'static,
{
    let gateway = assemble(config, registry, &process)?;
    let dial: Dial = Box::new(move |address| {
        let dialled = dial(address);
        Box::pin(async move { Ok(Box::new(Linked(dialled.await?)) as Box<dyn link::Wire>) })
    });
    let _first = gateway.links.network.set(dial);
    let accepting = async {
        while let Some(socket) = players.next().await {
            let serving = serve(Arc::clone(&gateway), socket);
            gateway.sockets.spawn(task::of_this_process(serving));
        }
        std::future::pending::<()>().await;
    };
    let following = async {
        tokio::join!(follow(&gateway), gateway.membership.ready(), accepting);
    };
    tokio::select! {
        () = following => {}
        () = process.shutdown.begun() => {}
    }
    stop(&gateway, &process).await;
    gateway.links.close().await;
    Ok(())
}

async fn serve<S>(gateway: Arc<Gateway>, socket: S)
where
    S: Stream<Item = Result<Message, tungstenite::Error>>
        + Sink<Message, Error = tungstenite::Error>
        + Unpin,
{
    let origin = Origin::of(IpAddr::V4(Ipv4Addr::LOCALHOST));
    let Some(admitted) = gateway.admission.admit(origin) else {
        return;
    };
    let registered = gateway.connections.register();
    let metrics = gateway.metrics.clone();
    let mut wire = Played::new(socket);
    let mut connection = Connection::new(gateway, registered, origin, &mut wire);
    let ending = connection.run().await;
    connection.end();
    drop((connection, admitted));
    if ending != Ending::Broken {
        let _closed_or_late = wire.finish(&metrics).await;
    }
}
