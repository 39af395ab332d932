//! Durations on the command line.

use std::time::Duration;

/// Reads a whole number of seconds, minutes or hours: `90s`, `10m`, `1h`.
pub(super) fn parse(text: &str) -> Result<Duration, String> {
    let wrong = || format!("'{text}' is no duration: write a whole number and s, m or h, as in 90s, 10m or 1h");
    let (number, unit) = text.split_at_checked(text.len().saturating_sub(1)).ok_or_else(wrong)?;
    let seconds = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        _ => return Err(wrong()),
    };
    let digits = Some(number).filter(|number| number.bytes().all(|byte| byte.is_ascii_digit()));
    let number: u64 = digits.and_then(|number| number.parse().ok()).ok_or_else(wrong)?;
    match number.checked_mul(seconds) {
        Some(0) => Err("a run of no time has no case".to_owned()),
        Some(seconds) => Ok(Duration::from_secs(seconds)),
        None => Err(wrong()),
    }
}
