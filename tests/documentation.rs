//! What the documentation says, held against what is there: links, examples, variables, messages, and
//! that nothing in the repository takes time that has passed for being ready.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

#[path = "documentation/examples.rs"]
mod examples;
#[path = "documentation/failures.rs"]
mod failures;
#[path = "documentation/files.rs"]
mod files;
#[path = "documentation/links.rs"]
mod links;
#[path = "documentation/messages.rs"]
mod messages;
#[path = "documentation/readiness.rs"]
mod readiness;
#[path = "documentation/variables.rs"]
mod variables;
