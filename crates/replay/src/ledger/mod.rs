//! The ledger accounts for the gains and costs of decisions.
//!
//! The ledger is the replay's model of progress. Between two steps, an active task works at the rate that its scaling
//! curve specifies for its number of nodes. The ledger books that work step by step and subtracts the costs of
//! rescaling and preemption. It therefore determines which tasks have finished, and predicts when the next task will
//! finish.
//!
//! Example: a task does 18 units of work per second on its two nodes, and its start costs 10 s. Over 100 s, the
//! ledger books 1,800 units of gross work, of which 180 are lost to rescaling and 1,620 are useful.
//!
//! Each step has two halves. Before the allocator processes the step, [`Ledger::advance`] books the time since the
//! last step and determines the preempted and the finished tasks. Afterwards, [`Ledger::book`] books the allocator's
//! changes. The ledger keeps its own record of which task holds which node, because the first half needs it.

mod accounts;
mod class_book;
mod class_split;
mod delays;
mod efficiency;
mod fairness;
mod hindsight;
mod holds;
mod steps;
mod summary;
mod trial_figures;
mod yardsticks;

use gleaner_domain::results::replay::{EventKind, TaskRow};
use gleaner_domain::{Change, EventLog, NodeClasses, TrainingTask, Utc};

pub(crate) use summary::Closing;

use crate::allocator::{Holding, Progress, Reallocation, Resize};
use crate::options::Options;
use crate::run::Step;
use accounts::{Active, Spell};
use class_book::ClassBook;
use delays::Delays;
use holds::Holds;
use steps::{Moves, Period, Steps};
use yardsticks::Yardsticks;

/// The accounts of a replay. In all methods, `tasks` is the list of all tasks that the allocator knows.
#[derive(Debug)]
pub(crate) struct Ledger {
    start: Utc,
    now: Utc,
    /// Number of idle nodes of each class; a single number if all nodes are interchangeable.
    idle: Vec<u32>,
    /// The class of each node; `None` if all nodes are interchangeable.
    classes: Option<NodeClasses>,
    /// The accounts by class; `None` if the log has only one class.
    book: Option<ClassBook>,
    /// The active tasks, in the order of admission.
    active: Vec<Active>,
    accounts: Vec<TaskRow>,
    holds: Holds,
    yardsticks: Yardsticks,
    delays: Delays,
    steps: Steps,
}

impl Ledger {
    /// Creates an empty ledger that begins at `start`, for the nodes of `log`. `solver` is the name of the decider, and
    /// `classes` are the classes of the nodes, as in [`Settings`](crate::allocator::Settings).
    pub fn new(
        start: Utc,
        log: &EventLog,
        classes: Option<&NodeClasses>,
        solver: &str,
        options: &Options,
    ) -> Self {
        let (nodes, events) = (log.nodes().len(), log.len());
        let several = classes.filter(|classes| classes.names().len() > 1);
        Ledger {
            start,
            now: start,
            idle: vec![0; classes.map_or(1, |classes| classes.names().len())],
            classes: classes.cloned(),
            book: several.map(|classes| ClassBook::new(classes, options.t_fwd)),
            active: Vec::new(),
            accounts: Vec::new(),
            holds: Holds::new(nodes),
            yardsticks: Yardsticks::new(classes, options.bound),
            delays: Delays::new(options.hand_back),
            steps: Steps::new(solver, events),
        }
    }

    /// Books the initial assignment at event 0, at which `nodes` are idle. Each running task pays the cost of its
    /// start.
    pub fn begin(&mut self, tasks: &[TrainingTask], nodes: &[Change], change: &Reallocation) {
        for change in nodes {
            let class = self.class(change.node());
            self.idle[class] += 1;
        }
        self.follow(tasks, &[], change);
        for active in &mut self.active {
            let task = &tasks[active.task as usize];
            active.pending_cost = active.rate * task.rescale_up;
            if active.rate > 0.0 {
                self.accounts[active.task as usize].lost_up += task.rescale_up;
            }
        }
    }

    /// Books the time up to a step, and the step's preemptions and completions. Returns the finished tasks in
    /// the order of admission. The caller must then call [`Ledger::book`].
    pub fn advance(&mut self, tasks: &[TrainingTask], step: &Step<'_>) -> Vec<u32> {
        let (idle_node_seconds, unused_node_seconds) = self.accrue(tasks, step.time);
        if let Some(book) = &mut self.book {
            book.begin(step);
        }
        let mut moves = self.preempt(tasks, step);
        moves.joined = step.changes.len() as u32 - moves.left;
        for change in step.changes {
            self.count(*change);
        }
        let (progress, spell, finished) = self.settle(step.kind);
        let period = Period {
            idle_node_seconds,
            unused_node_seconds,
            progress,
            spell,
        };
        self.steps.push(step, &period, &moves);
        finished
    }

