//! Prepares sweeps of replays. The log is read only once, and each slice of the plan is cut out of it only once. If the
//! user requests windows or blocks, the slices are then cut into parts.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use rayon::prelude::*;
use serde::Serialize;
use serde_json::Value;

use super::choices::{Choices, Keyed, Listed};
use super::parts::{Part, parts};
use super::solvers::Solvers;
use super::{Alike, PreparedRuns, settings_value, sweep_key};
use crate::plan::{Combination, MAX_RUNS, ReplayPlan};
use gleaner_domain::Observer;
use gleaner_domain::error::{Error, Result};
use gleaner_domain::results::programs::Tally;
use gleaner_domain::results::replay::Outcome;
use gleaner_domain::results::sweep::{Replication, RunOutcome, RunSummary};
use gleaner_domain::{Clock, EventLog, NodeOrder, Slice, TaskGroup, TrainingTask, TrialSearch};
use gleaner_io::SourceId;
use gleaner_replay::Options;
use gleaner_replay::rounds::check_repeatable;
use gleaner_setup::replay::{
    check_no_search, check_objective, check_topology, cut, read_log, read_topology,
};
use gleaner_setup::{Built, LogArgs, ReplaySettings, TFwd, report_left_out};
use gleaner_store::RunKey;

/// The replays of a plan. There may be millions of runs, so the settings of a run are created on demand.
pub struct Replays {
    plan: ReplayPlan,
    /// The runs, in the order of the plan. The parts of the log vary fastest.
    runs: Vec<(Place, RunKey)>,
    /// Resolved forward windows, in seconds.
    t_fwds: BTreeMap<Situation, f64>,
    /// The slices of the log, in the order of the plan, until they are cut into parts.
    slices: Vec<EventLog>,
    /// The parts of each slice: the whole slice, or its windows or blocks.
    parts: Vec<Vec<Part>>,
    /// The kind of repetitions over which the sweep computes intervals.
    replication: Replication,
    tasks: Vec<TaskSet>,
    /// The order of nodes in the topology.
    order: Option<Arc<NodeOrder>>,
    solvers: Solvers,
    /// Digests of the files that all runs depend on: the log, the classes of its nodes, and the topology.
    log_digests: Vec<String>,
    sources: Vec<SourceId>,
}

/// The values that determine a resolved forward window: the indices of the window and of the tasks, and the maximum
/// number of tasks.
type Situation = (usize, usize, usize);

/// A run, given as the index of its combination and the index of its part of the slice.
#[derive(Debug, Clone, Copy)]
struct Place {
    combination: u32,
    part: u32,
}

/// The combination of a run, with its part of the log.
struct Job<'a> {
    one: Combination,
    part: &'a Part,
}

struct TaskSet {
    tasks: Vec<TrainingTask>,
    groups: Arc<[TaskGroup]>,
    search: Option<TrialSearch>,
    /// Digests of the files from which the tasks were read.
    digests: Vec<String>,
}

impl Replays {
    /// Reads and checks all inputs of the plan.
    ///
    /// # Errors
    /// A file has faults, a window has no events or no nodes, tasks cannot be repeated, or the manifest of a program
    /// is faulty.
    pub fn prepare(plan: ReplayPlan, observer: &dyn Observer) -> Result<Self> {
        let events = plan.base.replay.log.events.clone().unwrap_or_default();
        let log = read_log(&events, plan.base.replay.log.slice.cache, observer)?;
        let log = plan.base.replay.log.classes.apply(log, observer)?;
        let mut replays = Replays {
            runs: Vec::new(),
            t_fwds: BTreeMap::new(),
            slices: Vec::new(),
            parts: Vec::new(),
            replication: Replication::default(),
            tasks: Vec::new(),
            order: None,
            solvers: Solvers::default(),
            log_digests: Vec::new(),
            sources: log.sources,
            plan,
        };
        replays.read_order(observer)?;
        replays.log_digests = digests(&replays.sources);
        let mut sets = Vec::new();
        for settings in replays.plan.tasks() {
            sets.push(replays.read_tasks(&settings.log, log.value.clock(), observer)?);
        }
        for slice in replays.plan.windows() {
            replays.slice(slice, &events, &log.value, observer)?;
        }
        let shortest = replays.find_forward_windows(&sets, observer)?;
        replays.cut(observer)?;
        // All runs with the same set must have the same tasks. The tasks are therefore checked against the shortest
        // forward window: a task that is valid for this window is valid for all others.
        for (place, set) in sets.into_iter().enumerate() {
            let set = set.within_window(shortest, replays.plan.base.replay.skip_invalid)?;
            replays.take_tasks(place, set, observer)?;
        }
        for name in replays.plan.solvers() {
            replays.solvers.add(&name, &replays.plan.folder)?;
        }
        replays.sources.extend(replays.solvers.files());
        replays.check()?;
        replays.list()?;
        Ok(replays)
    }

