//! The driver on a paused clock, with the in-process registry and gateways in memory.

mod claims;
mod doubts;
mod faults;
mod handover;
mod harness;
mod load;
mod records;
mod suspension;

use std::time::Duration;

use chassis::environment::Limit;
use protocol::ErrorCode;
use protocol::decide::{ToAi, ToNode};
use protocol::link::{Outcome, Parting, Request};
use protocol::lobby::{AiLevel, LobbyStatus};
use protocol::player::SetOptions;
use rules::{Action, Length, OptionsPatch};

use self::harness::*;

const ADD_AI: Request = Request::AddAi {
    level: AiLevel::Normal,
};
const TTL: Duration = Duration::from_mins(10);

fn short() -> Request {
    let options = OptionsPatch {
        length: Some(Length::Short),
        ..OptionsPatch::default()
    };
    Request::SetOptions(SetOptions {
        options,
        public: None,
    })
}

fn code_of(outcome: &Outcome) -> Option<ErrorCode> {
    match outcome {
        Outcome::Refused { code, .. } => Some(*code),
        Outcome::Done | Outcome::Attached { .. } | Outcome::NotOwner => None,
    }
}

#[tokio::test(start_paused = true)]
async fn a_whole_short_game_is_played_committed_and_shown() {
    let world = World::start();
    let mut gateway = world.gateway(1);
    gateway.creates(0).await;
    for request in [ADD_AI, ADD_AI, short(), Request::Start] {
        gateway.done(0, request).await;
    }
    gateway
        .until(|gateway| gateway.lobby(0)["status"] == "playing")
        .await;
    while gateway.lobby(0)["status"] == "playing" {
        let observation = gateway.game(0)["observation"].clone();
        if let Some(action) = observation["legal_actions"].as_array().unwrap().first() {
            let action: Action = serde_json::from_value(action.clone()).unwrap();
            let turn = observation["turn"]
                .as_u64()
                .map(|turn| u32::try_from(turn).unwrap());
            gateway.done(0, Request::Act { action, turn }).await;
        } else {
            gateway.next().await;
        }
    }
    assert_eq!(gateway.lobby(0)["status"], "finished");
    let seed = gateway.game(0)["seed"].as_str().unwrap().to_owned();
    let before_the_end = gateway
        .seen(0)
        .iter()
        .filter(|state| state["lobby"]["status"] == "playing");
    assert!(before_the_end.clone().count() > 20);
    assert!(
        before_the_end
            .clone()
            .all(|state| !state.to_string().contains(&seed))
    );
    let seqs: Vec<u64> = gateway
        .seen(0)
        .iter()
        .map(|state| state["seq"].as_u64().unwrap())
        .collect();
    assert!(
        seqs.is_sorted_by(|earlier, later| earlier < later),
        "{seqs:?}"
    );
    let saved = world.registry.owner(CODE).await.unwrap().unwrap();
    assert_eq!(
        (saved.seq.0, saved.status.as_str()),
        (*seqs.last().unwrap(), "finished")
    );
    gateway.done(0, Request::ReturnToLobby).await;
    assert_eq!(gateway.lobby(0)["status"], "waiting");
}

#[tokio::test(start_paused = true)]
async fn nothing_is_answered_or_shown_before_it_is_saved() {
    let world = World::start();
    let mut gateway = world.settled_table().await;
    world.shut();
    let added = gateway.asks(0, ADD_AI);
    let refused = gateway.asks(0, Request::ReturnToLobby);
    let left = gateway.asks(0, Request::Leave);
    gateway.hears_nothing_for(Duration::from_secs(3)).await;
    world.open();
    gateway.answered(left).await;
    let order: Vec<u64> = gateway.answers.iter().map(|(number, _)| *number).collect();
    assert_eq!(order[order.len() - 3..], [added, refused, left]);
    assert_eq!(
        code_of(&gateway.answered(refused).await),
        Some(ErrorCode::NotFinished)
    );
    gateway
        .until(|gateway| {
            gateway
                .partings
                .contains(&(connection(0, 1), Parting::Left))
        })
        .await;
    assert!(
        world.registry.owner(CODE).await.unwrap().unwrap().deleted,
        "nobody is left"
    );
    assert_eq!(gateway.outcome(9, join("Eve")).await, Outcome::NotOwner);
}

