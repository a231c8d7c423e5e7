//! What AI seats are called.

use protocol::PlayerName;

/// Famous wizards of tale, legend and stage; more than any table has seats.
const NAMES: [&str; 40] = [
    "Merlin",
    "Gandalf",
    "Circe",
    "Morgana",
    "Prospero",
    "Baba Yaga",
    "Medea",
    "Faust",
    "Saruman",
    "Radagast",
    "Nimue",
    "Väinämöinen",
    "Koschei",
    "Ged",
    "Rincewind",
    "Granny Weatherwax",
    "Dumbledore",
    "McGonagall",
    "Klingsor",
    "Krabat",
    "Zatanna",
    "Doctor Strange",
    "Elminster",
    "Raistlin",
    "Schmendrick",
    "Howl",
    "Glinda",
    "Oz",
    "Jadis",
    "Polgara",
    "Belgarath",
    "Tim",
    "Allanon",
    "Taliesin",
    "Gwydion",
    "Simon Magus",
    "Nostradamus",
    "Cagliostro",
    "John Dee",
    "Pumphut",
];

/// A name that nobody at the table has, from the `first` of the list on.
pub(super) fn name(first: usize, is_taken: impl Fn(&PlayerName) -> bool) -> PlayerName {
    (0..NAMES.len())
        .map(|step| {
            NAMES[(first + step) % NAMES.len()]
                .parse()
                .expect("a wizard's name is one")
        })
        .find(|name| !is_taken(name))
        .expect("there are more wizards than seats")
}

/// How many there are.
pub(super) const COUNT: usize = NAMES.len();

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_wizard_is_a_name_and_comes_once() {
        let all: BTreeSet<PlayerName> = NAMES.iter().map(|name| name.parse().unwrap()).collect();
        assert_eq!(all.len(), COUNT);
        assert_eq!(
            name(COUNT - 1, |name| name.as_str() == "Pumphut").as_str(),
            "Merlin"
        );
    }
}