    /// Reads the topology if the plan contains one and any run uses it.
    fn read_order(&mut self, observer: &dyn Observer) -> Result<()> {
        let rules = self.plan.node_choices();
        let file = self.plan.base.replay.log.topology.as_deref();
        if let Some(order) = read_topology(file, "topology", rules, observer)? {
            self.order = Some(Arc::new(order.value));
            self.sources.extend(order.sources);
        }
        Ok(())
    }

    fn read_tasks(
        &mut self,
        files: &LogArgs,
        clock: &Clock,
        observer: &dyn Observer,
    ) -> Result<gleaner_inputs::tasks::TaskSet> {
        let tasks = files.tasks.as_deref().unwrap_or(Path::new(""));
        let (curves, skip_invalid) = (files.curves.as_deref(), self.plan.base.replay.skip_invalid);
        let read = gleaner_inputs::tasks::read_on(tasks, curves, skip_invalid, clock)?;
        observer.remark(&read.notes);
        self.tasks.push(TaskSet {
            tasks: Vec::new(),
            groups: Arc::default(),
            search: None,
            digests: digests(&read.sources),
        });
        self.sources.extend(read.sources);
        Ok(read.value)
    }

    /// Cuts a slice of the plan out of the log.
    fn slice(
        &mut self,
        slice: Slice,
        events: &Path,
        log: &EventLog,
        observer: &dyn Observer,
    ) -> Result<()> {
        let expected = format!("rows and nodes in the window {slice}");
        let sliced = cut(log, slice, events, &expected, observer)?;
        // Fragments are dropped before the slice is cut into parts, because a part may contain only the end of a long
        // fragment.
        let sliced = match self.plan.base.replay.log.rules.min_fragment {
            Some(seconds) => sliced.without_short_fragments(seconds),
            None => sliced,
        };
        if let (Some(file), Some(order)) = (&self.plan.base.replay.log.topology, &self.order) {
            check_topology(order, file, &sliced, observer)?;
        }
        self.slices.push(sliced);
        Ok(())
    }

    /// Cuts the slices into parts. The forward windows must already have been resolved on whole slices, so that a
    /// setting has the same forward window in all parts.
    fn cut(&mut self, observer: &dyn Observer) -> Result<()> {
        let slices = std::mem::take(&mut self.slices);
        let (cut, seed) = (self.plan.cut()?, self.plan.first_seed());
        (self.parts, self.replication) = parts(slices, cut, seed, observer)?;
        let runs = self.plan.count().checked_mul(self.most_parts());
        if runs.is_none_or(|runs| runs > MAX_RUNS) {
            return Err(Error::Usage(format!(
                "{} combinations of settings in {} parts of the log are too many runs, expected at most {MAX_RUNS}. \
                 List fewer values in the plan, or cut the log into fewer windows",
                self.plan.count(),
                self.most_parts()
            )));
        }
        Ok(())
    }

    /// Maximum number of parts of a slice.
    fn most_parts(&self) -> usize {
        self.parts.iter().map(Vec::len).max().unwrap_or(1)
    }

