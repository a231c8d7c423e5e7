//! Every answer of every operation on lobbies but claims.

use bytes::Bytes;
use registry::{
    Claimed, Committed, Create, Created, Delete, Deleted, Epoch, Handed, Lifetime, Record,
    RegistryError, Released, Seq, Touched,
};

use super::operations::{
    claim, claimed, committed, deleted, record, released, taken, touch, touched,
};
use super::world::{BORN, OTHER_BORN, SESSION_TTL, World, commit, create, owner, until, within};

pub(crate) async fn a_code_is_given_out_once(world: &World) {
    within("the clock", world.one.probe())
        .await
        .expect("the registry answers");
    let before = world.one.now_ms().expect("it has answered");
    let (epoch, seq) = create(&world.one, "AAAAAA").await;
    assert!(epoch.0 >= before && seq.0 >= before, "at least the clock");
    let expected = Record {
        born: BORN,
        owner: Some(owner(1)),
        epoch,
        seq,
        status: "waiting".to_owned(),
        deleted: false,
    };
    let late = Create {
        code: "AAAAAA".to_owned(),
        born: OTHER_BORN,
        owner: owner(2),
        saved: "late".into(),
        status: "waiting".to_owned(),
        lifetime: Lifetime::Table,
    };
    let answer = world
        .other
        .create(&late)
        .await
        .expect("the registry answers");
    assert_eq!(answer, Created::Exists(expected.clone()));
    assert_eq!(record(&world.other, "AAAAAA").await, expected);
    assert_eq!(
        world
            .one
            .owner("BBBBBB")
            .await
            .expect("the registry answers"),
        None
    );
    let wrong = world.one.owner("AAA:AA").await;
    assert!(
        matches!(wrong, Err(RegistryError::InvalidId { .. })),
        "{wrong:?}"
    );
}

pub(crate) async fn commits_only_go_forward(world: &World) {
    let (epoch, seq) = create(&world.one, "AAAAAA").await;
    let at = |add: u64| commit("AAAAAA", 1, epoch, seq.0 + add);
    assert_eq!(committed(&world.one, at(2)).await, Committed::Ok);
    assert_eq!(
        committed(&world.one, at(2)).await,
        Committed::Ok,
        "the same again"
    );
    assert_eq!(
        committed(&world.one, at(1)).await,
        Committed::Superseded,
        "a late packet"
    );
    let there = record(&world.other, "AAAAAA").await;
    assert_eq!(
        (there.seq, there.status.as_str()),
        (Seq(seq.0 + 2), "playing")
    );

    let mut stranger = at(3);
    stranger.owner = owner(2);
    assert_eq!(
        committed(&world.other, stranger).await,
        Committed::Relieved,
        "not the owner"
    );
    let mut earlier_run = at(3);
    earlier_run.owner.incarnation = owner(9).incarnation;
    assert_eq!(
        committed(&world.other, earlier_run).await,
        Committed::Relieved,
        "another run"
    );
    let mut earlier = at(3);
    earlier.epoch = Epoch(epoch.0 - 1);
    assert_eq!(
        committed(&world.one, earlier).await,
        Committed::Relieved,
        "an earlier epoch"
    );
    let mut other_life = at(3);
    other_life.born = OTHER_BORN;
    other_life.epoch = Epoch(epoch.0 + 1);
    assert_eq!(
        committed(&world.one, other_life).await,
        Committed::Relieved,
        "another life"
    );
    assert_eq!(
        record(&world.one, "AAAAAA").await,
        there,
        "nothing has changed"
    );
}

pub(crate) async fn a_commit_puts_right_what_was_lost(world: &World) {
    let (epoch, seq) = create(&world.one, "AAAAAA").await;
    let later = Epoch(epoch.0 + 5);
    let newer = commit("AAAAAA", 2, later, seq.0 + 1);
    assert_eq!(
        committed(&world.one, newer).await,
        Committed::Ok,
        "Redis came back older"
    );
    let there = record(&world.one, "AAAAAA").await;
    assert_eq!((there.owner, there.epoch), (Some(owner(2)), later));
    let lost = commit("BBBBBB", 1, epoch, 5);
    assert_eq!(
        committed(&world.one, lost).await,
        Committed::Ok,
        "Redis has lost it"
    );
    assert_eq!(record(&world.one, "BBBBBB").await.seq, Seq(5));
}

