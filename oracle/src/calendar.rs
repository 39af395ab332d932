//! The proleptic Gregorian calendar, for date and timestamp literals and for `date_trunc`.

use crate::query::DateUnit;

const SECONDS_PER_DAY: i64 = 86_400;

/// Year, month and day of a day number since 1970-01-01.
/// Source: H. Hinnant, "chrono-Compatible Low-Level Date Algorithms", `civil_from_days`.
pub(crate) fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

/// `2024-02-29`.
pub(crate) fn date_text(days: i64) -> String {
    let (year, month, day) = civil_from_days(days);
    format!("{year:04}-{month:02}-{day:02}")
}

/// `2024-02-29 23:59:59.000001`: an instant in units of a second's `digits` behind the point.
pub(crate) fn timestamp_text(instant: i64, digits: u32) -> String {
    let per_second = 10_i64.pow(digits);
    let (second, fraction) = (instant.div_euclid(per_second), instant.rem_euclid(per_second));
    let date = date_text(second.div_euclid(SECONDS_PER_DAY));
    let of_day = second.rem_euclid(SECONDS_PER_DAY);
    let text = format!("{date} {:02}:{:02}:{:02}", of_day / 3600, of_day / 60 % 60, of_day % 60);
    if digits == 0 { text } else { format!("{text}.{fraction:0width$}", width = digits as usize) }
}

/// The day number since 1970-01-01 of a year, month and day.
/// Source: H. Hinnant, "chrono-Compatible Low-Level Date Algorithms", `days_from_civil`.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let month_from_march = if month > 2 { month - 3 } else { month + 9 };
    let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// The start of the year, month, … that an instant lies in, in its own units: a second's `digits` behind the point. Weeks
/// start on Monday.
pub(crate) fn truncate(instant: i64, digits: u32, unit: DateUnit) -> i64 {
    let per_second = 10_i64.pow(digits);
    let second = instant.div_euclid(per_second);
    let days = second.div_euclid(SECONDS_PER_DAY);
    let (year, month, _) = civil_from_days(days);
    let second = match unit {
        DateUnit::Year => days_from_civil(year, 1, 1) * SECONDS_PER_DAY,
        DateUnit::Quarter => days_from_civil(year, (month - 1) / 3 * 3 + 1, 1) * SECONDS_PER_DAY,
        DateUnit::Month => days_from_civil(year, month, 1) * SECONDS_PER_DAY,
        // 1970-01-01 was a Thursday.
        DateUnit::Week => (days - (days + 3).rem_euclid(7)) * SECONDS_PER_DAY,
        DateUnit::Day => days * SECONDS_PER_DAY,
        DateUnit::Hour => second - second.rem_euclid(3600),
        DateUnit::Minute => second - second.rem_euclid(60),
        DateUnit::Second => second,
    };
    second * per_second
}
