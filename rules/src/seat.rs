//! Places at the table.

use serde::{Deserialize, Serialize};

/// Most players at a table; arrays of one entry a seat have this length.
pub const MAX_SEATS: usize = 6;

/// A place at the table, counted from 0 clockwise; on the wire a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(type = "number"))]
pub struct Seat(u8);

impl Seat {
    /// The first seat.
    pub const FIRST: Seat = Seat(0);

    /// None above 5.
    pub const fn new(seat: u8) -> Option<Seat> {
        if (seat as usize) < MAX_SEATS {
            Some(Seat(seat))
        } else {
            None
        }
    }

    /// 0 to 5, to index a list of one entry a seat.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// No table has this seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a seat is a number from 0 to 5")]
pub struct NoSuchSeat;

impl TryFrom<u8> for Seat {
    type Error = NoSuchSeat;

    fn try_from(seat: u8) -> Result<Seat, NoSuchSeat> {
        Seat::new(seat).ok_or(NoSuchSeat)
    }
}

impl From<Seat> for u8 {
    fn from(seat: Seat) -> u8 {
        seat.0
    }
}

/// How many play: 3 to 6; on the wire a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(type = "number"))]
pub struct SeatCount(u8);

impl SeatCount {
    /// Fewest players of a game.
    pub const MIN: SeatCount = SeatCount(3);
    /// Most players of a game.
    pub const MAX: SeatCount = SeatCount(6);

    /// None outside 3 to 6.
    pub const fn new(seats: u8) -> Option<SeatCount> {
        if seats >= Self::MIN.0 && seats <= Self::MAX.0 {
            Some(SeatCount(seats))
        } else {
            None
        }
    }

    /// 3 to 6.
    pub const fn get(self) -> u8 {
        self.0
    }

    /// The seats in order.
    pub fn seats(self) -> impl ExactSizeIterator<Item = Seat> + Clone {
        (0..self.0).map(Seat)
    }

    /// Is it a seat of this table?
    pub const fn contains(self, seat: Seat) -> bool {
        seat.0 < self.0
    }

    /// The seat so many steps to the left, clockwise around the table.
    #[must_use]
    pub const fn left_of(self, seat: Seat, steps: u8) -> Seat {
        // Not in u8: a play is up to 60 steps away, and adding must not overflow for any argument.
        #[expect(clippy::cast_possible_truncation, reason = "a remainder below seven")]
        Seat(((seat.0 as u16 + steps as u16) % self.0 as u16) as u8)
    }
}

/// The game is for three to six.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("3 to 6 players are needed")]
pub struct BadSeatCount;

impl TryFrom<u8> for SeatCount {
    type Error = BadSeatCount;

    fn try_from(seats: u8) -> Result<SeatCount, BadSeatCount> {
        SeatCount::new(seats).ok_or(BadSeatCount)
    }
}

impl From<SeatCount> for u8 {
    fn from(seats: SeatCount) -> u8 {
        seats.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seats_go_round_and_stay_in_range() {
        let four = SeatCount::new(4).unwrap();
        let last = Seat::new(3).unwrap();
        assert_eq!(four.left_of(last, 1), Seat::FIRST);
        assert_eq!(four.left_of(last, 255), Seat::new(2).unwrap());
        assert!(four.contains(last) && !SeatCount::MIN.contains(last));
        assert_eq!(
            (Seat::new(6), SeatCount::new(2), SeatCount::new(7)),
            (None, None, None)
        );
        assert!(serde_json::from_str::<Seat>("6").is_err());
        assert!(serde_json::from_str::<SeatCount>("2").is_err());
        assert_eq!(serde_json::to_string(&last).unwrap(), "3");
    }
}
