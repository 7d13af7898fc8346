//! Measures how evenly a run treated its tasks, regardless of its objective.

use gleaner_domain::TrainingTask;
use gleaner_domain::results::replay::TaskRow;

/// Fairness over all tasks that have a normalised progress.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct RunFairness {
    /// Lowest normalised progress of any task; `None` if no task has a normalised progress.
    pub min: Option<f64>,
    /// Jain's index of normalised progress, (Σx)² ÷ (n·Σx²): 1 if all tasks made the same progress,
    /// 1/n if only one task made progress (Jain, Chiu and Hawe, 1984). `None` if no task made
    /// progress.
    pub jain: Option<f64>,
}

/// Work done as a share of the work that the task would have done at its best rate while it was
/// active. `None` if the task was never active or its best rate is 0.
pub(super) fn normalised_progress(task: &TrainingTask, row: &TaskRow) -> Option<f64> {
    let best = task.best_rate() * row.active_seconds;
    (best > 0.0).then(|| row.work_done / best)
}

impl RunFairness {
    pub fn of(rows: &[TaskRow]) -> Self {
        let shares: Vec<f64> = rows.iter().filter_map(|r| r.normalised_progress).collect();
        let sum: f64 = shares.iter().sum();
        let squares: f64 = shares.iter().map(|x| x * x).sum();
        RunFairness {
            min: shares.iter().copied().reduce(f64::min),
            jain: (squares > 0.0).then(|| sum * sum / (shares.len() as f64 * squares)),
        }
    }
}