pub(crate) async fn a_touch_tells_where_one_stands(world: &World) {
    let (epoch, seq) = create(&world.one, "AAAAAA").await;
    let at = |run, epoch, seq| touch("AAAAAA", run, epoch, seq);
    let later = Seq(seq.0 + 1);
    assert_eq!(touched(&world.one, at(1, epoch, seq)).await, Touched::Ok);
    assert_eq!(
        touched(&world.one, at(1, epoch, later)).await,
        Touched::Behind,
        "older state"
    );
    let next = Epoch(epoch.0 + 1);
    assert_eq!(
        touched(&world.one, at(1, next, seq)).await,
        Touched::Behind,
        "older epoch"
    );
    assert_eq!(
        touched(&world.one, at(2, epoch, seq)).await,
        Touched::Relieved,
        "not the owner"
    );
    let mut other_life = at(1, next, seq);
    other_life.born = OTHER_BORN;
    assert_eq!(
        touched(&world.one, other_life).await,
        Touched::Relieved,
        "another life"
    );
    let absent = touch("BBBBBB", 1, epoch, seq);
    assert_eq!(touched(&world.one, absent).await, Touched::Behind, "absent");
}

pub(crate) async fn only_what_is_saved_whole_is_released(world: &World) {
    assert_eq!(
        released(&world.one, BORN, Epoch(1), Seq(1)).await,
        Released::Behind,
        "absent"
    );
    let (epoch, seq) = create(&world.one, "AAAAAA").await;
    let (next, later) = (Epoch(epoch.0 + 1), Seq(seq.0 + 1));
    assert_eq!(
        released(&world.one, BORN, epoch, later).await,
        Released::Behind
    );
    assert_eq!(
        released(&world.one, BORN, next, seq).await,
        Released::Behind
    );
    assert_eq!(
        released(&world.one, OTHER_BORN, next, seq).await,
        Released::Relieved
    );
    let earlier = Epoch(epoch.0 - 1);
    assert_eq!(
        released(&world.one, BORN, earlier, seq).await,
        Released::Relieved
    );
    committed(&world.one, commit("AAAAAA", 1, epoch, later.0)).await;
    assert_eq!(
        released(&world.one, BORN, epoch, seq).await,
        Released::Superseded
    );
    assert_eq!(released(&world.one, BORN, epoch, later).await, Released::Ok);
    let there = record(&world.other, "AAAAAA").await;
    assert_eq!((there.owner, there.epoch, there.seq), (None, next, later));
    let after = commit("AAAAAA", 1, epoch, later.0 + 1);
    assert_eq!(committed(&world.one, after).await, Committed::Relieved);
    let state = taken(&world.other, &claim("AAAAAA", 2, next, later))
        .await
        .2;
    assert_eq!(state, format!("state {}", later.0));
}

pub(crate) async fn a_deleted_lobby_stays_dead(world: &World) {
    let (epoch, seq) = create(&world.one, "AAAAAA").await;
    assert_eq!(
        deleted(&world.one, OTHER_BORN, epoch).await,
        Deleted::Relieved
    );
    assert_eq!(
        deleted(&world.one, BORN, Epoch(epoch.0 - 1)).await,
        Deleted::Relieved
    );
    assert_eq!(deleted(&world.one, BORN, epoch).await, Deleted::Ok);
    assert_eq!(
        deleted(&world.one, BORN, epoch).await,
        Deleted::Ok,
        "the answer was lost"
    );
    let tombstone = record(&world.other, "AAAAAA").await;
    assert!(tombstone.deleted && tombstone.owner.is_none());
    assert_eq!(tombstone.epoch, Epoch(epoch.0 + 1));

    let late = commit("AAAAAA", 1, epoch, seq.0 + 1);
    assert_eq!(committed(&world.one, late).await, Committed::Relieved);
    assert_eq!(
        touched(&world.one, touch("AAAAAA", 1, epoch, seq)).await,
        Touched::Relieved
    );
    for seen in [epoch, Epoch(epoch.0 + 1)] {
        let mut revive = claim("AAAAAA", 2, seen, seq);
        assert_eq!(claimed(&world.one, &revive).await, Claimed::Gone);
        let (saved, status) = ("old".into(), String::new());
        revive.handed = Some(Handed {
            epoch,
            seq: Seq(seq.0 + 9),
            saved,
            status,
        });
        assert_eq!(
            claimed(&world.one, &revive).await,
            Claimed::Gone,
            "handed before its end"
        );
    }
    let absent = Delete {
        code: "BBBBBB".to_owned(),
        born: BORN,
        epoch,
    };
    assert_eq!(
        world.one.delete(&absent).await.expect("an answer"),
        Deleted::Ok
    );
    let late = commit("BBBBBB", 1, epoch, seq.0);
    assert_eq!(
        committed(&world.one, late).await,
        Committed::Relieved,
        "a tombstone is there"
    );

    let mut revive = claim("BBBBBB", 2, Epoch(epoch.0 + 5), seq);
    let (saved, status) = ("newer".into(), "playing".to_owned());
    revive.handed = Some(Handed {
        epoch: Epoch(epoch.0 + 5),
        seq,
        saved,
        status,
    });
    assert_eq!(
        taken(&world.one, &revive).await.2,
        "newer",
        "the end was that of an older epoch"
    );
    assert!(!record(&world.one, "BBBBBB").await.deleted);

    until("the tombstone lapses", || async {
        world
            .one
            .owner("AAAAAA")
            .await
            .expect("the registry answers")
            .is_none()
    })
    .await;
    create(&world.one, "AAAAAA").await;
}

