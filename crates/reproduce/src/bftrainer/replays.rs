//! Replays of the Summit log with published tasks.

use rayon::prelude::*;

use gleaner_domain::Observer;
use gleaner_domain::error::{Error, Result};
use gleaner_domain::results::replay::Outcome;
use gleaner_domain::{EventLog, Objective, Slice};
use gleaner_inputs::tasks::TaskSet;
use gleaner_inputs::{events, tasks};
use gleaner_replay::{Decider, Options, SolverDecider};
use gleaner_setup::replay::cut;
use gleaner_solvers::{Limits, SolverKind, SolverSpec};

use crate::files::Data;
use crate::{Part, failed};

/// Number of rows that the original drops at the start of the log.
const SKIPPED_ROWS: usize = 1000;

/// The published files of a task set: its tasks and their scaling curves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TaskFiles {
    /// A readable name for the set.
    pub name: &'static str,
    family: &'static str,
    size: &'static str,
}

impl TaskFiles {
    /// The set in the files `FAMILY-Jbnd-SIZE.pkl` and `FAMILY-JNPs-SIZE.pkl`.
    pub const fn new(name: &'static str, family: &'static str, size: &'static str) -> Self {
        TaskFiles { name, family, size }
    }

    fn read(self, part: &mut Part<'_>, data: Data<'_>) -> Result<TaskSet> {
        let file = |kind: &str| {
            data.file(&format!(
                "bftrainer/{}-{kind}-{}.pkl",
                self.family, self.size
            ))
        };
        Ok(part.take(tasks::read(&file("Jbnd"), Some(&file("JNPs")), false)?))
    }
}

/// The ten tasks of the recorded ShuffleNet run.
pub const TEN: TaskFiles = TaskFiles::new("ShuffleNet, 10 tasks", "hps-shufflenet", "10J");

/// The settings that differ between replays. All other settings are the original's settings.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// Forward window in seconds.
    pub t_fwd: f64,
    /// Maximum number of concurrent tasks.
    pub max_tasks: usize,
    /// Name of the objective.
    pub objective: &'static str,
    /// The solver that makes the decisions.
    pub solver: SolverKind,
}

/// The figures of a replay.
#[derive(Debug, Clone, Copy)]
pub struct Replayed {
    /// Work done, as a percentage of the work that the same tasks do on dedicated nodes.
    pub efficiency: f64,
    /// Work done, as a percentage of the work that the tasks would do if changes cost nothing.
    pub fluid: f64,
    /// Mean time from submission to end, in hours.
    pub completion_hours: f64,
    /// Progress of the slowest task, as a percentage of its best possible progress.
    pub fairness: f64,
}

/// The log and all task sets.
pub struct Replays<'c> {
    log: EventLog,
    sets: Vec<(TaskFiles, TaskSet)>,
    observer: &'c dyn Observer,
}

impl<'c> Replays<'c> {
    /// Reads the log and the tasks.
    ///
    /// # Errors
    /// A file cannot be read or has faults.
    pub fn open(part: &mut Part<'c>, data: Data<'_>) -> Result<Self> {
        let path = data.file("bftrainer/ndstat-10sdn6-evt.tar.gz");
        let log = part.take(events::read(&path)?);
        let slice = Slice {
            skip_rows: SKIPPED_ROWS,
            drop_end_row: true,
            ..Slice::default()
        };
        let log = cut(
            &log,
            slice,
            &path,
            "more than the 1,000 rows that the original drops",
            &gleaner_domain::Unobserved,
        )?;
        let mut sets = Vec::new();
        for files in super::SETS.into_iter().chain([TEN]) {
            sets.push((files, files.read(part, data)?));
        }
        Ok(Replays {
            log,
            sets,
            observer: part.observer,
        })
    }

    /// The log, reduced to its first `nodes` nodes.
    ///
    /// # Errors
    /// The log has no nodes.
    pub fn first_nodes(&self, nodes: usize) -> Result<EventLog> {
        let slice = Slice {
            nodes: Some(nodes),
            drop_end_row: true,
            ..Slice::default()
        };
        self.log.slice(slice).map_err(failed)
    }

    /// Returns the tasks of a set, after checking that their rescale costs are low enough for the forward window.
    ///
    /// # Errors
    /// The costs of a task are too high for the window.
    pub fn tasks(&self, files: TaskFiles, t_fwd: f64) -> Result<TaskSet> {
        let found = self.sets.iter().find(|(other, _)| *other == files);
        let (_, set) = found.ok_or_else(|| crate::published::faulty("a task set was not read"))?;
        set.clone().within_window(t_fwd, false)
    }

    /// Replays the tasks of `files` with each setting.
    ///
    /// # Errors
    /// An objective is unknown, the costs of a task are too high for a window, or a solver fails. Returns
    /// [`Error::Stopped`] if a replay is stopped.
    pub fn run_all(&self, files: TaskFiles, settings: &[Setting]) -> Result<Vec<Replayed>> {
        let runs = settings.par_iter().map(|setting| self.run(files, setting));
        runs.collect()
    }

    fn run(&self, files: TaskFiles, setting: &Setting) -> Result<Replayed> {
        let set = self.tasks(files, setting.t_fwd)?;
        let objective = setting.objective.parse::<Objective>();
        let options = Options {
            objective: objective.map_err(|error| Error::Usage(error.to_string()))?,
            ..Options::original(setting.t_fwd, setting.max_tasks)
        };
        let mut decider = SolverDecider::new(SolverSpec::new(setting.solver), Limits::default())?;
        let outcome = self.replay(&self.log, &set, &options, &mut decider)?;
        let summary = outcome.summary;
        let percent = |share: Option<f64>| 100.0 * share.unwrap_or(f64::NAN);
        Ok(Replayed {
            efficiency: percent(summary.efficiency),
            fluid: percent(summary.fluid_efficiency),
            completion_hours: summary.completion_mean_s.unwrap_or(f64::NAN) / 3600.0,
            fairness: percent(summary.fairness_min),
        })
    }

    /// Replays a log.
    ///
    /// # Errors
    /// `decider` fails. Returns [`Error::Stopped`] if the replay is stopped.
    pub fn replay(
        &self,
        log: &EventLog,
        set: &TaskSet,
        options: &Options,
        decider: &mut dyn Decider,
    ) -> Result<Outcome> {
        let outcome = gleaner_replay::run(log, &set.tasks, options, decider, self.observer.stop())?;
        if outcome.summary.complete {
            Ok(outcome)
        } else {
            Err(Error::Stopped)
        }
    }
}
