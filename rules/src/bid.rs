//! What the last bidder may not bid.

use crate::options::BidRule;

/// The one bid that the rule forbids the last bidder, after the others' bids added up to
/// `others_sum`; None: free to bid.
///
/// `dealer_leads`: does the dealer, who is the last bidder, alone lead in total score?
pub fn forbidden_bid(rule: BidRule, cards: u8, others_sum: u8, dealer_leads: bool) -> Option<u8> {
    let completing = cards.checked_sub(others_sum)?;
    match rule {
        BidRule::Free => None,
        BidRule::Hook => Some(completing),
        BidRule::Canadian => (dealer_leads && completing > 0).then_some(completing),
    }
}

/// Does one of the totals alone exceed all others?
pub fn leads_alone(scores: &[i32], seat: usize) -> bool {
    scores
        .iter()
        .enumerate()
        .all(|(other, score)| other == seat || *score < scores[seat])
}
