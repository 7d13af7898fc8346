//! Live searches, whose trials report losses while they train.
//!
//! A search belongs to a submission. At [`Event::Decide`](super::Event::Decide), the searches issue jobs until
//! `max_tasks` tasks are waiting or active. Each job trains a trial up to a rung, and becomes a task like any other.
//! When the task has ended and all of its processes are gone, its loss is passed to the search. Of the losses that the
//! task's last run reported, this is the one after the most work. The trial may then be promoted to the next rung, in
//! which case a new task continues from the trial's checkpoint.
//!
//! Example: a task in the file has 900 units of work, and the last rung is at 9 epochs. When trial 4 is promoted from 1
//! epoch to 3, the task `NAME#4.1` continues it. The task's work is counted from the beginning of the trial, so it
//! starts with 900 · 1 / 9 = 100 units and ends with 900 · 3 / 9 = 300.

use std::collections::BTreeMap;

use gleaner_domain::Utc;
use gleaner_domain::error::Error;
use gleaner_search::{
    Algorithm, Job, Next, Parameters, Plan, Search, Space, Verdict, task_of_trial,
};
use serde::{Deserialize, Serialize};

use super::tasks::{Task, TaskState};
use super::{Core, CoreError, Loss, Mode, Submission, Trial};
use crate::status::{BestTrial, SearchStatus};

/// Maximum number of jobs of a search. The number is limited because the core and the web page list the task of each
/// job.
const MOST_JOBS: u64 = 10_000;

/// A search as submitted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SearchSubmission {
    /// Name, unique among all searches and tasks of the daemon.
    pub name: String,
    /// The algorithm and its settings.
    pub plan: Plan,
    /// Seed of the hyperparameters, and of the choice of a task for each trial.
    pub seed: u64,
    /// The hyperparameters, with their distributions.
    pub space: Space,
    /// The tasks that trials train. The work of each task is the work of a trial that is trained up to the last rung.
    pub tasks: Vec<Submission>,
}

impl SearchSubmission {
    /// Checks the settings and the tasks of the search.
    ///
    /// # Errors
    /// A setting is invalid, there is no task, or a task has no work. The text contains all faults.
    pub fn check(&self) -> Result<(), String> {
        let faults = self.plan.validate_with(&self.space);
        let faults = faults.err().unwrap_or_default();
        let mut faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
        if faults.is_empty() && self.plan.most_jobs() > MOST_JOBS {
            let jobs = self.plan.most_jobs();
            faults.push(format!(
                "found up to {jobs} jobs, expected at most {MOST_JOBS}: reduce the number of trials or rungs"
            ));
        }
        if self.plan.algorithm == Algorithm::Pbt {
            faults.push(
                "found pbt, which is not supported on live clusters, because a trial cannot continue from the \
                 checkpoint of another trial: choose another algorithm"
                    .to_owned(),
            );
        }
        if self.tasks.is_empty() {
            faults.push("found no task, expected at least one that trials can train".to_owned());
        }
        for task in self.tasks.iter().filter(|task| task.work.is_none()) {
            let text = "found no work, expected the work up to max_resource";
            faults.push(format!("task {}: {text}", task.name));
        }
        if faults.is_empty() {
            Ok(())
        } else {
            Err(format!("search {}: {}", self.name, faults.join("; ")))
        }
    }

    /// Creates the task that runs `job`, whose trial has the hyperparameters `parameters`.
    fn task(&self, job: &Job, parameters: Parameters) -> Option<Submission> {
        let drawn = task_of_trial(self.seed, job.trial, self.tasks.len());
        let trained = self.tasks.get(drawn)?;
        let whole = trained.work?;
        let share = |resource: f64| whole * (resource / self.plan.max_resource);
        let trial = Trial {
            of: trained.name.clone(),
            number: job.trial,
            rung: job.rung,
            resource: job.to,
            parameters,
            done: share(job.from),
        };
        Some(Submission {
            name: trial.task(),
            work: Some(share(job.to)),
            trial: Some(trial),
            ..trained.clone()
        })
    }
}

/// The state of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SearchState {
    Running,
    Over,
    Cancelled,
}

/// A submitted search with its state.
pub(super) struct LiveSearch {
    submission: SearchSubmission,
    search: Search,
    state: SearchState,
    /// Whether the search cannot issue a job before the next loss is reported.
    is_waiting: bool,
    /// The outstanding jobs, by the indices of their tasks.
    jobs: BTreeMap<u32, Job>,
    started: u32,
    finished: u32,
    stopped: u32,
    /// The best job and its loss: among the jobs that reached the highest resource, the one with the lowest finite
    /// loss.
    best: Option<(Job, f64)>,
    /// All calls that have changed the state so far. A snapshot stores them, so that the state can be restored.
    calls: Vec<Call>,
}

/// A call that changes the state of a search.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Call {
    /// A job was requested for the task with this index.
    Next(u32),
    /// The task with this index has ended with this loss.
    Ended(u32, Loss),
}

