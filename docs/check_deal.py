#!/usr/bin/env python3
"""Checks that a finished game of Wizard was dealt fairly. Needs nothing but Python 3.8.

    python3 check_deal.py --seed SEED --commitment COMMITMENT --players 4

prints whether the seed is the one that was promised before the first card, and every deal that
follows from it, to compare with what was dealt. SEED and COMMITMENT are the 64 hex digits that the
game showed at its end and at its start. The way from seed to cards is described in fair-deals.md;
this program goes that way with its own ChaCha20 and shares no code with the game.
"""

import argparse
import hashlib
import json
import struct
import sys

DECK = [suit + str(rank) for suit in "BGRY" for rank in range(1, 14)]
DECK += [kind + str(number) for kind in "WJ" for number in range(1, 5)]

TOURNAMENT = {
    3: list(range(2, 21, 2)),
    4: [1, 3, 5, 7, 9, 11, 12, 13, 14, 15],
    5: [2] + list(range(4, 13)),
    6: list(range(1, 11)),
}


def hand_sizes(length, players):
    if length == "short":
        return [1, 3, 5, 7, 9]
    if length == "tournament":
        return TOURNAMENT[players]
    return list(range(1, 60 // players + 1))


def chacha20_block(key, stream, counter):
    """The 16 words of one block: 64-bit counter, 64-bit stream number as nonce."""
    start = list(struct.unpack("<4I", b"expand 32-byte k")) + list(struct.unpack("<8I", key))
    start += [counter & 0xFFFFFFFF, counter >> 32, stream & 0xFFFFFFFF, stream >> 32]
    x = list(start)

    def quarter_round(a, b, c, d):
        for first, second, third, bits in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
            x[first] = (x[first] + x[second]) & 0xFFFFFFFF
            mixed = x[third] ^ x[first]
            x[third] = (mixed << bits | mixed >> (32 - bits)) & 0xFFFFFFFF

    for _ in range(10):
        for i in range(4):
            quarter_round(i, 4 + i, 8 + i, 12 + i)
        for i in range(4):
            quarter_round(i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4)
    return [(word + was) & 0xFFFFFFFF for word, was in zip(x, start)]


def words(seed, stream):
    counter = 0
    while True:
        yield from chacha20_block(seed, stream, counter)
        counter += 1


def number_below(n, source):
    full = 2**32 // n * n
    while True:
        word = next(source)
        if word < full:
            return word % n


def first_dealer(seed, players):
    return number_below(players, words(seed, 0))


def shuffled_deck(seed, round_number):
    source = words(seed, round_number)
    deck = list(DECK)
    for i in range(59, 0, -1):
        j = number_below(i + 1, source)
        deck[i], deck[j] = deck[j], deck[i]
    return deck


def deal(seed, round_number, dealer, players, cards):
    """The hands by seat, sorted, and the turned card or None."""
    deck = shuffled_deck(seed, round_number)
    hands = [[] for _ in range(players)]
    for position in range(cards * players):
        hands[(dealer + 1 + position) % players].append(deck[position])
    rest = deck[cards * players:]
    return [sorted(hand, key=DECK.index) for hand in hands], rest[0] if rest else None


def commitment(seed):
    return hashlib.sha256(seed).hexdigest()


def vector(seed, deck_rounds):
    """What a seed must give: an entry of the game's test vectors."""
    dealers = {str(players): first_dealer(seed, players) for players in range(3, 7)}
    deals = []
    # Every count of players; early, middle and last rounds.
    for players in range(3, 7):
        for round_number in (1, 5, 60 // players):
            dealer = (dealers[str(players)] + round_number - 1) % players
            hands, turned = deal(seed, round_number, dealer, players, round_number)
            deals.append({
                "players": players, "round": round_number, "cards": round_number,
                "dealer": dealer, "hands": [" ".join(hand) for hand in hands], "turned": turned,
            })
    decks = {str(number): " ".join(shuffled_deck(seed, number)) for number in deck_rounds}
    return {
        "seed": seed.hex(), "commitment": commitment(seed), "first_dealer": dealers,
        "decks": decks, "deals": deals,
    }


def check_vectors(path):
    with open(path, encoding="utf-8") as file:
        expected = json.load(file)
    wrong = [
        entry["seed"] for entry in expected
        if vector(bytes.fromhex(entry["seed"]), map(int, entry["decks"])) != entry
    ]
    for seed in wrong:
        print("differs for seed", seed)
    print(f"{len(expected) - len(wrong)} of {len(expected)} seeds give what the file says")
    return not wrong


def hex_32(text):
    value = bytes.fromhex(text)
    if len(value) != 32:
        raise ValueError("64 hex digits are needed")
    return value


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=hex_32)
    parser.add_argument("--commitment", type=hex_32)
    parser.add_argument("--players", type=int, choices=range(3, 7), default=4)
    parser.add_argument("--length", choices=["full", "tournament", "short"], default="full")
    parser.add_argument("--vectors", metavar="FILE", help="check the game's test vectors instead")
    options = parser.parse_args()

    if options.vectors:
        return check_vectors(options.vectors)
    if options.seed is None:
        parser.error("--seed is needed")

    kept = True
    if options.commitment is None:
        print("commitment of this seed:", commitment(options.seed))
    else:
        kept = commitment(options.seed) == options.commitment.hex()
        print("the seed is the promised one" if kept else "THE SEED IS NOT THE PROMISED ONE")

    dealer = first_dealer(options.seed, options.players)
    for number, cards in enumerate(hand_sizes(options.length, options.players), start=1):
        hands, turned = deal(options.seed, number, dealer, options.players, cards)
        print(f"\nround {number}, seat {dealer} deals, turned: {turned or 'nothing'}")
        for seat, hand in enumerate(hands):
            print(f"  seat {seat}: {' '.join(hand)}")
        dealer = (dealer + 1) % options.players
    return kept


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
