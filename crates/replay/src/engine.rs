//! The replay loop.

use std::borrow::Cow;
use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use gleaner_solvers::{Problem, Task};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::accounts::{self, Active, Rescale, Spell};
use super::decide::{Decider, Decision, Plan};
use super::efficiency::EfficiencyMeter;
use super::groups::{self, Groups};
use super::hindsight::CourseRecorder;
use super::initial::{Initial, deal_at_random, keep_within};
use super::node_choice::{self, NodeChoice};
use super::nodes::{Holder, NodePool};
use super::options::Options;
use super::queue::Queue;
use super::rounds::Rounds;
use super::supply::{Next, Supply};
use super::trials::Trials;
use gleaner_core::domain::{Change, EventLog, Time, TrainingTask};
use gleaner_core::error::{Error, Result};
use gleaner_core::results::replay::Outcome;
use gleaner_core::results::replay::{
    AllocationRow, Ended, EventKind, StepRow, StepStatus, TaskRow, TimingRow,
};

/// How the caller follows and stops a run.
pub struct Control<'a> {
    /// Set to stop at the next event; the outcome is then marked incomplete.
    pub stop: &'a AtomicBool,
    /// Called with the index of each event and the number of events.
    pub progress: &'a mut dyn FnMut(usize, usize),
}

/// Replays `log` (already sliced, not empty) with `tasks` under `decider`.
///
/// # Errors
/// The decider fails, or its plan cannot be carried out. A value of the objective is out of range. The
/// window, a task or the search in the options is invalid.
pub fn run(
    log: &EventLog,
    tasks: &[TrainingTask],
    options: &Options,
    decider: &mut dyn Decider,
    control: Control<'_>,
) -> Result<Outcome> {
    let mut choice = node_choice::of_rule(options.node_choice, options.node_order.as_deref(), log);
    run_choosing(log, tasks, options, decider, choice.as_mut(), control)
}

/// As [`run`], with your own choice of nodes in place of that of the options.
///
/// # Errors
/// As [`run`].
pub fn run_choosing(
    log: &EventLog,
    tasks: &[TrainingTask],
    options: &Options,
    decider: &mut dyn Decider,
    choice: &mut dyn NodeChoice,
    control: Control<'_>,
) -> Result<Outcome> {
    let Some(&start) = log.times().first() else {
        return Err(Error::Run("the log slice holds no event".into()));
    };
    options.check(tasks)?;
    let last_event = decider.last_event();
    let mut engine = Engine::new(log, tasks, options, (decider, choice), start)?;
    engine.deal()?;
    let mut ended = Ended::LogEnded;
    for (event, (time, changes)) in log.rows().enumerate().skip(1) {
        if control.stop.load(Ordering::Relaxed) {
            ended = Ended::Interrupted;
            break;
        }
        (control.progress)(event, log.len());
        if last_event.is_some_and(|last| event > last) && engine.leaves_a_choice(time, changes) {
            ended = Ended::ScriptEnded;
            break;
        }
        let goes_on = (!options.completion_events || engine.complete_until(time, event - 1)?)
            && engine.step(time, event, changes, EventKind::Nodes)?;
        if !goes_on {
            // Repeated tasks are over only if another round would be more tasks than allowed.
            ended = match engine.rounds {
                Some(_) => Ended::TaskLimit,
                None => Ended::TasksFinished,
            };
            break;
        }
    }
    // If the solver is stopped during the last decision, the allocation stays unchanged.
    if control.stop.load(Ordering::Relaxed) {
        ended = Ended::Interrupted;
    }
    Ok(engine.finish(ended, control.stop))
}

/// The state of a run; see [`run`].
pub(super) struct Engine<'a> {
    pub(super) log: &'a EventLog,
    /// The tasks of all rounds so far.
    pub(super) tasks: Cow<'a, [TrainingTask]>,
    /// The rounds of the set of tasks; `None` if it is submitted only once.
    pub(super) rounds: Option<Rounds<'a>>,
    pub(super) options: &'a Options,
    pub(super) decider: &'a mut dyn Decider,
    pub(super) choice: &'a mut dyn NodeChoice,
    pub(super) start: Time,
    pub(super) now: Time,
    pub(super) pool: NodePool,
    pub(super) supply: Supply<'a>,
    pub(super) active: Vec<Active>,
    /// The decision's problem; its tasks mirror `active`.
    pub(super) problem: Problem,
    pub(super) groups: Groups,
    /// Events at which a group could not have its fewest nodes.
    pub(super) events_short: usize,
    /// Time at which the present holder of each node got it.
    pub(super) held_since: Vec<Time>,
    pub(super) efficiency: EfficiencyMeter,
    /// For the bound; `None` if it is not wanted.
    pub(super) course: Option<CourseRecorder>,
    /// Events at which nodes left while tasks were active.
    pub(super) losses: u64,
    pub(super) steps: Vec<StepRow>,
    pub(super) timings: Vec<TimingRow>,
    /// Name of the decider.
    pub(super) solver: Arc<str>,
    pub(super) accounts: Vec<TaskRow>,
    pub(super) allocations: Vec<AllocationRow>,
}

