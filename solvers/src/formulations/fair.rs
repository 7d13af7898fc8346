//! The max-min goal in the counts formulation: a sequence of models to solve.
//!
//! [`level`] expresses the goal in one model. It adds a column z to the binaries `y_j_k`: the least share among the
//! tasks that run. Each task j adds the row z ≤ Σ_{k>0} share_j(k) · y_j_k + y_j_0. A task that does not run does not
//! limit z, because no share is above 1. The model maximises W · Σ_{k>0} y_j_k + z. W is greater than the range of z,
//! so the number of running tasks takes precedence.
//!
//! This model is meant for other programs. A share can be far below 0, because a task can lose many times its maximum
//! earnings in a window. W is then so large that the libraries used here cannot distinguish an additional running task
//! from a rounding error. The backends therefore solve several models instead:
//!
//! - [`most`]: the number of tasks that can run;
//! - [`fairest`]: the greatest z among the plans that run this number of tasks;
//! - [`fairer`]: any plan with a greater least share, repeated until no such plan exists. This model
//!   has no column z, so the answer does not depend on the rounding of z;
//! - [`total`]: the greatest total among the fairest plans. Columns whose share is below the least share of these plans
//!   are fixed at 0, and a row preserves the number of running tasks.

use super::counts;
use crate::model::{Column, Model};
use crate::{BigM, Fairness, Problem};

/// Factor by which the models multiply shares, so that the libraries' absolute tolerances are small relative to shares.
const SCALE: f64 = 1024.0;

/// Shares with a smaller absolute value are set to 0 in the model of [`level`]. CBC 2.10 reports a model as infeasible
/// if it contains coefficients of both 1e-16 and 1, and no library can distinguish shares that are this close together.
const LEAST: f64 = 1e-10;

/// The share of each column of the counts formulation, in order; `None` for a count of 0.
fn shares(problem: &Problem, big_m: BigM) -> Vec<Option<f64>> {
    let best: Vec<f64> = problem.tasks.iter().map(|t| t.best_rate()).collect();
    let share = |(j, count): (usize, u32)| {
        let task = &problem.tasks[j];
        (count > 0).then(|| task.share_of(problem.t_fwd, best[j], count))
    };
    counts::picks(problem, big_m).map(share).collect()
}

/// The model that expresses the whole goal. Its last column is z, in units of 1/1024.
pub fn level(problem: &Problem, big_m: BigM) -> Model {
    let mut shares = shares(problem, big_m);
    let tiny = shares
        .iter_mut()
        .flatten()
        .filter(|share| share.abs() < LEAST);
    tiny.for_each(|share| *share = 0.0);
    let least = shares.iter().flatten().copied().fold(0.0, f64::min);
    let mut model = counts::build(problem, big_m);
    model.name = "level".to_owned();
    for (column, share) in model.columns.iter_mut().zip(&shares) {
        let runs = f64::from(u8::from(share.is_some()));
        column.objective = SCALE * (2.0 - least) * runs;
    }
    let z = model.add_column(Column {
        name: "level".to_owned(),
        lower: SCALE * least,
        upper: SCALE,
        integer: false,
        objective: 1.0,
    });
    let picks: Vec<(usize, u32)> = counts::picks(problem, big_m).collect();
    let mut column = 0;
    for own in picks.chunk_by(|a, b| a.0 == b.0) {
        let terms = (column..column + own.len()).map(|y| (y, SCALE * shares[y].unwrap_or(1.0)));
        let row = terms.chain([(z, -1.0)]).collect();
        model.add_row(format!("share_{}", own[0].0), row, 0.0, f64::INFINITY);
        column += own.len();
    }
    model
}

/// The model of the first step: the number of tasks that can run.
pub fn most(problem: &Problem, big_m: BigM) -> Model {
    let mut model = counts::build(problem, big_m);
    model.name = "most".to_owned();
    for (column, (_, count)) in model.columns.iter_mut().zip(counts::picks(problem, big_m)) {
        column.objective = f64::from(u8::from(count > 0));
    }
    model
}

/// The model of the second step: the greatest z among the plans in which at least `running` tasks
/// run.
pub fn fairest(problem: &Problem, big_m: BigM, running: u32) -> Model {
    let mut model = level(problem, big_m);
    model.name = "fairest".to_owned();
    let picks = counts::picks(problem, big_m).enumerate();
    let mut runs = Vec::new();
    for (y, (_, count)) in picks {
        model.columns[y].objective = 0.0;
        if count > 0 {
            runs.push((y, 1.0));
        }
    }
    keep_running(&mut model, runs, running);
    model
}

/// Adds a row that requires at least `running` of the columns `picks` to be 1. Each column in `picks` is 1 if its task
/// runs on that column's number of nodes.
fn keep_running(model: &mut Model, picks: Vec<(usize, f64)>, running: u32) {
    model.add_row("running".to_owned(), picks, running.into(), f64::INFINITY);
}

/// Column values that represent the plan in the models of [`level`] and [`fairest`].
pub fn encode(problem: &Problem, big_m: BigM, plan: &[u32]) -> Vec<f64> {
    let mut values = counts::encode(problem, big_m, plan);
    let fairness = problem.fairness(plan);
    let share = fairness.and_then(|f| f.least_share);
    values.push(SCALE * share.unwrap_or(1.0));
    values
}

