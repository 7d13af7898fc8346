//! Values of an objective for a task.

use std::fmt;

use gleaner_solvers::Rates;
use gleaner_solvers::range::{self, short};

use super::{Objective, Variable};
use crate::TrainingTask;

/// The state of a task at one point in time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TaskState {
    /// Work done, at least 0.
    pub done: f64,
    /// Remaining work; infinite for an endless task.
    pub left: f64,
    /// Seconds since submission during which the task held no node.
    pub waited: f64,
    /// Seconds to the task's deadline; infinite without a deadline.
    pub deadline: f64,
}

/// Values that an objective derives from a task's whole curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Constants {
    /// Work per second per node, at the task's minimum number of nodes. If the task does no work on that number of
    /// nodes, the value is taken at the first larger point of the curve with a positive rate. If there is no such
    /// point, the value is 1.
    speed_of_one: f64,
    best_rate: f64,
}

impl Constants {
    /// Adjusts a task's constants so that the speedups in all classes are relative to the class in which the task is
    /// slowest. `all` holds the constants of each class, computed separately.
    pub fn across_classes(mut all: Vec<Constants>) -> Vec<Constants> {
        let speeds = all.iter().map(|constants| constants.speed_of_one);
        let slowest = speeds.fold(f64::INFINITY, f64::min);
        for constants in &mut all {
            constants.speed_of_one = slowest;
        }
        all
    }
}

/// The objective of a task at the points of the task's curve, per second: `weight` times each of
/// `rates`.
#[derive(Debug, Clone, PartialEq)]
pub struct ValueList {
    /// One of the lists of the task's curve if the objective is such a list times a factor; otherwise, a new list.
    pub rates: Rates,
    /// The factor, at least 0.
    pub weight: f64,
}

/// An objective's value that is outside the range that solvers accept.
#[derive(Debug, Clone, PartialEq)]
pub struct OutOfRange {
    objective: String,
    task: String,
    nodes: u32,
    value: f64,
    state: TaskState,
}

impl fmt::Display for OutOfRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TaskState {
            done,
            left,
            waited,
            deadline,
        } = self.state;
        write!(
            f,
            "the objective {:?} is {} for task {:?} on {} nodes with done = {}, left = {}, \
             waited = {}, deadline = {}: expected {}; max(0, ...) and min(..., 1e100) keep a value \
             in range",
            self.objective,
            short(self.value),
            self.task,
            self.nodes,
            short(done),
            short(left),
            short(waited),
            short(deadline),
            range::or_zero(&range::RATE)
        )
    }
}

impl Objective {
    /// The values that the objective derives from the task's whole curve.
    pub fn constants(&self, task: &TrainingTask) -> Constants {
        let speedup = self.uses(Variable::Speedup);
        Constants {
            speed_of_one: if speedup { speed_of_one(task) } else { 1.0 },
            best_rate: if self.uses(Variable::BestRate) {
                task.as_solved().best_rate()
            } else {
                0.0
            },
        }
    }

    /// The objective of `task` in a state, at the points of the task's curve. `constants` is the result of
    /// [`Objective::constants`] for the task.
    ///
    /// The value is 0 at points of the curve that are not needed for any number of nodes between
    /// the task's bounds. Positive values below the range of the solvers also become 0.
    ///
    /// # Errors
    /// A value is negative, too large or not a number.
    pub fn values(
        &self,
        task: &TrainingTask,
        constants: &Constants,
        state: &TaskState,
    ) -> Result<ValueList, OutOfRange> {
        let mut values = fixed_values(task, constants, state);
        match self.scaled_list(task, constants, &values) {
            Some(list) => Ok(list),
            None => self.listed(task, constants, state, &mut values),
        }
    }

