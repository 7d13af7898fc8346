//! Recomputes a search: its trials, their losses, and its decisions.

mod compare;
mod losses;
mod ranking;
mod schedule;

use std::collections::BTreeMap;

use gleaner_domain::results::search::{
    Losses as NamedLosses, RungRow, SearchOutcome, SearchRow, TrialEvent, TrialRow, TrialState,
};
use gleaner_domain::{TrainingTask, TrialSearch, Utc};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

pub(crate) use compare::{cover, has_no_figure};
use losses::Losses;
use ranking::{Measured, fronts_of};
use schedule::{Job, Schedule, Verdict};

/// A search that is recomputed from its settings.
pub(crate) struct Trials<'a> {
    spec: &'a TrialSearch,
    losses: Losses<'a>,
    set: &'a [TrainingTask],
    seed: u64,
    schedule: Schedule,
    is_over: bool,
    /// The job of each task in the replay.
    jobs: Vec<Job>,
    events: Vec<SearchRow>,
    trials: Vec<TrialRow>,
    /// For each trial: its current rung, the resource of this rung, and whether its promotion to
    /// this rung is recorded.
    places: Vec<(usize, f64, bool)>,
}

/// A task that the search submits.
pub(crate) struct Coming {
    /// Index, in the task file, of the task that the trial trains.
    pub origin: u32,
    /// The task's name in the replay.
    pub name: String,
    /// The work of the task.
    pub work: f64,
}

impl<'a> Trials<'a> {
    /// Creates the search `spec`, whose trials train the tasks in `set`. `written` contains the recorded tables.
    pub fn new(
        spec: &'a TrialSearch,
        set: &'a [TrainingTask],
        seed: u64,
        written: Option<&'a SearchOutcome>,
    ) -> Self {
        Trials {
            losses: Losses::new(spec, seed, written),
            spec,
            set,
            seed,
            schedule: Schedule::new(&spec.plan),
            is_over: false,
            jobs: Vec::new(),
            events: Vec::new(),
            trials: Vec::new(),
            places: Vec::new(),
        }
    }

    /// Whether the search has no more tasks.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// The task that a trial trains. If the file assigns no task to the trial, the task is drawn at
    /// random, depending only on the seed and the trial.
    fn origin(&self, trial: u32) -> u32 {
        if let Some(&task) = self.spec.tasks.get(trial as usize) {
            return task;
        }
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        random.set_stream(u64::from(trial));
        random.random_range(0..self.set.len()) as u32
    }

    /// The next task of the replay; `None` if the search currently has no task to submit.
    pub fn next(&mut self, now: Utc) -> Option<Coming> {
        let parent = self.losses.parent(self.trials.len() as u32);
        let Some(job) = self.schedule.next(parent) else {
            if self.schedule.is_idle() {
                self.end(now);
            }
            return None;
        };
        let (below, resource) = self.schedule.resources(&job);
        let origin = self.origin(job.trial);
        let task = self.set.get(origin as usize)?;
        let trial = job.trial as usize;
        if trial == self.trials.len() {
            if parent.is_some() {
                self.losses.copied(job.trial, below);
            }
            self.places.push((job.rung, resource, false));
            self.trials.push(TrialRow {
                trial: job.trial,
                task: task.name.clone(),
                bracket: job.bracket,
                state: TrialState::Training,
                start: now,
                end: None,
                resource: 0.0,
                loss: None,
                final_loss: self
                    .losses
                    .true_loss(job.trial, self.spec.plan.max_resource),
                work_done: 0.0,
                parameters: self.losses.parameters(job.trial),
                parent,
                losses: NamedLosses::default(),
                front: None,
            });
            self.record(now, TrialEvent::Started, job.trial);
        } else {
            if !self.places[trial].2 {
                self.promote(job.trial, job.rung, now);
            }
            self.places[trial].2 = false;
            self.trials[trial].state = TrialState::Training;
        }
        self.jobs.push(job);
        Some(Coming {
            origin,
            name: format!("{}#{}.{}", task.name, job.trial, job.rung),
            work: task.work * ((resource - below) / self.spec.plan.max_resource),
        })
    }

