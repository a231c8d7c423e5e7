//! Every message between processes and with players.
