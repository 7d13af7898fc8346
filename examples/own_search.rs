//! Runs a custom search: each trial trains for one epoch, and only trials with a low loss continue to nine epochs.

use gleaner::engines::search::{Job, Verdict};
use gleaner::replay::{NewTrial, Searcher};
use gleaner::{Replay, Result};

/// Number of trials.
const TRIALS: u32 = 20;

/// A trial continues after the first epoch only if its loss is at most this value.
const LIMIT: f64 = 1.4;

/// A search that stops trials with a high loss after one epoch.
#[derive(Default)]
struct Impatient {
    started: u32,
    /// The next job of a trial that continues immediately.
    next: Option<Job>,
}

impl Searcher for Impatient {
    fn name(&self) -> String {
        "impatient".to_owned()
    }

    fn max_resource(&self) -> f64 {
        9.0
    }

    fn next(&mut self) -> Option<Job> {
        let trial = self.started;
        if trial == TRIALS {
            return None;
        }
        self.started += 1;
        Some(Job {
            trial,
            rung: 0,
            bracket: 0,
            from: 0.0,
            to: 1.0,
        })
    }

    fn describe(&mut self, trial: u32, tasks: usize) -> NewTrial {
        NewTrial {
            origin: trial % tasks as u32,
            task: None,
            parameters: format!("{{\"rate\":{}}}", rate(trial)),
            parent: None,
            final_loss: loss(trial, 9.0),
        }
    }

    fn losses(&mut self, job: &Job) -> Option<Vec<f64>> {
        Some(vec![loss(job.trial, job.to)])
    }

    fn report(&mut self, job: &Job, losses: &[f64]) -> Option<Vec<Verdict>> {
        let trial = job.trial;
        self.next = None;
        let verdict = if job.rung == 1 {
            Verdict::Finished { trial }
        } else if losses[0] > LIMIT {
            Verdict::Stopped { trial }
        } else {
            let (rung, from, to) = (1, job.to, 9.0);
            self.next = Some(Job {
                rung,
                from,
                to,
                ..*job
            });
            Verdict::Promoted { trial, rung, to }
        };
        Some(vec![verdict])
    }

    fn resume(&mut self, _: u32) -> Option<Job> {
        self.next.take()
    }

    fn unpromoted(&self) -> Vec<u32> {
        Vec::new()
    }
}

/// The hyperparameter of a trial.
fn rate(trial: u32) -> f64 {
    f64::from(trial * 7 % TRIALS + 1) / f64::from(TRIALS)
}

/// The loss of a trial after some epochs.
fn loss(trial: u32, epochs: f64) -> f64 {
    rate(trial) + 1.0 / (1.0 + epochs)
}

/// Runs the example.
pub fn main() -> Result<()> {
    let replay = Replay::of_files("dataset/idle.csv", "dataset/tasks.toml").t_fwd(120.0);
    let replayed = replay.search(Impatient::default()).run()?;
    let summary = replayed.summary();
    println!(
        "{:?} of {:?} trials finished; the best loss is {:?}",
        summary.trials_finished, summary.trials_started, summary.best_loss
    );
    assert_eq!(summary.trials_started, Some(20));
    Ok(())
}
