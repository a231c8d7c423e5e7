/** The table, the score sheet and the end of a game. */
import type { AiLevel, Reaction, Suit } from '../protocol'
import { count } from './common'

const suits: Record<Suit, string> = { blue: 'blue', green: 'green', red: 'red', yellow: 'yellow' }
const suitTitles: Record<Suit, string> = { blue: 'Blue', green: 'Green', red: 'Red', yellow: 'Yellow' }

const reactions: Record<Reaction, string> = {
  well_played: 'Well played!',
  oops: 'Oops…',
  thinking: 'Let me think',
  hurry: 'Hurry up!',
  laugh: 'Haha!',
  angry: 'Grrr!',
  thanks: 'Thanks!',
  hello: 'Hello!',
}

const places = ['', '1st', '2nd', '3rd', '4th', '5th', '6th']

const signed = (points: number): string => (points > 0 ? `+${points}` : `${points}`.replace('-', '−'))

const card = {
  suited: (suit: Suit, rank: number) => `${suits[suit]} ${rank}`,
  wizard: 'Wizard',
  jester: 'Jester',
  back: 'face-down card',
}

/** Whose the sentence is: a person of a name, or the one who reads it. */
export type Who = { name: string; you: boolean }

/** `Merlin plays`, `You play`. */
const does = (who: Who, you: string, other: string): string =>
  who.you ? `You ${you}` : `${who.name} ${other}`

