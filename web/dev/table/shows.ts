/** Tables as they come from a server, for looking at. */
import type { Action, Event, Game, Lobby, Observation, Player, State, TrickPlay } from '../../src/protocol'

const names = ['Ada Lovelace', 'Merlin', 'Grace', 'Circe', 'Wilhelmina von Hu', 'Gandalf']

const player = (name: string, index: number, more: Partial<Player> = {}): Player => ({
  id: index % 2 === 1 ? `ai-0000000${index}` : `00000000000${index}`,
  name,
  is_ai: index % 2 === 1,
  connected: true,
  replaceable: false,
  ...more,
})

function lobbyOf(seats: number, more: Partial<Lobby> = {}): Lobby {
  return {
    code: 'K7MWQX',
    status: 'playing',
    host_id: '000000000000',
    options: { hidden_bids: false, bid_rule: 'free', length: 'full', turn_seconds: null },
    public: false,
    players: names.slice(0, seats).map((name, index) => player(name, index)),
    spectators: 0,
    min_players: 3,
    max_players: 6,
    ai_available: true,
    accepting_games: true,
    saved: true,
    ...more,
  }
}

const nobody = (leader: number): Observation['trick'] => ({ leader, plays: [], led: null, winning: null })

function see(seats: number, more: Partial<Observation>): Observation {
  const each = <T>(value: T): T[] => Array.from({ length: seats }, () => value)
  return {
    turn: 10,
    round: 4,
    rounds: 60 / seats,
    cards: 4,
    phase: 'play',
    dealer: 1,
    to_act: 0,
    deadline_ms: null,
    hand: [],
    trump: { card: 'R6', suit: 'red' },
    bids: each<number | null>(1),
    bid_made: each(true),
    tricks: each(0),
    trick: nobody(0),
    last_trick: null,
    scores: each(0),
    sheet: [],
    legal_actions: [],
    forbidden: [],
    ranking: null,
    ...more,
  }
}

let seq = 1000
const state = (
  lobby: Lobby,
  observation: Observation,
  events: Event[] = [],
  more: Partial<Game> = {},
): State => ({
  seq: seq++,
  lobby,
  game: {
    you: 0,
    deal_commitment: '66687aadf862bd776c8fc18b8e9f8e20089714856ee233b3902a591d0d5f2925',
    seed: null,
    observation,
    ...more,
  },
  events,
})

const play = (...cards: string[]): Action[] => cards.map((card) => ({ type: 'play', card }))
const bid = (...values: number[]): Action[] => values.map((value) => ({ type: 'bid', value }))
const upTo = (last: number): number[] => Array.from({ length: last + 1 }, (_, value) => value)

const ten = ['B2', 'B7', 'B11', 'G4', 'G12', 'R3', 'R13', 'Y8', 'W2', 'J1']
const twenty = [
  ...['B1', 'B4', 'B5', 'B9', 'B12', 'G2', 'G3', 'G10', 'G13', 'R1', 'R6', 'R7', 'R11'],
  ...['Y3', 'Y4', 'Y10', 'Y12', 'W1', 'W4', 'J3'],
]

const sixTrick: TrickPlay[] = [
  { seat: 2, card: 'B10' },
  { seat: 3, card: 'B5' },
  { seat: 4, card: 'R2' },
  { seat: 5, card: 'B13' },
]

const sheetOf = (seats: number, rounds: number) =>
  Array.from({ length: rounds }, (_, index) => {
    const bids = Array.from({ length: seats }, (_, seat) => (index * 3 + seat * 2) % Math.min(index + 2, 5))
    const tricks = bids.map((value, seat) => ((index + seat) % 3 === 0 ? value + 1 : value))
    const points = bids.map((value, seat) =>
      value === tricks[seat] ? 20 + 10 * value : -10 * Math.abs(value - (tricks[seat] ?? 0)),
    )
    return { round: index + 1, cards: index + 1, bids, tricks, points }
  })
const scoresOf = (seats: number, rounds: number): number[] =>
  Array.from({ length: seats }, (_, seat) =>
    sheetOf(seats, rounds).reduce((sum, { points }) => sum + (points[seat] ?? 0), 0),
  )

const four = lobbyOf(4)
const six = lobbyOf(6)
const three = lobbyOf(3)

const inSix: Partial<Observation> = {
  round: 10,
  cards: 10,
  bids: [2, 0, 3, 1, 2, 1],
  tricks: [0, 0, 0, 0, 0, 0],
  scores: scoresOf(6, 9),
  sheet: sheetOf(6, 9),
  trump: { card: null, suit: null },
}

const midFour: Partial<Observation> = {
  round: 7,
  cards: 7,
  dealer: 3,
  bids: [2, 1, 3, 0],
  tricks: [1, 1, 1, 0],
  scores: [110, 70, -20, 90],
  sheet: sheetOf(4, 6),
}

