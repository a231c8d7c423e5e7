//! What a person may want, and in which order it is checked whether they may have it.
//!
//! The order is the contract's: not in the lobby, taken over, watching only, not the host, the
//! lobby's status, then the rest. Whoever changes something has checked everything before.

use std::time::{Duration, Instant};

use protocol::ErrorCode;
use protocol::event::TableEvent;
use protocol::link::Request;
use protocol::lobby::{LobbyStatus, Reaction};
use protocol::player::SetOptions;
use rules::Seat;

use super::effect::Effects;
use super::people::Standing;
use super::{Chance, Effect, Lobby, Refusal, Stage, Wish};

/// Between two reactions of one seat.
const REACTION_INTERVAL: Duration = Duration::from_secs(2);

impl Lobby {
    pub(super) fn ask(
        &mut self,
        now: Instant,
        wish: &Wish,
        chance: &Chance,
        may_start: bool,
        effects: &mut Effects,
    ) -> Result<(), Refusal> {
        let standing = self.standing(&wish.person.player);
        if let Some(person) = self.person_of(standing) {
            if person.has_been_taken_over(&wish.person) {
                return Err(Refusal::taken_over());
            }
            if person.has_taken(wish) && !only_comes(&wish.request) {
                effects.answer(wish);
                return Ok(());
            }
        }
        match &wish.request {
            // A creation that comes here has been done, and asks again.
            Request::Attach { .. } | Request::Create { .. } => {
                self.come_back(standing, wish, effects)?;
            }
            Request::Join {
                name,
                only_if_public,
            } => {
                self.join(standing, wish, name, *only_if_public, effects)?;
            }
            Request::Watch => self.watch(standing, wish, effects)?,
            Request::Leave => self.leave(standing, wish, chance, effects)?,
            seated => {
                let index = seat_of(standing)?;
                self.do_seated(now, index, seated, chance, may_start, effects)?;
                // A request that takes a seat away takes somebody else's, who may sit before this.
                self.hear(self.standing(&wish.person.player), wish, effects);
            }
        }
        // First of all: what follows is to be understood in its light.
        let answer = Effect::Answer {
            to: wish.connection,
            number: wish.number,
            taken: self.taken_of(wish),
        };
        effects.list.insert(0, answer);
        Ok(())
    }

    /// What whoever has come back needs to know to go on: the last number that was taken.
    fn taken_of(&self, wish: &Wish) -> Option<u64> {
        let Request::Attach { .. } = wish.request else {
            return None;
        };
        let person = self.person_of(self.standing(&wish.person.player));
        person.map(|person| person.number)
    }

    fn do_seated(
        &mut self,
        now: Instant,
        index: usize,
        request: &Request,
        chance: &Chance,
        may_start: bool,
        effects: &mut Effects,
    ) -> Result<(), Refusal> {
        match request {
            Request::AddAi { level } => {
                self.check_host_while(index, LobbyStatus::Waiting)?;
                self.add_ai(*level, chance)
            }
            Request::RemovePlayer { player } => {
                self.check_host_while(index, LobbyStatus::Waiting)?;
                self.remove_player(index, player, effects)
            }
            Request::SetOptions(options) => {
                self.check_host_while(index, LobbyStatus::Waiting)?;
                self.set_options(options)
            }
            Request::Start => {
                self.check_host_while(index, LobbyStatus::Waiting)?;
                self.start(now, chance, may_start)
            }
            Request::Act { action, turn } => {
                self.check_status(LobbyStatus::Playing)?;
                self.act(now, seat_at(index), *action, *turn)
            }
            Request::ReplacePlayer { player } => {
                self.check_host_while(index, LobbyStatus::Playing)?;
                self.replace_player(player, chance)
            }
            Request::React { reaction } => self.react(now, index, *reaction),
            Request::ReturnToLobby => {
                self.check_host_while(index, LobbyStatus::Finished)?;
                self.stage = Stage::Waiting;
                Ok(())
            }
            Request::Create { .. }
            | Request::Join { .. }
            | Request::Watch
            | Request::Attach { .. }
            | Request::Leave => unreachable!("handled before, for who has no seat too"),
        }
    }

    fn check_host_while(&self, index: usize, status: LobbyStatus) -> Result<(), Refusal> {
        if *self.places[index].id() != self.host {
            return Err(Refusal::not_host());
        }
        self.check_status(status)
    }

    fn check_status(&self, needed: LobbyStatus) -> Result<(), Refusal> {
        if self.status() == needed {
            return Ok(());
        }
        Err(match needed {
            LobbyStatus::Waiting => Refusal::new(ErrorCode::NotWaiting, "The game has begun."),
            LobbyStatus::Playing => Refusal::new(ErrorCode::NotPlaying, "No game is being played."),
            LobbyStatus::Finished => {
                Refusal::new(ErrorCode::NotFinished, "The game has not finished.")
            }
        })
    }

    fn set_options(&mut self, change: &SetOptions) -> Result<(), Refusal> {
        self.options = (self.options.with(change.options))
            .map_err(|error| Refusal::new(ErrorCode::BadOption, error.to_string()))?;
        self.public = change.public.unwrap_or(self.public);
        Ok(())
    }

    fn react(&mut self, now: Instant, index: usize, reaction: Reaction) -> Result<(), Refusal> {
        let person = self.places[index]
            .person_mut()
            .expect("the seat of who asks is a person's");
        let free_at = person.reacted.map(|last| last + REACTION_INTERVAL);
        if let Some(wait) = free_at.and_then(|at| at.checked_duration_since(now))
            && !wait.is_zero()
        {
            let mut refusal = Refusal::new(ErrorCode::RateLimited, "One reaction every 2 seconds.");
            refusal.retry_after = Some(wait);
            return Err(refusal);
        }
        person.reacted = Some(now);
        self.happened(TableEvent::Reaction {
            seat: seat_at(index),
            reaction,
        });
        Ok(())
    }

    /// Notes an event, which leads to the next state.
    pub(super) fn happened(&mut self, event: impl Into<protocol::Event>) {
        self.events.push(self.seq + 1, event);
    }
}

/// The seat of somebody who wants what only a player may have.
fn seat_of(standing: Standing) -> Result<usize, Refusal> {
    match standing {
        Standing::Seated(index) => Ok(index),
        Standing::Watching(_) => Err(Refusal::spectator()),
        Standing::Replaced(_) | Standing::Stranger => Err(Refusal::not_in_lobby()),
    }
}

/// A wish that is as good the second time as the first.
fn only_comes(request: &Request) -> bool {
    matches!(
        request,
        Request::Attach { .. } | Request::Create { .. } | Request::Join { .. } | Request::Watch
    )
}

pub(super) fn seat_at(index: usize) -> Seat {
    let seat = u8::try_from(index).ok().and_then(Seat::new);
    seat.expect("a table has no more seats than the rules know")
}
