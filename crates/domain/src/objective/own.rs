//! Objectives given as functions, for programs that use this crate as a library.

use gleaner_solvers::range;

use super::values::needed_points;
use crate::error::{Error, Result};
use crate::{CurveSet, TrainingTask};

/// Replaces a task's objective curve with the values of a function, so that the objective `file` maximises these
/// values. The function is called once for each point of the curve whose value is needed, with the point's number of
/// nodes. Values between points are interpolated.
///
/// # Errors
/// The function fails, or a value is outside the range that solvers accept ([`Error::Usage`]).
fn set_objective(
    task: &mut TrainingTask,
    value: &mut dyn FnMut(&TrainingTask, u32) -> Result<f64>,
) -> Result<()> {
    let mut list = vec![0.0; task.curve.nodes.len()];
    for point in needed_points(task) {
        let nodes = task.curve.nodes[point];
        let found = value(task, nodes)?;
        if !range::is_rate(found) {
            return Err(Error::Usage(format!(
                "the objective is {found} for task {:?} on {nodes} nodes: expected {}",
                task.name,
                range::or_zero(&range::RATE)
            )));
        }
        list[point] = found;
    }
    task.curve.objective = list.into();
    Ok(())
}

/// Sets the objective curves of all tasks to the function's values. Tasks with equal curves then share one curve, which
/// reduces the work of solvers.
///
/// # Errors
/// The function fails, or a value is outside the range that solvers accept ([`Error::Usage`]).
pub fn set_objectives(
    tasks: &mut [TrainingTask],
    value: &mut dyn FnMut(&TrainingTask, u32) -> Result<f64>,
) -> Result<()> {
    let mut curves = CurveSet::default();
    for task in tasks {
        set_objective(task, value)?;
        task.curve = curves.share(task.curve.clone());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ClassTerms, ScalingCurve};

    fn task() -> TrainingTask {
        TrainingTask {
            name: "a".into(),
            submit: TrainingTask::FROM_START,
            min_nodes: 2,
            max_nodes: 5,
            rescale_up: 0.0,
            rescale_down: 0.0,
            work: f64::INFINITY,
            priority: 1.0,
            deadline: None,
            rung: 0,
            classes: ClassTerms::default(),
            curve: ScalingCurve {
                nodes: [0, 1, 2, 4, 8, 16].into(),
                progress: [0.0, 1.0, 2.0, 4.0, 8.0, 16.0].into(),
                objective: [0.0, 1.0, 2.0, 4.0, 8.0, 16.0].into(),
            },
        }
    }

    #[test]
    fn each_point_that_is_needed_is_asked_for_once() {
        let (mut task, mut asked) = (task(), Vec::new());
        set_objective(&mut task, &mut |task, nodes| {
            asked.push(nodes);
            Ok(task.curve.progress_at(nodes) * 10.0)
        })
        .unwrap();
        assert_eq!(asked, [2, 4, 8]);
        let values: Vec<f64> = task.curve.objective.iter().copied().collect();
        assert_eq!(values, [0.0, 0.0, 20.0, 40.0, 80.0, 0.0]);
    }

    #[test]
    fn values_that_no_solver_takes_are_named() {
        for value in [-1.0, f64::NAN, f64::INFINITY, 1e101] {
            let error = set_objective(&mut task(), &mut |_, _| Ok(value)).unwrap_err();
            let message = error.to_string();
            assert!(
                message.contains("task \"a\" on 2 nodes: expected 0"),
                "{message}"
            );
        }
    }
}
