//! Switches the sharing of GPUs on and off, depending on the forecast.

use super::Context;
use crate::scaling::next_tick;
use gleaner_domain::inputs::Forecast;

/// Seconds between two checks of the forecast.
const INTERVAL: i64 = 100;
/// Sharing is off if at most this number of GPU jobs is expected per interval.
const QUIET_JOBS: f64 = 2.0;

/// Determines whether GPUs are shared. Sharing is off until the first check.
pub(super) struct Sharing<'a> {
    forecast: Option<&'a dyn Forecast>,
    never: bool,
    start: i64,
    /// Second of the last check, and whether this check switched sharing on.
    look: Option<(i64, bool)>,
    /// The second at which [`Sharing::next_on`] was last computed, and its result. The result stays valid until the
    /// second that it contains, or forever if it is `None`.
    next: Option<(i64, Option<i64>)>,
}

impl<'a> Sharing<'a> {
    pub fn new(context: &Context<'a>) -> Self {
        Sharing {
            forecast: context.forecast,
            never: context.without.throughput || context.packing.is_none(),
            start: context.start,
            look: None,
            next: None,
        }
    }

    /// Whether sharing is on at second `now`.
    pub fn is_on(&mut self, now: i64) -> bool {
        let tick = now - now.rem_euclid(INTERVAL);
        if tick < self.start {
            return false;
        }
        match self.look {
            Some((last, on)) if last == tick => on,
            _ => {
                let on = self.look_at(tick);
                self.look = Some((tick, on));
                on
            }
        }
    }

    fn look_at(&self, tick: i64) -> bool {
        let busy = |forecast: &dyn Forecast| {
            let jobs = forecast.gpu_jobs(tick);
            jobs.is_none_or(|jobs| jobs > QUIET_JOBS)
        };
        !self.never && self.forecast.is_none_or(busy)
    }

    /// Second of the first check after `now` that switches sharing on; `None` if no check does.
    pub fn next_on(&mut self, now: i64) -> Option<i64> {
        if self.never {
            return None;
        }
        match self.next {
            Some((asked, next)) if asked <= now && next.is_none_or(|next| now < next) => next,
            _ => {
                // Without a forecast, sharing is off only before the first check.
                let forecast = self.forecast.unwrap_or(&f64::INFINITY);
                let next = next_tick(forecast, now, INTERVAL, |tick| self.look_at(tick));
                self.next = Some((now, next));
                next
            }
        }
    }
}
