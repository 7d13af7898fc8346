//! Runs the trials of a search as tasks.
//!
//! Each job of the search trains a trial up to a rung, usually as a separate task. The work of the task is the part of
//! the trial's work between the previous rung and this rung. The task becomes active when there is room and the search
//! hands out the job. When the task finishes, the trial's loss is measured and reported to the search, which then
//! chooses the next jobs. If the search lets the trial continue training immediately, the same task continues with more
//! work, and keeps its nodes.
//!
//! Example: a task in the file has 900 units of work, and the last rung is at 9 epochs. If a trial is promoted from the
//! rung at 1 epoch to the rung at 3 epochs, its next job has 900 · (3 − 1) / 9 = 200 units of work.

mod declared;
mod searcher;

use std::collections::BTreeMap;

use gleaner_domain::results::search::{
    Losses, RungRow, SearchOutcome, SearchRow, TrialEvent, TrialRow, TrialState,
};
use gleaner_domain::{TrainingTask, Utc};
use gleaner_search::{Fronts, Job, Verdict, main_loss};

pub(in crate::allocator) use declared::Declared;
pub use searcher::{NewTrial, Searcher};

use super::batch::Extension;

/// A search in progress.
pub(super) struct Trials<'a> {
    searcher: Box<dyn Searcher + 'a>,
    /// The tasks that trials train.
    set: &'a [TrainingTask],
    is_over: bool,
    start: Utc,
    /// The names of the losses, if there are several; `None` before the first measurement.
    loss_names: Option<Vec<String>>,
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
    /// The task that describes how the trial trains; `None` if this is the task of the set.
    own_task: Option<TrainingTask>,
    /// Index of the trial's task in the set.
    origin: u32,
    /// The rung of the trial's first job or of its latest promotion.
    rung: u32,
    /// The resource of the rung `rung`.
    resource: f64,
    /// Whether the trial's promotion to `rung` is already recorded, although its training towards that rung has not
    /// started.
    is_promoted: bool,
}

impl<'a> Trials<'a> {
    /// Begins a search at `start`.
    pub fn begin(searcher: Box<dyn Searcher + 'a>, set: &'a [TrainingTask], start: Utc) -> Self {
        Trials {
            searcher,
            set,
            is_over: false,
            start,
            loss_names: None,
            events: Vec::new(),
            trials: Vec::new(),
            jobs: BTreeMap::new(),
            trial_of_task: Vec::new(),
        }
    }

    /// Name of the search.
    pub fn name(&self) -> String {
        self.searcher.name()
    }

    /// Whether the search has no further jobs.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Creates the task of the next job, with the index `task`, if the search hands out a job now. Also returns the
    /// trial's task in the set, whose groups the new task joins.
    pub fn next(&mut self, task: u32, now: Utc) -> Option<(TrainingTask, &'a TrainingTask)> {
        let Some(job) = self.searcher.next() else {
            if self.jobs.is_empty() {
                self.end(now);
            }
            return None;
        };
        if job.trial as usize == self.trials.len() {
            self.start(&job, now);
        } else {
            self.go_on(&job, now);
        }
        self.jobs.insert(task, job);
        self.trial_of_task.push((task, job.trial));
        let trained = self.trained(job.trial);
        let next = TrainingTask {
            name: format!("{}#{}.{}", trained.name, job.trial, job.rung),
            submit: now,
            work: self.work(&job),
            rung: job.rung,
            ..trained.clone()
        };
        let origin = self.trials[job.trial as usize].origin;
        Some((next, &self.set[origin as usize]))
    }

    /// The task that describes how a trial trains.
    fn trained(&self, trial: u32) -> &TrainingTask {
        let trial = &self.trials[trial as usize];
        let own = trial.own_task.as_ref();
        own.unwrap_or(&self.set[trial.origin as usize])
    }

    /// The work of a job.
    fn work(&self, job: &Job) -> f64 {
        let share = (job.to - job.from) / self.searcher.max_resource();
        self.trained(job.trial).work * share
    }

    /// Starts a new trial.
    fn start(&mut self, job: &Job, now: Utc) {
        let new = self.searcher.describe(job.trial, self.set.len());
        let trained = new.task.as_ref().map(|task| &task.name);
        let row = TrialRow {
            trial: job.trial,
            task: trained
                .unwrap_or(&self.set[new.origin as usize].name)
                .clone(),
            bracket: job.bracket,
            state: TrialState::Training,
            start: now,
            end: None,
            resource: 0.0,
            loss: None,
            final_loss: new.final_loss,
            work_done: 0.0,
            parameters: new.parameters,
            parent: new.parent,
            losses: Losses::default(),
            front: None,
        };
        self.trials.push(Trial {
            row,
            own_task: new.task,
            origin: new.origin,
            rung: job.rung,
            resource: job.to,
            is_promoted: false,
        });
        self.record(now, TrialEvent::Started, job.trial);
    }

