//! What takes its time: `make faults` alone runs these.

mod gateways;
mod killed;
mod stopped;
