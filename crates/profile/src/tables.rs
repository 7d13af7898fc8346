//! Rows of the tables that `gleaner simulate` and `gleaner train packing` read.

use std::collections::BTreeMap;

use gleaner_domain::inputs::LEAST_SPEED;
use gleaner_domain::results::profile::{FailureRow, PairRow, Quartiles, SingleRow};
use gleaner_learn::lucid::Usage;
use gleaner_learn::lucid::packing::{self, Pair, Profile, Shared, shared};

use crate::failure::Problem;
use crate::measure::Measured;
use crate::plan::{Config, Plan};
use crate::session::Session;

/// Largest valid speed of a workload in a pair, relative to its speed alone.
const GREATEST_SPEED: f64 = 10.0;

/// The tables of a session.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Tables {
    /// Single workloads, in the plan's order.
    pub singles: Vec<SingleRow>,
    /// Pairs, in the plan's order.
    pub pairs: Vec<PairRow>,
    /// Failures in the order in which they occurred, followed by pairs with implausible speeds.
    pub failures: Vec<FailureRow>,
}

impl Tables {
    /// The tables of the measurements that a session has made so far.
    pub fn of(session: &Session<'_>) -> Self {
        let mut tables = Tables {
            failures: failures(session),
            ..Tables::default()
        };
        let measured = by_workloads(session);
        for (&(first, second), all) in &measured {
            match second {
                None => tables.singles.extend(single(session.plan(), first, all)),
                Some(second) => {
                    let alone = |config| measured.get(&(config, None));
                    if let (Some(a), Some(b)) = (alone(first), alone(second)) {
                        tables.pair(session.plan(), (first, second), (a, b), all);
                    }
                }
            }
        }
        tables.label();
        tables
    }

    /// Adds the row of a pair, unless its speeds are outside the range of the tables.
    fn pair(
        &mut self,
        plan: &Plan,
        (first, second): (usize, usize),
        alone: (&Repeats<'_>, &Repeats<'_>),
        both: &Repeats<'_>,
    ) {
        let Some(row) = pair(plan, (first, second), alone, both) else {
            return;
        };
        let speeds = [(row.speed1, first), (row.speed2, second)];
        let is_odd = |speed: f64| !(LEAST_SPEED..=GREATEST_SPEED).contains(&speed);
        match speeds.into_iter().find(|(speed, _)| is_odd(*speed)) {
            None => self.pairs.push(row),
            Some((speed, config)) => {
                let name = |index: usize| plan.named(plan.configs[index]).to_string();
                self.failures.push(FailureRow {
                    first: name(first),
                    second: name(second),
                    repeat: 0,
                    problem: told(&Problem::Implausible(speed), Some(&name(config))),
                    output: String::new(),
                });
            }
        }
    }

    /// Derives the labels of single workloads from their mean speeds in pairs: 2 below 0.85, 1 from
    /// 0.85 to below 0.95, and 0 otherwise.
    fn label(&mut self) {
        let profiles: Vec<Profile> = self.singles.iter().map(profile).collect();
        let pairs: Vec<Pair> = self.pairs.iter().map(speeds).collect();
        for (row, shared) in self.singles.iter_mut().zip(shared(&profiles, &pairs)) {
            row.label = label(&shared);
        }
    }
}

/// The sharing score; `None` if the workload has no measured pair.
fn label(shared: &Shared) -> Option<f64> {
    (shared.pairs > 0).then(|| f64::from(shared.score()))
}

/// The results of all repeats of one measurement.
type Repeats<'a> = Vec<&'a Measured>;

/// Measurements of single workloads and of pairs, each in the plan's order.
fn by_workloads<'a>(session: &'a Session<'_>) -> BTreeMap<(usize, Option<usize>), Repeats<'a>> {
    let mut all = BTreeMap::<_, Repeats<'_>>::new();
    for (entry, made) in session.measurements() {
        if let Some(made) = made {
            all.entry((entry.first, entry.second))
                .or_default()
                .push(made);
        }
    }
    all
}

/// The quartiles of a figure over the repeats.
fn over(repeats: &Repeats<'_>, figure: impl Fn(&Measured) -> Option<f64>) -> Option<Quartiles> {
    Quartiles::of(repeats.iter().filter_map(|measured| figure(measured)))
}

/// Returns a function that reads the speed of the workload with index `which` from a measurement.
fn speed(which: usize) -> impl Fn(&Measured) -> Option<f64> {
    move |measured| measured.parts.get(which).map(|part| part.speed)
}