const finishedFour: TrickPlay[] = [
  { seat: 1, card: 'B9' },
  { seat: 2, card: 'W3' },
  { seat: 3, card: 'B2' },
  { seat: 0, card: 'B11' },
]

/** A trick of four from its first card to the next one, with what happened in between. */
function story(): State[] {
  const hand = ['B11', 'G4', 'Y8', 'W2']
  const cards = finishedFour.slice(0, 3)
  const steps = cards.map((played, index) =>
    state(
      four,
      see(4, {
        ...midFour,
        turn: 40 + index,
        hand,
        to_act: (played.seat + 1) % 4,
        trick: { leader: 1, plays: cards.slice(0, index + 1), led: 'blue', winning: index === 0 ? 1 : 2 },
        legal_actions: index === 2 ? play('B11', 'W2') : [],
        forbidden:
          index === 2
            ? [
                { card: 'G4', reason: 'must_follow' },
                { card: 'Y8', reason: 'must_follow' },
              ]
            : [],
      }),
      [{ type: 'card_played', ...played }],
    ),
  )
  const rest = hand.filter((card) => card !== 'B11')
  const done = see(4, {
    ...midFour,
    turn: 44,
    hand: rest,
    tricks: [1, 1, 2, 0],
    to_act: 2,
    trick: nobody(2),
    last_trick: { leader: 1, plays: finishedFour, led: 'blue', winner: 2 },
  })
  const next: TrickPlay = { seat: 2, card: 'Y3' }
  const nextTrick = see(4, {
    ...done,
    turn: 45,
    to_act: 3,
    trick: { leader: 2, plays: [next], led: 'yellow', winning: 2 },
  })
  const newRound = see(4, {
    round: 8,
    cards: 8,
    dealer: 0,
    phase: 'bid',
    to_act: 1,
    turn: 60,
    hand: ['B3', 'B8', 'G1', 'G9', 'R4', 'R12', 'Y7', 'J2'],
    bids: [null, null, null, null],
    bid_made: [false, false, false, false],
    trump: { card: 'Y2', suit: 'yellow' },
    scores: [150, 60, 30, 110],
    sheet: [
      ...sheetOf(4, 6),
      { round: 7, cards: 7, bids: [2, 1, 3, 0], tricks: [2, 1, 4, 0], points: [40, 30, -10, 20] },
    ],
  })
  return [
    state(four, see(4, { ...midFour, turn: 39, hand, to_act: 1, trick: nobody(1) })),
    ...steps,
    state(four, done, [
      { type: 'card_played', seat: 0, card: 'B11' },
      { type: 'trick_completed', winner: 2, plays: finishedFour },
      { type: 'reaction', seat: 2, reaction: 'laugh' },
    ]),
    state(four, nextTrick, [{ type: 'card_played', ...next }]),
    state(four, newRound, [
      { type: 'card_played', seat: 1, card: 'G7' },
      { type: 'trick_completed', winner: 2, plays: finishedFour },
      {
        type: 'round_scored',
        bids: [2, 1, 3, 0],
        tricks: [2, 1, 4, 0],
        points: [40, 30, -10, 20],
        scores: [150, 60, 30, 110],
      },
      { type: 'round_started', round: 8, cards: 8, dealer: 0, trump_card: 'Y2' },
    ]),
  ]
}

const ended: Observation = see(4, {
  round: 15,
  cards: 15,
  phase: 'finished',
  to_act: null,
  scores: scoresOf(4, 15),
  sheet: sheetOf(4, 15),
  ranking: scoresOf(4, 15)
    .map((score, seat) => ({
      seat,
      score,
      rank: 1 + scoresOf(4, 15).filter((other) => other > score).length,
    }))
    .sort((a, b) => a.rank - b.rank),
})

