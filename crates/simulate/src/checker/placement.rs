//! Checks every run: the number of its GPUs, its nodes and its speeds.

use super::{NodePlace, Report, Terms, Violation};
use gleaner_domain::cluster::{GpuSet, MAX_GPUS_PER_NODE};
use gleaner_domain::results::schedule::{JobRun, Placement, Schedule};

/// Checks all runs. Returns for each run whether the sweep should include it. Runs whose faults the sweep would report
/// a second time are left out.
pub(super) fn check(schedule: &Schedule, terms: &Terms, report: &mut Report) -> Vec<bool> {
    let nodes = schedule.nodes.iter();
    let found = nodes.filter(|node| node.from == i64::MIN).count();
    report.require(found == terms.nodes as usize, || Violation::StartNodes {
        found,
        expected: terms.nodes,
    });
    let mut latest = i64::MIN;
    let mut sound = Vec::with_capacity(schedule.runs.len());
    for (index, run) in schedule.runs.iter().enumerate() {
        report.require(run.from >= latest, || Violation::RunOrder {
            run: index,
            from: run.from,
        });
        latest = latest.max(run.from);
        sound.push(check_run(schedule, terms, index, report));
    }
    sound
}

fn check_run(schedule: &Schedule, terms: &Terms, index: usize, report: &mut Report) -> bool {
    let run = &schedule.runs[index];
    let Some(job) = terms.jobs.get(run.job) else {
        report.add(Violation::NoSuchJob {
            run: index,
            job: run.job,
        });
        return false;
    };
    if run.until <= run.from {
        report.add(Violation::EmptyRun {
            job: job.id.clone(),
            from: run.from,
            until: run.until,
        });
        return false;
    }
    check_gang(terms, run, report);
    check_nodes(schedule, terms, run, report)
}

fn check_gang(terms: &Terms, run: &JobRun, report: &mut Report) {
    let job = terms.jobs[run.job];
    let found = gpus(&run.placement);
    report.require(found == u64::from(job.gpus), || Violation::Gang {
        job: job.id.clone(),
        from: run.from,
        found,
        expected: job.gpus,
    });
    let most = job.gpus.div_ceil(terms.gpus_per_node.max(1));
    let spread = run.placement.len() > most as usize;
    report.require(terms.split || !spread, || Violation::Split {
        job: job.id.clone(),
        from: run.from,
        found: run.placement.len(),
        most,
    });
}

/// Number of GPUs in a placement.
pub(super) fn gpus(placement: &Placement) -> u64 {
    let of_node = |&(_, gpus): &(u32, GpuSet)| u64::from(gpus.count_ones());
    placement.iter().map(of_node).sum()
}

/// Checks that the run's nodes exist and have the GPUs that the run holds. Returns whether all slots
/// of the run exist and no slot is listed twice.
fn check_nodes(schedule: &Schedule, terms: &Terms, run: &JobRun, report: &mut Report) -> bool {
    let job = || terms.jobs[run.job].id.clone();
    let mut slots: Vec<u32> = run.placement.iter().map(|&(slot, _)| slot).collect();
    slots.sort_unstable();
    let twice = slots.windows(2).find(|pair| pair[0] == pair[1]);
    let mut sound = twice.is_none();
    for &(slot, gpus) in &run.placement {
        let Some(&life) = schedule.nodes.get(slot as usize) else {
            report.add(Violation::NoSuchSlot {
                job: job(),
                from: run.from,
                slot,
            });
            sound = false;
            continue;
        };
        let place = place(schedule, slot);
        report.require(gpus != 0 && gpus & !all(terms.gpus_per_node) == 0, || {
            Violation::Mask {
                job: job(),
                from: run.from,
                place,
                gpus,
                gpus_per_node: terms.gpus_per_node,
            }
        });
        report.require(life.from <= run.from && run.until <= life.until, || {
            Violation::DeadNode {
                job: job(),
                from: run.from,
                until: run.until,
                place,
            }
        });
    }
    if let Some(pair) = twice {
        report.add(Violation::SlotTwice {
            job: job(),
            from: run.from,
            place: place(schedule, pair[0]),
        });
    }
    sound
}

/// Slot and name of a node. If the slot does not exist, its number also serves as the name.
pub(super) fn place(schedule: &Schedule, slot: u32) -> NodePlace {
    let node = schedule.nodes.get(slot as usize);
    NodePlace {
        slot,
        name: node.map_or(slot, |node| node.name),
    }
}

/// All GPUs of a node.
fn all(gpus_per_node: u32) -> GpuSet {
    if gpus_per_node >= MAX_GPUS_PER_NODE {
        GpuSet::MAX
    } else {
        (1 << gpus_per_node) - 1
    }
}

/// Checks that the speeds of each run are positive numbers in chronological order. Only runs that
/// share their GPUs at some time may have a speed other than 1.
pub(super) fn check_speeds(
    schedule: &Schedule,
    terms: &Terms,
    shared: &[bool],
    report: &mut Report,
) {
    for (run, &shared) in schedule.runs.iter().zip(shared) {
        let Some(job) = terms.jobs.get(run.job) else {
            continue;
        };
        if let Some((time, speed, why)) = wrong_speed(run, shared) {
            report.add(Violation::Speed {
                job: job.id.clone(),
                from: run.from,
                time,
                speed,
                why,
            });
        }
    }
}

/// Finds the first invalid speed of a run. Returns the time in seconds, the speed, and the reason why it is invalid.
fn wrong_speed(run: &JobRun, shared: bool) -> Option<(i64, f64, &'static str)> {
    let Some(&(first, speed)) = run.speeds.first() else {
        return Some((run.from, f64::NAN, "no speed is given"));
    };
    if first != run.from {
        return Some((
            first,
            speed,
            "the first speed does not begin at the run's start",
        ));
    }
    let mut before = None;
    for &(time, speed) in &run.speeds {
        let why = if before.is_some_and(|before| time <= before) {
            "not later than the previous change of speed"
        } else if time >= run.until {
            "after the run's end"
        } else if !(speed.is_finite() && speed > 0.0) {
            "not a positive number"
        } else if speed != 1.0 && !shared {
            "a job that never shares its GPUs runs at speed 1"
        } else {
            before = Some(time);
            continue;
        };
        return Some((time, speed, why));
    }
    None
}
