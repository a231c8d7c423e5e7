//! Decides for the AI seats.