#[tokio::test(start_paused = true)]
async fn the_newest_connection_has_the_seat_and_a_move_that_is_sent_twice_is_made_once() {
    let world = World::start();
    let (mut first, mut second) = (world.gateway(1), world.gateway(2));
    first.creates(0).await;
    for request in [ADD_AI, ADD_AI, Request::Start] {
        first.done(0, request).await;
    }
    second.generation = 2;
    second.done(0, Request::Attach { shown: None }).await;
    first
        .until(|gateway| {
            gateway
                .partings
                .contains(&(connection(0, 1), Parting::TakenOver))
        })
        .await;
    assert_eq!(
        code_of(&first.outcome(0, ADD_AI).await),
        Some(ErrorCode::TakenOver)
    );
    second
        .until(|gateway| gateway.game(0)["observation"]["to_act"] == 0)
        .await;
    let observation = second.game(0)["observation"].clone();
    let action: Action = serde_json::from_value(observation["legal_actions"][0].clone()).unwrap();
    let number = second.asks(0, Request::Act { action, turn: None });
    second.repeats(0, number, Request::Act { action, turn: None });
    second
        .until(|gateway| gateway.answers.iter().filter(|(n, _)| *n == number).count() == 2)
        .await;
    let turn = observation["turn"].as_u64().unwrap();
    second
        .until(|gateway| gateway.game(0)["observation"]["turn"].as_u64() > Some(turn))
        .await;
    // Whoever is next is an AI: the second one would have been refused, had it been tried.
    let outcomes = second.answers.iter().filter(|(n, _)| *n == number);
    assert!(
        outcomes
            .clone()
            .all(|(_, outcome)| *outcome == Outcome::Done)
    );
    let stale = Request::Act {
        action,
        turn: Some(u32::try_from(turn).unwrap()),
    };
    assert_eq!(
        code_of(&second.outcome(0, stale).await),
        Some(ErrorCode::StaleTurn)
    );
}

#[tokio::test(start_paused = true)]
async fn a_lost_gateway_takes_its_players_offline_and_their_seats_stay() {
    let world = World::start();
    let (mut first, mut second) = (world.gateway(1), world.gateway(2));
    first.creates(0).await;
    second.done(1, join("Ada")).await;
    drop(second);
    first
        .until(|gateway| gateway.lobby(0)["players"][1]["connected"] == false)
        .await;
    let mut third = world.gateway(3);
    third.generation = 2;
    third.done(1, Request::Attach { shown: None }).await;
    assert_eq!(third.lobby(1)["players"][1]["connected"], true);
}

#[tokio::test(start_paused = true)]
async fn what_a_link_still_brings_once_its_gateway_has_dialled_anew_is_not_heard() {
    let world = World::start();
    let mut before = world.gateway_called(1, "one");
    before.creates(0).await;
    let mut after = world.gateway_called(3, "one");
    after.done(0, Request::Attach { shown: None }).await;
    // It was held back on the way: heard now, it would take the seat from the connection that has come since.
    before.asks(0, Request::Attach { shown: None });
    let mut late = world.gateway_called(2, "one");
    late.asks(0, Request::Attach { shown: None });
    after.hears_nothing_for(Duration::from_secs(1)).await;
    assert_eq!(after.partings, []);
    assert!(late.queue.recv().await.is_none(), "the node ends it");
    drop((before, late));
    after.done(0, ADD_AI).await;
    assert_eq!(after.lobby(0)["players"][0]["connected"], true);
}

#[tokio::test(start_paused = true)]
async fn two_gateways_that_were_given_the_same_name_have_a_link_each() {
    let world = World::start();
    let mut first = world.gateway_called(1, "one#first");
    first.creates(0).await;
    let mut second = world.gateway_called(2, "one#second");
    second.code = "SECND2".parse().unwrap();
    second.creates(1).await;
    first.done(0, ADD_AI).await;
    second.done(1, ADD_AI).await;
    assert_eq!(first.lobby(0)["players"][0]["connected"], true);
}