/// Nodes that left and joined at an event, and the preemptions this caused.
#[derive(Default)]
struct Moves {
    left: u32,
    joined: u32,
    preempted: u32,
    preemption_cost: f64,
}

impl<'a> Engine<'a> {
    fn new(
        log: &'a EventLog,
        tasks: &'a [TrainingTask],
        options: &'a Options,
        (decider, choice): (&'a mut dyn Decider, &'a mut dyn NodeChoice),
        start: Time,
    ) -> Result<Self> {
        let solver = decider.name().into();
        let (supply, first) = match &options.search {
            Some(search) => {
                let trials = Trials::begin(search, tasks, options.seed, start)?;
                (Supply::Search(Box::new(trials)), &[][..])
            }
            None => {
                let queue = Queue::new(0, tasks);
                let set_size = tasks.len();
                (Supply::Listed { queue, set_size }, tasks)
            }
        };
        Ok(Engine {
            log,
            tasks: Cow::Borrowed(first),
            rounds: (options.repeat_tasks && !tasks.is_empty()).then(|| Rounds::new(tasks, start)),
            options,
            decider,
            choice,
            start,
            now: start,
            pool: NodePool::new(log.nodes().len()),
            supply,
            active: Vec::new(),
            problem: options.empty_problem(),
            groups: Groups::new(&options.groups, tasks),
            events_short: 0,
            held_since: vec![start; log.nodes().len()],
            efficiency: EfficiencyMeter::new(),
            course: options.bound.then(CourseRecorder::default),
            losses: 0,
            steps: Vec::with_capacity(log.len()),
            timings: Vec::with_capacity(log.len()),
            solver,
            accounts: first.iter().map(|t| accounts::open(t, start)).collect(),
            allocations: Vec::new(),
        })
    }

    /// Event 0: the first tasks become active and the idle nodes are dealt to them.
    fn deal(&mut self) -> Result<()> {
        let log = self.log;
        self.choice.observe(log.changes(0), 0);
        self.join(log.changes(0));
        self.admit()?;
        if self.pool.idle() == 0 || self.active.is_empty() {
            return Ok(());
        }
        if let Some(plan) = self.initial_plan()? {
            self.apply(0, plan)?;
        }
        for k in 0..self.active.len() {
            self.refresh_rate(k);
            let task = &self.tasks[self.active[k].task as usize];
            let rate = self.active[k].rate;
            self.active[k].pending_cost = rate * task.rescale_up;
            if rate > 0.0 {
                self.accounts[self.active[k].task as usize].lost_up += task.rescale_up;
            }
        }
        Ok(())
    }

    fn initial_plan(&mut self) -> Result<Option<Plan>> {
        match self.options.initial {
            Initial::Empty => Ok(None),
            Initial::Solve => Ok(Some(self.ask(0)?.plan)),
            Initial::Random => {
                let mut rng = ChaCha8Rng::seed_from_u64(self.options.seed);
                let bounds: Vec<_> = self
                    .problem
                    .tasks
                    .iter()
                    .map(|t| (t.min_nodes, t.cap()))
                    .collect();
                let idle: Vec<u32> = self.pool.free().iter().collect();
                let mut dealt = deal_at_random(self.pool.idle(), &bounds, &mut rng);
                keep_within(&mut dealt, &bounds, &groups::most(&self.problem));
                let nodes = dealt
                    .into_iter()
                    .map(|own| own.into_iter().map(|i| idle[i as usize]).collect())
                    .collect();
                Ok(Some(Plan::Nodes(nodes)))
            }
        }
    }

    /// Whether the event at `time` with `changes` leaves something to decide.
    fn leaves_a_choice(&self, time: Time, changes: &[Change]) -> bool {
        let joined = changes.iter().filter(|c| c.idle()).count();
        let idle = self.pool.idle() as usize + joined - (changes.len() - joined);
        let unfinished = |a: &Active| !self.finishes_by(a, time, changes);
        idle > 0 && (!self.supply.is_empty() || self.active.iter().any(unfinished))
    }

