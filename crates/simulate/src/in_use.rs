//! Number of GPUs in use over time.

use std::collections::BTreeMap;

use gleaner_domain::results::schedule::{JobRun, Schedule};

/// The changes in the number of GPUs that at least one job holds, by second. No stored change is 0.
pub(super) struct InUse(BTreeMap<i64, i64>);

impl InUse {
    /// Counts the GPUs in use across several schedules.
    pub fn of<'s>(schedules: impl Iterator<Item = &'s Schedule>) -> Self {
        let mut changes = BTreeMap::new();
        for schedule in schedules {
            add(schedule, &mut changes);
        }
        changes.retain(|_, change| *change != 0);
        InUse(changes)
    }

    /// GPU-seconds in use between second `from` and second `until`.
    pub fn gpu_seconds(&self, from: i64, until: i64) -> i64 {
        // Each change counts until `until`: from its own second, or from `from` if it happened earlier.
        let seconds = |second: i64| (until - second.clamp(from, until.max(from))).max(0);
        let each = self.0.iter();
        each.map(|(&second, change)| change * seconds(second)).sum()
    }

    /// The first second at which at least `gpus` GPUs are in use.
    pub fn first_at_least(&self, gpus: f64) -> Option<i64> {
        let mut in_use = 0;
        let mut reached = self.0.iter().filter(|(_, change)| {
            in_use += **change;
            in_use as f64 >= gpus
        });
        reached.next().map(|(second, _)| *second)
    }
}

/// Adds the changes of a schedule, whose runs are ordered by start. If earlier runs still hold a GPU when a run starts
/// on it, the GPU counts only once. The run then adds only the time after the earlier runs end.
fn add(schedule: &Schedule, changes: &mut BTreeMap<i64, i64>) {
    let mut held_until: BTreeMap<(u32, u32), i64> = BTreeMap::new();
    for run in &schedule.runs {
        for gpu in gpus(run) {
            let held = held_until.entry(gpu).or_insert(i64::MIN);
            let from = run.from.max(*held);
            if from < run.until {
                *changes.entry(from).or_default() += 1;
                *changes.entry(run.until).or_default() -= 1;
                *held = run.until;
            }
        }
    }
}

/// Slot and GPU index of each GPU of a run.
fn gpus(run: &JobRun) -> impl Iterator<Item = (u32, u32)> {
    let of_node = |&(slot, gpus): &(u32, u64)| {
        let held = (0..u64::BITS).filter(move |gpu| gpus >> gpu & 1 == 1);
        held.map(move |gpu| (slot, gpu))
    };
    run.placement.iter().flat_map(of_node)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(from: i64, until: i64, gpus: u64) -> JobRun {
        JobRun {
            job: 0,
            from,
            until,
            placement: vec![(0, gpus)],
            speeds: vec![(from, 1.0)],
            last: true,
        }
    }

    // Two GPUs are in use from second 10 to 40, one of them until 60, and a third GPU from 50 to 70.
    #[test]
    fn a_gpu_that_two_jobs_hold_counts_once() {
        let schedule = Schedule {
            runs: vec![run(10, 40, 0b011), run(20, 60, 0b001), run(50, 70, 0b100)],
            ..Schedule::default()
        };
        let in_use = InUse::of([&schedule].into_iter());
        assert_eq!(in_use.gpu_seconds(i64::MIN / 4, i64::MAX / 4), 60 + 20 + 20);
        assert_eq!(in_use.gpu_seconds(0, 20), 20);
        assert_eq!(in_use.gpu_seconds(20, 55), 40 + 15 + 5);
        assert_eq!(in_use.gpu_seconds(60, 60), 0);
        assert_eq!(in_use.first_at_least(2.0), Some(10));
        assert_eq!(in_use.first_at_least(2.5), None);
    }
}