pub(crate) async fn a_batch_answers_each_in_order(world: &World) {
    let (epoch, seq) = create(&world.one, "AAAAAA").await;
    create(&world.one, "BBBBBB").await;
    let answers = world
        .one
        .commit(&[
            commit("AAAAAA", 1, epoch, seq.0 + 1),
            commit("not a code", 1, epoch, 1),
            commit("BBBBBB", 1, Epoch(1), 1),
            commit("CCCCCC", 1, epoch, 1),
        ])
        .await;
    assert!(matches!(answers[0], Ok(Committed::Ok)), "{answers:?}");
    assert!(
        matches!(answers[1], Err(RegistryError::InvalidId { .. })),
        "{answers:?}"
    );
    assert!(matches!(answers[2], Ok(Committed::Relieved)), "{answers:?}");
    assert!(matches!(answers[3], Ok(Committed::Ok)), "{answers:?}");
    assert!(world.one.commit(&[]).await.is_empty());
    let touches = [
        touch("CCCCCC", 1, epoch, Seq(2)),
        touch("AAAAAA", 1, epoch, seq),
    ];
    let answers = world.one.touch(&touches).await;
    assert!(matches!(answers[0], Ok(Touched::Behind)), "{answers:?}");
    assert!(matches!(answers[1], Ok(Touched::Ok)), "{answers:?}");
}

pub(crate) async fn states_are_any_bytes(world: &World) {
    let (epoch, seq) = create(&world.one, "AAAAAA").await;
    let every_byte: Vec<u8> = (0..=255).cycle().take(64 * 1024).collect();
    let mut bytes = commit("AAAAAA", 1, epoch, seq.0 + 1);
    bytes.saved = every_byte.clone().into();
    assert_eq!(committed(&world.one, bytes).await, Committed::Ok);
    let (_, _, saved) = taken(&world.other, &claim("AAAAAA", 2, epoch, seq)).await;
    assert_eq!(saved, every_byte);
}

pub(crate) async fn records_live_while_they_are_touched(world: &World) {
    let (epoch, seq) = create(&world.one, "AAAAAA").await;
    let start = tokio::time::Instant::now();
    create(&world.one, "BBBBBB").await;
    let probe = Create {
        code: "PROBE".to_owned(),
        born: BORN,
        owner: owner(1),
        saved: Bytes::new(),
        status: "waiting".to_owned(),
        lifetime: Lifetime::Probe,
    };
    world
        .one
        .create(&probe)
        .await
        .expect("the registry answers");
    until("an untouched record lapses", || async {
        let touched = touched(&world.one, touch("AAAAAA", 1, epoch, seq)).await;
        assert_eq!(touched, Touched::Ok);
        let other = world.one.owner("BBBBBB").await;
        other.expect("the registry answers").is_none()
    })
    .await;
    assert!(start.elapsed() >= SESSION_TTL * 2, "{:?}", start.elapsed());
    record(&world.one, "AAAAAA").await;
    record(&world.one, "PROBE").await;
}
