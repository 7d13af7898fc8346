//! The trials of a search, as tasks.
//!
//! Each job of the search trains a trial up to a rung, and is a separate task. The work of the task is the part of the
//! trial's work between the previous rung and this rung. The task becomes active when there is room and the search
//! hands out the job. When the task finishes, the trial's loss is measured and reported to the search, which then
//! chooses the next jobs.
//!
//! Example: a task in the file has 900 units of work, and the last rung is at 9 epochs. A trial that is promoted from
//! the rung at 1 epoch to the rung at 3 epochs becomes a task with 900 · (3 − 1) / 9 = 200 units of work.

use std::collections::BTreeMap;
use std::sync::Arc;

use gleaner_domain::error::{Error, Result};
use gleaner_domain::results::search::{
    RungRow, SearchOutcome, SearchRow, TrialEvent, TrialRow, TrialState,
};
use gleaner_domain::{TrainingTask, TrialSearch, Utc};
use gleaner_search::{Bracket, Job, LearningCurves, Next, Search, Verdict, task_of_trial};

/// A search in progress.
#[derive(Debug)]
pub(super) struct Trials<'a> {
    spec: Arc<TrialSearch>,
    curves: LearningCurves,
    seed: u64,
    /// The tasks that trials train.
    set: &'a [TrainingTask],
    search: Search,
    /// For each bracket number, the resources of the bracket's rungs.
    resources: BTreeMap<u32, Vec<f64>>,
    is_over: bool,
    start: Utc,
    events: Vec<SearchRow>,
    trials: Vec<Trial>,
    /// The outstanding jobs, by the index of their task.
    jobs: BTreeMap<u32, Job>,
    /// The indices of the search's tasks in ascending order, each with its trial.
    trial_of_task: Vec<(u32, u32)>,
}

/// A trial that was started.
#[derive(Debug)]
struct Trial {
    row: TrialRow,
    /// The rung towards which the trial trains, or the last rung that it reached.
    rung: u32,
    /// Whether the trial's promotion to `rung` is already recorded, although its training towards that rung has not
    /// started.
    is_promoted: bool,
}

impl<'a> Trials<'a> {
    /// Begins the search at `start`, the time of the log's first event.
    ///
    /// # Errors
    /// The plan of the search is not valid.
    pub fn begin(
        spec: &Arc<TrialSearch>,
        set: &'a [TrainingTask],
        seed: u64,
        start: Utc,
    ) -> Result<Self> {
        let search = Search::new(spec.plan.clone()).map_err(|faults| {
            let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
            Error::Usage(format!("the search: {}", faults.join("; ")))
        })?;
        let mut curves = spec.curves.clone();
        if let LearningCurves::Family(family) = &mut curves {
            family.seed = seed;
        }
        let brackets = spec.plan.brackets().into_iter();
        let resources = |bracket: Bracket| {
            let rungs = bracket.rungs.iter().map(|rung| rung.resource);
            (bracket.number, rungs.collect())
        };
        Ok(Trials {
            spec: Arc::clone(spec),
            curves,
            seed,
            set,
            search,
            resources: brackets.map(resources).collect(),
            is_over: false,
            start,
            events: Vec::new(),
            trials: Vec::new(),
            jobs: BTreeMap::new(),
            trial_of_task: Vec::new(),
        })
    }

    /// Whether the search has no further jobs.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Index, in the set, of the task that a trial trains.
    fn trained_by(&self, trial: u32) -> usize {
        let given = self.spec.tasks.get(trial as usize);
        let drawn = || task_of_trial(self.seed, trial, self.set.len());
        given.map_or_else(drawn, |task| *task as usize)
    }

    /// Creates the task of the next job, with the index `task`, if the search hands out a job now. Also returns the
    /// task of the set from which the new task is derived.
    pub fn next(&mut self, task: u32, now: Utc) -> Option<(TrainingTask, &'a TrainingTask)> {
        let job = match self.search.next() {
            Next::Job(job) => job,
            Next::Wait => return None,
            Next::Done => {
                self.end(now);
                return None;
            }
        };
        self.jobs.insert(task, job);
        self.trial_of_task.push((task, job.trial));
        let trained = &self.set[self.trained_by(job.trial)];
        if job.rung == 0 {
            self.take_up(&job, now);
        } else {
            self.go_on(&job, now);
        }
        let next = TrainingTask {
            name: format!("{}#{}.{}", trained.name, job.trial, job.rung),
            submit: now,
            work: trained.work * ((job.to - job.from) / self.spec.plan.max_resource),
            rung: job.rung,
            ..trained.clone()
        };
        Some((next, trained))
    }

