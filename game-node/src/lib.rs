//! Owns lobbies and runs them on one thread.
