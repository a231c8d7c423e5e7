//! Every answer of every operation on sessions.

use std::time::Duration;

use registry::{Generation, Greeting, Opened, Registry, Seated, Session, SessionSet, TokenHash};

use super::world::{SESSION_TTL, World, until, within};

const TOKEN: TokenHash = TokenHash::new([1; 32]);
const OTHER: TokenHash = TokenHash::new([2; 32]);
/// What is this far ahead counts as the present.
const FAR_AHEAD: u64 = 1 << 50;

async fn open(registry: &Registry, said_at_ms: u64, after: Option<Generation>) -> Opened {
    let greeting = Greeting { said_at_ms, after };
    let opened = registry.session_open(&TOKEN, greeting).await;
    opened.expect("an answer")
}

/// The session, which is opened now, whoever has said hello before.
async fn open_now(registry: &Registry) -> Session {
    let mut after = None;
    loop {
        match open(registry, FAR_AHEAD, after).await {
            Opened::Newest(session) => return session,
            Opened::Newer { newest } => after = Some(newest),
            Opened::Unknown => panic!("it is known"),
        }
    }
}

pub(crate) async fn a_token_keeps_its_player(world: &World) {
    within("the clock", world.one.probe())
        .await
        .expect("the registry answers");
    let before = world.one.now_ms().expect("it has answered");
    assert_eq!(open(&world.one, before, None).await, Opened::Unknown);
    let new = world
        .one
        .session_create(&TOKEN, "0123456789ab")
        .await
        .expect("an answer");
    assert!(new.generation.0 >= before, "the generation is the clock");
    let expected = Session {
        player_id: "0123456789ab".to_owned(),
        name: None,
        lobby: None,
        generation: new.generation,
    };
    assert_eq!(new, expected);

    let again = world
        .other
        .session_create(&TOKEN, "ffffffffffff")
        .await
        .expect("an answer");
    assert_eq!(again.player_id, "0123456789ab", "an answer that was lost");
    assert!(again.generation > new.generation);
    let seated = Session {
        name: Some("Ada".to_owned()),
        lobby: Some("AAAAAA".to_owned()),
        ..again.clone()
    };
    let answer = world
        .other
        .session_set(&TOKEN, &seated)
        .await
        .expect("an answer");
    assert_eq!(answer, SessionSet::Ok);
    let opened = open_now(&world.one).await;
    assert!(opened.generation > again.generation);
    assert_eq!(
        opened,
        Session {
            generation: opened.generation,
            ..seated
        }
    );
}

pub(crate) async fn an_older_connection_changes_nothing(world: &World) {
    let first = world
        .one
        .session_create(&TOKEN, "0123456789ab")
        .await
        .expect("an answer");
    let second = open_now(&world.other).await;
    let newest = second.generation;
    let moved = Session {
        lobby: Some("BBBBBB".to_owned()),
        ..first.clone()
    };
    let answer = world
        .one
        .session_set(&TOKEN, &moved)
        .await
        .expect("an answer");
    assert_eq!(answer, SessionSet::Older { newest });
    let dropped = world
        .one
        .session_drop(&TOKEN, first.generation)
        .await
        .expect("an answer");
    assert!(!dropped, "a late goodbye of an older connection");

    let ahead = Session {
        generation: Generation(newest.0 + 60_000),
        ..moved
    };
    let answer = world
        .one
        .session_set(&TOKEN, &ahead)
        .await
        .expect("an answer");
    assert_eq!(answer, SessionSet::Ok, "Redis has gone back");
    let opened = open_now(&world.one).await;
    assert!(
        opened.generation > ahead.generation,
        "at least the last + 1"
    );
    assert_eq!(opened.lobby.as_deref(), Some("BBBBBB"));
    let left = Session {
        lobby: None,
        ..opened.clone()
    };
    assert_eq!(
        world
            .one
            .session_set(&TOKEN, &left)
            .await
            .expect("an answer"),
        SessionSet::Ok
    );
    let opened = open_now(&world.one).await;
    assert_eq!(opened.lobby, None);

    let restored = world
        .one
        .session_set(&OTHER, &left)
        .await
        .expect("an answer");
    assert_eq!(
        restored,
        SessionSet::Ok,
        "written although Redis had lost it"
    );
    assert!(
        world
            .one
            .session_drop(&TOKEN, opened.generation)
            .await
            .expect("an answer")
    );
    assert!(
        !world
            .one
            .session_drop(&TOKEN, opened.generation)
            .await
            .expect("an answer")
    );
    let alive = world
        .one
        .sessions_alive(&[TOKEN, OTHER])
        .await
        .expect("an answer");
    assert_eq!(alive, [false, true]);
}

