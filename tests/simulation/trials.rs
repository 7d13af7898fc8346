//! Searches: the trials as the world sees them, and a second search that receives the true losses.
//!
//! The world learns of a trial from the name of the trial's task. It derives the trial's work and checkpoint itself,
//! not from the core.

use std::collections::BTreeMap;

use gleaner_harvest::core::{Core, Event, Loss, Repeat, Report, SearchSubmission};
use gleaner_harvest::status::{Status, TaskStatus};
use gleaner_search::{Algorithm, Job, Next, Parameter, Plan as SearchPlan, Search, Space, Value};

use crate::checks::Invariant;
use crate::daemon;
use crate::noise::{Draw, For};
use crate::plan::{Plan, TaskPlan};
use crate::program::Program;
use crate::world::World;

/// The part of a trial that one task of a search trains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rung {
    /// Index, in the plan, of the task that the trial trains.
    pub template: usize,
    pub trial: u32,
    pub rung: u32,
}

/// A search with few trials.
pub fn search(draw: &mut Draw) -> SearchPlan {
    let algorithm = draw.pick(&[
        Algorithm::Random,
        Algorithm::SuccessiveHalving,
        Algorithm::Asha,
        Algorithm::Asha,
    ]);
    SearchPlan {
        trials: Some(draw.between(4, 7) as u32),
        eta: 2,
        ..SearchPlan::new(algorithm, 4.0)
    }
}

/// The search that the plan submits in place of a task; `None` if the task is submitted by itself.
pub fn submission(plan: &Plan, task: &TaskPlan) -> Option<Box<SearchSubmission>> {
    let values = [1, 2, 3].map(Value::Whole).to_vec();
    let space = [("depth".to_owned(), Parameter::Choice(values))];
    Some(Box::new(SearchSubmission {
        name: task.submission.name.clone(),
        plan: task.search.clone()?,
        seed: plan.seed,
        space: Space(space.into()),
        tasks: vec![task.submission.clone()],
    }))
}

fn parsed(name: &str) -> (&str, u32, u32) {
    let (template, rest) = name.split_once('#').unwrap();
    let (trial, rung) = rest.split_once('.').unwrap();
    (template, trial.parse().unwrap(), rung.parse().unwrap())
}

impl World {
    /// Adds the task of a trial under the name that the core gave it. If the trial has a rung below, its
    /// program continues from the checkpoint of that rung. Returns the index of the task.
    pub fn add_trial(&mut self, name: &str) -> usize {
        let (template, trial, rung) = parsed(name);
        let template = self.task_of(template);
        let plan = &self.plan.tasks[template];
        let search = plan.search.as_ref().unwrap();
        let rungs = search.rungs();
        let share = |rung: usize| plan.work * (rungs[rung] / search.max_resource);
        let (work, done) = match rung as usize {
            0 => (share(0), 0.0),
            rung => (share(rung), share(rung - 1)),
        };
        let mut task = plan.clone();
        task.submission.name = name.to_owned();
        task.submission.work = Some(work);
        (task.work, task.search) = (work, None);
        let own = Rung {
            template,
            trial,
            rung,
        };
        task.rung = Some(own);
        let below = self.rungs_of(template, trial).max();
        let below = below.map(|(_, task)| &self.programs[task]);
        let program = below.map_or_else(Program::default, |below| Program::after(below, done));
        self.programs.push(program);
        self.plan.tasks.push(task);
        self.programs.len() - 1
    }

    /// The known rungs of a trial, with the indices of their tasks.
    fn rungs_of(&self, template: usize, trial: u32) -> impl Iterator<Item = (u32, usize)> {
        let tasks = (0..).zip(&self.plan.tasks);
        tasks.filter_map(move |(index, task)| {
            let own = task.rung?;
            (own.template == template && own.trial == trial).then_some((own.rung, index))
        })
    }

    /// The owner of a task's checkpoints: the trial that the task belongs to, whose rungs share the checkpoints, or
    /// else the task itself.
    pub fn trainee(&self, task: usize) -> (usize, Option<u32>) {
        match self.plan.tasks[task].rung {
            Some(own) => (own.template, Some(own.trial)),
            None => (task, None),
        }
    }

    /// Checks that a rung is not trained again after a later rung has begun.
    pub fn check_rung(&mut self, task: usize) {
        let Some(own) = self.plan.tasks[task].rung else {
            return;
        };
        let last = self.rungs_of(own.template, own.trial).max();
        if let Some((last, _)) = last.filter(|(last, _)| *last > own.rung) {
            let text = format!("{own:?} trains again after rung {last}");
            self.fail(Invariant::Searches, text);
        }
    }

