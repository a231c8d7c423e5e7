//! The clocks of the process.
//!
//! Reading a clock is banned elsewhere (`clippy.toml`), so that time stays an argument: a driver
//! reads it here once and passes it on. A pure machine never calls this module.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The monotonic clock, for everything that measures or waits: the one by which the present runtime's
/// timers run, so that whoever pauses those pauses this too.
pub fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

/// The wall clock in milliseconds since 1970, for what people and other hosts read.
///
/// Never for measuring: it may jump. Zero on a host whose clock stands before 1970.
#[expect(
    clippy::disallowed_methods,
    reason = "this is the door that drivers use"
)]
pub fn unix_milliseconds() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, milliseconds)
}

/// A duration as whole milliseconds, as the wire has them.
pub fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_longer_than_the_wire_can_say_is_the_longest() {
        assert_eq!(milliseconds(Duration::from_micros(1_999)), 1);
        assert_eq!(milliseconds(Duration::MAX), u64::MAX);
    }
}