    /// Starts a new trial.
    fn take_up(&mut self, job: &Job, now: Utc) {
        let full = self.spec.plan.max_resource;
        let row = TrialRow {
            trial: job.trial,
            task: self.set[self.trained_by(job.trial)].name.clone(),
            bracket: job.bracket,
            state: TrialState::Training,
            start: now,
            end: None,
            resource: 0.0,
            loss: None,
            final_loss: self.curves.true_loss(job.trial, full),
            work_done: 0.0,
        };
        self.trials.push(Trial {
            row,
            rung: 0,
            is_promoted: false,
        });
        self.record(now, TrialEvent::Started, job.trial, None);
    }

    /// Continues a trial towards the next rung.
    fn go_on(&mut self, job: &Job, now: Utc) {
        if !self.trials[job.trial as usize].is_promoted {
            self.note(
                Verdict::Promoted {
                    trial: job.trial,
                    rung: job.rung,
                },
                now,
            );
        }
        let trial = &mut self.trials[job.trial as usize];
        trial.is_promoted = false;
        trial.row.state = TrialState::Training;
    }

    /// Computes the loss of the trial whose task finished, and reports it to the search. Ignores tasks that are not
    /// trials of the search.
    ///
    /// # Errors
    /// The search did not expect the report, which means that this module has a bug.
    pub fn finish(&mut self, task: u32, now: Utc) -> Result<()> {
        let Some(job) = self.jobs.remove(&task) else {
            return Ok(());
        };
        let loss = self.curves.loss(job.trial, job.to);
        let row = &mut self.trials[job.trial as usize].row;
        let finite = Some(loss).filter(|loss| loss.is_finite());
        (row.end, row.resource, row.loss) = (Some(now), job.to, finite);
        row.state = TrialState::Waiting;
        self.record(now, TrialEvent::Reached, job.trial, finite);
        let verdicts = self.search.report(job.trial, loss);
        let verdicts = verdicts.map_err(|error| Error::Run(error.to_string()))?;
        verdicts
            .into_iter()
            .for_each(|verdict| self.note(verdict, now));
        Ok(())
    }

    /// Records a decision of the search about a trial.
    fn note(&mut self, verdict: Verdict, now: Utc) {
        match verdict {
            Verdict::Promoted { trial, rung } => {
                let place = &mut self.trials[trial as usize];
                (place.rung, place.is_promoted) = (rung, true);
                self.record(now, TrialEvent::Promoted, trial, None);
            }
            Verdict::Stopped { trial } => {
                self.trials[trial as usize].row.state = TrialState::Stopped;
                self.record(now, TrialEvent::Stopped, trial, None);
            }
            Verdict::Finished { trial } => {
                self.trials[trial as usize].row.state = TrialState::Finished;
                self.record(now, TrialEvent::Finished, trial, None);
            }
        }
    }

    fn record(&mut self, time: Utc, event: TrialEvent, trial: u32, loss: Option<f64>) {
        let place = &self.trials[trial as usize];
        let resources = self.resources.get(&place.row.bracket);
        let resource = resources.and_then(|rungs| rungs.get(place.rung as usize));
        self.events.push(SearchRow {
            time,
            event,
            trial,
            rung: place.rung,
            resource: resource.copied().unwrap_or(self.spec.plan.max_resource),
            loss,
        });
    }

    /// Ends the search, which has no further jobs. Trials that await promotion are stopped.
    fn end(&mut self, now: Utc) {
        if !self.is_over {
            self.is_over = true;
            for trial in self.search.unpromoted() {
                self.note(Verdict::Stopped { trial }, now);
            }
        }
    }

    /// The results of the trials. `work_done` maps the index of a task to the work that it has done.
    pub fn outcome(mut self, work_done: impl Fn(u32) -> f64) -> SearchOutcome {
        for &(task, trial) in &self.trial_of_task {
            self.trials[trial as usize].row.work_done += work_done(task);
        }
        SearchOutcome {
            rungs: rungs(&self.events, self.start),
            events: self.events,
            trials: self.trials.into_iter().map(|trial| trial.row).collect(),
        }
    }
}

/// One row for each rung's resource. It summarises the trials that reached the resource.
fn rungs(events: &[SearchRow], start: Utc) -> Vec<RungRow> {
    // Resources are positive, so their bits are ordered like their values.
    let mut reached: BTreeMap<u64, Vec<&SearchRow>> = BTreeMap::new();
    for row in events.iter().filter(|row| row.event == TrialEvent::Reached) {
        reached.entry(row.resource.to_bits()).or_default().push(row);
    }
    let rung = |rows: Vec<&SearchRow>| {
        let seconds = |row: &SearchRow| row.time.seconds_since(start);
        RungRow {
            resource: rows[0].resource,
            trials: rows.len() as u64,
            first_s: seconds(rows[0]),
            median_s: seconds(rows[(rows.len() - 1) / 2]),
            best_loss: rows
                .iter()
                .filter_map(|row| row.loss)
                .fold(f64::INFINITY, f64::min),
        }
    };
    reached.into_values().map(rung).collect()
}
