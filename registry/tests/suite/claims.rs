//! Every answer to a claim: who gets a lobby, with which state.

use registry::{Claimed, Committed, Deleted, Epoch, Handed, Released, Seq, Touched};

use super::operations::{
    claim, claimed, committed, deleted, record, released, taken, touch, touched,
};
use super::world::{BORN, OTHER_BORN, World, commit, create, owner, until, within};

pub(crate) async fn a_claim_takes_over_and_relieves(world: &World) {
    let (epoch, seq) = create(&world.one, "AAAAAA").await;
    committed(&world.one, commit("AAAAAA", 1, epoch, seq.0 + 1)).await;
    let seen = Seq(seq.0 + 100_000_000);
    let (new_epoch, new_seq, saved) =
        taken(&world.other, &claim("AAAAAA", 2, Epoch(epoch.0 + 3), seen)).await;
    assert!(new_epoch.0 > epoch.0 + 3, "above the one seen");
    assert!(new_seq > seen, "above the one seen");
    assert_eq!(saved, format!("state {}", seq.0 + 1));
    assert_eq!(record(&world.one, "AAAAAA").await.owner, Some(owner(2)));

    let late = commit("AAAAAA", 1, epoch, new_seq.0 + 1);
    assert_eq!(committed(&world.one, late).await, Committed::Relieved);
    assert_eq!(
        touched(&world.one, touch("AAAAAA", 1, epoch, seq)).await,
        Touched::Relieved
    );
    assert_eq!(
        released(&world.one, BORN, epoch, seq).await,
        Released::Relieved
    );
    assert_eq!(deleted(&world.one, BORN, epoch).await, Deleted::Relieved);
    let next = commit("AAAAAA", 2, new_epoch, new_seq.0 + 1);
    assert_eq!(committed(&world.other, next).await, Committed::Ok);
}

/// So that no number is given twice, should Redis come back older than it was.
pub(crate) async fn a_claim_begins_at_the_clock(world: &World) {
    let (epoch, seq) = create(&world.one, "AAAAAA").await;
    until("the clock has gone on", || async {
        world.one.probe().await.expect("an answer");
        world.one.now_ms().expect("it has answered") > epoch.0.max(seq.0) + 1
    })
    .await;
    let before = world.one.now_ms().expect("it has answered");
    let (new_epoch, new_seq, _) = taken(&world.other, &claim("AAAAAA", 2, epoch, seq)).await;
    assert!(new_epoch.0 >= before && new_seq.0 >= before);
}

pub(crate) async fn a_claim_that_comes_late_or_twice_makes_one_owner(world: &World) {
    let (epoch, seq) = create(&world.one, "AAAAAA").await;
    let first = claim("AAAAAA", 2, epoch, seq);
    let (new_epoch, new_seq, _) = taken(&world.one, &first).await;
    let there = record(&world.one, "AAAAAA").await;
    // Another node's, asked for at the same time, which also brings what the last owner handed over.
    let mut late = claim("AAAAAA", 3, epoch, seq);
    late.handed = Some(Handed {
        epoch,
        seq: Seq(seq.0 + 1),
        saved: "handed".into(),
        status: "finished".to_owned(),
    });
    for again in [&first, &late, &first] {
        let answer = claimed(&world.other, again).await;
        assert_eq!(answer, Claimed::OwnedBy(there.clone()));
    }
    let now = record(&world.one, "AAAAAA").await;
    assert_eq!(now, there, "nothing has changed");
    let next = commit("AAAAAA", 2, new_epoch, new_seq.0 + 1);
    assert_eq!(committed(&world.one, next).await, Committed::Ok);
}

pub(crate) async fn a_claim_of_what_has_moved_on_is_refused(world: &World) {
    let (epoch, seq) = create(&world.one, "AAAAAA").await;
    let there = record(&world.one, "AAAAAA").await;
    let blind = claim("AAAAAA", 2, Epoch(epoch.0 - 1), seq);
    assert_eq!(
        claimed(&world.other, &blind).await,
        Claimed::OwnedBy(there.clone())
    );
    let mut other_life = claim("AAAAAA", 2, epoch, seq);
    other_life.born = OTHER_BORN;
    assert_eq!(
        claimed(&world.other, &other_life).await,
        Claimed::OwnedBy(there.clone())
    );
    assert_eq!(
        claimed(&world.other, &claim("BBBBBB", 2, epoch, seq)).await,
        Claimed::Gone
    );
    assert_eq!(
        record(&world.one, "AAAAAA").await,
        there,
        "nothing has changed"
    );
}

