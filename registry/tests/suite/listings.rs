//! What of all lobbies is listed and counted: the public ones, and how many an address makes.

use std::time::Duration;

use registry::RegistryError;

use super::world::{PUBLIC_TTL, World};

pub(crate) async fn public_lobbies_are_listed_until_they_lapse(world: &World) {
    let codes = |list: &[&str]| {
        list.iter()
            .map(|code| (*code).to_owned())
            .collect::<Vec<_>>()
    };
    let list = async || {
        let mut codes = world
            .other
            .public_list(10)
            .await
            .expect("the registry answers");
        codes.sort();
        codes
    };
    world
        .one
        .public_add(&[])
        .await
        .expect("the registry answers");
    let three = codes(&["AAAAAA", "BBBBBB", "CCCCCC"]);
    world
        .one
        .public_add(&three)
        .await
        .expect("the registry answers");
    assert_eq!(list().await, three);
    assert_eq!(
        world
            .other
            .public_list(2)
            .await
            .expect("the registry answers")
            .len(),
        2
    );
    world
        .one
        .public_remove("BBBBBB")
        .await
        .expect("the registry answers");
    assert_eq!(list().await, codes(&["AAAAAA", "CCCCCC"]));
    let start = tokio::time::Instant::now();
    while start.elapsed() < PUBLIC_TTL + Duration::from_millis(300) {
        world
            .one
            .public_add(&codes(&["CCCCCC"]))
            .await
            .expect("the registry answers");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(
        list().await,
        codes(&["CCCCCC"]),
        "only what its owner renews"
    );
    let wrong = world.one.public_add(&codes(&["A A"])).await;
    assert!(
        matches!(wrong, Err(RegistryError::InvalidId { .. })),
        "{wrong:?}"
    );
}

pub(crate) async fn creations_are_counted_by_address(world: &World) {
    for expected in 1..=3 {
        assert_eq!(
            world.one.count_create("10.0.0.1").await.expect("an answer"),
            expected
        );
    }
    assert_eq!(
        world
            .other
            .count_create("10.0.0.1")
            .await
            .expect("an answer"),
        4
    );
    assert_eq!(
        world
            .other
            .count_create("2001:db8::/64")
            .await
            .expect("an answer"),
        1
    );
    let wrong = world.one.count_create("").await;
    assert!(
        matches!(wrong, Err(RegistryError::InvalidId { .. })),
        "{wrong:?}"
    );
}
