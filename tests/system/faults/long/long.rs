//! What takes its time: `make faults` alone runs these.

mod answers;
mod emptied;
mod gateways;
mod killed;
mod poisoned;
mod silence;
mod stopped;
mod two_at_once;