pub(crate) async fn a_claim_brings_the_handed_state_if_it_is_newer(world: &World) {
    let handed = |epoch: Epoch, seq: u64| {
        Some(Handed {
            epoch,
            seq: Seq(seq),
            saved: "handed".into(),
            status: "finished".to_owned(),
        })
    };
    let mut absent = claim("BBBBBB", 2, Epoch(5), Seq(5));
    absent.handed = handed(Epoch(5), 5);
    assert_eq!(
        taken(&world.one, &absent).await.2,
        "handed",
        "Redis has lost it"
    );
    assert_eq!(record(&world.one, "BBBBBB").await.status, "finished");

    let (epoch, seq) = create(&world.one, "AAAAAA").await;
    let mut older = claim("AAAAAA", 2, epoch, seq);
    older.handed = handed(epoch, seq.0);
    let (epoch, seq, saved) = taken(&world.one, &older).await;
    assert_eq!(saved, "first", "the record is as new");
    let mut newer = claim("AAAAAA", 2, epoch, seq);
    newer.handed = handed(epoch, seq.0 + 100_000_000);
    let (new_epoch, new_seq, saved) = taken(&world.one, &newer).await;
    assert_eq!(saved, "handed");
    assert!(
        new_epoch > epoch && new_seq.0 > seq.0 + 100_000_000,
        "above both"
    );
    let mut blind = claim("AAAAAA", 3, epoch, seq);
    blind.handed = handed(Epoch(new_epoch.0 + 9), 1);
    let answer = claimed(&world.one, &blind).await;
    assert!(
        matches!(answer, Claimed::OwnedBy(_)),
        "it has moved on: {answer:?}"
    );
}

pub(crate) async fn a_lobby_that_kills_its_owners_waits(world: &World) {
    let (epoch, seq) = create(&world.one, "AAAAAA").await;
    let (epoch, seq, _) = taken(&world.one, &claim("AAAAAA", 2, epoch, seq)).await;
    let (epoch, seq, _) = taken(&world.one, &claim("AAAAAA", 3, epoch, seq)).await;
    for _ in 0..2 {
        match claimed(&world.other, &claim("AAAAAA", 4, epoch, seq)).await {
            Claimed::Wait { milliseconds } => {
                assert!(
                    (5_001..=10_000).contains(&milliseconds),
                    "{milliseconds} ms"
                );
            }
            other => panic!("must wait: {other:?}"),
        }
    }
    let mut alive = commit("AAAAAA", 3, epoch, seq.0 + 1);
    assert_eq!(committed(&world.one, alive.clone()).await, Committed::Ok);
    let answer = claimed(&world.other, &claim("AAAAAA", 4, epoch, seq)).await;
    assert!(
        matches!(answer, Claimed::Wait { .. }),
        "no input was accepted: {answer:?}"
    );
    alive.seq = Seq(seq.0 + 2);
    alive.accepted_input = true;
    assert_eq!(committed(&world.one, alive).await, Committed::Ok);
    taken(&world.other, &claim("AAAAAA", 4, epoch, seq)).await;
}

pub(crate) async fn harmless_claims_do_not_count(world: &World) {
    let (mut epoch, mut seq) = create(&world.one, "AAAAAA").await;
    for _ in 0..4 {
        (epoch, seq, _) = taken(&world.one, &claim("AAAAAA", 1, epoch, seq)).await;
    }
    for run in 2..6 {
        assert_eq!(released(&world.one, BORN, epoch, seq).await, Released::Ok);
        let seen = Epoch(epoch.0 + 1);
        (epoch, seq, _) = taken(&world.other, &claim("AAAAAA", run, seen, seq)).await;
    }
}

pub(crate) async fn one_of_many_claims_wins(world: &World) {
    let (epoch, seq) = create(&world.one, "AAAAAA").await;
    let claims: Vec<_> = (2..42)
        .map(|run| {
            let registry = if run % 2 == 0 {
                world.one.clone()
            } else {
                world.other.clone()
            };
            tokio::spawn(async move { claimed(&registry, &claim("AAAAAA", run, epoch, seq)).await })
        })
        .collect();
    let mut won = 0;
    for one in claims {
        match within("an answer", one).await.expect("no panic") {
            Claimed::Saved { .. } => won += 1,
            Claimed::OwnedBy(_) => {}
            other => panic!("unexpected: {other:?}"),
        }
    }
    assert_eq!(won, 1);
}
