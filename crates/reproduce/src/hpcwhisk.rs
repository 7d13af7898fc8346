//! HPC-Whisk: idle nodes and pilot jobs on Prometheus, 17 March 2022.
//!
//! The artifact's notebooks count polls of node states. The notebooks simulate pilots on the spans during which nodes
//! are idle, and measure time in polls. There are 6 polls per minute, and a start-up takes 2 polls. This module
//! computes all figures that the notebooks print, from the same polls.

mod accounting;
mod polls;
mod statistics;
#[cfg(test)]
mod tests;

use std::time::Duration;

use gleaner_domain::error::Result;
use gleaner_domain::results::reproduce::System;
use gleaner_domain::{Observer, Unobserved};
use gleaner_pilots::{Best, Costs, Fault, Fragments, Grid, Ladder, best, fits, kept, lost, placed};

use crate::files::Data;
use crate::filled::Values;
use crate::{Part, cause};
use accounting::Accounting;
use polls::Polls;
use statistics::{mean, quantile};

/// The ladders of the notebooks, in minutes.
const LADDERS: [(&str, &[u64]); 5] = [
    ("A1", &[2, 4, 6, 8, 14, 22, 34, 56, 90]),
    ("A2", &[2, 4, 8, 12, 20, 34, 54, 88]),
    ("A3", &[2, 4, 6, 10, 16, 26, 42, 68, 110]),
    ("B", &[2, 4, 8, 16, 32, 64]),
    ("C1", &[2, 4, 6, 8, 10, 12, 14, 16, 18, 20]),
];
/// Name of the notebooks' ladder of all even wall times up to 120 minutes.
const EVEN: &str = "C2";
/// Name, in the reference data, of the ladder of all wall times in whole minutes up to 120. The notebooks do not
/// contain this ladder.
const EVERY: &str = "every minute to 120";
/// Name of the ladder whose simulation results the notebook stores.
const STORED: &str = "A1";
/// The longest wall time, in minutes.
const LONGEST: u64 = 120;
/// Maximum number of wall times in a best ladder.
const MOST: usize = 9;

/// A unit of time, and a pilot's costs in this unit.
#[derive(Debug, Clone, Copy)]
struct Unit {
    /// Number of units in a minute.
    minute: u64,
    costs: Costs,
}

/// Time in polls, as in the notebooks.
const IN_POLLS: Unit = Unit {
    minute: 6,
    costs: Costs {
        startup: 2,
        delay: 0,
    },
};
/// Time in seconds, with the same start-up time as [`IN_POLLS`].
const IN_SECONDS: Unit = Unit {
    minute: 60,
    costs: Costs {
        startup: 20,
        delay: 0,
    },
};
/// Like [`IN_SECONDS`], but with the delay that the scheduler needs to start a pilot.
const DELAYED: Unit = Unit {
    costs: Costs {
        startup: 20,
        delay: 10,
    },
    ..IN_SECONDS
};

impl Unit {
    fn ladder(self, minutes: impl IntoIterator<Item = u64>) -> Result<Ladder> {
        let lengths = minutes.into_iter().map(|minutes| minutes * self.minute);
        Ladder::new(lengths, self.costs).map_err(|fault| cause(&Unobserved, fault))
    }

    /// The ladder with this name.
    fn named(self, name: &str) -> Result<Ladder> {
        match LADDERS.iter().find(|(known, _)| *known == name) {
            Some((_, minutes)) => self.ladder(minutes.iter().copied()),
            None if name == EVEN => self.ladder((2..=LONGEST).step_by(2)),
            None => self.ladder(1..=LONGEST),
        }
    }

    /// The best ladders whose wall times are multiples of `step` minutes.
    fn best(self, fragments: &Fragments, step: u64, observer: &dyn Observer) -> Result<Vec<Best>> {
        let grid = Grid {
            step: step * self.minute,
            longest: LONGEST * self.minute,
        };
        // Without a time limit, the search proves every ladder optimal.
        let found = best(fragments, grid, self.costs, MOST, Duration::MAX, observer);
        found.map_err(|fault| cause(observer, fault))
    }
}

/// Reproduces the figures of HPC-Whisk.
pub(super) fn reproduce<'c>(data: Data<'_>, observer: &'c dyn Observer) -> Result<Part<'c>> {
    let mut part = Part::new(System::Hpcwhisk, observer)?;
    let polls = part.take(Polls::read(
        &data.file("machines/whisk/17_03_2022_idle_nodes.txt"),
    )?);
    let jobs = part.take(Accounting::read(
        &data.file("machines/whisk/17_03_2022_slurm-jobs.txt"),
    )?);
    let in_polls = histogram(polls.run_lengths())?;
    let in_seconds = histogram(polls.run_seconds())?;
    part.add("hpcwhisk-idle", &idle(&polls))?;
    part.add("hpcwhisk-runs", &runs(&polls))?;
    part.add("hpcwhisk-pilots", &pilots(&polls, &in_polls)?)?;
    part.add("hpcwhisk-simulation", &simulation(&polls, &in_polls)?)?;
    part.add("hpcwhisk-ladders", &ladders(&polls, &in_polls)?)?;
    part.add("hpcwhisk-accounting", &accounting(&jobs))?;
    part.add("hpcwhisk-polled-pilots", &polled_pilots(&polls, &jobs))?;
    part.add("hpcwhisk-models", &models(&in_seconds, observer)?)?;
    let even = IN_POLLS.best(&in_polls, 2, observer)?;
    part.add(
        "hpcwhisk-best-polls",
        &best_ladders(&in_polls, IN_POLLS, &even),
    )?;
    let every = IN_SECONDS.best(&in_seconds, 1, observer)?;
    part.add(
        "hpcwhisk-best-seconds",
        &best_ladders(&in_seconds, IN_SECONDS, &every),
    )?;
    part.finish()
}

