//! Converts Python's `datetime` to nanoseconds.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;

/// Nanoseconds from 1970-01-01 to a time that `datetime` packed into ten bytes:
/// year (big-endian), month, day, hour, minute, second, microsecond (three
/// bytes, big-endian). `None` if the time does not exist, or if the nanoseconds
/// do not fit in 64 bits.
pub(super) fn packed_ns(bytes: &[u8]) -> Option<i64> {
    let &[y1, y0, month, day, hour, minute, second, u2, u1, u0] = bytes else {
        return None;
    };
    let year = i16::from_be_bytes([y1, y0]);
    // If an hour occurs twice because the clock was set back, the top bit of
    // the month marks the second occurrence.
    let [month, day, hour, minute, second] =
        [month & 0x7f, day, hour, minute, second].map(u8::cast_signed);
    let nanos = i32::from_be_bytes([0, u2, u1, u0]).checked_mul(1_000)?;
    let time = DateTime::new(year, month, day, hour, minute, second, nanos).ok()?;
    let time = TimeZone::UTC.to_timestamp(time).ok()?;
    i64::try_from(time.as_nanosecond()).ok()
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

    /// Tests instants whose Unix times are known, including leap days.
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
    fn refuses_invalid_times() {
        assert_eq!(packed_ns(&packed(2021, 13, 1, [0; 6])), None);
        assert_eq!(packed_ns(&packed(2021, 1, 1, [24, 0, 0, 0, 0, 0])), None);
        assert_eq!(packed_ns(&packed(2021, 2, 29, [0; 6])), None);
        assert_eq!(
            packed_ns(&packed(2021, 1, 1, [0, 0, 0, 255, 255, 255])),
            None
        );
        assert_eq!(packed_ns(&packed(9999, 1, 1, [0; 6])), None);
        assert_eq!(packed_ns(&packed(65_535, 1, 1, [0; 6])), None);
        assert_eq!(packed_ns(&[0; 9]), None);
    }
}