pub(crate) async fn a_greeting_is_as_new_as_it_was_said(world: &World) {
    let created = world.one.session_create(&TOKEN, "0123456789ab").await;
    let created = created.expect("an answer").generation;
    let newest = async || {
        let read = world.other.sessions_read(&[TOKEN]).await;
        read.expect("an answer")[0]
            .clone()
            .expect("it lives")
            .generation
    };
    let newer = |newest| Opened::Newer { newest };
    // Said, and done, some time later: until then Redis may have stood still.
    let (first, second) = (created.0 + 40, created.0 + 60);
    until("the clock is there", || async {
        world.one.probe().await.expect("an answer");
        world.one.now_ms().expect("it has answered") > second
    })
    .await;
    let opened = open(&world.other, second, None).await;
    assert!(matches!(opened, Opened::Newest(session) if session.generation.0 == second));
    let late = "one that was said before, and is done late, changes nothing";
    assert_eq!(
        open(&world.one, first, None).await,
        newer(Generation(second)),
        "{late}"
    );
    let twice = "nor does one that is done twice";
    assert_eq!(
        open(&world.other, second, None).await,
        newer(Generation(second)),
        "{twice}"
    );
    assert_eq!(newest().await, Generation(second));

    // Whoever is told so and still there comes after that one, and after no other.
    let after = Some(Generation(second));
    let opened = open(&world.one, first, after).await;
    assert!(matches!(opened, Opened::Newest(session) if session.generation.0 == second + 1));
    assert_eq!(
        open(&world.other, second, after).await,
        newer(Generation(second + 1))
    );
    assert_eq!(newest().await, Generation(second + 1));

    // A gateway whose clock is ahead locks nobody out.
    let ahead = open_now(&world.one).await.generation;
    let now = || async {
        world.other.probe().await.expect("an answer");
        world.other.now_ms().expect("it has answered")
    };
    assert!(ahead.0 <= now().await);
    until("the clock has gone on", || async { now().await > ahead.0 }).await;
    let opened = open(&world.other, now().await, None).await;
    assert!(matches!(opened, Opened::Newest(session) if session.generation > ahead));
}

