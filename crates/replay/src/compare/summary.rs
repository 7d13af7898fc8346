//! Summarises each solver over all problems.

use gleaner_solvers::Status;

use super::Contender;
use gleaner_domain::results::compare::{AnswerRow, AnswerStatus, SolverRow};

/// Summarises the rows of each solver, in the contenders' order.
pub fn summarise(rows: &[AnswerRow], contenders: &[Contender]) -> Vec<SolverRow> {
    contenders
        .iter()
        .map(|c| {
            let own: Vec<&AnswerRow> = rows.iter().filter(|r| *r.solver == *c.name).collect();
            let taken: Vec<&AnswerRow> = (own.iter().copied())
                .filter(|r| !r.status.is_refused())
                .collect();
            let times = sorted(taken.iter().map(|r| r.micros));
            let firsts = sorted(taken.iter().filter_map(|r| r.first_incumbent_us));
            let gaps: Vec<f64> = taken.iter().filter_map(|r| r.gap_to_optimum).collect();
            SolverRow {
                solver: c.name.as_ref().into(),
                problems: taken.len(),
                refused: own.len() - taken.len(),
                optimal: taken
                    .iter()
                    .filter(|r| r.status == AnswerStatus::Answered(Status::Optimal))
                    .count(),
                without_plan: taken.iter().filter(|r| r.objective.is_none()).count(),
                objective: taken.iter().filter_map(|r| r.objective).sum(),
                mean_gap: (!gaps.is_empty()).then(|| gaps.iter().sum::<f64>() / gaps.len() as f64),
                worst_gap: gaps.iter().copied().reduce(f64::max),
                median_us: percentile(&times, 50),
                p99_us: percentile(&times, 99),
                first_incumbent_us: (!firsts.is_empty()).then(|| percentile(&firsts, 50)),
            }
        })
        .collect()
}

fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values
}

/// The `percent`-th percentile of sorted values, by nearest rank; 0 if there are no values.
fn percentile(sorted: &[f64], percent: usize) -> f64 {
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_by_nearest_rank() {
        let values: Vec<f64> = (1..=200).map(f64::from).collect();
        assert_eq!(
            (percentile(&values, 50), percentile(&values, 99)),
            (100.0, 198.0)
        );
        assert_eq!((percentile(&[7.0], 99), percentile(&[], 50)), (7.0, 0.0));
    }
}