    /// The values as one of the task's own lists times a factor, if the objective has that form and
    /// all values are in range.
    fn scaled_list(
        &self,
        task: &TrainingTask,
        constants: &Constants,
        values: &[f64; Variable::ALL.len()],
    ) -> Option<ValueList> {
        let scaled = self.scaled.as_ref()?;
        let variable = Variable::ALL[scaled.variable];
        let (rates, unit) = match variable {
            Variable::Objective => (&task.curve.objective, 1.0),
            Variable::Speedup => (&task.curve.progress, 1.0 / constants.speed_of_one),
            _ => (&task.curve.progress, 1.0),
        };
        let weight = scaled.factor(values) * unit;
        let (least, most) = rates.extremes();
        let is_sound = weight.is_finite()
            && weight >= 0.0
            && range::is_rate(weight * least)
            && range::is_rate(weight * most);
        is_sound.then(|| ValueList {
            rates: rates.clone(),
            // This turns −0 into 0.
            weight: weight.abs(),
        })
    }

    /// The values at the points, evaluated one by one.
    fn listed(
        &self,
        task: &TrainingTask,
        constants: &Constants,
        state: &TaskState,
        values: &mut [f64; Variable::ALL.len()],
    ) -> Result<ValueList, OutOfRange> {
        let curve = &task.curve;
        let mut list = vec![0.0; curve.nodes.len()];
        for point in needed_points(task) {
            let nodes = curve.nodes[point];
            values[Variable::Rate as usize] = curve.progress[point];
            values[Variable::Objective as usize] = curve.objective[point];
            values[Variable::Nodes as usize] = f64::from(nodes);
            values[Variable::Speedup as usize] = curve.progress[point] / constants.speed_of_one;
            let value = self.expression.value(&values[..]);
            let value = if value.abs() < *range::RATE.start() {
                0.0
            } else {
                value
            };
            if !range::is_rate(value) {
                return Err(OutOfRange {
                    objective: self.as_str().to_owned(),
                    task: task.name.clone(),
                    nodes,
                    value,
                    state: *state,
                });
            }
            list[point] = value;
        }
        Ok(ValueList {
            rates: list.into(),
            weight: 1.0,
        })
    }

    /// Number of values that [`Objective::values`] would list for the task; 0 if the values share
    /// one of the task's own lists.
    pub(super) fn listed_points(&self, task: &TrainingTask) -> usize {
        match self.scaled {
            Some(_) => 0,
            None => task.curve.nodes.len(),
        }
    }
}

/// The points needed to interpolate the curve from the task's minimum to its maximum number of nodes. The point at 0
/// nodes is left out.
pub(super) fn needed_points(task: &TrainingTask) -> std::ops::Range<usize> {
    let nodes = &task.curve.nodes;
    let first = nodes.partition_point(|&n| n <= task.min_nodes).max(1) - 1;
    let last = nodes.partition_point(|&n| n < task.max_nodes);
    // The objective is 0 without nodes.
    first.max(1)..(last + 1).min(nodes.len())
}

/// The values of the variables; those that depend on the point are set to 0.
fn fixed_values(
    task: &TrainingTask,
    constants: &Constants,
    state: &TaskState,
) -> [f64; Variable::ALL.len()] {
    Variable::ALL.map(|variable| match variable {
        Variable::Rate | Variable::Objective | Variable::Nodes | Variable::Speedup => 0.0,
        Variable::MinNodes => f64::from(task.min_nodes),
        Variable::MaxNodes => f64::from(task.max_nodes),
        Variable::BestRate => constants.best_rate,
        Variable::Priority => task.priority,
        Variable::Rung => f64::from(task.rung),
        Variable::Done => state.done,
        Variable::Left => state.left,
        Variable::Waited => state.waited,
        Variable::Deadline => state.deadline,
    })
}

fn speed_of_one(task: &TrainingTask) -> f64 {
    let points = task.curve.nodes.iter().copied();
    let counts = std::iter::once(task.min_nodes).chain(points);
    counts
        .filter(|&count| count >= task.min_nodes)
        .map(|count| task.curve.progress_at(count) / f64::from(count))
        .find(|&speed| speed > 0.0)
        .unwrap_or(1.0)
}
