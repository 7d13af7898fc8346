//! Sweeps of replays: the log is read once, and each of its windows cut once.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use gleaner_solvers::Limits;

use super::solvers::Solvers;
use super::{PreparedRuns, sweep_run};
use crate::plan::{ReplayChoices, ReplayPlan, ReplaySettings, TaskFiles};
use gleaner_core::domain::{
    Clock, EventLog, NodeOrder, Slice, TaskGroup, TrainingTask, TrialSearch,
};
use gleaner_core::error::Result;
use gleaner_core::results::programs::Tally;
use gleaner_core::results::replay::Outcome;
use gleaner_core::results::sweep::{RunOutcome, RunSummary};
use gleaner_formats::ingest::{self, SourceId};
use gleaner_formats::output::sweep::SweepRun;
use gleaner_replay::rounds::check_repeatable;
use gleaner_replay::{Control, Options, TFwd};
use gleaner_setup::replay::{
    check_no_search, check_objective, check_topology, cut, read_log, read_topology,
};
use gleaner_setup::{Built, Remark, report_left_out, solver};

/// The replays of a plan.
pub struct Replays {
    runs: Vec<SweepRun>,
    /// What each run replays.
    jobs: Vec<Job>,
    windows: Vec<(Slice, EventLog)>,
    tasks: Vec<TaskSet>,
    /// The order of nodes by the topology.
    order: Option<Arc<NodeOrder>>,
    solvers: Solvers,
    sources: Vec<SourceId>,
    check: bool,
}

struct Job {
    choices: ReplayChoices,
    /// Forward window in seconds.
    t_fwd: f64,
    limits: Limits,
    /// Index of the window.
    window: usize,
    /// Index of the task set.
    tasks: usize,
    /// Index of the solver.
    solver: usize,
}

/// A run's settings, and the indices of its window and of its tasks.
type Planned = (ReplaySettings, usize, usize);

struct TaskSet {
    files: TaskFiles,
    tasks: Vec<TrainingTask>,
    groups: Arc<[TaskGroup]>,
    search: Option<TrialSearch>,
    /// Digests of the files.
    digests: Vec<String>,
}

impl Replays {
    /// Reads and checks everything that the plan names.
    ///
    /// # Errors
    /// Faults of the files; windows without an event or a node; tasks that cannot be repeated; faulty
    /// manifests of programs.
    pub fn prepare(plan: ReplayPlan, remark: Remark<'_>) -> Result<Self> {
        let log = read_log(&plan.events, plan.cache, remark)?;
        let mut replays = Replays {
            runs: Vec::new(),
            jobs: Vec::new(),
            windows: Vec::new(),
            tasks: Vec::new(),
            order: None,
            solvers: Solvers::default(),
            sources: log.sources,
            check: plan.check,
        };
        let all = plan.expand();
        replays.read_order(&plan, &all, remark)?;
        let log_digests = digests(&replays.sources);
        let mut sets = Vec::new();
        for files in plan.tasks() {
            sets.push(replays.read_tasks(files, &plan, log.value.clock(), remark)?);
        }
        let mut planned = Vec::new();
        for settings in all {
            let window = replays.window(settings.choices.window, &log.value, &plan, remark)?;
            let tasks = replays.tasks.iter().position(|t| t.files == settings.files);
            planned.push((settings, window, tasks.unwrap_or_default()));
        }
        let t_fwds = replays.forward_windows(&planned, &sets, remark);
        // What fits the shortest window fits all, and all runs have the same tasks.
        let shortest = t_fwds.iter().copied().fold(f64::INFINITY, f64::min);
        for (place, set) in sets.into_iter().enumerate() {
            replays.take_tasks(
                place,
                set.within_window(shortest, plan.skip_invalid)?,
                &plan,
                remark,
            )?;
        }
        for ((settings, window, tasks), t_fwd) in planned.into_iter().zip(t_fwds) {
            let solver = replays
                .solvers
                .find(&settings.choices.solver, &plan.folder)?;
            replays.add((settings, window, tasks), solver, t_fwd, &log_digests)?;
        }
        replays.jobs.iter().try_for_each(|job| {
            let (log, tasks) = (
                &replays.windows[job.window].1,
                &replays.tasks[job.tasks].tasks,
            );
            check_objective(&replays.options(job)?, tasks, log)
        })?;
        replays.sources.extend(replays.solvers.files());
        Ok(replays)
    }

    /// Reads the topology, if the plan names one and a run uses it.
    fn read_order(
        &mut self,
        plan: &ReplayPlan,
        all: &[ReplaySettings],
        remark: Remark<'_>,
    ) -> Result<()> {
        let rules = all
            .iter()
            .map(|settings| settings.choices.rules.node_choice);
        let file = plan.topology.as_deref();
        if let Some(order) = read_topology(file, "topology", rules, remark)? {
            self.order = Some(Arc::new(order.value));
            self.sources.extend(order.sources);
        }
        Ok(())
    }

    /// Adds a run with its forward window; one that is there already, as where `auto` comes to
    /// a window that the plan lists, is added once.
    fn add(
        &mut self,
        (mut settings, window, tasks): Planned,
        solver: usize,
        t_fwd: f64,
        log_digests: &[String],
    ) -> Result<()> {
        settings.choices.rules.t_fwd = TFwd::Seconds(t_fwd);
        let choices = settings.choices.clone();
        let mut digests = self.tasks[tasks].digests.clone();
        digests.extend(self.solvers.digests(solver));
        let inputs = (log_digests, digests);
        let run = sweep_run(&settings, &("replay", &choices, inputs))?;
        if self.runs.iter().any(|other| other.key == run.key) {
            return Ok(());
        }
        self.runs.push(run);
        self.jobs.push(Job {
            limits: solver::limits(choices.time_limit, choices.gap)?,
            choices,
            t_fwd,
            window,
            tasks,
            solver,
        });
        Ok(())
    }