    /// Records that a task of the replay has done its work. Returns the additional work if the task continues.
    pub fn finish(&mut self, task: u32, now: Utc) -> Option<f64> {
        let job = *self.jobs.get(task as usize)?;
        let (_, resource) = self.schedule.resources(&job);
        let losses = self.losses.measured(job.trial, resource);
        let named = self.named(&losses);
        let row = &mut self.trials[job.trial as usize];
        // A trial has diverged if any of its losses is not finite.
        let has_diverged = losses.iter().any(|loss| !loss.is_finite());
        let first = losses.first().copied().filter(|_| !has_diverged);
        (row.end, row.resource, row.loss) = (Some(now), resource, first);
        (row.losses, row.state) = (named, TrialState::Waiting);
        self.record(now, TrialEvent::Reached, job.trial);
        let verdicts = self.schedule.report(job.trial, &losses);
        for (trial, verdict) in verdicts.into_iter().flat_map(|(_, verdicts)| verdicts) {
            match verdict {
                Verdict::Promoted => self.promote(trial, job.rung + 1, now),
                Verdict::Stopped => self.stop(trial, now),
                Verdict::Finished => {
                    self.trials[trial as usize].state = TrialState::Finished;
                    self.record(now, TrialEvent::Finished, trial);
                }
            }
        }
        let next = self.schedule.resumed(job.trial)?;
        let (below, resource) = self.schedule.resources(&next);
        self.jobs[task as usize] = next;
        self.places[job.trial as usize].2 = false;
        self.trials[job.trial as usize].state = TrialState::Training;
        let task = self.set.get(self.origin(job.trial) as usize)?;
        Some(task.work * ((resource - below) / self.spec.plan.max_resource))
    }

    fn promote(&mut self, trial: u32, rung: usize, now: Utc) {
        let bracket = self.trials[trial as usize].bracket;
        let (_, resource) = self.schedule.resources(&Job {
            trial,
            bracket,
            rung,
        });
        self.places[trial as usize] = (rung, resource, true);
        self.record(now, TrialEvent::Promoted, trial);
    }

    fn stop(&mut self, trial: u32, now: Utc) {
        self.trials[trial as usize].state = TrialState::Stopped;
        self.record(now, TrialEvent::Stopped, trial);
    }

    /// Ends the search after its last job. Trials that are still waiting for a promotion are
    /// stopped.
    fn end(&mut self, now: Utc) {
        if !self.is_over {
            self.is_over = true;
            for trial in self.schedule.unpromoted() {
                self.stop(trial, now);
            }
        }
    }

    /// The losses with their names; empty if the search has only one loss.
    fn named(&self, losses: &[f64]) -> NamedLosses {
        let names = self.spec.losses.iter().map(|loss| loss.name.clone());
        let named = names.zip(losses.iter().copied());
        NamedLosses(if losses.len() > 1 {
            named.collect()
        } else {
            Vec::new()
        })
    }

    /// Sets the front of each finished trial, unless the search has only one loss.
    fn rank(&mut self) {
        let finished = self.trials.iter();
        let finished = finished.filter(|row| row.state == TrialState::Finished);
        let several = finished.filter(|row| !row.losses.0.is_empty());
        let measured = several.map(|row| Measured::new(row.trial, &row.losses.values()));
        let fronts = fronts_of(&measured.collect::<Vec<_>>(), self.trials.len());
        for (row, front) in self.trials.iter_mut().zip(fronts) {
            row.front = front;
        }
    }

    fn record(&mut self, time: Utc, event: TrialEvent, trial: u32) {
        let (rung, resource, _) = self.places[trial as usize];
        let row = &self.trials[trial as usize];
        let is_measured = event == TrialEvent::Reached;
        self.events.push(SearchRow {
            time,
            event,
            trial,
            rung: rung as u32,
            resource,
            loss: row.loss.filter(|_| is_measured),
            losses: if is_measured {
                row.losses.clone()
            } else {
                NamedLosses::default()
            },
        });
    }

    /// The rows of the table `rungs`.
    fn rungs(&self, start: Utc) -> Vec<RungRow> {
        let mut reached: BTreeMap<u64, Vec<&SearchRow>> = BTreeMap::new();
        let rows = self.events.iter();
        for row in rows.filter(|row| row.event == TrialEvent::Reached) {
            reached.entry(row.resource.to_bits()).or_default().push(row);
        }
        let rung = |rows: &Vec<&SearchRow>| {
            let seconds = |place: usize| rows[place].time.seconds_since(start);
            let losses = rows.iter().filter_map(|row| row.loss);
            RungRow {
                resource: rows[0].resource,
                trials: rows.len() as u64,
                first_s: seconds(0),
                median_s: seconds((rows.len() - 1) / 2),
                best_loss: losses.fold(f64::INFINITY, f64::min),
            }
        };
        reached.values().map(rung).collect()
    }
}