pub(crate) async fn sessions_live_while_they_are_renewed(world: &World) {
    world
        .one
        .session_create(&TOKEN, "a")
        .await
        .expect("an answer");
    world
        .one
        .session_create(&OTHER, "b")
        .await
        .expect("an answer");
    let start = tokio::time::Instant::now();
    while start.elapsed() < SESSION_TTL + Duration::from_millis(300) {
        let renewed = world.one.session_renew(&[TOKEN]).await.expect("an answer");
        assert_eq!(renewed, [true]);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let alive = world
        .other
        .sessions_alive(&[OTHER, TOKEN])
        .await
        .expect("an answer");
    assert_eq!(alive, [false, true]);
    let renewed = world
        .other
        .session_renew(&[OTHER, TOKEN])
        .await
        .expect("an answer");
    assert_eq!(renewed, [false, true], "what is gone is not renewed");
    assert!(
        world
            .one
            .session_renew(&[])
            .await
            .expect("an answer")
            .is_empty()
    );
    until("the last one lapses", || async {
        world.one.sessions_alive(&[TOKEN]).await.expect("an answer") == [false]
    })
    .await;
    assert_eq!(open(&world.one, FAR_AHEAD, None).await, Opened::Unknown);
}

pub(crate) async fn a_lobbys_owner_writes_where_its_people_sit(world: &World) {
    let created = world.one.session_create(&TOKEN, "0123456789ab");
    let created = created.await.expect("an answer");
    let read = async || {
        let sessions = world.other.sessions_read(&[TOKEN, OTHER]).await;
        <[_; 2]>::try_from(sessions.expect("an answer")).expect("one each")
    };
    let sits_by = async |token, name: Option<&str>, lobby: &str, (generation, number)| {
        let seated = Seated {
            player_id: "0123456789ab".to_owned(),
            generation,
            number,
            name: name.map(str::to_owned),
            lobby: lobby.to_owned(),
        };
        let written = world.one.session_sit(token, &seated).await;
        written.expect("an answer");
    };
    let sits = async |token, name, lobby, generation| {
        sits_by(token, name, lobby, (generation, 1)).await;
    };
    let session = |name: &str, lobby: Option<&str>, generation| {
        Some(Session {
            player_id: "0123456789ab".to_owned(),
            name: Some(name.to_owned()),
            lobby: lobby.map(str::to_owned),
            generation,
        })
    };

    sits(&TOKEN, Some("Ada"), "AAAAAA", Generation(1)).await;
    let expected = session("Ada", Some("AAAAAA"), created.generation);
    assert_eq!(read().await, [expected, None], "a newer generation stays");

    let later = Generation(created.generation.0 + 1);
    sits(&TOKEN, None, "BBBBBB", later).await;
    let expected = session("Ada", Some("BBBBBB"), later);
    assert_eq!(read().await, [expected.clone(), None], "the name stays");

    sits(&TOKEN, None, "AAAAAA", created.generation).await;
    let message = "where a newer connection sits stays";
    assert_eq!(read().await, [expected.clone(), None], "{message}");

    let stands = async |lobby| {
        let written = world.other.session_stand(&TOKEN, lobby).await;
        written.expect("an answer");
    };
    stands("AAAAAA").await;
    assert_eq!(read().await, [expected, None], "they sit elsewhere by now");
    stands("BBBBBB").await;
    assert_eq!(read().await, [session("Ada", None, later), None]);

    // Lost, and written back by the lobby's owner; nobody stands up from nowhere.
    let gone = world.one.session_drop(&TOKEN, later).await;
    assert!(gone.expect("an answer"));
    stands("BBBBBB").await;
    assert_eq!(read().await, [None, None]);
    sits(&TOKEN, Some("Ada"), "CCCCCC", later).await;
    assert_eq!(read().await, [session("Ada", Some("CCCCCC"), later), None]);

    // What was asked first and is done last.
    sits_by(&TOKEN, None, "DDDDDD", (later, 3)).await;
    sits_by(&TOKEN, None, "EEEEEE", (later, 2)).await;
    let message = "where a later message has led stays";
    let expected = session("Ada", Some("DDDDDD"), later);
    assert_eq!(read().await, [expected.clone(), None], "{message}");
    sits_by(&TOKEN, Some("Bob"), "DDDDDD", (later, 1)).await;
    let expected = session("Bob", Some("DDDDDD"), later);
    assert_eq!(
        read().await,
        [expected, None],
        "its own owner may know less"
    );
    let anew = session("Bob", Some("DDDDDD"), later).expect("a session");
    let written = world.other.session_set(&TOKEN, &anew).await;
    assert_eq!(written.expect("an answer"), SessionSet::Ok);
    sits_by(&TOKEN, None, "EEEEEE", (later, 2)).await;
    assert_eq!(read().await, [Some(anew), None], "nor what is written anew");
    stands("DDDDDD").await;
    sits_by(&TOKEN, None, "EEEEEE", (later, 2)).await;
    assert_eq!(
        read().await,
        [session("Bob", None, later), None],
        "nor whoever has stood up"
    );
    let newer = Generation(later.0 + 1);
    sits_by(&TOKEN, None, "EEEEEE", (newer, 1)).await;
    assert_eq!(read().await, [session("Bob", Some("EEEEEE"), newer), None]);
}