export const shows: Record<string, State[]> = {
  bid: [
    state(
      lobbyOf(4, { options: { ...four.options, bid_rule: 'hook', turn_seconds: 30 } }),
      see(4, {
        ...midFour,
        phase: 'bid',
        dealer: 0,
        tricks: [0, 0, 0, 0],
        bids: [null, 1, 3, 0],
        bid_made: [false, true, true, true],
        hand: ['B7', 'B11', 'G4', 'R13', 'Y8', 'W2', 'J1'],
        legal_actions: bid(0, 1, 2, 4, 5, 6, 7),
        forbidden: [{ value: 3, reason: 'bid_rule' }],
        deadline_ms: 21_000,
      }),
    ),
  ],
  bid20: [
    state(
      three,
      see(3, {
        round: 20,
        cards: 20,
        phase: 'bid',
        bids: [null, null, 7],
        bid_made: [false, false, true],
        hand: twenty,
        trump: { card: null, suit: null },
        legal_actions: bid(...upTo(20)),
        scores: scoresOf(3, 19),
        sheet: sheetOf(3, 19),
      }),
    ),
  ],
  trump: [
    state(
      four,
      see(4, {
        ...midFour,
        phase: 'choose_trump',
        dealer: 0,
        tricks: [0, 0, 0, 0],
        bids: [null, null, null, null],
        bid_made: [false, false, false, false],
        trump: { card: 'W3', suit: null },
        hand: ['B7', 'B11', 'G4', 'R13', 'Y8', 'W2', 'J1'],
        legal_actions: [
          { type: 'choose_trump', suit: 'blue' },
          { type: 'choose_trump', suit: 'green' },
          { type: 'choose_trump', suit: 'red' },
          { type: 'choose_trump', suit: 'yellow' },
        ],
      }),
    ),
  ],
  play6: [
    state(
      lobbyOf(6, {
        players: six.players.map((one, seat) =>
          seat === 2 ? { ...one, connected: false, replaceable: true } : one,
        ),
        options: { ...six.options, turn_seconds: 30 },
        spectators: 2,
      }),
      see(6, {
        ...inSix,
        hand: ten,
        deadline_ms: 14_000,
        trick: {
          leader: 2,
          plays: [...sixTrick, { seat: 1, card: 'Y11' }].filter(({ seat }) => seat !== 1),
          led: 'blue',
          winning: 5,
        },
        to_act: 0,
        legal_actions: play('B2', 'B7', 'B11', 'W2', 'J1'),
        forbidden: ['G4', 'G12', 'R3', 'R13', 'Y8'].map((card) => ({ card, reason: 'must_follow' })),
      }),
    ),
  ],
  wait6: [
    state(
      six,
      see(6, {
        ...inSix,
        tricks: [1, 1, 2, 0, 2, 1],
        hand: ['B2', 'G12', 'W2'],
        trick: { leader: 2, plays: [...sixTrick, { seat: 0, card: 'B7' }], led: 'blue', winning: 5 },
        to_act: 1,
      }),
      [{ type: 'reaction', seat: 3, reaction: 'well_played' }],
    ),
  ],
  rest4: [
    state(
      four,
      see(4, {
        ...midFour,
        tricks: [1, 1, 2, 0],
        hand: ['G4', 'Y8', 'W2'],
        to_act: 2,
        trick: nobody(2),
        last_trick: { leader: 1, plays: finishedFour, led: 'blue', winner: 2 },
      }),
    ),
  ],
  play20: [
    state(
      three,
      see(3, {
        round: 20,
        cards: 20,
        bids: [7, 4, 8],
        hand: twenty,
        trump: { card: null, suit: null },
        trick: {
          leader: 1,
          plays: [
            { seat: 1, card: 'G7' },
            { seat: 2, card: 'J2' },
          ],
          led: 'green',
          winning: 1,
        },
        legal_actions: play('G2', 'G3', 'G10', 'G13', 'W1', 'W4', 'J3'),
        forbidden: twenty
          .filter((card) => !/^[GWJ]/.test(card))
          .map((card) => ({ card, reason: 'must_follow' })),
        scores: scoresOf(3, 19),
        sheet: sheetOf(3, 19),
      }),
    ),
  ],
  watch: [
    state(
      lobbyOf(5, { spectators: 3 }),
      see(5, {
        cards: 5,
        round: 5,
        bids: [1, 2, 0, 1, 2],
        tricks: [1, 0, 1, 0, 0],
        to_act: 3,
        trick: {
          leader: 0,
          plays: [
            { seat: 0, card: 'J4' },
            { seat: 1, card: 'R9' },
            { seat: 2, card: 'W1' },
          ],
          led: 'red',
          winning: 2,
        },
      }),
      [],
      { you: null },
    ),
  ],
  story: story(),
  end: [
    state({ ...four, status: 'finished' }, ended, [], {
      seed: '0000000000000000000000000000000000000000000000000000000000000000',
    }),
  ],
  finish: [
    state(
      { ...four, status: 'finished' },
      {
        ...ended,
        bids: [2, 1, 3, 0],
        tricks: [2, 1, 4, 0],
        last_trick: { leader: 1, plays: finishedFour, led: 'blue', winner: 2 },
      },
      [
        { type: 'card_played', seat: 0, card: 'B11' },
        { type: 'trick_completed', winner: 2, plays: finishedFour },
        { type: 'game_finished', ranking: [], seed: '00'.repeat(32) },
      ],
      { seed: '00'.repeat(32) },
    ),
  ],
  end6: [
    state(
      { ...six, status: 'finished', host_id: '000000000002' },
      see(6, {
        phase: 'finished',
        to_act: null,
        scores: scoresOf(6, 10),
        sheet: sheetOf(6, 10),
        ranking: scoresOf(6, 10)
          .map((score, seat) => ({
            seat,
            score,
            rank: 1 + scoresOf(6, 10).filter((other) => other > score).length,
          }))
          .sort((a, b) => a.rank - b.rank),
      }),
      [],
      { seed: '00'.repeat(31) + '01' },
    ),
  ],
}
