//! The lengths from which ladders are chosen.

use super::super::ladder::gcd;
use super::super::{Costs, Fault, LONGEST};
use super::Grid;

/// The maximum number of lengths from which ladders are chosen.
pub const MOST_CANDIDATES: u64 = 10_000;

/// The maximum number of units that a length can take. For every length of a ladder, the search keeps one count per
/// unit.
const MOST_UNITS: u64 = 1_000_000;

/// The multiples of the grid that can be lengths, and the costs of their pilots.
///
/// Times are counted in **units**. A unit is the greatest common divisor of the grid's step and the delay. Every pilot
/// takes a whole number of units. With a grid of 60 s and a delay of 10 s, the unit is 10 s, and a pilot of 2 minutes
/// takes 13 units.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidates {
    /// Length of a unit.
    pub unit: u64,
    /// The grid's step, in units.
    pub grid: usize,
    /// The delay, in units.
    pub delay: usize,
    /// The grid's step, in the caller's unit of time.
    pub step: u64,
    /// The start-up time of a pilot, in the caller's unit of time.
    pub startup: u64,
    /// The smallest multiple of the grid that exceeds the start-up.
    pub lowest: usize,
    /// The greatest multiple of the grid.
    pub highest: usize,
}

impl Candidates {
    pub fn of(grid: Grid, costs: Costs) -> Result<Self, Fault> {
        for time in [grid.step, grid.longest, costs.startup, costs.delay] {
            if time > LONGEST {
                return Err(Fault::TooLong(time));
            }
        }
        let lowest = (costs.startup + 1).div_ceil(grid.step.max(1));
        if grid.step == 0 || lowest * grid.step > grid.longest {
            return Err(Fault::NoLength);
        }
        let highest = grid.longest / grid.step;
        let unit = gcd(grid.step, costs.delay);
        let units = (highest * grid.step + costs.delay) / unit;
        if highest > MOST_CANDIDATES || units > MOST_UNITS {
            return Err(Fault::TooFine {
                lengths: highest,
                units,
            });
        }
        Ok(Candidates {
            unit,
            grid: (grid.step / unit) as usize,
            delay: (costs.delay / unit) as usize,
            step: grid.step,
            startup: costs.startup,
            lowest: lowest as usize,
            highest: highest as usize,
        })
    }

    /// The length that is `multiple` times the grid's step.
    pub fn length(&self, multiple: usize) -> u64 {
        multiple as u64 * self.step
    }

    /// The time for which a pilot of `multiple` times the grid's step is ready.
    pub fn ready(&self, multiple: usize) -> u64 {
        self.length(multiple) - self.startup
    }

    /// The time that a pilot of `multiple` times the grid's step takes, including its delay, in units.
    pub fn taken(&self, multiple: usize) -> usize {
        multiple * self.grid + self.delay
    }
}