    /// Checks that the core knows the true amount of work of a trial's task.
    pub fn check_trial(&mut self, index: usize, status: &TaskStatus) {
        let task = &self.plan.tasks[index];
        if task.rung.is_some() && status.work != Some(task.work) {
            let text = format!(
                "{status:?} has the wrong amount of work, expected {}",
                task.work
            );
            self.fail(Invariant::Searches, text);
        }
    }

    /// The report of a program that has done this much work.
    pub fn report_of(&self, task: usize, done: f64) -> Report {
        let own = self.plan.tasks[task].rung;
        let loss = own.map(|own| self.loss(own, done));
        Report { done, loss }
    }

    /// The true loss of a trial after this much work.
    fn loss(&self, own: Rung, done: f64) -> Loss {
        let place = [u64::from(own.trial), done.to_bits()];
        let mut draw = self.noise.draw(For::Loss, &place);
        if draw.percent(5) {
            Loss::Diverged
        } else {
            Loss::Finite(draw.between(0, 100) as f64 / 10.0)
        }
    }

    /// Checks, after each entry of the journal, that the core makes the same decisions about trials as a search that
    /// receives the true losses in the same order.
    pub fn check_searches(&mut self) {
        let plan = self.plan.tasks.iter().find_map(|task| task.search.clone());
        let Some(plan) = plan else {
            return;
        };
        let mut twin = Twin {
            core: daemon::core(&self.plan, self.sabotage),
            search: Search::new(plan).unwrap(),
            known: 0,
            jobs: BTreeMap::new(),
        };
        for entry in &self.daemon.journal {
            let mut repeat = Repeat(entry.decision.as_ref());
            // Errors are ignored, because `Invariant::Replay` covers entries that cannot be replayed.
            let _ = twin.core.handle(entry.time, &entry.event, &mut repeat);
            if matches!(entry.event, Event::Progress { .. }) {
                continue;
            }
            let status = twin.core.status(entry.time);
            let search = status.searches.first();
            if search.is_some_and(|search| search.state == "cancelled") {
                return;
            }
            let mut checked = twin.compare(&status);
            if search.is_some_and(|search| search.state == "over")
                && twin.search.next() != Next::Done
            {
                checked = Err(format!("{search:?} is over too early"));
            }
            if let Err(text) = checked {
                self.fail(Invariant::Searches, text);
                return;
            }
            for (task, job) in twin.ended(&status) {
                let (name, state) = (&status.tasks[task].name, &status.tasks[task].state);
                let index = self
                    .plan
                    .tasks
                    .iter()
                    .position(|task| task.submission.name == *name);
                let loss = match index.map(|index| &self.plan.tasks[index]) {
                    Some(TaskPlan {
                        rung: Some(own),
                        work,
                        ..
                    }) if state == "finished" => self.loss(*own, *work),
                    _ => Loss::Diverged,
                };
                let loss = match loss {
                    Loss::Finite(loss) => loss,
                    Loss::Diverged => f64::INFINITY,
                };
                twin.search.report(job.trial, loss).unwrap();
            }
        }
    }
}

/// A second search. Its jobs are compared with the tasks of a core that replays the journal.
struct Twin {
    core: Core,
    search: Search,
    /// Number of tasks that have been compared.
    known: usize,
    /// The jobs whose losses have not been reported yet, by the index of their task.
    jobs: BTreeMap<usize, Job>,
}

impl Twin {
    /// Compares the new tasks of trials with the next jobs of the search.
    fn compare(&mut self, status: &Status) -> Result<(), String> {
        for (index, task) in status.tasks.iter().enumerate().skip(self.known) {
            self.known = index + 1;
            if !task.name.contains('#') {
                continue;
            }
            let (_, trial, rung) = parsed(&task.name);
            match self.search.next() {
                Next::Job(job) if (job.trial, job.rung) == (trial, rung) => {
                    self.jobs.insert(index, job);
                }
                other => return Err(format!("{} was added, expected {other:?}", task.name)),
            }
        }
        Ok(())
    }

    /// Removes and returns the jobs whose tasks have ended.
    fn ended(&mut self, status: &Status) -> Vec<(usize, Job)> {
        let core = &self.core;
        let is_over = |task: usize| {
            let state = status.tasks[task].state.as_str();
            !matches!(state, "waiting" | "active") && core.run_of(task as u32).is_none()
        };
        let ended = self.jobs.iter().filter(|(task, _)| is_over(**task));
        let ended: Vec<(usize, Job)> = ended.map(|(task, job)| (*task, *job)).collect();
        for (task, _) in &ended {
            self.jobs.remove(task);
        }
        ended
    }
}