const DAY: &str = "17 March 2022";

fn histogram(lengths: impl Iterator<Item = u64>) -> Result<Fragments> {
    Fragments::new(lengths).map_err(|fault| cause(&Unobserved, fault))
}

/// Figures of the polls and of the idle nodes in each poll. Nodes in the state `idle` and nodes with pilots count as
/// idle.
fn idle(polls: &Polls) -> Values {
    let (free, number) = (&polls.free, polls.times.len() as f64);
    let mut ours = Values::default();
    let values = [
        ("polls", number),
        ("nodes", polls.height as f64),
        ("mean interval", polls.interval()),
        (
            "idle share",
            polls.idle() as f64 / (number * polls.height as f64),
        ),
        ("idle nodes, 25 %", quantile(free, 0.25)),
        ("idle nodes, 50 %", quantile(free, 0.5)),
        ("idle nodes, 75 %", quantile(free, 0.75)),
        ("idle nodes, mean", mean(free)),
        (
            "share of polls without an idle node",
            zeros(free) as f64 / number,
        ),
    ];
    ours.row(DAY, values);
    ours
}

/// Figures of the lengths of idle spans.
fn runs(polls: &Polls) -> Values {
    let lengths: Vec<u64> = polls.run_lengths().collect();
    let interval = polls.interval();
    let mut ours = Values::default();
    let values = [
        ("25 %", quantile(&lengths, 0.25) * interval),
        ("50 %", quantile(&lengths, 0.5) * interval),
        ("75 %", quantile(&lengths, 0.75) * interval),
        ("mean", mean(&lengths)),
    ];
    ours.row(DAY, values);
    ours
}

/// Figures of the pilots that ran, and the share of the idle time that simulated pilots hold.
fn pilots(polls: &Polls, in_polls: &Fragments) -> Result<Values> {
    const SHARE: &str = "share of idle time";
    let (pilots, number) = (&polls.pilots, polls.times.len() as f64);
    let time: u64 = pilots.iter().sum();
    let share = time as f64 / polls.idle() as f64;
    let mut ours = Values::default();
    let values = [
        ("pilot time", time as f64 * polls.interval()),
        ("pilots, 25 %", quantile(pilots, 0.25)),
        ("pilots, 50 %", quantile(pilots, 0.5)),
        ("pilots, 75 %", quantile(pilots, 0.75)),
        ("pilots, mean", mean(pilots)),
        (SHARE, share),
        ("not used", 1.0 - share),
        ("polls without a pilot", zeros(pilots) as f64),
        (
            "share of polls without a pilot",
            zeros(pilots) as f64 / number,
        ),
    ];
    ours.row(DAY, values);
    let delayed = Unit {
        costs: Costs {
            delay: 1,
            ..IN_POLLS.costs
        },
        ..IN_POLLS
    };
    for (row, unit) in [
        ("simulated pilots of A1", IN_POLLS),
        ("simulated pilots of A1, each one poll late", delayed),
    ] {
        let found = fits(in_polls, &unit.named(STORED)?);
        ours.set(row, SHARE, in_polls.share(found.ready + found.startup));
    }
    Ok(ours)
}

/// Figures of the simulation of the ladder A1, whose results the notebook stores.
fn simulation(polls: &Polls, in_polls: &Fragments) -> Result<Values> {
    let ladder = IN_POLLS.named(STORED)?;
    let found = fits(in_polls, &ladder);
    let (warming, ready) = series(polls, &ladder);
    let number = polls.times.len() as f64;
    let idle = in_polls.total() as f64;
    let mut ours = Values::default();
    let values = [
        ("starting up", found.startup as f64),
        ("ready", found.ready as f64),
        ("pilots", found.pilots as f64),
        ("ready, 25 %", quantile(&ready, 0.25)),
        ("ready, 50 %", quantile(&ready, 0.5)),
        ("ready, 75 %", quantile(&ready, 0.75)),
        ("ready, mean", mean(&ready)),
        ("starting up, 25 %", quantile(&warming, 0.25)),
        ("starting up, 50 %", quantile(&warming, 0.5)),
        ("starting up, 75 %", quantile(&warming, 0.75)),
        ("starting up, mean", mean(&warming)),
        (
            "upper bound",
            in_polls.share(kept(in_polls, IN_POLLS.costs).ready),
        ),
        ("ready share", in_polls.share(found.ready)),
        ("start-up share", in_polls.share(found.startup)),
        (
            "share not used",
            1.0 - (found.startup + found.ready) as f64 / idle,
        ),
        ("polls without a ready pilot", zeros(&ready) as f64),
        (
            "share of polls without a ready pilot",
            zeros(&ready) as f64 / number,
        ),
    ];
    ours.row(STORED, values);
    Ok(ours)
}

