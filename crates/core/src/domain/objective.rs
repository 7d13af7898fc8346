//! Objectives: the quantities that the allocator can maximise.

use std::fmt;
use std::str::FromStr;

use gleaner_solvers::{Goal, Rates};
use serde::{Deserialize, Serialize};

use super::TrainingTask;

/// The quantity that the allocator maximises over the window, less the cost of rescaling.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Objective {
    /// The sum of the objective curves of the task file (O).
    #[default]
    File,
    /// The sum of the tasks' progress (P), in the curves' units.
    Throughput,
    /// The sum of the tasks' speedups: progress against that per node at the minimum.
    Speedup,
    /// The sum of the objective curves, each times its task's priority.
    PriorityWeighted,
    /// Max-min fair shares: as many tasks as possible run, and the least progress among
    /// them, normalised by the task's own best, is as great as possible; ties are broken
    /// by the sum of progress. See [`Goal::MaxMin`].
    ShareFair,
}

impl Objective {
    /// All objectives.
    pub const ALL: [Objective; 5] = [
        Objective::File,
        Objective::Throughput,
        Objective::Speedup,
        Objective::PriorityWeighted,
        Objective::ShareFair,
    ];

    /// Name on the command line and in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Objective::File => "file",
            Objective::Throughput => "throughput",
            Objective::Speedup => "speedup",
            Objective::PriorityWeighted => "priority-weighted",
            Objective::ShareFair => "share-fair",
        }
    }

    /// The goal of every decision's problem.
    pub fn goal(self) -> Goal {
        match self {
            Objective::ShareFair => Goal::MaxMin,
            _ => Goal::Total,
        }
    }

    /// The objective of `task` per second at the points of its curve: a list of the task's own
    /// values, and the factor by which each is multiplied.
    pub fn curve(self, task: &TrainingTask) -> (&Rates, f64) {
        match self {
            Objective::File => (&task.curve.objective, 1.0),
            Objective::Throughput | Objective::ShareFair => (&task.curve.progress, 1.0),
            Objective::Speedup => (&task.curve.progress, 1.0 / speed_of_one(task)),
            Objective::PriorityWeighted => (&task.curve.objective, task.priority),
        }
    }
}

/// Work per second and node at the task's minimum. If it does no work there, at the first
/// point of the curve where it does; 1 if it never does any.
fn speed_of_one(task: &TrainingTask) -> f64 {
    let points = task.curve.nodes.iter().copied();
    let counts = std::iter::once(task.min_nodes).chain(points);
    counts
        .filter(|&count| count >= task.min_nodes)
        .map(|count| task.curve.progress_at(count) / f64::from(count))
        .find(|&speed| speed > 0.0)
        .unwrap_or(1.0)
}

impl fmt::Display for Objective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Objective {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let named = Objective::ALL.into_iter().find(|o| o.as_str() == text);
        named.ok_or_else(|| {
            let names = Objective::ALL.map(Objective::as_str);
            format!("expected one of {}", names.join(", "))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ScalingCurve;

    fn task(min_nodes: u32, progress: [f64; 3]) -> TrainingTask {
        TrainingTask {
            name: "t".into(),
            submit: TrainingTask::FROM_START,
            min_nodes,
            max_nodes: 4,
            rescale_up: 0.0,
            rescale_down: 0.0,
            work: 1.0,
            priority: 3.0,
            curve: ScalingCurve {
                nodes: [0, 2, 4].into(),
                progress: progress.into(),
                objective: [0.0, 1.0, 1.5].into(),
            },
        }
    }

    /// The values at the points.
    fn values(objective: Objective, task: &TrainingTask) -> Vec<f64> {
        let (values, factor) = objective.curve(task);
        values.iter().map(|value| factor * value).collect()
    }

    // Derived by formula.
    #[test]
    fn curves_follow_the_objective() {
        let task = task(2, [0.0, 100.0, 160.0]);
        let curves = Objective::ALL.map(|objective| values(objective, &task));
        assert_eq!(curves[0], [0.0, 1.0, 1.5]);
        assert_eq!(curves[1], [0.0, 100.0, 160.0]);
        assert_eq!(curves[2], [0.0, 2.0, 3.2]);
        assert_eq!(curves[3], [0.0, 3.0, 4.5]);
        assert_eq!(curves[4], curves[1]);
    }

    #[test]
    fn a_task_without_progress_at_its_minimum_has_a_speedup() {
        let late = task(1, [0.0, 0.0, 80.0]);
        assert_eq!(values(Objective::Speedup, &late), [0.0, 0.0, 4.0]);
        let never = task(1, [0.0; 3]);
        assert_eq!(values(Objective::Speedup, &never), [0.0; 3]);
    }

    #[test]
    fn objectives_are_parsed_from_their_names() {
        for objective in Objective::ALL {
            assert_eq!(objective.as_str().parse(), Ok(objective));
        }
        assert!("fair".parse::<Objective>().is_err());
    }
}
