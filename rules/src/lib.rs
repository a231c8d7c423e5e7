//! The game of Wizard as a pure state machine.
