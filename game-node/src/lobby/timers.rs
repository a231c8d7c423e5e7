//! What happens by itself when time passes.

use std::time::Instant;

use protocol::link::Parting;

use super::effect::Effects;
use super::{Chance, Lobby, Person, SessionPlace, Stage};

impl Lobby {
    /// Everything that is due now.
    pub(super) fn wake(&mut self, now: Instant, chance: &Chance, effects: &mut Effects) {
        for person in self.people_mut() {
            effects.changed |= person.note_absence(now);
        }
        self.dismiss_spectators(effects);
        effects.changed |= self.note_overdue(now);
        self.move_for_ai(now, chance, effects);
    }

    /// All times at which something is due.
    pub(super) fn timers(&self) -> impl Iterator<Item = Instant> {
        let game = match &self.stage {
            Stage::Playing(play) => play.next_wake(),
            Stage::Waiting | Stage::Finished(_) => None,
        };
        self.people().filter_map(Person::changes_at).chain(game)
    }

    /// Who watches and is away for long makes room for others.
    fn dismiss_spectators(&mut self, effects: &mut Effects) {
        let all = std::mem::take(&mut self.spectators);
        let (gone, stay) = all.into_iter().partition(Person::is_long_away);
        self.spectators = stay;
        let gone: Vec<Person> = gone;
        for person in gone {
            effects.parted(person.connection(), Parting::Left);
            self.session_says(&person, SessionPlace::Elsewhere, effects);
        }
    }
}
