//! Whatever a frame holds, reading it neither panics nor costs memory.
//!
//! Inputs are drawn from a seed: noise, and golden messages with bytes changed, cut out, repeated and
//! spliced. The tests read some thousands; `make fuzz` reads a million of each kind.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::path::{Path, PathBuf};

use protocol::frame::{decode, encode};
use protocol::player::PlayerFrame;
use protocol::{decide, link};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Inputs of each kind, unless `FRAMES` says otherwise.
const FEW: u32 = 20_000;
/// What reading all of them may add to the most memory that this process ever had.
const GROWTH_KIB: u64 = 64 * 1024;

/// Where readers trip: ends of ranges, lengths of `MessagePack`, marks of JSON.
const NASTY: &[&[u8]] = &[
    b"\xdd\xff\xff\xff\xff",
    b"\xdf\xff\xff\xff\xff",
    b"\xc6\xff\xff\xff\xff",
    b"\xcf\xff\xff\xff\xff\xff\xff\xff\xff",
    b"18446744073709551616",
    b"-1",
    b"1e999",
    b"null",
    b"\\u0000",
    b"\\ud800",
    b"[[[[[[[[[[[[[[[[",
    b"{\"\":",
    b"\"",
];

#[test]
fn any_text_is_a_players_message_or_malformed() {
    let samples = golden("player");
    read_all("player", &samples, |bytes| {
        PlayerFrame::parse(&String::from_utf8_lossy(bytes)).is_ok()
    });
}

#[test]
fn any_bytes_are_a_links_message_or_invalid() {
    links::<link::ToNode>("gateway_to_node");
    links::<link::ToGateway>("node_to_gateway");
    links::<decide::ToNode>("ai_to_node");
    links::<decide::ToAi>("node_to_ai");
}

fn links<T: Serialize + DeserializeOwned>(direction: &str) {
    let frames: Vec<Vec<u8>> = golden(direction)
        .iter()
        .map(|text| encode(&serde_json::from_slice::<T>(text).unwrap()))
        .collect();
    read_all(direction, &frames, |bytes| decode::<T>(bytes).is_ok());
}

fn golden(direction: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("golden")
        .join(direction);
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    files
        .iter()
        .map(|path| std::fs::read(path).unwrap())
        .collect()
}

/// Reads as many inputs as were asked for; `read` says whether it was a message.
fn read_all(kind: &str, samples: &[Vec<u8>], read: impl Fn(&[u8]) -> bool) {
    let inputs = std::env::var("FRAMES").map_or(FEW, |count| count.parse().unwrap());
    assert!(samples.iter().all(|sample| read(sample)), "{kind}");
    let before = peak_kib();
    let mut chance = Chance(0x9E37_79B9_7F4A_7C15);
    let mut messages = 0_u32;
    for _ in 0..inputs {
        messages += u32::from(read(&input(&mut chance, samples)));
    }
    let grown = peak_kib() - before;
    println!("{kind}: {inputs} inputs, {messages} of them messages, {grown} KiB more at the peak");
    assert!(grown < GROWTH_KIB, "{kind}: {grown} KiB");
    assert!(messages > 0 && messages < inputs, "{kind}: {messages}");
}

fn input(chance: &mut Chance, samples: &[Vec<u8>]) -> Vec<u8> {
    if chance.below(8) == 0 {
        let length = chance.below(200);
        return (0..length).map(|_| chance.byte()).collect();
    }
    let mut bytes = samples[chance.below(samples.len())].clone();
    for _ in 0..=chance.below(4) {
        mutate(chance, samples, &mut bytes);
    }
    bytes
}

fn mutate(chance: &mut Chance, samples: &[Vec<u8>], bytes: &mut Vec<u8>) {
    let place = chance.below(bytes.len() + 1);
    let end = (place + chance.below(16)).min(bytes.len());
    match chance.below(6) {
        0 if place < bytes.len() => bytes[place] = chance.byte(),
        1 => drop(bytes.drain(place..end)),
        2 => bytes.truncate(place),
        3 => {
            let nasty = NASTY[chance.below(NASTY.len())];
            bytes.splice(place..end, nasty.iter().copied());
        }
        4 => {
            let part = bytes[place..end].repeat(1 + chance.below(64));
            bytes.splice(place..place, part);
        }
        _ => {
            let other = &samples[chance.below(samples.len())];
            let from = chance.below(other.len());
            bytes.splice(place.., other[from..].iter().copied());
        }
    }
}

/// The most memory that this process has ever had.
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .unwrap();
    line.trim().strip_suffix(" kB").unwrap().parse().unwrap()
}

/// Xorshift: the same numbers for the same seed.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, count: usize) -> usize {
        usize::try_from(self.next() >> 33).unwrap() % count
    }

    fn byte(&mut self) -> u8 {
        self.next().to_le_bytes()[4]
    }
}