export const table = {
  suits,
  suitTitles,
  card,
  reactions,
  signed,
  place: (rank: number): string => places[rank] ?? `${rank}th`,
  score: (points: number): string => `${points}`.replace('-', '−'),

  seat: {
    you: 'You',
    dealer: 'Dealer',
    dealerMark: 'D',
    offline: 'Offline',
    ai: 'AI',
    aiLevel: (level: AiLevel) => ({ easy: 'easy AI', normal: 'AI', hard: 'strong AI' })[level],
    noBid: 'no bid yet',
    hiddenBid: 'bid is hidden',
    noBidMark: '–',
    hiddenMark: '?',
    bidIs: (bid: number) => `bid ${bid}`,
    tally: (tricks: number, bid: number) => `${tricks}/${bid}`,
    taken: (tricks: number, bid: number) => `${tricks} of ${bid}`,
    takenAloud: (tricks: number, bid: number) => `bid ${bid}, ${count(tricks, 'trick', 'tricks')} won`,
    takenHidden: (tricks: number) => `bid hidden, ${count(tricks, 'trick', 'tricks')} won`,
    points: (points: number) => `${table.score(points)} points`,
    toAct: 'to act',
    replace: 'Let an AI play',
    replaceLong: (name: string) => `Let an AI play for ${name}`,
    label: (parts: string[]) => parts.join(', '),
  },

  standing: 'Points',

  points: {
    hit: (won: number, points: number) => `20 + ${won} × 10 = ${points}`,
    zero: (points: number) => `${points}`,
    missed: (off: number, points: number) => `${off} off, ${signed(points)}`,
    ofRound: (bid: number, won: number, sum: string) => `You bid ${bid} and won ${won}: ${sum} points`,
  },

  round: {
    label: (round: number, rounds: number) => `Round ${round} of ${rounds}`,
    cards: (cards: number) => `${count(cards, 'card', 'cards')} each`,
  },

  trump: {
    title: 'Trump',
    none: 'No trump',
    noneLastRound: 'No trump: every card is dealt',
    noneJester: 'No trump: a Jester was turned',
    undecided: (who: Who) => `${who.you ? 'You name' : `${who.name} names`} the trump`,
    undecidedShort: 'Trump ?',
    is: (suit: Suit) => `Trump is ${suits[suit]}`,
    named: (suit: Suit) => `${suitTitles[suit]}, named after a Wizard`,
    choose: 'A Wizard was turned. Name the trump:',
    chooseOne: (suit: Suit) => `Name ${suits[suit]} as trump`,
  },

  trick: {
    title: 'Trick',
    led: (suit: Suit) => `${suitTitles[suit]} is led`,
    noSuit: 'No suit is led',
    winning: (who: Who) => (who.you ? 'You are winning' : `${who.name} is winning`),
    won: (who: Who) => does(who, 'win the trick', 'wins the trick'),
    hasWon: (who: Who) => does(who, 'won the trick', 'won the trick'),
    wasLed: (suit: Suit) => `${suitTitles[suit]} was led`,
    ahead: 'ahead',
    wins: 'wins',
    last: 'Last trick',
    noLast: 'No trick has been finished in this round',
    by: (who: Who) => (who.you ? 'You' : who.name),
  },

  bids: {
    title: 'Bids',
    none: (cards: number) => `${count(cards, 'trick', 'tricks')} to win, nobody has bid yet`,
    open: (sum: number, cards: number, missing: number) =>
      `${sum} bid for ${count(cards, 'trick', 'tricks')}, ${count(missing, 'bid', 'bids')} to come`,
    hidden: (made: number, seats: number) => `Hidden bids: ${made} of ${seats} are in`,
    even: (sum: number, cards: number) =>
      `${sum} bid for ${count(cards, 'trick', 'tricks')}: everybody could be right`,
    under: (sum: number, cards: number) =>
      `${sum} bid for ${count(cards, 'trick', 'tricks')}: somebody will win too many`,
    over: (sum: number, cards: number) =>
      `${sum} bid for ${count(cards, 'trick', 'tricks')}: somebody will win too few`,
    ask: (cards: number) => `How many of ${count(cards, 'trick', 'tricks')} will you win?`,
    notAllowed: (value: number) => `${value} is not allowed, ask why`,
    one: (value: number) => `Bid ${count(value, 'trick', 'tricks')}`,
    typed: (digits: string) => `Bid ${digits} …`,
  },

  turn: {
    yourLead: 'Your turn: lead any card',
    yourCard: 'Your turn: play a card',
    yourFollow: (suit: Suit) => `Your turn: ${suits[suit]} is led`,
    yourBid: 'Your turn: bid',
    yourTrump: 'Your turn: name the trump',
    waiting: (name: string) => `Waiting for ${name}`,
    thinking: (name: string) => `${name} is thinking`,
    bidding: (name: string) => `${name} is bidding`,
    naming: (name: string) => `${name} is naming the trump`,
    leading: (name: string) => `${name} leads the next trick`,
    offline: (name: string) => `${name} is offline, the game waits`,
    sent: 'Playing …',
    tapAgain: (name: string) => `Tap again to play ${name}`,
  },

  refused: {
    notYourTurn: (name: string) => `It is ${name}’s turn.`,
    over: 'The game is over.',
    bidFirst: 'First everybody bids, then the cards are played.',
    trumpFirst: 'First the trump is named, then everybody bids.',
    wait: 'One moment: your last move is on its way.',
    follow: (led: Suit) => `You have ${suits[led]}: follow it, or play a Wizard or a Jester.`,
    card: 'This card can’t be played now.',
    bid: (value: number, cards: number, rule: 'free' | 'hook' | 'canadian') =>
      rule === 'canadian'
        ? `Not ${value}: a dealer in the lead may not make the bids add up to ${cards}.`
        : `Not ${value}: the last bid may not make the bids add up to ${cards}.`,
  },

  hand: {
    title: 'Your hand',
    playable: 'playable',
    notPlayable: 'not playable',
    lifted: 'lifted',
    card: (name: string, state: string | null) => (state === null ? name : `${name}, ${state}`),
  },

  watching: {
    title: 'You are watching',
    others: (spectators: number) => `${count(spectators, 'person is', 'people are')} watching`,
    leave: 'Stop watching',
  },

  sheet: {
    title: 'Score sheet',
    open: 'Score sheet',
    round: 'Round',
    empty: 'The first round is still being played.',
    total: 'Total',
    cell: (bid: number, tricks: number) => `${tricks}/${bid}`,
    cellAloud: (bid: number, tricks: number, points: number, total: number) =>
      `bid ${bid}, won ${tricks}, ${points} points, ${total} in all`,
    legend: 'Tricks won / bid, the points of the round, and the total after it.',
  },

  menu: {
    leave: 'Leave',
    leaveGame: 'Leave the game',
    leaveAsk: 'Leave this game?',
    leaveWhy: 'An AI will play on in your seat, under your name. You can’t take it back.',
    stay: 'Stay',
    close: 'Close',
    settings: 'Settings',
    oneTap: 'Play a card with one tap',
    oneTapWhy: 'Otherwise the first tap lifts the card and the second plays it.',
    keys: 'Keys',
    keyList: [
      ['← →', 'move in your hand'],
      ['Enter', 'play the card'],
      ['0 – 9', 'bid'],
      ['L', 'last trick'],
      ['S', 'score sheet'],
      ['H', 'how to play'],
      ['Esc', 'close'],
    ] as const,
    react: 'Say something',
    reactWait: 'A moment, you have just said something.',
    replaceAsk: (name: string) => `Let an AI play for ${name}?`,
    replaceWhy: (name: string) => `${name} gets the seat back on coming back.`,
    replaceYes: 'Let an AI play',
  },

  end: {
    title: 'The game is over',
    wonAlone: (who: Who) => (who.you ? 'You win!' : `${who.name} wins!`),
    wonTogether: (names: string) => `${names} share the first place.`,
    and: 'and',
    yours: (rank: number, score: number) =>
      `You came ${table.place(rank)}, with ${table.score(score)} points.`,
    ranking: 'Ranking',
    best: 'Best round',
    worst: 'Worst round',
    inRound: (round: number) => `in round ${round}`,
    careers: 'Everyone’s best and worst',
    player: 'Player',
    exact: 'Bids hit',
    hits: (hits: number, rounds: number) => `${hits} of ${rounds}`,
    again: 'Again with the same people',
    againWait: (name: string) => `${name} can start again with the same people.`,
    againNobody: 'Nobody is left who could start again.',
    leave: 'Leave the table',
    full: 'All rounds',
    check: {
      title: 'Check the deal',
      what: 'Before the first card was dealt, the server promised its shuffle: it showed everybody the fingerprint (SHA-256) of a secret number, the seed. Every deal of this game follows from that seed. Now the seed is open: if its fingerprint is the promised one, no card could have been moved after the game began.',
      how: 'How the cards follow from the seed is written down in the rules, so any program can deal this game again.',
      commitment: 'Fingerprint, promised at the start',
      seed: 'Seed, opened at the end',
      checking: 'Checking …',
      verdicts: {
        right: 'Checked in your browser: the seed has the promised fingerprint.',
        wrong: 'The seed does not have the promised fingerprint. Something is wrong with this deal.',
        unable:
          'Your browser can only check this over a secure connection (https). Any SHA-256 program can check it too.',
        no_seed: 'The server did not send the seed.',
      },
    },
  },

  says: {
    gameStarted: 'The game begins.',
    roundStarted: (round: number, cards: number, dealer: Who) =>
      `Round ${round} with ${count(cards, 'card', 'cards')} each. ${does(dealer, 'deal', 'deals')}.`,
    turned: (name: string) => `Turned: ${name}.`,
    nothingTurned: 'Nothing is turned.',
    trumpChosen: (who: Who, suit: Suit) => `${does(who, 'name', 'names')} ${suits[suit]} as trump.`,
    bid: (who: Who, value: number) => `${does(who, 'bid', 'bids')} ${value}.`,
    hiddenBid: (who: Who) => `${does(who, 'have', 'has')} bid.`,
    bidsRevealed: (bids: string) => `All bids: ${bids}.`,
    bidOf: (who: Who, value: number) => `${who.you ? 'you' : who.name} ${value}`,
    played: (who: Who, name: string) => `${does(who, 'play', 'plays')} ${name}.`,
    playedFirst: (who: Who, name: string) =>
      `${does(who, 'play', 'plays')} ${name} and ${who.you ? 'lead' : 'leads'} the trick.`,
    trickWon: (who: Who) => `${does(who, 'win', 'wins')} the trick.`,
    roundScored: (points: string) => `The round is over: ${points}.`,
    pointsOf: (who: Who, points: number) => `${who.you ? 'you' : who.name} ${signed(points)}`,
    gameFinished: (winners: string, one: boolean) =>
      `The game is over. ${winners} ${one ? 'wins' : 'share the first place'}.`,
    youWon: 'The game is over. You win.',
    replaced: {
      ai: (name: string) => `An AI plays for ${name} now.`,
      player: (name: string) => `${name} is back.`,
    },
    host: (who: Who) => `${does(who, 'are', 'is')} the host now.`,
    reaction: (who: Who, reaction: Reaction) => `${does(who, 'say', 'says')}: ${reactions[reaction]}`,
    yourTurn: 'Your turn.',
  },
}
