//! What a link does that is asked for too much.

use registry::{Lifetimes, Registry};

use super::*;

#[tokio::test]
async fn a_link_that_does_not_take_what_must_not_be_lost_is_ended() {
    let presence = |id: &str, role| {
        let (id, incarnation) = (
            NodeId::new(id).unwrap(),
            Incarnation::new(uuid::Uuid::nil()),
        );
        Presence::new(id, role, incarnation, "127.0.0.1:9", "1")
    };
    let own = presence("gateway", Role::new("gateway").unwrap());
    let health = Registry::in_process(Lifetimes::default()).health();
    let links = Links::new(Secret::default(), &own, Arc::default(), health);
    let node = Arc::new(presence("game", game_role()));
    links.listed(Arc::clone(&node));
    let stop = links.lock()[&node.id].stop.clone();
    let (queue, _waiting) = mpsc::channel(1);
    let overrun = CancellationToken::new();
    links.connected(&node.id, &stop, node.incarnation, queue, overrun.clone());

    let probe = |request| ToNode::Probe { request };
    links.tell(&node.id, probe(1));
    assert_eq!(links.send(&node.id, probe(2)), Err(NotSent::Full));
    assert!(!overrun.is_cancelled(), "whoever asks is told instead");
    links.tell(&node.id, probe(3));
    assert!(overrun.is_cancelled());
}