/// A search as a snapshot stores it. Searches are deterministic, so repeating the calls restores the state.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct KeptSearch {
    submission: SearchSubmission,
    calls: Vec<Call>,
    is_cancelled: bool,
}

impl LiveSearch {
    /// Converts the search to the form in which a snapshot stores it.
    pub fn kept(&self) -> KeptSearch {
        KeptSearch {
            submission: self.submission.clone(),
            calls: self.calls.clone(),
            is_cancelled: self.state == SearchState::Cancelled,
        }
    }

    /// Restores a search from a snapshot.
    ///
    /// # Errors
    /// The submission is invalid.
    pub fn restore(kept: KeptSearch) -> Result<Self, Error> {
        let mut search = LiveSearch::begin(&kept.submission).map_err(Error::Run)?;
        for call in kept.calls {
            match call {
                Call::Next(index) => drop(search.next(index)),
                Call::Ended(task, loss) => drop(search.report(task, loss.into())),
            }
        }
        if kept.is_cancelled {
            search.cancel();
        }
        Ok(search)
    }

    /// Cancels the search, and returns the tasks whose jobs are outstanding.
    fn cancel(&mut self) -> Vec<u32> {
        self.state = SearchState::Cancelled;
        std::mem::take(&mut self.jobs).into_keys().collect()
    }

    fn begin(submission: &SearchSubmission) -> Result<Self, String> {
        submission.check()?;
        let search = Search::seeded(submission.plan.clone(), submission.seed, &submission.space)
            .map_err(|faults| {
                let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
                faults.join("; ")
            })?;
        Ok(LiveSearch {
            submission: submission.clone(),
            search,
            state: SearchState::Running,
            is_waiting: false,
            jobs: BTreeMap::new(),
            started: 0,
            finished: 0,
            stopped: 0,
            best: None,
            calls: Vec::new(),
        })
    }

    /// Name of the search.
    pub fn name(&self) -> &str {
        &self.submission.name
    }

    /// Whether the search is neither over nor cancelled.
    pub fn is_open(&self) -> bool {
        self.state == SearchState::Running
    }

    /// Whether the search may have a job now.
    fn may_have_job(&self) -> bool {
        self.is_open() && !self.is_waiting
    }

    /// Whether the search, or a task that its trials train, has this name.
    pub fn has_name(&self, name: &str) -> bool {
        let mut tasks = self.submission.tasks.iter();
        self.submission.name == name || tasks.any(|task| task.name == name)
    }

    /// Creates a task for the next job. The caller adds the task at index `index`. `None` if there is no job now.
    fn next(&mut self, index: u32) -> Option<Submission> {
        self.calls.push(Call::Next(index));
        match self.search.next() {
            Next::Job(job) => {
                self.started += u32::from(job.rung == 0);
                self.jobs.insert(index, job);
                let parameters = self.search.parameters(job.trial);
                self.submission.task(&job, parameters)
            }
            Next::Wait => {
                self.is_waiting = true;
                None
            }
            Next::Done => {
                self.state = SearchState::Over;
                self.stopped += self.search.unpromoted().len() as u32;
                None
            }
        }
    }

    /// Passes the loss of a task that has ended to the search, and returns the task's job.
    fn report(&mut self, task: u32, loss: f64) -> Option<Job> {
        let job = self.jobs.remove(&task)?;
        self.calls.push(Call::Ended(task, loss.into()));
        self.is_waiting = false;
        let is_better =
            |(best, least): (Job, f64)| job.to > best.to || (job.to == best.to && loss < least);
        if loss.is_finite() && self.best.is_none_or(is_better) {
            self.best = Some((job, loss));
        }
        // The job is outstanding, so the search expects the report.
        for verdict in self.search.report(job.trial, loss).unwrap_or_default() {
            match verdict {
                Verdict::Promoted { .. } => {}
                Verdict::Stopped { .. } => self.stopped += 1,
                Verdict::Finished { .. } => self.finished += 1,
            }
        }
        Some(job)
    }

    /// Describes the outcome of the search in one sentence, for the log.
    fn outcome(&self) -> String {
        let name = self.name();
        match self.best {
            Some((job, loss)) => {
                let (trial, resource) = (job.trial, job.to);
                format!(
                    "search {name} is over: the best is trial {trial}, with the loss {loss} at resource {resource}"
                )
            }
            None => format!("search {name} is over: no trial has a finite loss"),
        }
    }

    /// The state as users see it.
    pub fn status(&self) -> SearchStatus {
        let submission = &self.submission;
        let state = match self.state {
            SearchState::Running => "running",
            SearchState::Over => "over",
            SearchState::Cancelled => "cancelled",
        };
        SearchStatus {
            name: submission.name.clone(),
            algorithm: submission.plan.algorithm.to_string(),
            state: state.to_owned(),
            trials: submission.plan.all_trials(),
            started: self.started,
            finished: self.finished,
            stopped: self.stopped,
            best: self.best.map(|(job, loss)| BestTrial {
                trial: job.trial,
                resource: job.to,
                loss,
                parameters: submission.space.draw(submission.seed, job.trial),
            }),
        }
    }
}

