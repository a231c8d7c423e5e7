/** How Wizard is played, for somebody who has never played it. The server alone holds to the rules. */

export const help = {
  title: 'How to play',
  firstTime: 'New to Wizard? How to play',
  aim: {
    title: 'The aim',
    text: 'In every round you say how many tricks you will win. Win exactly that many, not one more and not one less.',
  },
  round: {
    title: 'A round',
    cards: 'The first round deals one card to each, the second two, and so on; a shorter game skips some.',
    trump:
      'Then one card is turned: its suit is trump. A Jester: there is no trump. A Wizard: the dealer names it. In a round that deals all the cards there is none.',
    bids: 'Beginning left of the dealer, everybody bids: so many tricks will be mine. Whoever bid first leads the first trick.',
  },
  trick: {
    title: 'A trick',
    text: 'Everybody plays one card. The first suit that is played is led: if you hold it, you must play it. A Wizard or a Jester you may play at any time. The winner leads the next trick.',
    ladder: 'Who wins, from strong to weak',
    wizard: 'Wizard: the first one wins',
    trump: 'trump (say, red)',
    led: 'the suit led (say, blue)',
    other: 'other suits win nothing',
    jester: 'Jester: loses',
    within: 'Within a suit 13 is the highest and 1 the lowest. If all play Jesters, the first one wins.',
  },
  points: {
    title: 'Points',
    text: 'A bid that comes true is 20 points, and 10 more for each trick. Otherwise each trick too many or too few costs 10.',
    bid: 'Bid',
    won: 'Won',
    points: 'Points',
  },
  table: { title: 'At this table' },
}
