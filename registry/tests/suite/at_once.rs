//! What takes its time, side by side: each scene has a Redis and processes of its own, and most
//! of them mostly wait.

use std::future::Future;
use std::pin::Pin;

use super::world::LONG;
use super::{lives, sentinel, tls, troubles};

type Scenes = Vec<(&'static str, Pin<Box<dyn Future<Output = ()> + Send>>)>;

macro_rules! scenes {
    ($($module:ident::$scene:ident),+ $(,)?) => {
        vec![$((stringify!($scene), Box::pin($module::$scene()) as Pin<Box<dyn Future<Output = ()> + Send>>)),+]
    };
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn every_trouble_heals() {
    let mut scenes: Scenes = scenes![
        troubles::silent_connections,
        troubles::reset_connections,
        troubles::refused_for_8_s,
        troubles::one_answer_swallowed,
        troubles::subscriptions_killed_twenty_times,
        troubles::redis_restarted_empty,
        troubles::redis_stopped_and_continued,
        troubles::subscribers_dropped_for_their_buffer,
        troubles::an_old_master_still_answers,
        sentinel::a_fail_over_heals,
        sentinel::a_silent_sentinel_delays_nothing,
        tls::trusted_and_not,
        tls::sentinels_and_master,
        lives::a_killed_process_expires,
        lives::a_restart_under_the_same_id_stays,
        lives::a_short_stop_changes_nothing,
        lives::a_long_stop_is_seen_and_mended,
        lives::a_blocked_thread_is_stalled,
    ];
    scenes.push(("refused_for_30_s", Box::pin(troubles::refused_for(30))));
    if std::env::var_os(LONG).is_some() {
        scenes.push(("refused_for_120_s", Box::pin(troubles::refused_for(120))));
    }
    let running: Vec<_> = scenes
        .into_iter()
        .map(|(name, scene)| (name, tokio::spawn(scene)))
        .collect();
    let mut failed = Vec::new();
    for (name, scene) in running {
        if scene.await.is_err() {
            failed.push(name);
        }
    }
    assert_eq!(failed, [""; 0], "their panics are above");
}