#[tokio::test(start_paused = true)]
async fn a_full_node_is_busy_and_says_so() {
    let limits = |lobbies, games| {
        let mut settings = settings();
        settings.max_lobbies = Limit::at_most(lobbies);
        settings.max_active_games = Limit::at_most(games);
        settings
    };
    let registry = registry();
    let world = World::start_with(&registry, limits(1, 0));
    let mut gateway = world.gateway(1);
    gateway
        .until(|gateway| gateway.accepting == Some(true))
        .await;
    gateway.creates(0).await;
    gateway
        .until(|gateway| gateway.accepting == Some(false))
        .await;
    gateway.code = "SECND2".parse().unwrap();
    assert_eq!(
        code_of(&gateway.outcome(1, create(BORN)).await),
        Some(ErrorCode::Busy)
    );

    let registry = self::harness::registry();
    let world = World::start_with(&registry, limits(0, 1));
    let mut gateway = world.gateway(1);
    for (code, number) in [("TABLE2", 0), ("SECND2", 1)] {
        gateway.code = code.parse().unwrap();
        gateway.creates(number).await;
        gateway.done(number, ADD_AI).await;
        gateway.done(number, ADD_AI).await;
    }
    gateway.done(1, Request::Start).await;
    gateway
        .until(|gateway| gateway.accepting == Some(false))
        .await;
    gateway.code = CODE.parse().unwrap();
    assert_eq!(
        code_of(&gateway.outcome(0, Request::Start).await),
        Some(ErrorCode::Busy)
    );
    gateway
        .until(|gateway| gateway.lobby(0)["accepting_games"] == false)
        .await;
}

#[tokio::test(start_paused = true)]
async fn an_ai_node_decides_and_the_table_shows_whether_there_is_one() {
    let world = World::start();
    let mut gateway = world.gateway(1);
    gateway.creates(0).await;
    assert_eq!(gateway.lobby(0)["ai_available"], false);
    let mut ai = world.ai(7);
    gateway
        .until(|gateway| gateway.lobby(0)["ai_available"] == true)
        .await;
    gateway.done(0, ADD_AI).await;
    gateway.done(0, ADD_AI).await;
    gateway.done(0, Request::Start).await;
    while gateway.game(0)["observation"]["to_act"] == 0 {
        let action = gateway.game(0)["observation"]["legal_actions"][0].clone();
        let action = serde_json::from_value(action).unwrap();
        gateway.done(0, Request::Act { action, turn: None }).await;
    }
    let Some(ToAi::Decide(decide)) = ai.queue.recv().await else {
        panic!("an AI is asked")
    };
    assert_eq!(decide.observation.table.to_act, Some(decide.seat));
    let action = *decide.observation.own.legal_actions.last().unwrap();
    let turn = u64::from(decide.observation.table.turn);
    ai.says(ToNode::Decision {
        request_id: decide.request_id,
        action,
    });
    gateway
        .until(|gateway| gateway.game(0)["observation"]["turn"] == turn + 1)
        .await;
    drop(ai);
    gateway
        .until(|gateway| gateway.lobby(0)["ai_available"] == false)
        .await;
}

#[tokio::test(start_paused = true)]
async fn a_probe_lobby_is_opened_and_leaves_nothing_behind() {
    let world = World::start();
    let mut gateway = world.gateway(1);
    gateway.probes(5);
    gateway.until(|gateway| !gateway.probed.is_empty()).await;
    assert_eq!(gateway.probed, [(5, None)]);
    assert!(world.registry.public_list(9).await.unwrap().is_empty());
    world.shut();
    gateway.probes(6);
    gateway.until(|gateway| gateway.probed.len() == 2).await;
    assert!(
        gateway.probed[1]
            .1
            .as_ref()
            .unwrap()
            .contains("does not answer")
    );
}

#[tokio::test(start_paused = true)]
async fn a_node_that_drains_takes_nothing_new_and_leaves_once_all_is_saved() {
    let mut world = World::start();
    let mut gateway = world.settled_table().await;
    assert_eq!(gateway.accepting, Some(true));
    world.shut();
    let added = gateway.asks(0, ADD_AI);
    gateway.hears_nothing_for(Duration::from_secs(1)).await;
    world.process.shutdown.begin();
    gateway
        .until(|gateway| gateway.accepting == Some(false))
        .await;
    gateway.code = "SECND2".parse().unwrap();
    assert_eq!(
        code_of(&gateway.outcome(1, create(BORN)).await),
        Some(ErrorCode::Busy)
    );
    assert!(!world.driving.is_finished(), "not everything is saved");
    world.open();
    assert_eq!(gateway.answered(added).await, Outcome::Done);
    world.leaves().await;
    assert!(!world.process.readiness.is_ready());
}

#[test]
fn statuses_are_called_in_the_registry_as_on_the_wire() {
    for status in [
        LobbyStatus::Waiting,
        LobbyStatus::Playing,
        LobbyStatus::Finished,
    ] {
        let word = super::batch::status_word(status);
        assert_eq!(serde_json::to_value(status).unwrap(), word);
    }
}
