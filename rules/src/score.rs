//! Points, the score sheet, and who has won.

use std::cmp::Reverse;

use serde::{Deserialize, Serialize};

use crate::seat::{Seat, SeatCount};

/// Points of one player in one round: 20 and 10 a trick for an exact bid, otherwise −10 for each
/// trick too many or too few.
pub fn points(bid: u8, tricks: u8) -> i32 {
    if bid == tricks {
        20 + 10 * i32::from(tricks)
    } else {
        -10 * i32::from(bid.abs_diff(tricks))
    }
}

/// A finished round on the score sheet; the lists have one entry a seat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SheetRow {
    /// 1-based.
    pub round: u8,
    /// Hand size.
    pub cards: u8,
    /// Tricks bid.
    pub bids: Vec<u8>,
    /// Tricks taken.
    pub tricks: Vec<u8>,
    /// Points of this round.
    pub points: Vec<i32>,
}

/// One player's place at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RankingRow {
    /// Whose place.
    pub seat: Seat,
    /// Total of all rounds.
    pub score: i32,
    /// 1 is best; equal totals share a rank, and the next rank is left out.
    pub rank: u8,
}

/// The places by total score, one entry of `scores` a seat; best first, equals in seat order.
pub fn ranking(seats: SeatCount, scores: &[i32]) -> Vec<RankingRow> {
    let mut rows: Vec<_> = seats
        .seats()
        .zip(scores)
        .map(|(seat, &score)| {
            let better = (0u8..).zip(scores.iter().filter(|other| **other > score));
            RankingRow {
                seat,
                score,
                rank: 1 + u8::try_from(better.count()).expect("six seats"),
            }
        })
        .collect();
    rows.sort_by_key(|row| (Reverse(row.score), row.seat));
    rows
}
