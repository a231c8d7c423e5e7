//! An AI node of the tests' own, which answers as a test tells it to.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use protocol::decide::{AI_LINK_PATH, Decide, DecideFailure, ToAi, ToNode};
use protocol::frame;
use rules::Action;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::http::HeaderValue;
use uuid::Uuid;

use super::process::AI_SECRET;

/// What it makes of a request.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Manner {
    /// The first legal action, at once.
    Good,
    /// Nothing at all, though it answers pings.
    Silent,
    /// The first legal action, after so long.
    Late(Duration),
    /// An action that nobody may ever do.
    Illegal,
    /// That it has no move.
    Failing,
    /// A frame that is no message.
    Garbage,
}

/// Dials one game node, and dials it again whenever the link is gone. Ends with the test.
pub(crate) struct AiNode {
    manner: watch::Sender<Manner>,
    asked: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

impl AiNode {
    pub(crate) fn dial(game_node: SocketAddr, manner: Manner) -> Self {
        let (sender, manner) = watch::channel(manner);
        let asked = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&asked);
        let task = tokio::spawn(async move {
            loop {
                let _link_gone = answer(game_node, &manner, &counter).await;
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        });
        Self {
            manner: sender,
            asked,
            task,
        }
    }

    pub(crate) fn set(&self, manner: Manner) {
        self.manner.send_replace(manner);
    }

    /// Requests that it has had so far.
    pub(crate) fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }
}

impl Drop for AiNode {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Until the link is gone.
async fn answer(
    game_node: SocketAddr,
    manner: &watch::Receiver<Manner>,
    asked: &AtomicUsize,
) -> Option<()> {
    let mut request = format!("ws://{game_node}{AI_LINK_PATH}")
        .into_client_request()
        .ok()?;
    let bearer = HeaderValue::try_from(format!("Bearer {AI_SECRET}")).ok()?;
    request.headers_mut().insert("authorization", bearer);
    let (mut socket, _) = tokio_tungstenite::connect_async(request).await.ok()?;
    let hello = ToNode::Hello {
        ai_node: "ai-of-the-test".to_owned(),
        incarnation: Uuid::new_v4(),
    };
    socket.send(encoded(&hello)).await.ok()?;
    while let Some(Ok(message)) = socket.next().await {
        let Message::Binary(bytes) = message else {
            continue;
        };
        let manner = *manner.borrow();
        match frame::decode(&bytes).ok()? {
            ToAi::Ping { nonce } => socket.send(encoded(&ToNode::Pong { nonce })).await.ok()?,
            ToAi::Decide(request) => {
                asked.fetch_add(1, Ordering::Relaxed);
                if let Manner::Late(time) = manner {
                    tokio::time::sleep(time).await;
                }
                if let Some(answer) = said(manner, &request) {
                    socket.send(answer).await.ok()?;
                }
            }
        }
    }
    None
}

fn said(manner: Manner, request: &Decide) -> Option<Message> {
    let request_id = request.request_id;
    let decision = |action| encoded(&ToNode::Decision { request_id, action });
    match manner {
        Manner::Good | Manner::Late(_) => Some(decision(request.observation.own.legal_actions[0])),
        Manner::Silent => None,
        Manner::Illegal => Some(decision(Action::Bid { value: 61 })),
        Manner::Failing => Some(encoded(&ToNode::Failed {
            request_id,
            failure: DecideFailure::Internal,
        })),
        Manner::Garbage => Some(Message::Binary(vec![0xc1; 20].into())),
    }
}

fn encoded(message: &ToNode) -> Message {
    Message::Binary(frame::encode(message).into())
}