    /// Resolves the forward windows that are `auto`, and reports the reasons for their values. Returns the shortest
    /// of all forward windows.
    fn find_forward_windows(
        &mut self,
        sets: &[gleaner_inputs::tasks::TaskSet],
        observer: &dyn Observer,
    ) -> Result<f64> {
        let given = self.plan.t_fwds();
        let all = given.iter().filter_map(|t_fwd| t_fwd.seconds());
        let shortest = all.fold(f64::INFINITY, f64::min);
        if given.iter().all(|t_fwd| t_fwd.seconds().is_some()) {
            return Ok(shortest);
        }
        for index in 0..self.plan.count() {
            let one = self.plan.combination(index);
            let log_args = self.plan.settings(&one).log;
            let rules = &log_args.rules;
            let situation = (one.window, one.tasks, rules.max_tasks);
            if rules.t_fwd.seconds().is_some() || self.t_fwds.contains_key(&situation) {
                continue;
            }
            let (log, set) = (&self.slices[one.window], &sets[one.tasks]);
            let at_once = set.at_once(rules.max_tasks);
            let chosen = rules.t_fwd.choose(log, &set.tasks, at_once, observer)?;
            let tasks = log_args.tasks.unwrap_or_default();
            observer.remark(&[format!("{}: {chosen}", tasks.display())]);
            self.t_fwds.insert(situation, chosen.seconds);
        }
        Ok(self.t_fwds.values().copied().fold(shortest, f64::min))
    }

    /// Stores the set of tasks at position `place`, for use by every run.
    fn take_tasks(
        &mut self,
        place: usize,
        set: gleaner_inputs::tasks::TaskSet,
        observer: &dyn Observer,
    ) -> Result<()> {
        report_left_out(&set.skipped, observer);
        if self.plan.base.replay.log.rules.repeat_tasks {
            check_repeatable(&set.tasks)?;
            check_no_search(&set)?;
        }
        self.tasks[place].tasks = set.tasks;
        self.tasks[place].groups = set.groups.into();
        self.tasks[place].search = set.search;
        Ok(())
    }

    /// Checks objectives and searches, once for each combination of the settings that affect the checks.
    fn check(&self) -> Result<()> {
        let mut checked = BTreeSet::new();
        for index in 0..self.plan.count() {
            let one = self.plan.combination(index);
            if checked.insert(one.same_checks) {
                let settings = self.settings_of(&one);
                let tasks = &self.tasks[one.tasks].tasks;
                let options = self.options(&one, &settings)?;
                for part in &self.parts[one.window] {
                    check_objective(&options, tasks, &part.log)?;
                }
                settings.solver.limits()?;
            }
        }
        Ok(())
    }

    /// Lists the runs. Skips duplicate combinations, for example if `auto` resolves to a forward window that the plan
    /// also contains.
    fn list(&mut self) -> Result<()> {
        let of_combination = |index: u32| {
            let one = self.plan.combination(index as usize);
            let settings = self.settings_of(&one);
            let parts = (0..).zip(&self.parts[one.window]);
            let runs = parts.map(|(part, at)| {
                let key = sweep_key(&self.decisive(&one, &settings, at))?;
                let combination = index;
                Ok((Place { combination, part }, key))
            });
            runs.collect::<Result<Vec<_>>>()
        };
        let all = 0..self.plan.count() as u32;
        let runs: Vec<Vec<_>> = all
            .into_par_iter()
            .map(of_combination)
            .collect::<Result<_>>()?;
        let mut seen = BTreeSet::new();
        let runs = runs.into_iter().flatten();
        self.runs = runs.filter(|(_, key)| seen.insert(*key)).collect();
        Ok(())
    }

