//! Sweeps of replays: the log is read once, and each of its windows cut once.

use std::sync::atomic::AtomicBool;

use gleaner_solvers::Limits;
use serde_json::Value;

use super::experiment::{Experiment, sweep_run};
use crate::cli::inputs::{cut, read_log};
use crate::cli::{remark, solver};
use crate::domain::{Clock, EventLog, TrainingTask};
use crate::error::{Error, Result};
use crate::ingest::{self, SourceId};
use crate::output::sweep::SweepRun;
use crate::replay::{self, Control, SolverDecider};
use crate::sweep::{ReplayKnobs, ReplayPlan, TaskFiles, Window};

/// The replays of a plan.
pub struct Replays {
    runs: Vec<SweepRun>,
    /// What each run replays.
    jobs: Vec<Job>,
    windows: Vec<(Window, EventLog)>,
    tasks: Vec<TaskSet>,
    sources: Vec<SourceId>,
    check: bool,
}

struct Job {
    knobs: ReplayKnobs,
    limits: Limits,
    /// Index of the window.
    window: usize,
    /// Index of the task set.
    tasks: usize,
}

struct TaskSet {
    files: TaskFiles,
    tasks: Vec<TrainingTask>,
    /// Digests of the files.
    digests: Vec<String>,
}

impl Replays {
    /// Reads and checks everything that the plan names.
    ///
    /// # Errors
    /// Faults of the files; windows without an event or a node.
    pub fn prepare(plan: ReplayPlan) -> Result<Self> {
        let log = read_log(&plan.events, plan.cache)?;
        let digests: Vec<String> = log.sources.iter().map(|s| s.sha256.to_string()).collect();
        let mut replays = Replays {
            runs: Vec::new(),
            jobs: Vec::new(),
            windows: Vec::new(),
            tasks: Vec::new(),
            sources: log.sources,
            check: plan.check,
        };
        for files in plan.tasks() {
            replays.read_tasks(files, &plan, log.value.clock())?;
        }
        for settings in plan.expand() {
            let knobs = settings.knobs.clone();
            let window = replays.window(knobs.window, &log.value, &plan)?;
            let tasks = replays.tasks.iter().position(|t| t.files == settings.files);
            let tasks = tasks.unwrap_or_default();
            let inputs = (&digests, &replays.tasks[tasks].digests);
            replays
                .runs
                .push(sweep_run(&settings, &("replay", &knobs, inputs))?);
            replays.jobs.push(Job {
                limits: solver::limits(knobs.time_limit, knobs.gap)?,
                knobs,
                window,
                tasks,
            });
        }
        Ok(replays)
    }

    fn read_tasks(&mut self, files: &TaskFiles, plan: &ReplayPlan, clock: &Clock) -> Result<()> {
        let skip_invalid = plan.skip_invalid;
        let read =
            ingest::tasks::read_on(&files.tasks, files.curves.as_deref(), skip_invalid, clock)?;
        remark(&read.notes);
        // What fits the shortest window fits all, and all runs have the same tasks.
        let set = read
            .value
            .within_window(plan.shortest_window(), skip_invalid)?;
        if !set.skipped.0.is_empty() {
            remark(&[format!("left out: {}", set.skipped)]);
        }
        self.tasks.push(TaskSet {
            files: files.clone(),
            tasks: set.tasks,
            digests: read.sources.iter().map(|s| s.sha256.to_string()).collect(),
        });
        self.sources.extend(read.sources);
        Ok(())
    }

    /// Index of the window, cut where it is new.
    fn window(&mut self, window: Window, log: &EventLog, plan: &ReplayPlan) -> Result<usize> {
        if let Some(known) = self.windows.iter().position(|(other, _)| *other == window) {
            return Ok(known);
        }
        let expected = format!("rows and nodes in the window {window}");
        let sliced = cut(log, window.into(), &plan.events, &expected)?;
        self.windows.push((window, sliced));
        Ok(self.windows.len() - 1)
    }

    fn replay(&self, job: &Job, control: Control<'_>) -> Result<replay::Outcome> {
        let spec = job.knobs.spec();
        let mut decider = SolverDecider::new(spec, job.limits)?;
        if self.check {
            decider = decider.checked(spec.big_m);
        }
        let (log, tasks) = (&self.windows[job.window].1, &self.tasks[job.tasks].tasks);
        let options = job.knobs.options();
        replay::run(log, tasks, &options, &mut decider, control)
    }
}

impl Experiment for Replays {
    fn runs(&self) -> &[SweepRun] {
        &self.runs
    }

    fn sources(&self) -> &[SourceId] {
        &self.sources
    }

    fn length(&self, index: usize) -> usize {
        self.windows[self.jobs[index].window].1.len()
    }

    fn execute(
        &self,
        index: usize,
        stop: &AtomicBool,
        tick: &(dyn Fn(usize) + Sync),
    ) -> Result<Option<Value>> {
        let mut seen = 0;
        let control = Control {
            stop,
            progress: &mut |event, _| {
                tick(event - seen);
                seen = event;
            },
        };
        let outcome = self.replay(&self.jobs[index], control)?;
        // A replay may end before its log does.
        tick(self.length(index) - seen);
        if !outcome.summary.complete {
            return Ok(None);
        }
        let summary = serde_json::to_value(&outcome.summary);
        summary.map(Some).map_err(|e| Error::Run(e.to_string()))
    }
}
