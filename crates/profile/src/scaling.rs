//! Measures scaling curves: each workload runs with 1, 2, 4, … processes. The results are tasks that
//! `gleaner replay` reads.

use gleaner_domain::Observer;
use gleaner_domain::error::{Error, Result};
use gleaner_domain::results::profile::Quartiles;
use gleaner_domain::{ClassTerms, ScalingCurve, TrainingTask};
use gleaner_solvers::Rates;

use crate::failure::Failed;
use crate::measure::{Measured, Outcome};
use crate::plan::{Config, Plan};
use crate::session::Machine;

/// The measured scaling curves, as tasks.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Scaling {
    /// A task for each config (workload, batch size and precision) for which at least one measurement succeeded.
    pub tasks: Vec<TrainingTask>,
    /// Messages about failed measurements.
    pub failures: Vec<String>,
}

/// The placeholder that a command must contain.
const PLACEHOLDER: &str = "{processes}";

/// Measures every workload of a plan with 1, 2, 4, … processes. Reports progress to the observer, counted in
/// measurements. Returns `None` if the observer stopped the measurements.
///
/// # Errors
/// [`Error::Usage`] if a command lacks the placeholder for the number of processes.
pub fn run(plan: &Plan, machine: &mut Machine, observer: &dyn Observer) -> Result<Option<Scaling>> {
    check(plan)?;
    let counts = counts(plan.most_processes);
    let repeats = plan.settings.repeats as usize;
    let total = plan.configs.len() * counts.len() * repeats;
    let (mut scaling, mut done) = (Scaling::default(), 0);
    for &config in &plan.configs {
        let mut points = Vec::new();
        for &count in &counts {
            let mut measured = Vec::new();
            for _ in 0..repeats {
                observer.progress(done, total);
                done += 1;
                match machine.measure(plan, &[config], count, observer) {
                    Outcome::Stopped => return Ok(None),
                    Outcome::Measured(one) => measured.push(one),
                    Outcome::Failed(failed) => {
                        scaling.failures.push(told(plan, config, count, &failed));
                    }
                }
            }
            points.extend(Point::of(count, &measured));
        }
        scaling.tasks.extend(task(plan, config, &points));
    }
    Ok(Some(scaling))
}

/// Checks that every command contains the placeholder for the number of processes.
///
/// # Errors
/// [`Error::Usage`] if a command lacks it.
pub fn check(plan: &Plan) -> Result<()> {
    let lacks = |words: &[String]| !words.iter().any(|word| word.contains(PLACEHOLDER));
    let lacking = plan
        .workloads
        .iter()
        .find(|workload| lacks(&workload.command));
    match lacking {
        None => Ok(()),
        Some(workload) => Err(Error::Usage(format!(
            "--scaling: the command of the workload {:?} has no {PLACEHOLDER}; without it, the \
             same command would run for every number of processes",
            workload.name
        ))),
    }
}

/// The powers of two up to `most`, and `most` itself.
fn counts(most: u32) -> Vec<u32> {
    let doubled = std::iter::successors(Some(1u32), |count| count.checked_mul(2));
    let mut counts: Vec<u32> = doubled.take_while(|&count| count < most).collect();
    counts.push(most);
    counts
}

/// A point of a scaling curve.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Point {
    processes: u32,
    /// Samples per second.
    speed: f64,
    /// Seconds from the start of the workload until it was warm.
    warm: f64,
}

impl Point {
    /// The medians over the successful repeats; `None` if all repeats failed.
    fn of(processes: u32, measured: &[Measured]) -> Option<Self> {
        let parts = || measured.iter().filter_map(|one| one.parts.first());
        Some(Point {
            processes,
            speed: Quartiles::of(parts().map(|part| part.speed))?.median,
            warm: Quartiles::of(parts().map(|part| part.warm))?.median,
        })
    }
}

/// The task of a config; `None` if all its measurements failed.
fn task(plan: &Plan, config: Config, points: &[Point]) -> Option<TrainingTask> {
    let (first, last) = (points.first()?, points.last()?);
    // A rescale restarts the workload, which makes no progress until it is warm again.
    let restart = Quartiles::of(points.iter().map(|point| point.warm))?.median;
    let nodes = std::iter::once(0).chain(points.iter().map(|point| point.processes));
    let progress = std::iter::once(0.0).chain(points.iter().map(|point| point.speed));
    let progress: Vec<f64> = progress.collect();
    let progress = Rates::from(progress.as_slice());
    Some(TrainingTask {
        name: plan.named(config).to_string(),
        submit: TrainingTask::FROM_START,
        min_nodes: first.processes,
        max_nodes: last.processes,
        rescale_up: restart,
        rescale_down: restart,
        work: f64::INFINITY,
        priority: 1.0,
        deadline: None,
        rung: 0,
        classes: ClassTerms::default(),
        curve: ScalingCurve {
            nodes: nodes.collect(),
            objective: progress.clone(),
            progress,
        },
    })
}

fn told(plan: &Plan, config: Config, processes: u32, failed: &Failed) -> String {
    let name = plan.named(config);
    let output = if failed.output.is_empty() {
        String::new()
    } else {
        format!("; it wrote: {}", failed.output)
    };
    format!(
        "{name} on {processes} processes: {}{output}",
        failed.problem
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_double_up_to_the_most() {
        assert_eq!(counts(1), [1]);
        assert_eq!(counts(8), [1, 2, 4, 8]);
        assert_eq!(counts(6), [1, 2, 4, 6]);
    }
}