    /// Everything that determines the result of a combination on a part of the log.
    fn decisive<'a>(
        &'a self,
        one: &Combination,
        settings: &'a ReplaySettings,
        part: &Part,
    ) -> impl Serialize + use<'a> {
        let mut digests = self.tasks[one.tasks].digests.clone();
        digests.extend(self.solvers.digests(one.solver));
        let keyed = Keyed {
            choices: Choices::of(settings),
            window: part.window,
        };
        ("replay", keyed, (&self.log_digests, digests))
    }

    /// The settings of a combination, with `auto` replaced by the forward window in seconds.
    fn settings_of(&self, one: &Combination) -> ReplaySettings {
        let mut settings = self.plan.settings(one);
        let rules = &mut settings.log.rules;
        let found = self.t_fwds.get(&(one.window, one.tasks, rules.max_tasks));
        if let (None, Some(&found)) = (rules.t_fwd.seconds(), found) {
            rules.t_fwd = TFwd::Seconds(found);
        }
        settings
    }

    /// The combination of a run, and its part of the log.
    fn of(&self, run: usize) -> Job<'_> {
        let place = self.runs[run].0;
        let one = self.plan.combination(place.combination as usize);
        let part = &self.parts[one.window][place.part as usize];
        Job { one, part }
    }

    /// The options of the engine for a combination.
    fn options(&self, one: &Combination, settings: &ReplaySettings) -> Result<Options> {
        let (set, rules) = (&self.tasks[one.tasks], &settings.log.rules);
        let t_fwd = rules.t_fwd.seconds().unwrap_or(f64::NAN);
        Ok(Options {
            node_order: self.order.clone(),
            groups: set.groups.clone(),
            search: rules.search(set.search.as_ref())?,
            ..rules.options(t_fwd)
        })
    }

    /// Runs the replay and returns its outcome. Also returns the tally of the solver's answers if the solver is a
    /// program, or a built-in solver whose library failed.
    fn replay(
        &self,
        Job { one, part }: &Job<'_>,
        observer: &dyn Observer,
    ) -> Result<(Outcome, Option<Tally>)> {
        let settings = self.settings_of(one);
        let args = &settings.solver;
        let (formulation, big_m) = (args.formulation.unwrap_or_default(), args.big_m);
        let mut solver = Built::new(self.solvers.choice(one.solver), formulation, big_m)?;
        solver.stop_when(observer.stop());
        let tally = solver.tally();
        let (log, tasks) = (&part.log, &self.tasks[one.tasks].tasks);
        let options = self.options(one, &settings)?;
        let mut decider = solver.decider(&options, log, tasks, args.limits()?)?;
        if settings.check {
            decider = decider.checked(big_m);
        }
        let outcome = gleaner_replay::run(log, tasks, &options, &mut decider, observer)?;
        Ok((outcome, tally.to_keep()))
    }
}

fn digests(sources: &[SourceId]) -> Vec<String> {
    sources.iter().map(|s| s.sha256.to_string()).collect()
}

impl PreparedRuns for Replays {
    fn count(&self) -> usize {
        self.runs.len()
    }

    fn key(&self, run: usize) -> RunKey {
        self.runs[run].1
    }

    fn settings(&self, run: usize) -> Result<Value> {
        let job = self.of(run);
        let settings = self.settings_of(&job.one);
        settings_value(&Listed {
            tasks: &settings.log.tasks,
            curves: &settings.log.curves,
            choices: Choices::of(&settings),
            window: job.part.window.map(|at| at.window),
        })
    }

    fn sources(&self) -> &[SourceId] {
        &self.sources
    }

    fn length(&self, run: usize) -> usize {
        self.of(run).part.log.len()
    }

    fn alike(&self, run: usize) -> Alike {
        let (one, part) = (self.of(run).one, self.runs[run].0.part);
        let parts = self.most_parts() as u64;
        Alike {
            // Parts of the log have different events, so runs of different parts may have different durations.
            same_but_seed: one.same_but_seed * parts + u64::from(part),
            same_problem: one.same_problem,
        }
    }

    fn replication(&self) -> Replication {
        self.replication
    }

    fn execute(&self, run: usize, observer: &dyn Observer) -> Result<Option<RunOutcome>> {
        let (outcome, program) = self.replay(&self.of(run), observer)?;
        if !outcome.summary.complete {
            return Ok(None);
        }
        Ok(Some(RunOutcome {
            summary: RunSummary::Replay(Box::new(outcome.summary)),
            program,
        }))
    }
}
