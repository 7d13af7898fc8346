//! Python's `datetime` as nanoseconds.

/// Nanoseconds from 1970-01-01 to the time that `datetime` packs into ten
/// bytes: year (big-endian), month, day, hour, minute, second, microsecond
/// (three bytes, big-endian). `None` where it is not a time in range.
pub(super) fn packed_ns(bytes: &[u8]) -> Option<i64> {
    let &[y1, y0, month, day, hour, minute, second, u2, u1, u0] = bytes else {
        return None;
    };
    // The top bit of the month marks the second pass of a repeated hour.
    let month = month & 0x7f;
    let year = i64::from(u16::from_be_bytes([y1, y0]));
    let micros = i64::from(u32::from_be_bytes([0, u2, u1, u0]));
    let in_range = (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && hour < 24
        && minute < 60
        && second < 60
        && micros < 1_000_000;
    if !in_range {
        return None;
    }
    let days = days_from_1970(year, month.into(), day.into());
    let seconds =
        days * 86_400 + i64::from(hour) * 3_600 + i64::from(minute) * 60 + i64::from(second);
    seconds
        .checked_mul(1_000_000_000)?
        .checked_add(micros * 1_000)
}

/// Days from 1970-01-01 to a date of the Gregorian calendar.
///
/// Years are counted from March, so that the leap day is the last of its year.
fn days_from_1970(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = match month {
        1 | 2 => (year - 1, month + 9),
        _ => (year, month - 3),
    };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    let days_before_month = (153 * month + 2) / 5;
    // 719,468 days lie between 0000-03-01 and 1970-01-01.
    year * 365 + leap_days + days_before_month + day - 1 - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(year: u16, month: u8, day: u8, rest: [u8; 6]) -> Vec<u8> {
        let mut bytes = year.to_be_bytes().to_vec();
        bytes.extend([month, day]);
        bytes.extend(rest);
        bytes
    }

    /// Derived by formula: known instants, among them leap days.
    #[test]
    fn packs_known_instants() {
        let at = |bytes: &[u8]| packed_ns(bytes).unwrap();
        assert_eq!(at(&packed(1970, 1, 1, [0; 6])), 0);
        assert_eq!(at(&packed(2000, 2, 29, [0; 6])), 951_782_400_000_000_000);
        assert_eq!(
            at(&packed(2021, 2, 10, [0, 8, 52, 0, 0, 7])),
            1_612_915_732_000_007_000
        );
        assert_eq!(
            at(&packed(1969, 12, 31, [23, 59, 59, 0, 0, 0])),
            -1_000_000_000
        );
    }

    #[test]
    fn refuses_what_is_no_time() {
        assert_eq!(packed_ns(&packed(2021, 13, 1, [0; 6])), None);
        assert_eq!(packed_ns(&packed(2021, 1, 1, [24, 0, 0, 0, 0, 0])), None);
        assert_eq!(packed_ns(&packed(9999, 1, 1, [0; 6])), None);
        assert_eq!(packed_ns(&[0; 9]), None);
    }
}
