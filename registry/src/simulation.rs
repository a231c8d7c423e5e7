//! A Redis of a simulation: the same answers as the real one, over a way that a test can break.
//!
//! Everything runs on the runtime of whoever uses it, whose clock may be paused; chance is the process'.
//! Not here: what only the client of the real one does (its pool, its sentinels, its TLS).

mod client;
mod deed;
mod presence;
mod server;
mod wire;

pub use self::client::Spawn;
pub use self::deed::{Deed, DeedKind};
pub use self::server::{Data, Redis};
pub use self::wire::Wire;

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use tokio::time::{sleep, timeout};

    use super::{Redis, Spawn, Wire};
    use crate::presence::tests::presence;
    use crate::{
        Event, Greeting, LeftReason, Lifetimes, Membership, NodeId, Opened, PresenceConfig,
        Registry, State, TokenHash,
    };

    fn client(redis: &Redis) -> Registry {
        let spawn: Spawn = Arc::new(|future| drop(tokio::spawn(future)));
        redis.client(Wire::default(), spawn)
    }

    async fn join(redis: &Redis, id: &str, run: u128) -> Membership {
        let own = presence(id, run, 0);
        let membership = client(redis).join(own, PresenceConfig::default());
        let membership = membership.expect("a valid configuration");
        membership.ready().await;
        membership
    }

    /// Seconds that pass at once, on a clock that is paused.
    async fn pass(seconds: u64) {
        sleep(Duration::from_secs(seconds)).await;
    }

    /// Two replicas take over one after the other, the second of which may be as far off again.
    async fn everybody_is_seen_after_fail_overs(ahead_ms: [i64; 2]) {
        let redis = Redis::start(Lifetimes::default());
        let one = join(&redis, "one", 1).await;
        let two = join(&redis, "two", 2).await;
        let dies = join(&redis, "dies", 3).await;
        pass(60).await;
        let mut events = one.events();
        redis.fail_over(ahead_ms[0]);
        drop(dies);
        pass(2).await;
        two.update(|own| own.state = State::Draining);
        pass(2).await;
        let id = NodeId::new("two").expect("a valid id");
        let seen = one.server(&id).expect("it lives");
        assert_eq!(seen.state, State::Draining, "its news are believed");
        pass(20).await;
        redis.fail_over(ahead_ms[1]);
        pass(20).await;
        let seen = one.server(&id).expect("it lives");
        let ago_ms = one.own().last_seen.abs_diff(seen.last_seen);
        assert!(ago_ms < 6_000, "{ago_ms} ms between two heartbeats");
        let mut left = Vec::new();
        while let Ok(Some(event)) = timeout(Duration::from_millis(1), events.next()).await {
            if let Event::Left { presence, reason } = event {
                left.push((presence.id.to_string(), reason));
            }
        }
        assert_eq!(left, [("dies".to_owned(), LeftReason::Expired)]);
    }

    #[tokio::test(start_paused = true)]
    async fn everybody_is_seen_after_a_fail_over_to_a_clock_that_is_behind() {
        everybody_is_seen_after_fail_overs([-30_000, 0]).await;
        everybody_is_seen_after_fail_overs([-30_000, -3_600_000]).await;
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_leaves_by_a_fail_over_to_a_clock_that_is_ahead() {
        everybody_is_seen_after_fail_overs([30_000, -30_000]).await;
        everybody_is_seen_after_fail_overs([3_600_000, 30_000]).await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_greeting_after_a_fail_over_to_a_clock_that_is_behind_is_the_newest() {
        let redis = Redis::start(Lifetimes::default());
        let registry = client(&redis);
        let token = TokenHash::new([7; 32]);
        let created = registry.session_create(&token, "0123456789ab").await;
        let created = created.expect("an answer").generation;
        redis.fail_over(-30_000);
        while registry.probe().await.is_err() {
            pass(1).await;
        }
        let said_at_ms = registry.now_ms().expect("it has answered");
        let greet = |after| registry.session_open(&token, Greeting { said_at_ms, after });
        let opened = greet(None).await.expect("an answer");
        assert_eq!(opened, Opened::Newer { newest: created });
        let opened = greet(Some(created)).await.expect("an answer");
        let Opened::Newest(session) = opened else {
            panic!("{opened:?}");
        };
        assert!(session.generation > created);
    }
}