    /// The forward window of every run in seconds; says where those come from that were to be
    /// found.
    fn forward_windows(
        &self,
        planned: &[Planned],
        sets: &[ingest::tasks::TaskSet],
        remark: Remark<'_>,
    ) -> Vec<f64> {
        let mut found: Vec<((usize, usize, usize), f64)> = Vec::new();
        let window = |(settings, window, tasks): &Planned| {
            let choices = &settings.choices;
            if let Some(seconds) = choices.rules.t_fwd.seconds() {
                return seconds;
            }
            let of = (*window, *tasks, choices.rules.max_tasks);
            if let Some((_, seconds)) = found.iter().find(|(other, _)| *other == of) {
                return *seconds;
            }
            let (log, set) = (&self.windows[*window].1, &sets[*tasks]);
            let chosen =
                choices
                    .rules
                    .t_fwd
                    .choose(log, &set.tasks, set.at_once(choices.rules.max_tasks));
            remark(&[format!("{}: {chosen}", settings.files.tasks.display())]);
            found.push((of, chosen.seconds));
            chosen.seconds
        };
        planned.iter().map(window).collect()
    }

    fn read_tasks(
        &mut self,
        files: &TaskFiles,
        plan: &ReplayPlan,
        clock: &Clock,
        remark: Remark<'_>,
    ) -> Result<ingest::tasks::TaskSet> {
        let (tasks, curves) = (&files.tasks, files.curves.as_deref());
        let read = ingest::tasks::read_on(tasks, curves, plan.skip_invalid, clock)?;
        remark(&read.notes);
        self.tasks.push(TaskSet {
            files: files.clone(),
            tasks: Vec::new(),
            groups: Arc::default(),
            search: None,
            digests: digests(&read.sources),
        });
        self.sources.extend(read.sources);
        Ok(read.value)
    }

    /// Takes the tasks that all runs can have.
    fn take_tasks(
        &mut self,
        place: usize,
        set: ingest::tasks::TaskSet,
        plan: &ReplayPlan,
        remark: Remark<'_>,
    ) -> Result<()> {
        report_left_out(&set.skipped, remark);
        if plan.repeat_tasks {
            check_repeatable(&set.tasks)?;
            check_no_search(&set)?;
        }
        self.tasks[place].tasks = set.tasks;
        self.tasks[place].groups = set.groups.into();
        self.tasks[place].search = set.search;
        Ok(())
    }

    /// Index of the window, cut where it is new.
    fn window(
        &mut self,
        window: Slice,
        log: &EventLog,
        plan: &ReplayPlan,
        remark: Remark<'_>,
    ) -> Result<usize> {
        if let Some(known) = self.windows.iter().position(|(other, _)| *other == window) {
            return Ok(known);
        }
        let expected = format!("rows and nodes in the window {window}");
        let sliced = cut(log, window, &plan.events, &expected, remark)?;
        if let (Some(file), Some(order)) = (&plan.topology, &self.order) {
            check_topology(order, file, &sliced, remark)?;
        }
        self.windows.push((window, sliced));
        Ok(self.windows.len() - 1)
    }

    /// What the engine takes for a run.
    fn options(&self, job: &Job) -> Result<Options> {
        let (set, rules) = (&self.tasks[job.tasks], &job.choices.rules);
        Ok(Options {
            node_order: self.order.clone(),
            groups: set.groups.clone(),
            search: rules.search(set.search.as_ref())?,
            ..rules.options(job.t_fwd)
        })
    }

    /// Replays. Also returns what became of the answers of the solver, if that is a program.
    fn replay(&self, job: &Job, control: Control<'_>) -> Result<(Outcome, Option<Tally>)> {
        let ReplayChoices {
            formulation, big_m, ..
        } = &job.choices;
        let choice = self.solvers.choice(job.solver);
        let solver = Built::new(choice, *formulation, *big_m)?;
        let tally = solver.tally();
        let (log, tasks) = (&self.windows[job.window].1, &self.tasks[job.tasks].tasks);
        let options = self.options(job)?;
        let mut decider = solver.decider(&options.outline(tasks), job.limits)?;
        if self.check {
            decider = decider.checked(*big_m);
        }
        let outcome = gleaner_replay::run(log, tasks, &options, &mut decider, control)?;
        Ok((outcome, tally.map(|tally| tally.get())))
    }
}

fn digests(sources: &[SourceId]) -> Vec<String> {
    sources.iter().map(|s| s.sha256.to_string()).collect()
}

impl PreparedRuns for Replays {
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
    ) -> Result<Option<RunOutcome>> {
        let mut seen = 0;
        let control = Control {
            stop,
            progress: &mut |event, _| {
                tick(event - seen);
                seen = event;
            },
        };
        let (outcome, program) = self.replay(&self.jobs[index], control)?;
        // A replay may end before its log does.
        tick(self.length(index) - seen);
        if !outcome.summary.complete {
            return Ok(None);
        }
        Ok(Some(RunOutcome {
            summary: RunSummary::Replay(Box::new(outcome.summary)),
            program,
        }))
    }
}
