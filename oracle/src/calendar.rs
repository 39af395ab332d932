//! The proleptic Gregorian calendar, for date and timestamp literals and for `date_trunc`.

use crate::query::DateUnit;

const MICROSECONDS_PER_DAY: i64 = 86_400_000_000;

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

/// `2024-02-29 23:59:59.000001`.
pub(crate) fn timestamp_text(microseconds: i64) -> String {
    let date = date_text(microseconds.div_euclid(MICROSECONDS_PER_DAY));
    let of_day = microseconds.rem_euclid(MICROSECONDS_PER_DAY);
    let (seconds, fraction) = (of_day / 1_000_000, of_day % 1_000_000);
    format!("{date} {:02}:{:02}:{:02}.{fraction:06}", seconds / 3600, seconds / 60 % 60, seconds % 60)
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

/// The start of the year, month, … that a number of microseconds since 1970-01-01 lies in. Weeks start on Monday.
pub(crate) fn truncate(microseconds: i64, unit: DateUnit) -> i64 {
    let days = microseconds.div_euclid(MICROSECONDS_PER_DAY);
    let (year, month, _) = civil_from_days(days);
    let day = match unit {
        DateUnit::Year => days_from_civil(year, 1, 1),
        DateUnit::Quarter => days_from_civil(year, (month - 1) / 3 * 3 + 1, 1),
        DateUnit::Month => days_from_civil(year, month, 1),
        // 1970-01-01 was a Thursday.
        DateUnit::Week => days - (days + 3).rem_euclid(7),
        DateUnit::Day => days,
        DateUnit::Hour => return microseconds - microseconds.rem_euclid(3_600_000_000),
        DateUnit::Minute => return microseconds - microseconds.rem_euclid(60_000_000),
        DateUnit::Second => return microseconds - microseconds.rem_euclid(1_000_000),
    };
    day * MICROSECONDS_PER_DAY
}
