//! One way in which the unseen cards may lie.

use rand::RngExt;
use rand::rngs::ChaCha8Rng;
use rand::seq::SliceRandom;
use rules::{Card, CardSet, MAX_SEATS, Seat};

use super::round::Round;

/// All hands, as they may be.
pub(super) type Hands = [CardSet; MAX_SEATS];

/// How often a deal is tried before a seat that showed a void may get the suit all the same: with
/// few cards left the first tries can run into a corner.
const TRIES: usize = 8;

/// Deals the unseen cards at random, so that every hand has its size and no hand a suit that its
/// seat has shown not to have.
pub(super) fn deal(round: &Round, chance: &mut ChaCha8Rng) -> Hands {
    let mut cards: Vec<Card> = round.unseen.into_iter().collect();
    for _ in 0..TRIES {
        cards.shuffle(chance);
        // Cards that few may hold find their place first, or there is none left for them.
        cards.sort_by_key(|card| holders(round, *card));
        if let Some(hands) = place(round, &cards, true, chance) {
            return hands;
        }
    }
    cards.shuffle(chance);
    place(round, &cards, false, chance).unwrap_or_else(|| own_hand(round))
}

fn holders(round: &Round, card: Card) -> usize {
    round
        .others()
        .filter(|seat| !round.void[seat.index()].contains(card))
        .count()
}

/// Each card goes to one of those who may have it, or to the undealt rest of the deck, in
/// proportion to the room that is left there.
fn place(
    round: &Round,
    cards: &[Card],
    heed_voids: bool,
    chance: &mut ChaCha8Rng,
) -> Option<Hands> {
    let mut hands = own_hand(round);
    let mut room = round.held;
    room[round.seat.index()] = 0;
    let wanted: u32 = room.iter().copied().map(u32::from).sum();
    let mut undealt = u32::try_from(cards.len()).ok()?.checked_sub(wanted)?;
    for card in cards {
        let may_hold = |seat: &Seat| !heed_voids || !round.void[seat.index()].contains(*card);
        let open: u32 = round
            .others()
            .filter(may_hold)
            .map(|seat| u32::from(room[seat.index()]))
            .sum();
        if open + undealt == 0 {
            return None;
        }
        let mut drawn = chance.random_range(0..open + undealt);
        let holder = round.others().filter(may_hold).find(|seat| {
            let here = u32::from(room[seat.index()]);
            let found = drawn < here;
            drawn = drawn.saturating_sub(here);
            found
        });
        match holder {
            Some(seat) => {
                hands[seat.index()].insert(*card);
                room[seat.index()] -= 1;
            }
            None => undealt -= 1,
        }
    }
    Some(hands)
}

fn own_hand(round: &Round) -> Hands {
    let mut hands = [CardSet::EMPTY; MAX_SEATS];
    hands[round.seat.index()] = round.hand;
    hands
}
