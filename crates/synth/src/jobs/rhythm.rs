//! Times of submissions: more by day than by night, and fewer at weekends.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// Seconds in a day.
pub const DAY: i64 = 86_400;

/// The hour with the fewest submissions. The busiest hour is twelve hours later.
const QUIETEST_HOUR: f64 = 4.0;
/// Rate of submissions in the quietest hour, as a share of the rate in the busiest hour.
const NIGHT: f64 = 0.2;
/// Rate of submissions at weekends, as a share of the rate on weekdays.
const WEEKEND: f64 = 0.5;

/// Rate of submissions in the given second, as a share of the highest rate. Second 0 is on a Monday.
fn intensity(second: i64) -> f64 {
    let hour = (second % DAY) as f64 / 3600.0;
    let turn = std::f64::consts::TAU * (hour - QUIETEST_HOUR) / 24.0;
    let daily = NIGHT + (1.0 - NIGHT) * (1.0 - turn.cos()) / 2.0;
    let weekend = second / DAY % 7 >= 5;
    if weekend { WEEKEND * daily } else { daily }
}

/// Draws the second of a submission within the first `days` days.
pub fn draw(days: u32, rng: &mut ChaCha8Rng) -> i64 {
    loop {
        let second = rng.random_range(0..i64::from(days) * DAY);
        if rng.random_bool(intensity(second)) {
            return second;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // The expected values follow from `NIGHT` and `WEEKEND`.
    #[test]
    fn nights_and_weekends_are_quiet() {
        let at = |day: i64, hour: i64| intensity(day * DAY + hour * 3600);
        assert!((at(0, 4) - 0.2).abs() < 1e-12);
        assert!((at(7, 16) - 1.0).abs() < 1e-12);
        assert!((at(5, 16) - 0.5).abs() < 1e-12);
        assert!((0..14 * 24).all(|hour| (0.0..=1.0).contains(&at(0, hour))));
    }
}
