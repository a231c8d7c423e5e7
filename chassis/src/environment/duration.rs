//! Durations as people write them: `0.8`, `800ms`, `5s`, `30m`.

use std::time::Duration;

/// Longer ones are slips, and more than timers and Redis can count.
const LONGEST: Duration = Duration::from_hours(365 * 24);

/// The text is not a duration.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error(
    "'{0}' is not a duration: write seconds (0.8) or a number with a unit (800ms, 5s, 30m, 1h), up to a year"
)]
pub struct InvalidDuration(String);

/// Reads seconds (`0.8`), or a number with one of the units `ms`, `s`, `m`, `h`.
///
/// # Errors
/// For everything else, e.g. a negative or endless number, an unknown unit, or more than a year.
pub fn duration(text: &str) -> Result<Duration, InvalidDuration> {
    let trimmed = text.trim();
    let unit_at = trimmed.find(|letter: char| letter.is_ascii_alphabetic());
    let (number, unit) = trimmed.split_at(unit_at.unwrap_or(trimmed.len()));
    let seconds_per_unit = match unit {
        "" | "s" => 1.0,
        "ms" => 0.001,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return Err(InvalidDuration(text.to_owned())),
    };
    number
        .trim_end()
        .parse::<f64>()
        .ok()
        .and_then(|count| Duration::try_from_secs_f64(count * seconds_per_unit).ok())
        .filter(|duration| *duration <= LONGEST)
        .ok_or_else(|| InvalidDuration(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_people_write() {
        let check = |text, milliseconds| {
            assert_eq!(
                duration(text),
                Ok(Duration::from_millis(milliseconds)),
                "{text}"
            );
        };
        check("0.8", 800);
        check("800ms", 800);
        check("5s", 5000);
        check("5 s", 5000);
        check(" 1.5m ", 90_000);
        check("30m", 1_800_000);
        check("2h", 7_200_000);
        check("8760h", 31_536_000_000);
        check("0", 0);
    }

    #[test]
    fn refuses_everything_else() {
        for text in [
            "",
            "s",
            "-1",
            "-5s",
            "5x",
            "5 seconds",
            "1e400",
            "inf",
            "NaN",
            "1s2",
            "1,5",
            "8761h",
            "999999999999h",
        ] {
            assert_eq!(duration(text), Err(InvalidDuration(text.to_owned())));
        }
    }
}
