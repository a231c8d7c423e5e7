//! Presence, ownership and sessions: in Redis, or in this process.
