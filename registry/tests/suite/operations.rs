//! Single operations on lobbies that a case asks for, and what they must at least answer.

use bytes::Bytes;
use registry::{
    Born, Claim, Claimed, Commit, Committed, Delete, Deleted, Epoch, Record, Registry, Release,
    Released, Seq, Touch, Touched,
};

use super::world::{BORN, owner};

pub(crate) async fn committed(registry: &Registry, commit: Commit) -> Committed {
    let mut answers = registry.commit(&[commit]).await;
    assert_eq!(answers.len(), 1);
    answers.remove(0).expect("the registry answers")
}

pub(crate) fn claim(code: &str, run: u128, seen_epoch: Epoch, seen_seq: Seq) -> Claim {
    Claim {
        code: code.to_owned(),
        born: BORN,
        seen_epoch,
        seen_seq,
        owner: owner(run),
        handed: None,
    }
}

pub(crate) async fn claimed(registry: &Registry, claim: &Claim) -> Claimed {
    registry.claim(claim).await.expect("the registry answers")
}

/// The numbers and the state of a claim that must succeed.
pub(crate) async fn taken(registry: &Registry, claim: &Claim) -> (Epoch, Seq, Bytes) {
    match claimed(registry, claim).await {
        Claimed::Saved {
            epoch, seq, saved, ..
        } => (epoch, seq, saved),
        other => panic!("not claimed: {other:?}"),
    }
}

pub(crate) async fn record(registry: &Registry, code: &str) -> Record {
    registry
        .owner(code)
        .await
        .expect("the registry answers")
        .expect("a record")
}

pub(crate) fn touch(code: &str, run: u128, epoch: Epoch, seq: Seq) -> Touch {
    Touch {
        code: code.to_owned(),
        born: BORN,
        epoch,
        owner: owner(run),
        seq,
    }
}

pub(crate) async fn touched(registry: &Registry, touch: Touch) -> Touched {
    registry
        .touch(&[touch])
        .await
        .remove(0)
        .expect("the registry answers")
}

pub(crate) async fn released(registry: &Registry, born: Born, epoch: Epoch, seq: Seq) -> Released {
    let release = Release {
        code: "AAAAAA".to_owned(),
        born,
        epoch,
        seq,
    };
    registry
        .release(&release)
        .await
        .expect("the registry answers")
}

pub(crate) async fn deleted(registry: &Registry, born: Born, epoch: Epoch) -> Deleted {
    let delete = Delete {
        code: "AAAAAA".to_owned(),
        born,
        epoch,
    };
    registry
        .delete(&delete)
        .await
        .expect("the registry answers")
}
