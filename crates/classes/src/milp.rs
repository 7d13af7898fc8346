//! The problem as a mixed-integer linear program, for other solvers.
//!
//! Each option of each task has a binary variable. Its objective coefficient, gain_jo, is the option's value minus the
//! value of holding nothing. A fixed task has a variable only for the option that it holds, which must be 1. The
//! program is:
//!
//! maximise Σ gain_jo · y_jo  subject to  Σ_o y_jo ≤ 1 for every task, and Σ count_jo · y_jo ≤ capacity_k over the
//! options of every class k. Each limit of a group adds a row over the options of the group's tasks, like the row of a
//! class. A minimum is the lower bound of its row.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use gleaner_solvers::backends::{self, ModelAnswer};
use gleaner_solvers::model::{Column, Model};
use gleaner_solvers::{Limits, SolveError, SolverKind, Status};

use crate::answer::Answer;
use crate::problem::{Held, Problem};

/// A solver for problems with node classes, which uses HiGHS or CBC on one thread.
#[derive(Debug, Clone)]
pub struct Milp {
    kind: SolverKind,
    stop: Arc<AtomicBool>,
}

impl Milp {
    /// Creates a solver that uses HiGHS or CBC.
    pub fn new(kind: SolverKind) -> Self {
        Milp {
            kind,
            stop: Arc::default(),
        }
    }

    /// Name of the solver and its formulation.
    pub fn name(&self) -> &'static str {
        match self.kind {
            SolverKind::Cbc => "cbc-counts",
            _ => "highs-counts",
        }
    }

    /// Makes the solver stop soon after the flag is set, and return the best plan so far.
    pub fn stop_when(&mut self, stop: &Arc<AtomicBool>) {
        self.stop = Arc::clone(stop);
    }

    /// Solves a problem.
    ///
    /// # Errors
    /// [`SolveError::Invalid`] if the problem is invalid (see [`Problem::validate`]), [`SolveError::NotBuilt`] if the
    /// solver was left out of this build, and [`SolveError::Unfit`] if it is not a MILP solver.
    pub fn solve(&self, problem: &Problem, limits: &Limits) -> Result<Answer, SolveError> {
        let faults = problem.validate();
        if !faults.is_empty() {
            return Err(SolveError::Invalid(faults));
        }
        let (model, columns) = model(problem);
        let answer = backends::solve_model(self.kind, model, limits, &self.stop)?;
        Ok(verdict(problem, &columns, answer, limits))
    }
}

/// Builds the model. Also returns the meaning of each column: the index of a task, and the nodes that the task holds if
/// the column is 1.
pub fn model(problem: &Problem) -> (Model, Vec<(usize, Held)>) {
    let mut model = Model {
        name: "classes".to_owned(),
        ..Model::default()
    };
    let mut columns = Vec::new();
    let mut used: Vec<Vec<(usize, f64)>> = vec![Vec::new(); problem.classes.len()];
    for (index, task) in problem.tasks.iter().enumerate() {
        let mut row = Vec::new();
        let options = task.options.iter();
        let allowed = options.filter(|option| !task.fixed || task.current == Some(option.held()));
        for option in allowed {
            let (class, count) = (option.class, option.count);
            let column = model.add_binary(
                format!("y_{index}_{class}_{count}"),
                option.value - task.none,
            );
            row.push((column, 1.0));
            used[class].push((column, f64::from(count)));
            columns.push((index, option.held()));
        }
        let least = f64::from(u8::from(task.fixed && task.current.is_some()));
        model.add_row(format!("task_{index}"), row, least, 1.0);
    }
    for (index, (class, terms)) in problem.classes.iter().zip(used).enumerate() {
        let capacity = f64::from(class.capacity);
        model.add_row(format!("class_{index}"), terms, f64::NEG_INFINITY, capacity);
    }
    for (index, limit) in problem.limits().into_iter().enumerate() {
        let is_counted = |held: &Held| limit.class.is_none_or(|class| class == held.class);
        let terms = columns
            .iter()
            .enumerate()
            .filter_map(|(column, (task, held))| {
                let is_member = limit.tasks.binary_search(task).is_ok() && is_counted(held);
                is_member.then_some((column, f64::from(held.count)))
            });
        let least = match limit.least {
            0 => f64::NEG_INFINITY,
            least => f64::from(least),
        };
        let most = limit.most.map_or(f64::INFINITY, f64::from);
        model.add_row(format!("group_{index}"), terms.collect(), least, most);
    }
    (model, columns)
}

/// Builds the model that is exported for other solvers. Its objective equals that of the problem, because a column that
/// is fixed at 1 adds the value of holding nothing.
pub fn exported(problem: &Problem) -> Model {
    let (mut model, _) = model(problem);
    let none: f64 = problem.tasks.iter().map(|task| task.none).sum();
    if none != 0.0 {
        model.add_column(Column {
            name: "none".to_owned(),
            lower: 1.0,
            upper: 1.0,
            integer: false,
            objective: none,
        });
    }
    model
}

/// Converts the values of a model's columns to an answer. The plan is checked, because the solver's claim is not a
/// proof.
fn verdict(
    problem: &Problem,
    columns: &[(usize, Held)],
    found: ModelAnswer,
    limits: &Limits,
) -> Answer {
    let without_plan = |status| Answer::without_plan(problem, status);
    if found.is_infeasible {
        return without_plan(Status::Infeasible);
    }
    let Some(values) = found.values else {
        return without_plan(Status::Unknown);
    };
    let mut plan: Vec<Option<Held>> = vec![None; problem.tasks.len()];
    for ((task, held), value) in columns.iter().zip(values) {
        if value > 0.5 {
            plan[*task] = Some(*held);
        }
    }
    let none: f64 = problem.tasks.iter().map(|task| task.none).sum();
    let gain = problem.objective(&plan).map(|objective| objective - none);
    let open = found
        .bound
        .zip(gain)
        .map(|(bound, gain)| (bound - gain).max(0.0));
    // The libraries' tolerances leave a gap of this size in a proven optimum.
    let gap = if found.is_optimal {
        limits.gap.max(1e-7)
    } else {
        limits.gap
    };
    let answer = Answer::of(problem, plan, open, gap);
    match crate::check(problem, &answer) {
        Ok(()) => answer,
        Err(_) => without_plan(Status::Unknown),
    }
}
