//! Times as people and files write them.

use chaperone_contract::Timestamp;

/// A time as ISO 8601 in UTC, such as `2026-03-15T02:30:00.000Z`.
pub fn iso(time: Timestamp) -> String {
    let (seconds, milliseconds) = (time / 1000, time % 1000);
    let (days, second_of_day) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (second_of_day / 3600, second_of_day / 60 % 60, second_of_day % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milliseconds:03}Z")
}

/// The Gregorian year, month and day of a count of days since 1970-01-01.
///
/// Years are counted from March, so that the leap day is a year's last one and months have a regular length: five of
/// them have 153 days. 400 years have 146,097 days.
fn civil(days: u64) -> (u64, u64, u64) {
    /// From 0000-03-01 to 1970-01-01.
    const TO_1970: u64 = 719_468;
    let days = days + TO_1970;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let leap_days = day_of_era / 1460 - day_of_era / 36_524 + day_of_era / 146_096;
    let year_of_era = (day_of_era - leap_days) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (400 * era + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_times_are_written_as_everybody_writes_them() {
        assert_eq!(iso(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(iso(951_782_400_000), "2000-02-29T00:00:00.000Z");
        assert_eq!(iso(1_709_251_199_999), "2024-02-29T23:59:59.999Z");
        assert_eq!(iso(1_773_541_800_000), "2026-03-15T02:30:00.000Z");
        assert_eq!(iso(4_107_542_400_000), "2100-03-01T00:00:00.000Z");
    }

    #[test]
    fn each_day_of_eight_centuries_follows_the_one_before() {
        let is_leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
        let length = |year, month| match month {
            2 => 28 + u64::from(is_leap(year)),
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        };
        let mut expected = (1970, 1, 1);
        for days in 0..2 * 146_097 {
            assert_eq!(civil(days), expected);
            let (year, month, day) = expected;
            expected = match (month, day) {
                (12, 31) => (year + 1, 1, 1),
                (_, day) if day == length(year, month) => (year, month + 1, 1),
                (_, day) => (year, month, day + 1),
            };
        }
    }
}