/// The model of the third step: any plan in which at least as many tasks run as in `floor`, all with a
/// share greater than the least share of `floor`.
pub fn fairer(problem: &Problem, big_m: BigM, floor: Fairness) -> Model {
    let above = Fairness {
        least_share: floor.least_share.map(f64::next_up),
        ..floor
    };
    let mut model = total(problem, big_m, above);
    model.name = "fairer".to_owned();
    model
        .columns
        .iter_mut()
        .for_each(|column| column.objective = 0.0);
    model
}

/// The model of the last step: the counts formulation, limited to the plans that are at least as
/// fair as `floor`.
pub fn total(problem: &Problem, big_m: BigM, floor: Fairness) -> Model {
    let shares = shares(problem, big_m);
    let level = floor.least_share.unwrap_or(f64::NEG_INFINITY);
    let mut model = counts::build(problem, big_m);
    let mut running = Vec::new();
    for (y, share) in shares.iter().enumerate() {
        if share.is_some_and(|share| share < level) {
            model.columns[y].upper = 0.0;
        }
        if share.is_some() {
            running.push((y, 1.0));
        }
    }
    keep_running(&mut model, running, floor.running);
    model
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Goal, synthetic};

    fn small() -> Problem {
        let mut problem = synthetic::problem(2, 9, 7);
        problem.goal = Goal::MaxMin;
        for (task, min) in problem.tasks.iter_mut().zip([2, 1]) {
            (task.min_nodes, task.max_nodes, task.current) = (min, 8, 0);
        }
        problem
    }

    fn holds(model: &Model, values: &[f64]) -> bool {
        let within = |sum: f64, low: f64, high: f64| low - 1e-9 <= sum && sum <= high + 1e-9;
        let columns = model.columns.iter().zip(values);
        let rows = model.rows.iter().all(|row| {
            let sum = row.terms.iter().map(|&(x, a)| a * values[x]).sum();
            within(sum, row.lower, row.upper)
        });
        rows && columns
            .into_iter()
            .all(|(c, &x)| within(x, c.lower, c.upper))
    }

    // A share of 1e-17 is set to 0 in the model.
    #[test]
    fn tiny_shares_are_left_out_of_the_coefficients() {
        let mut problem = small();
        let first = &mut problem.tasks[0];
        first.curve_nodes = vec![0, 1, 2, 8].into();
        first.curve_objective = vec![0.0, 1e-17, 1e-17, 1.0].into();
        let model = level(&problem, BigM::Corrected);
        let terms = model.rows.iter().flat_map(|row| &row.terms);
        let sizes = terms.map(|(_, size)| size.abs()).filter(|size| *size > 0.0);
        assert!(sizes.fold(f64::INFINITY, f64::min) > 1e-8);
    }

    // Derived by formula: the two tasks have 8 and 9 allowed counts.
    #[test]
    fn the_level_is_bound_by_every_task_that_runs() {
        let problem = small();
        let model = level(&problem, BigM::Corrected);
        assert_eq!((model.columns.len(), model.rows.len()), (8 + 9 + 1, 3 + 2));
        for plan in [[2, 7], [4, 4], [0, 8], [0, 0]] {
            let values = encode(&problem, BigM::Corrected, &plan);
            assert!(holds(&model, &values), "{plan:?}");
            let mut higher = values;
            *higher.last_mut().unwrap() += 1.0;
            assert!(!holds(&model, &higher), "{plan:?}");
        }
    }

    // For a few plans, compares the objective and the feasibility in each step's model with the number of running tasks
    // and with z.
    #[test]
    fn the_models_of_the_steps_agree_with_the_level_model() {
        let problem = small();
        let most = most(&problem, BigM::Corrected);
        let value = |model: &Model, plan: &[u32]| {
            let mut values = encode(&problem, BigM::Corrected, plan);
            values.truncate(model.columns.len());
            let columns = model.columns.iter().zip(values);
            columns.map(|(c, x)| c.objective * x).sum::<f64>()
        };
        assert_eq!(
            [[2, 7], [0, 8], [0, 0]].map(|plan| value(&most, &plan)),
            [2.0, 1.0, 0.0]
        );
        let fairest = fairest(&problem, BigM::Corrected, 2);
        for (plan, possible) in [([2, 7], true), ([4, 4], true), ([0, 8], false)] {
            let values = encode(&problem, BigM::Corrected, &plan);
            assert_eq!(holds(&fairest, &values), possible, "{plan:?}");
            assert_eq!(value(&fairest, &plan), *values.last().unwrap());
        }
    }

    #[test]
    fn only_fairer_plans_satisfy_the_model() {
        let problem = small();
        let floor = problem.fairness(&[2, 7]).unwrap();
        let model = fairer(&problem, BigM::Corrected, floor);
        let stated = |plan: &[u32]| counts::encode(&problem, BigM::Corrected, plan);
        assert!(holds(&model, &stated(&[4, 5])));
        assert!(!holds(&model, &stated(&[2, 7])));
        assert!(!holds(&model, &stated(&[0, 8])));
    }

    #[test]
    fn plans_less_fair_than_the_floor_are_infeasible() {
        let problem = small();
        let floor = problem.fairness(&[4, 4]).unwrap();
        let model = total(&problem, BigM::Corrected, floor);
        let stated = |plan: &[u32]| counts::encode(&problem, BigM::Corrected, plan);
        assert!(holds(&model, &stated(&[4, 4])));
        assert!(!holds(&model, &stated(&[2, 7])));
        assert!(!holds(&model, &stated(&[0, 8])));
    }
}