    /// Continues a trial towards the next rung.
    fn go_on(&mut self, job: &Job, now: Utc) {
        let Job {
            trial, rung, to, ..
        } = *job;
        if !self.trials[trial as usize].is_promoted {
            self.note(Verdict::Promoted { trial, rung, to }, now);
        }
        let trial = &mut self.trials[trial as usize];
        trial.is_promoted = false;
        trial.row.state = TrialState::Training;
    }

    /// Measures the losses of the trial whose task finished, and reports them to the search. If the trial continues
    /// training immediately, returns the additional work of its task. Ignores tasks that do not belong to the search.
    pub fn finish(&mut self, task: u32, now: Utc) -> Option<Extension> {
        let job = self.jobs.remove(&task)?;
        let losses = self.searcher.losses(&job)?;
        let named = self.named(&losses);
        let row = &mut self.trials[job.trial as usize].row;
        (row.end, row.resource, row.loss) = (Some(now), job.to, main_loss(&losses));
        (row.losses, row.state) = (named, TrialState::Waiting);
        self.record(now, TrialEvent::Reached, job.trial);
        for verdict in self.searcher.report(&job, &losses)? {
            self.note(verdict, now);
        }
        let next = self.searcher.resume(job.trial)?;
        self.go_on(&next, now);
        self.jobs.insert(task, next);
        Some(Extension {
            task,
            work: self.work(&next),
            rung: next.rung,
        })
    }

    /// The losses with their names, if there are several.
    fn named(&mut self, losses: &[f64]) -> Losses {
        if losses.len() < 2 {
            return Losses::default();
        }
        let searcher = &self.searcher;
        let names = self.loss_names.get_or_insert_with(|| searcher.loss_names());
        let name = |place: usize| names.get(place).cloned();
        let named = losses.iter().enumerate();
        let named =
            named.map(|(place, loss)| (name(place).unwrap_or_else(|| place.to_string()), *loss));
        Losses(named.collect())
    }

    /// Records a decision of the search about a trial.
    fn note(&mut self, verdict: Verdict, now: Utc) {
        match verdict {
            Verdict::Promoted { trial, rung, to } => {
                let place = &mut self.trials[trial as usize];
                (place.rung, place.resource, place.is_promoted) = (rung, to, true);
                self.record(now, TrialEvent::Promoted, trial);
            }
            Verdict::Stopped { trial } => {
                self.trials[trial as usize].row.state = TrialState::Stopped;
                self.record(now, TrialEvent::Stopped, trial);
            }
            Verdict::Finished { trial } => {
                self.trials[trial as usize].row.state = TrialState::Finished;
                self.record(now, TrialEvent::Finished, trial);
            }
        }
    }

    fn record(&mut self, time: Utc, event: TrialEvent, trial: u32) {
        let Trial {
            row,
            rung,
            resource,
            ..
        } = &self.trials[trial as usize];
        let is_measured = event == TrialEvent::Reached;
        self.events.push(SearchRow {
            time,
            event,
            trial,
            rung: *rung,
            resource: *resource,
            loss: row.loss.filter(|_| is_measured),
            losses: if is_measured {
                row.losses.clone()
            } else {
                Losses::default()
            },
        });
    }

    /// Ends the search, which has no further jobs. Trials that await promotion are stopped.
    fn end(&mut self, now: Utc) {
        if !self.is_over {
            self.is_over = true;
            for trial in self.searcher.unpromoted() {
                self.note(Verdict::Stopped { trial }, now);
            }
        }
    }

    /// The results of the trials. `work_done` maps the index of a task to the work that it has done.
    pub fn outcome(mut self, work_done: impl Fn(u32) -> f64) -> SearchOutcome {
        for &(task, trial) in &self.trial_of_task {
            self.trials[trial as usize].row.work_done += work_done(task);
        }
        let mut trials: Vec<TrialRow> = self.trials.into_iter().map(|trial| trial.row).collect();
        rank(&mut trials);
        SearchOutcome {
            rungs: rungs(&self.events, self.start),
            events: self.events,
            trials,
        }
    }
}

/// Sets the front number of each finished trial, if trials have several losses.
fn rank(trials: &mut [TrialRow]) {
    let mut fronts = Fronts::default();
    for row in trials.iter() {
        if row.state == TrialState::Finished && !row.losses.0.is_empty() {
            fronts.insert(row.trial, &row.losses.values());
        }
    }
    for (front, members) in (0..).zip(fronts.trials()) {
        for trial in members {
            trials[trial as usize].front = Some(front);
        }
    }
}

/// Creates one row for each rung's resource. The row summarises the trials that reached this resource.
fn rungs(events: &[SearchRow], start: Utc) -> Vec<RungRow> {
    // Resources are positive, so their bit patterns sort like their values.
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