    /// Books the allocator's changes at the step. `finished` contains the tasks that [`Ledger::advance`] returned,
    /// except those that were extended.
    pub fn book(&mut self, tasks: &[TrainingTask], finished: &[u32], change: &Reallocation) {
        for extension in &change.extended {
            let account = &mut self.accounts[extension.task as usize];
            (account.work, account.end) = (tasks[extension.task as usize].work, None);
        }
        self.follow(tasks, finished, change);
        self.charge(tasks, &change.resized);
        let answer = change.answer.as_ref();
        let idle = self.idle.iter().sum();
        self.steps.complete(&self.active, idle, answer);
        if let Some(book) = &mut self.book {
            book.moved(tasks, &change.resized);
            let prices = answer.map_or(&[][..], |answer| &answer.prices);
            book.complete(&self.idle, &self.active, prices);
        }
    }

    /// The class of a node; 0 if all nodes are interchangeable.
    fn class(&self, node: u32) -> usize {
        self.classes.as_ref().map_or(0, |classes| classes.of(node))
    }

    /// Counts a node that joined or left.
    fn count(&mut self, change: Change) {
        let class = self.class(change.node());
        let idle = &mut self.idle[class];
        *idle = if change.idle() {
            *idle + 1
        } else {
            idle.saturating_sub(1)
        };
        if let Some(book) = &mut self.book {
            book.changed(class, change.idle());
        }
    }

    /// Current work per second, summed over all tasks.
    pub fn rate(&self) -> f64 {
        self.active.iter().map(|active| active.rate).sum()
    }

    /// Sets the rate in the last row. If no task remains, the original replayer reports the rate before the last
    /// completion, not 0.
    pub fn end_with_rate(&mut self, rate: f64) {
        if let Some(row) = self.steps.rows.last_mut() {
            row.rate = rate;
        }
    }

    /// The work done by each active task.
    pub fn progress(&self) -> impl Iterator<Item = Progress> {
        self.active.iter().map(|active| Progress {
            task: active.task,
            // The cost of a start can exceed the work done since then, but a report must not be negative.
            done: self.accounts[active.task as usize].work_done.max(0.0),
        })
    }

    /// Time at which the next active task finishes if nothing changes; `None` if no active task would ever finish.
    pub fn next_completion(&self) -> Option<Utc> {
        self.active
            .iter()
            .filter_map(|active| active.seconds_left(&self.accounts[active.task as usize]))
            .map(|seconds| self.now.plus_seconds(seconds))
            .min()
    }

    /// Whether all active tasks will have finished by `time`, taking into account the costs of the preemptions that
    /// `changes` cause at that time.
    pub fn all_finish_by(&self, tasks: &[TrainingTask], time: Utc, changes: &[Change]) -> bool {
        let left = || changes.iter().filter(|change| !change.idle());
        self.active.iter().all(|active| {
            let is_preempted = left().any(|c| self.holds.holder(c.node()) == Some(active.task));
            let mut seconds = time.seconds_since(self.now);
            if is_preempted {
                seconds -= tasks[active.task as usize].rescale_down;
            }
            let account = &self.accounts[active.task as usize];
            account.work <= account.work_done + seconds * active.rate - active.pending_cost
        })
    }

    /// Books the node-time since the last step. Returns the idle node-seconds, and the node-seconds of idle nodes that
    /// no task held.
    fn accrue(&mut self, tasks: &[TrainingTask], time: Utc) -> (f64, f64) {
        let seconds = time.seconds_since(self.now);
        self.yardsticks.accrue(&self.idle, seconds);
        if let Some(book) = &mut self.book {
            book.accrue(&self.idle, &self.active, seconds);
        }
        let mut held = 0;
        for active in &mut self.active {
            active.spell = Spell::of(active, &tasks[active.task as usize], seconds);
            active.preempted = false;
            held += active.held;
            let account = &mut self.accounts[active.task as usize];
            account.active_seconds += seconds;
            account.node_seconds += active.spell.used;
        }
        self.now = time;
        let node_seconds = |nodes: u32| f64::from(nodes) * seconds;
        let idle = self.idle.iter().sum();
        (node_seconds(idle), node_seconds(idle - held))
    }

