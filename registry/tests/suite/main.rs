//! One suite for both back ends: every case gets two registries over one store, as two processes
//! have them. What only Redis can do wrong is in `faults`.

mod at_once;
mod claims;
mod costs;
mod faults;
mod listings;
mod lives;
mod lobbies;
mod node;
mod operations;
mod presence;
mod proxy;
mod redis_server;
mod sentinel;
mod sessions;
mod tls;
mod troubles;
mod witness;
mod world;

/// Runs each case on both back ends.
macro_rules! on_both {
    ($($module:ident: $($case:ident),+;)+) => {
        mod in_process {
            $($(#[tokio::test]
            async fn $case() {
                super::$module::$case(&super::world::World::in_process()).await;
            })+)+
        }

        mod redis {
            $($(#[tokio::test]
            async fn $case() {
                super::$module::$case(&super::world::World::redis()).await;
            })+)+
        }
    };
}

on_both! {
    claims:
        a_claim_takes_over_and_relieves,
        a_claim_begins_at_the_clock,
        a_claim_that_comes_late_or_twice_makes_one_owner,
        a_claim_of_what_has_moved_on_is_refused,
        a_claim_brings_the_handed_state_if_it_is_newer,
        a_lobby_that_kills_its_owners_waits,
        harmless_claims_do_not_count,
        one_of_many_claims_wins;
    listings:
        public_lobbies_are_listed_until_they_lapse,
        creations_are_counted_by_address;
    lobbies:
        a_code_is_given_out_once,
        commits_only_go_forward,
        a_commit_puts_right_what_was_lost,
        a_touch_tells_where_one_stands,
        only_what_is_saved_whole_is_released,
        a_deleted_lobby_stays_dead,
        a_batch_answers_each_in_order,
        states_are_any_bytes,
        records_live_while_they_are_touched;
    sessions:
        a_token_keeps_its_player,
        an_older_connection_changes_nothing,
        a_greeting_is_as_new_as_it_was_said,
        a_lobbys_owner_writes_where_its_people_sit,
        sessions_live_while_they_are_renewed;
    presence:
        everybody_learns_of_start_and_stop,
        a_starting_process_is_seen_as_such,
        news_are_told_at_once_and_counts_with_the_heartbeat,
        whoever_vanishes_expires,
        a_later_run_replaces_an_earlier_one,
        requests_to_drain_reach_their_node,
        sessions_are_told_to_everybody,
        a_thread_that_stands_still_is_stalled,
        operators_need_no_membership,
        an_observer_sees_and_is_not_seen;
}