fn single(plan: &Plan, index: usize, repeats: &Repeats<'_>) -> Option<SingleRow> {
    let config = plan.configs[index];
    let Named { model, dataset } = Named::of(plan, config);
    let speed = over(repeats, speed(0))?;
    let util = over(repeats, |measured| measured.util);
    let memory = over(repeats, |measured| Some(measured.memory))?;
    Some(SingleRow {
        model,
        dataset,
        gpu_num: plan.settings.gpu_num(),
        batch_size: config.batch_size,
        amp: u32::from(config.amp),
        speed: speed.median,
        gpu_util: util.map(|util| util.median),
        gmem_util: over(repeats, |measured| measured.memory_util).map(|util| util.median),
        gmem: memory.median,
        label: None,
        time: over(repeats, |measured| Some(measured.seconds))?.median,
        speed_q1: speed.q1,
        speed_q3: speed.q3,
        gpu_util_q1: util.map(|util| util.q1),
        gpu_util_q3: util.map(|util| util.q3),
        gmem_q1: memory.q1,
        gmem_q3: memory.q3,
        warm: over(repeats, |measured| Some(measured.parts.first()?.warm))?.median,
        repeats: repeats.len(),
    })
}

fn pair(
    plan: &Plan,
    (first, second): (usize, usize),
    (alone1, alone2): (&Repeats<'_>, &Repeats<'_>),
    both: &Repeats<'_>,
) -> Option<PairRow> {
    let (one, two) = (plan.configs[first], plan.configs[second]);
    let (named1, named2) = (Named::of(plan, one), Named::of(plan, two));
    let (raw1, raw2) = (over(both, speed(0))?, over(both, speed(1))?);
    let (single1, single2) = (
        over(alone1, speed(0))?.median,
        over(alone2, speed(0))?.median,
    );
    let part = |which: usize| {
        let util = move |measured: &Measured| measured.parts.get(which)?.util;
        over(both, util).map(|util| util.median)
    };
    Some(PairRow {
        model1: named1.model,
        dataset1: named1.dataset,
        gpu_num1: plan.settings.gpu_num(),
        batch_size1: one.batch_size,
        amp1: u32::from(one.amp),
        speed1: raw1.median / single1,
        model2: named2.model,
        dataset2: named2.dataset,
        gpu_num2: plan.settings.gpu_num(),
        batch_size2: two.batch_size,
        amp2: u32::from(two.amp),
        speed2: raw2.median / single2,
        gpu_util: over(both, |measured| measured.util).map(|util| util.median),
        gmem_util: over(both, |measured| measured.memory_util).map(|util| util.median),
        gmem: over(both, |measured| Some(measured.memory))?.median,
        raw_speed1: raw1.median,
        raw_speed2: raw2.median,
        speed1_q1: raw1.q1 / single1,
        speed1_q3: raw1.q3 / single1,
        speed2_q1: raw2.q1 / single2,
        speed2_q3: raw2.q3 / single2,
        gpu_util1: part(0),
        gpu_util2: part(1),
        time: over(both, |measured| Some(measured.seconds))?.median,
        repeats: both.len(),
    })
}

/// The columns that identify a workload in the tables.
struct Named {
    model: String,
    dataset: String,
}

impl Named {
    fn of(plan: &Plan, config: Config) -> Self {
        let workload = plan.workload(config);
        Named {
            model: workload.model.clone(),
            dataset: workload.dataset.clone(),
        }
    }
}

/// Converts a row to the format of the packing model.
fn profile(row: &SingleRow) -> Profile {
    Profile {
        workload: packing::Workload {
            model: row.model.clone(),
            dataset: row.dataset.clone(),
            batch_size: row.batch_size,
            amp: row.amp == 1,
        },
        // The sharing scores do not depend on these figures.
        usage: Usage {
            gpu_util: f64::NAN,
            gmem_util: f64::NAN,
            gmem: f64::NAN,
        },
        score: 0,
    }
}

fn speeds(row: &PairRow) -> Pair {
    let workload = |model: &str, dataset: &str, batch_size, amp| packing::Workload {
        model: model.to_owned(),
        dataset: dataset.to_owned(),
        batch_size,
        amp: amp == 1,
    };
    Pair {
        workloads: [
            workload(&row.model1, &row.dataset1, row.batch_size1, row.amp1),
            workload(&row.model2, &row.dataset2, row.batch_size2, row.amp2),
        ],
        speeds: [row.speed1, row.speed2],
    }
}

fn failures(session: &Session<'_>) -> Vec<FailureRow> {
    let plan = session.plan();
    let name = |index: usize| plan.named(plan.configs[index]).to_string();
    let row = |(entry, failed): (&crate::Entry, &crate::Failed)| {
        let second = entry.second.map(name);
        // For a pair, the message must name the workload that failed.
        let which = match (failed.which, &second) {
            (Some(0), Some(_)) => Some(name(entry.first)),
            (Some(_), Some(second)) => Some(second.clone()),
            _ => None,
        };
        FailureRow {
            first: name(entry.first),
            second: second.unwrap_or_default(),
            repeat: entry.repeat + 1,
            problem: told(&failed.problem, which.as_deref()),
            output: failed.output.clone(),
        }
    };
    session.failures().map(row).collect()
}

/// Describes a problem, with the workload's name if one is given.
fn told(problem: &Problem, which: Option<&str>) -> String {
    match which {
        Some(name) => format!("{name}: {problem}"),
        None => problem.to_string(),
    }
}
