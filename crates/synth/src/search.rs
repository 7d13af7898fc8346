//! Generates architecture searches: trials that train networks of different speeds, with their learning curves.

use gleaner_search::{Draw, Family, Plan};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use gleaner_domain::TrainingTask;
use gleaner_domain::error::{Error, Result};

/// A loss measured in a trial.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Loss {
    /// Trial number, from 0.
    pub trial: u32,
    /// Resource that the trial had consumed when the loss was measured.
    pub resource: f64,
    /// The loss at that resource.
    pub loss: f64,
    /// Index of the training task of the trial.
    pub task: usize,
}

/// Generates the losses of all trials of a search at all of its rungs.
///
/// A trial trains one of `tasks`, drawn at random. Slower networks reach lower losses. Each halving of a network's
/// speed per node multiplies the loss that its trials approach by 0.8. In all other respects, losses follow [`Family`]
/// with its defaults.
///
/// # Errors
/// [`Error::Usage`] if the plan is invalid, or if there are no tasks.
pub fn losses(plan: &Plan, tasks: &[TrainingTask], seed: u64) -> Result<Vec<Loss>> {
    plan.validate().map_err(|faults| {
        let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
        Error::Usage(format!("the search: {}", faults.join("; ")))
    })?;
    let speeds: Vec<f64> = tasks.iter().map(speed_of_one).collect();
    let fastest = speeds.iter().copied().fold(f64::NAN, f64::max);
    if tasks.is_empty() {
        return Err(Error::Usage("a search needs at least one task".into()));
    }
    let brackets = plan.brackets();
    let first = brackets.iter().filter_map(|bracket| bracket.rungs.first());
    let trials: u32 = first.map(|rung| rung.trials).sum();
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut losses = Vec::new();
    for trial in 0..trials {
        let task = rng.random_range(0..tasks.len());
        let size = (speeds[task] / fastest).log2();
        let family = Family {
            seed,
            floor: scaled(Family::default().floor, 0.8_f64.powf(-size)),
            ..Family::default()
        };
        for resource in plan.rungs() {
            losses.push(Loss {
                trial,
                resource,
                loss: family.loss(trial, resource),
                task,
            });
        }
    }
    Ok(losses)
}

/// The distribution of the values of `draw` multiplied by `factor`.
fn scaled(draw: Draw, factor: f64) -> Draw {
    match draw {
        Draw::Uniform { low, high } => Draw::Uniform {
            low: low * factor,
            high: high * factor,
        },
        Draw::LogUniform { low, high } => Draw::LogUniform {
            low: low * factor,
            high: high * factor,
        },
        Draw::Normal { mean, deviation } => Draw::Normal {
            mean: mean * factor,
            deviation: deviation * factor,
        },
    }
}

/// Progress per node and second when the task runs on its minimum number of nodes.
fn speed_of_one(task: &TrainingTask) -> f64 {
    task.curve.progress_at(task.min_nodes) / f64::from(task.min_nodes)
}

#[cfg(test)]
mod tests {
    use gleaner_search::Algorithm;

    use super::*;
    use crate::tasks::{TaskOptions, generate};

    #[test]
    fn slower_networks_approach_smaller_losses() {
        let options = TaskOptions {
            count: 2,
            models: 2,
            max_nodes: 8,
            hours: 1.0,
            start: None,
            submit_every: 0.0,
            seed: 1,
        };
        let tasks = generate(&options).unwrap();
        let plan = Plan {
            trials: Some(400),
            ..Plan::new(Algorithm::Asha, 81.0)
        };
        let losses = losses(&plan, &tasks, 3).unwrap();
        assert_eq!(losses.len(), 400 * 5);
        let mean = |task: usize| {
            let own: Vec<f64> = losses
                .iter()
                .filter(|loss| loss.task == task && loss.resource == 81.0)
                .map(|loss| loss.loss)
                .collect();
            own.iter().sum::<f64>() / own.len() as f64
        };
        let slow = usize::from(speed_of_one(&tasks[1]) < speed_of_one(&tasks[0]));
        assert!(mean(slow) < mean(1 - slow), "{} {}", mean(0), mean(1));
    }
}