impl Core {
    /// Creates a search from a submission whose tasks have been checked. `beside` contains the submitted tasks that do
    /// not belong to the search.
    ///
    /// # Errors
    /// A setting is invalid, or the name of the search is in use.
    pub(super) fn begin_search(
        &self,
        search: &SearchSubmission,
        beside: &[Submission],
    ) -> Result<LiveSearch, CoreError> {
        let name = &search.name;
        let is_in = |tasks: &[Submission]| tasks.iter().any(|task| task.name == *name);
        // The search may share its name with a task that its trials train.
        if !is_in(&search.tasks) && (is_in(beside) || self.is_taken(name)) {
            return Err(CoreError::Refused(format!(
                "search {name}: another task or search has this name; rename this search"
            )));
        }
        LiveSearch::begin(search).map_err(CoreError::Refused)
    }

    /// The index of the search with this name.
    pub fn search(&self, name: &str) -> Option<u32> {
        let mut searches = self.searches.iter();
        let found = searches.position(|search| search.submission.name == name)?;
        u32::try_from(found).ok()
    }

    /// Ends a search, and cancels its tasks.
    ///
    /// # Errors
    /// There is no search with this index, or the search is already over.
    pub(super) fn cancel_search(&mut self, index: u32) -> Result<(), CoreError> {
        let Some(search) = self.searches.get_mut(index as usize) else {
            let text = format!("there is no search number {index}");
            return Err(CoreError::Refused(text));
        };
        let name = search.submission.name.clone();
        if !search.is_open() {
            let text = format!("search {name} is already over");
            return Err(CoreError::Refused(text));
        }
        let tasks = search.cancel();
        self.say(format!("search {name} is cancelled"));
        for task in tasks {
            self.end_task(task, TaskState::Cancelled);
        }
        Ok(())
    }

    /// Whether a new trial can be started, so that a job should be requested from a search. A search without remaining
    /// jobs ends at the next request.
    pub(super) fn may_start_trials(&self) -> bool {
        self.mode != Mode::Stopping
            && self.searches.iter().any(LiveSearch::may_have_job)
            && self.open_tasks() < self.settings.max_tasks
    }

    /// Number of tasks that are waiting or active.
    fn open_tasks(&self) -> usize {
        let open = self.tasks.iter().filter(|task| !task.state.is_over());
        open.count()
    }

    /// Adds tasks for the next jobs of the searches, until `max_tasks` tasks are waiting or active.
    pub(super) fn start_trials(&mut self) {
        while self.may_start_trials() {
            // The search with the fewest outstanding jobs comes first, so that the searches get similar numbers of
            // tasks.
            let searches = self.searches.iter_mut();
            let able = searches.filter(|search| search.may_have_job());
            let Some(search) = able.min_by_key(|search| search.jobs.len()) else {
                return;
            };
            match search.next(self.tasks.len() as u32) {
                Some(task) => self.add_task(task),
                None if search.is_open() => {}
                None => {
                    let text = search.outcome();
                    self.say(text);
                }
            }
        }
    }

    /// Adds a task that has been checked.
    pub(super) fn add_task(&mut self, submission: Submission) {
        let now = Utc::from_seconds(self.now.div_euclid(1000));
        let training = self.settings.placed(&submission.training_task(now));
        let index = self.tasks.len() as u32;
        self.by_name.insert(submission.name.clone(), index);
        let groups = self.groups.of(&submission);
        self.tasks.push(Task::new(submission, training, groups));
    }

    /// Passes the losses of tasks that have ended to the searches. A loss is withheld while processes of its task may
    /// still be running, because they may use the trial's checkpoint.
    pub(super) fn report_trials(&mut self) {
        for index in 0..self.searches.len() {
            let jobs = self.searches[index].jobs.keys().copied();
            let is_over = |task: &u32| {
                let task = self.tasks.get(*task as usize);
                task.is_some_and(|task| task.state.is_over() && task.run.is_none())
            };
            let ended: Vec<u32> = jobs.filter(is_over).collect();
            for task in ended {
                self.report_trial(index, task);
            }
        }
    }

    fn report_trial(&mut self, index: usize, task: u32) {
        let found = &self.tasks[task as usize];
        let loss = found.loss.map(|measured| measured.loss);
        let (loss, why) = match (&found.state, loss) {
            (TaskState::Finished, Some(Loss::Finite(loss))) => (loss, ""),
            (TaskState::Finished, Some(Loss::Diverged)) => (f64::INFINITY, ", which is not finite"),
            (TaskState::Finished, None) => (f64::INFINITY, ", because it reported no loss"),
            _ => (f64::INFINITY, ", because it did not finish"),
        };
        let name = found.submission.name.clone();
        if self.searches[index].report(task, loss).is_some() {
            self.say(format!("trial {name} has the loss {loss}{why}"));
        }
    }

    /// The searches as users see them.
    pub(super) fn search_status(&self) -> Vec<SearchStatus> {
        self.searches.iter().map(LiveSearch::status).collect()
    }
}