/// Figures of all ladders of the notebook, in polls.
fn ladders(polls: &Polls, in_polls: &Fragments) -> Result<Values> {
    let mut ours = Values::default();
    for name in LADDERS.map(|(name, _)| name).into_iter().chain([EVEN]) {
        let ladder = IN_POLLS.named(name)?;
        let found = fits(in_polls, &ladder);
        let (_, ready) = series(polls, &ladder);
        let values = [
            ("ready share", in_polls.share(found.ready)),
            ("starting up", found.startup as f64),
            ("ready", found.ready as f64),
            ("pilots", found.pilots as f64),
            ("polls without a ready pilot", zeros(&ready) as f64),
        ];
        ours.row(name, values);
    }
    Ok(ours)
}

/// Counts, for each poll, the simulated pilots that are starting up and those that are ready.
fn series(polls: &Polls, ladder: &Ladder) -> (Vec<u64>, Vec<u64>) {
    let mut warming = vec![0; polls.times.len()];
    let mut ready = warming.clone();
    for run in &polls.runs {
        for pilot in placed(run.polls(), ladder) {
            let start = run.from + pilot.start as usize;
            let is_ready = start + ladder.costs().startup as usize;
            let end = start + pilot.length as usize;
            warming[start..is_ready]
                .iter_mut()
                .for_each(|count| *count += 1);
            ready[is_ready..end]
                .iter_mut()
                .for_each(|count| *count += 1);
        }
    }
    (warming, ready)
}

/// Figures of the day's pilots according to Slurm's accounting.
fn accounting(jobs: &Accounting) -> Values {
    let mut ours = Values::default();
    let mut row = |name: &str, of: &dyn Fn(&accounting::PilotJob) -> bool| {
        let (number, seconds) = jobs.sum(of);
        let (_, all) = jobs.sum(&|_| true);
        let share = seconds as f64 / all as f64;
        ours.row(
            name,
            [("pilots", number as f64), ("share of pilot time", share)],
        );
    };
    row("all", &|_| true);
    row("preempted", &|job| job.is_preempted);
    row("of 90 minutes", &|job| job.minutes == Some(90));
    ours
}

/// Figures that compare the pilots in the polls with the pilots in Slurm's accounting.
fn polled_pilots(polls: &Polls, jobs: &Accounting) -> Values {
    let seen = || polls.times.iter().zip(&polls.pilots);
    let equal = seen().filter(|(time, pilots)| jobs.running(**time) == **pilots);
    // The number of pilots is assumed to stay constant from one poll to the next.
    let lengths = polls.times.windows(2).map(|pair| pair[0].abs_diff(pair[1]));
    let polled: u64 = lengths
        .zip(&polls.pilots)
        .map(|(length, pilots)| length * pilots)
        .sum();
    let accounted = match &polls.times[..] {
        [first, .., last] => jobs.seconds_between(*first, *last),
        _ => 0,
    };
    let mut ours = Values::default();
    let values = [
        (
            "polls with the same number of pilots",
            equal.count() as f64 / seen().count() as f64,
        ),
        ("pilot time", polled as f64 / accounted as f64),
    ];
    ours.row(DAY, values);
    ours
}

/// Ready shares under the three models, computed in seconds, for the notebooks' ladders and the ladder of all minutes.
fn models(in_seconds: &Fragments, observer: &dyn Observer) -> Result<Values> {
    let mut ours = Values::default();
    for unit in [IN_SECONDS, DELAYED] {
        let names = LADDERS.map(|(name, _)| name).into_iter();
        for name in names.chain([EVEN, EVERY]) {
            let ladder = unit.named(name)?;
            let lost = lost(in_seconds, &ladder, observer);
            let lost = lost.map_err(|fault: Fault| cause(observer, fault))?;
            let row = format!("{name}, delay {} s", unit.costs.delay);
            let values = [
                ("fits", in_seconds.share(fits(in_seconds, &ladder).ready)),
                ("kept", in_seconds.share(kept(in_seconds, unit.costs).ready)),
                ("lost", in_seconds.share(lost.ready)),
            ];
            ours.row(&row, values);
        }
    }
    Ok(ours)
}

/// The ready shares of the best ladders. The rows are named after the wall times in minutes.
fn best_ladders(fragments: &Fragments, unit: Unit, found: &[Best]) -> Values {
    let mut ours = Values::default();
    for (most, best) in (1..).zip(found) {
        let minutes = best
            .lengths
            .iter()
            .map(|length| (length / unit.minute).to_string());
        let row = format!("{most}: {}", minutes.collect::<Vec<_>>().join(" "));
        ours.set(&row, "ready share", fragments.share(best.ready));
    }
    ours
}

fn zeros(counts: &[u64]) -> usize {
    counts.iter().filter(|&&count| count == 0).count()
}