    /// Whether a task is done by `time`, at which `changes` happen.
    fn finishes_by(&self, active: &Active, time: Time, changes: &[Change]) -> bool {
        let task = &self.tasks[active.task as usize];
        let is_preempted = changes
            .iter()
            .any(|c| !c.idle() && self.pool.holder(c.node()) == Holder::Task(active.task));
        let mut seconds = time.seconds_since(self.now);
        if is_preempted {
            seconds -= task.rescale_down;
        }
        let account = &self.accounts[active.task as usize];
        account.work <= account.work_done + seconds * active.rate - active.pending_cost
    }

    /// Steps at every completion before `until`. Returns false once the replay is over.
    fn complete_until(&mut self, until: Time, event: usize) -> Result<bool> {
        while let Some(time) = self.next_completion().filter(|&t| t < until) {
            if !self.step(time, event, &[], EventKind::Completion)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Time at which the first active task finishes if nothing changes; `None` if none does.
    fn next_completion(&self) -> Option<Time> {
        self.active
            .iter()
            .filter(|a| a.rate > 0.0)
            .map(|a| {
                let account = &self.accounts[a.task as usize];
                let left = account.work - account.work_done + a.pending_cost;
                (left / a.rate).max(1e-9)
            })
            .filter(|seconds| seconds.is_finite())
            .map(|seconds| self.now.plus_seconds(seconds))
            .min()
    }

    /// Carries out one event, in the order of BFTrainer's replayer: books progress, takes away
    /// nodes that left, retires finished tasks, adds nodes that joined, admits waiting tasks, and
    /// decides. Returns false once no task is active or to come.
    fn step(
        &mut self,
        time: Time,
        event: usize,
        changes: &[Change],
        kind: EventKind,
    ) -> Result<bool> {
        let rate_before: f64 = self.active.iter().map(|a| a.rate).sum();
        let mut row = self.advance(time, event, changes, kind)?;
        let mut micros = 0;
        let over = self.active.is_empty() && self.supply.is_empty();
        if over {
            row.rate = rate_before;
        } else if self.pool.idle() == 0 || self.active.is_empty() {
            for active in &mut self.active {
                (active.rate, active.pending_cost) = (0.0, 0.0);
            }
        } else {
            micros = self.decide(event, &mut row)?;
        }
        self.steps.push(row);
        self.timings.push(TimingRow { event, micros });
        Ok(!over)
    }

    /// Advances nodes, tasks and accounts to an event. Returns the event's row, as it would be without a
    /// decision.
    fn advance(
        &mut self,
        time: Time,
        event: usize,
        changes: &[Change],
        kind: EventKind,
    ) -> Result<StepRow> {
        let (idle, unused) = self.accrue(time);
        self.choice.observe(changes, self.active.len());
        let mut moves = Moves::default();
        self.preempt(changes, &mut moves);
        let (progress, spell) = self.settle(kind)?;
        moves.joined = self.join(changes);
        self.admit()?;
        self.repeat()?;
        Ok(StepRow {
            time,
            progress,
            rate: 0.0,
            rescale_cost: 0.0,
            event,
            nodes_left: moves.left,
            tasks_preempted: moves.preempted,
            nodes_joined: moves.joined,
            tasks_active: self.active.len() as u32,
            nodes_idle: self.pool.idle(),
            tasks_running: 0,
            nodes_used: 0,
            preemption_cost: moves.preemption_cost,
            kind,
            solver: self.solver.clone(),
            status: StepStatus::Trivial,
            gap: None,
            idle_node_seconds: idle,
            unused_node_seconds: unused,
            used_node_seconds: spell.used,
            before_completion_node_seconds: spell.before_completion(),
            after_completion_node_seconds: spell.after_completion,
            below_minimum_node_seconds: spell.below_minimum,
            gross_work: spell.gross_work,
            rescale_loss: spell.rescale_loss,
            after_completion_work: spell.after_completion_work,
        })
    }

    /// Submits the task set again if the options ask for it, all tasks of the last round were admitted,
    /// and places are free. The number of places is `max_tasks` or the size of the set, whichever is
    /// smaller. One round either fills these places or has tasks that are submitted later.
    fn repeat(&mut self) -> Result<()> {
        let Some(rounds) = &mut self.rounds else {
            return Ok(());
        };
        let places = self.options.max_tasks.min(rounds.set_size());
        if !self.supply.is_empty() || self.active.len() >= places {
            return Ok(());
        }
        let Some(tasks) = rounds.next(self.now) else {
            return Ok(());
        };
        self.supply = Supply::Listed {
            queue: Queue::new(self.tasks.len() as u32, &tasks),
            set_size: tasks.len(),
        };
        let open = tasks.iter().map(|task| accounts::open(task, self.start));
        self.accounts.extend(open);
        self.tasks.to_mut().extend(tasks);
        self.admit()
    }

    /// Books the node-time since the last event. Returns the idle node-seconds, and how many of them no
    /// task held.
    fn accrue(&mut self, time: Time) -> (f64, f64) {
        let seconds = time.seconds_since(self.now);
        self.efficiency.accrue(self.pool.idle(), seconds);
        if let Some(course) = &mut self.course {
            course.accrue(self.pool.idle(), seconds);
        }
        for active in &mut self.active {
            active.spell = Spell::of(active, &self.tasks[active.task as usize], seconds);
            active.preempted = false;
            let account = &mut self.accounts[active.task as usize];
            account.active_seconds += seconds;
            account.node_seconds += active.spell.used;
            if !active.held.is_empty() {
                active.running_seconds += seconds;
            }
        }
        self.now = time;
        let node_seconds = |nodes: u32| f64::from(nodes) * seconds;
        let free = self.pool.free().len();
        (node_seconds(self.pool.idle()), node_seconds(free))
    }

    /// Takes away the nodes that left. A task that held any of them pays once.
    fn preempt(&mut self, changes: &[Change], moves: &mut Moves) {
        for change in changes.iter().filter(|c| !c.idle()) {
            moves.left += 1;
            let node = change.node();
            let Holder::Task(task) = self.pool.holder(node) else {
                self.pool.leave_free(node);
                continue;
            };
            self.close(task, node);
            let Some(active) = self.active.iter_mut().find(|a| a.task == task) else {
                continue;
            };
            self.pool.leave_held(node, &mut active.held);
            if active.preempted {
                continue;
            }
            active.preempted = true;
            let seconds = self.tasks[task as usize].rescale_down;
            let cost = seconds * active.rate;
            active.spell.preemption_loss = cost;
            let account = &mut self.accounts[task as usize];
            account.preemptions += 1;
            if cost > 0.0 {
                account.lost_preempted += seconds;
                moves.preempted += 1;
                moves.preemption_cost += cost;
            }
        }
        self.losses += u64::from(moves.left > 0 && !self.active.is_empty());
    }

    /// Adds the progress of active tasks to their accounts and retires finished tasks. Returns the total
    /// progress, and the accounts of all tasks since the last event.
    fn settle(&mut self, kind: EventKind) -> Result<(f64, Spell)> {
        let (mut total, mut spells) = (0.0, Spell::default());
        let mut finished = Vec::new();
        for active in &mut self.active {
            let account = &mut self.accounts[active.task as usize];
            account.work_done += active.spell.progress();
            // A completion's time is rounded to nanoseconds and its work to f64.
            let slack = match kind {
                EventKind::Nodes => 0.0,
                EventKind::Completion if account.work.is_finite() => 1e-9 * account.work,
                EventKind::Completion => 0.0,
            };
            if account.work <= account.work_done + slack {
                active.spell.complete(account.work_done - account.work);
                account.work_done = account.work;
                account.end = Some(self.now);
                finished.push(active.task);
            }
            total += active.spell.progress();
            active.spell.book(account);
            spells.add(&active.spell);
        }
        if let Supply::Search(trials) = &mut self.supply {
            let mut finished = finished.iter();
            finished.try_for_each(|&task| trials.finish(task, self.now))?;
        }
        if !finished.is_empty() {
            self.retire();
        }
        Ok((total, spells))
    }

    /// Removes finished tasks; their nodes become free.
    fn retire(&mut self) {
        for k in (0..self.active.len()).rev() {
            let task = self.active[k].task;
            if self.accounts[task as usize].end.is_none() {
                continue;
            }
            let mut gone = self.active.remove(k);
            self.problem.tasks.remove(k);
            for node in gone.held.iter().collect::<Vec<_>>() {
                self.close(task, node);
                self.pool.release(node, &mut gone.held);
            }
        }
        self.active_changed();
    }

    /// Makes the nodes that joined free. Returns how many there are.
    fn join(&mut self, changes: &[Change]) -> u32 {
        let mut joined = 0;
        for change in changes.iter().filter(|c| c.idle()) {
            self.pool.join(change.node());
            joined += 1;
        }
        joined
    }

    /// Submitted tasks become active while there is room.
    fn admit(&mut self) -> Result<()> {
        let before = self.active.len();
        while self.active.len() < self.options.max_tasks
            && let Some(next) = self.supply.next(self.now)
        {
            let index = self.index(next);
            let task = &self.tasks[index as usize];
            self.active
                .push(Active::new(index, task, &self.options.objective));
            self.problem.tasks.push(Task {
                name: task.name.clone(),
                rescale_up: task.rescale_up,
                rescale_down: task.rescale_down,
                ..task.as_solved()
            });
            self.value(self.active.len() - 1)?;
        }
        if self.active.len() != before {
            self.active_changed();
        }
        Ok(())
    }

    /// The index of a task that becomes active.
    fn index(&mut self, next: Next) -> u32 {
        match next {
            Next::Listed(index) => index,
            Next::New(task) => {
                self.accounts.push(accounts::open(&task, self.start));
                self.tasks.to_mut().push(task);
                self.tasks.len() as u32 - 1
            }
        }
    }

    /// Sets the objective of active task `k` in the problem to that of its present state.
    fn value(&mut self, k: usize) -> Result<()> {
        let active = &self.active[k];
        let task = &self.tasks[active.task as usize];
        let state = active.state(task, &self.accounts[active.task as usize], self.now);
        let values = self
            .options
            .objective
            .values(task, &active.constants, &state)
            .map_err(|fault| Error::Run(format!("at {}, {fault}", self.now)))?;
        let place = &mut self.problem.tasks[k];
        // A list that is as before stays where it is: solvers know it again by its place.
        if place.curve_objective != values.rates {
            place.curve_objective = values.rates;
        }
        place.weight = values.weight;
        Ok(())
    }

    fn active_changed(&mut self) {
        let active = || self.active.iter().map(|a| a.task);
        let origins = active().map(|task| self.supply.origin(task));
        self.groups.apply(&mut self.problem, origins);
        self.efficiency.set_active(&self.tasks, active());
        if let Some(course) = &mut self.course {
            course.set_active(&active().collect());
        }
    }

    /// Asks the decider about the present state.
    fn ask(&mut self, event: usize) -> Result<Decision> {
        self.problem.id.clear();
        // Writing to a string cannot fail.
        let _ = write!(self.problem.id, "event {event}, {}", self.now);
        self.problem.nodes = self.pool.idle();
        for (task, active) in self.problem.tasks.iter_mut().zip(&self.active) {
            task.current = active.held.len();
        }
        if self.options.objective.varies() {
            (0..self.active.len()).try_for_each(|k| self.value(k))?;
        }
        self.decider.decide(event, &self.problem)
    }

    /// Asks for a decision and carries it out. Returns the wall time of the solver in
    /// microseconds.
    fn decide(&mut self, event: usize, row: &mut StepRow) -> Result<u64> {
        let decision = self.ask(event)?;
        self.events_short += usize::from(decision.is_short);
        (row.status, row.gap) = (decision.status, decision.gap);
        let counts: Vec<u32> = self.active.iter().map(|a| a.held.len()).collect();
        self.apply(event, decision.plan)?;
        for (k, &before) in counts.iter().enumerate() {
            self.charge(k, before);
            self.refresh_rate(k);
            let active = &self.active[k];
            row.rate += active.rate;
            row.rescale_cost += active.pending_cost;
            row.tasks_running += u32::from(!active.held.is_empty());
            row.nodes_used += active.held.len();
        }
        Ok(decision.micros)
    }

    /// Sets the cost of the rescale of active task `k` from `before` nodes to its present number.
    fn charge(&mut self, k: usize, before: u32) {
        let active = &mut self.active[k];
        let task = &self.tasks[active.task as usize];
        let (way, seconds) = match active.held.len().cmp(&before) {
            std::cmp::Ordering::Greater => (Rescale::Up, task.rescale_up),
            std::cmp::Ordering::Less => (Rescale::Down, task.rescale_down),
            std::cmp::Ordering::Equal => {
                active.pending_cost = 0.0;
                return;
            }
        };
        active.pending_cost = task.curve.progress_at(before) * seconds;
        let lost = if active.pending_cost > 0.0 {
            seconds
        } else {
            0.0
        };
        accounts::book_rescale(&mut self.accounts[active.task as usize], way, lost);
    }

    fn refresh_rate(&mut self, k: usize) {
        let active = &mut self.active[k];
        let task = &self.tasks[active.task as usize];
        active.rate = task.rate(active.held.len());
    }
}