    /// Removes the nodes that left. A task that held several of these nodes is charged only once.
    fn preempt(&mut self, tasks: &[TrainingTask], step: &Step<'_>) -> Moves {
        let mut moves = Moves::default();
        let left = step.changes.iter().enumerate();
        for (index, change) in left.filter(|(_, change)| !change.idle()) {
            moves.left += 1;
            let Some(holder) = self.holds.end(change.node(), self.now) else {
                continue;
            };
            self.delays.used(index);
            let Some(active) = self.active.iter_mut().find(|a| a.task == holder) else {
                continue;
            };
            active.held -= 1;
            if active.preempted {
                continue;
            }
            active.preempted = true;
            let seconds = tasks[holder as usize].rescale_down;
            let cost = seconds * active.rate;
            active.spell.preemption_loss = cost;
            let account = &mut self.accounts[holder as usize];
            account.preemptions += 1;
            if let Some(book) = &mut self.book {
                book.preempted(active.class, cost > 0.0);
            }
            if cost > 0.0 {
                account.lost_preempted += seconds;
                moves.preempted += 1;
                moves.preemption_cost += cost;
            }
        }
        self.delays.book(step, moves.left);
        self.steps.losses += u64::from(moves.left > 0 && !self.active.is_empty());
        moves
    }

    /// Adds the progress of active tasks to their accounts. Returns the total progress, the sum of all accounts
    /// since the last step, and the finished tasks.
    fn settle(&mut self, kind: EventKind) -> (f64, Spell, Vec<u32>) {
        let (mut total, mut spells) = (0.0, Spell::default());
        let mut finished = Vec::new();
        for active in &mut self.active {
            let account = &mut self.accounts[active.task as usize];
            account.work_done += active.spell.progress();
            // Completion times are rounded to nanoseconds, so the work done can be below the task's total by a rounding
            // error.
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
            if let Some(book) = &mut self.book {
                book.progressed(active.class, active.spell.progress());
            }
            active.spell.book(account);
            spells.add(&active.spell);
        }
        (total, spells, finished)
    }

    /// Applies the allocator's changes: opens accounts for new tasks, updates the active tasks, and books
    /// nodes that changed hands.
    fn follow(&mut self, tasks: &[TrainingTask], finished: &[u32], change: &Reallocation) {
        let new = &tasks[self.accounts.len()..];
        let opened = new.iter().map(|task| accounts::open(task, self.start));
        self.accounts.extend(opened);
        if !(finished.is_empty() && change.admitted.is_empty()) {
            self.active
                .retain(|active| !finished.contains(&active.task));
            let admitted = change.admitted.iter().copied();
            self.active.extend(admitted.map(Active::new));
            let active = self.active.iter().map(|active| active.task);
            self.yardsticks.set_active(tasks, active);
        }
        for holding in &change.released {
            self.holds.end(holding.node, self.now);
        }
        for &holding in &change.given {
            self.holds.begin(holding, self.now);
            let account = &mut self.accounts[holding.task as usize];
            account.start.get_or_insert(self.now);
        }
        let mut resized = change.resized.iter().peekable();
        for active in &mut self.active {
            let resize = resized.next_if(|resize| resize.task == active.task);
            if let Some(resize) = resize {
                (active.held, active.class) = (resize.after, resize.class_after);
            }
            // The rate depends only on the class and number of the task's nodes. Most steps change these for only a few
            // tasks.
            if resize.is_some() || active.preempted {
                active.rate = tasks[active.task as usize].rate_in(active.class, active.held);
            }
        }
    }

    /// Charges the tasks that the decision resized. Clears the pending cost of all other tasks.
    fn charge(&mut self, tasks: &[TrainingTask], resized: &[Resize]) {
        let mut resized = resized.iter().peekable();
        for active in &mut self.active {
            active.pending_cost = 0.0;
            if let Some(resize) = resized.next_if(|resize| resize.task == active.task) {
                let index = active.task as usize;
                active.charge(resize, &tasks[index], &mut self.accounts[index]);
            }
        }
    }

    /// Ends the intervals of `holdings`, the nodes that tasks still hold at the end.
    fn release(&mut self, holdings: impl Iterator<Item = Holding>) {
        for holding in holdings {
            self.holds.end(holding.node, self.now);
        }
    }
}
