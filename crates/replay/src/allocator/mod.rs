//! The allocator decides which task gets which nodes.
//!
//! [`Allocator`] is a state machine. For each batch of events, it returns a [`Reallocation`], which the
//! driver carries out. It has no clock, opens no files, and has no model of progress: each batch carries its
//! time and lists the tasks that finished. A replay derives these events from a log and scaling curves. A
//! daemon that drives real tasks derives them from its scheduler and from the tasks' reports.
//!
//! # Tasks
//!
//! | stage | event | next stage |
//! |---|---|---|
//! | | a batch submits the task, a round begins, or the search hands out a trial | waiting |
//! | waiting | the submission time has come, and fewer than `max_tasks` tasks are active | active, without nodes |
//! | active | a decision gives the task nodes, or takes away some or all of its nodes | active |
//! | active | some or all of the task's nodes leave | active |
//! | active | the task finishes, and its nodes become free | finished |
//!
//! Waiting tasks are admitted in the order of their indices. If an active task loses nodes and then has fewer than
//! its minimum, it keeps the remaining nodes until a decision changes their number.
//!
//! # Nodes
//!
//! A node is busy until it joins. It is then idle: either free or held by one task. When it leaves, it is busy
//! again.
//!
//! # A batch
//!
//! A batch is processed in the following steps, in the same order as in BFTrainer's replayer. The order resolves
//! ties, for example if a node leaves at the same time as its task finishes.
//!
//! 1. The batch is validated. An invalid batch is refused, and the state does not change.
//! 2. The rule for the choice of nodes receives the nodes that left and joined, and can learn from them.
//! 3. Nodes that left are removed from the idle nodes and from the tasks that hold them.
//! 4. Progress and measured curves are recorded. If a search is running, it receives the loss of each trial whose task
//!    finished, and can let the trial continue training immediately. All other finished tasks are retired.
//! 5. Nodes that joined become free.
//! 6. Submitted tasks enter the queue. Waiting tasks become active while there is room. If no task is
//!    waiting and there is still room, the next round of a repeated set begins.
//! 7. If any node is idle and any task is active, the decider makes a plan. If the plan contains only numbers
//!    of nodes, the rule for the choice of nodes assigns the nodes.
//!
//! # Example
//!
//! In this example, nodes join, a task is submitted, a node leaves, and the task finishes:
//!
//! ```
//! use std::sync::Arc;
//!
//! use gleaner_domain::{Change, Objective, ClassTerms, ScalingCurve, Utc, TrainingTask};
//! use gleaner_replay::SolverDecider;
//! use gleaner_replay::allocator::node_choice::Arrival;
//! use gleaner_replay::allocator::{
//!     Allocator, Batch, Holding, Resize, ResizeKind, Settings, Source,
//! };
//! use gleaner_solvers::{Limits, SolverKind, SolverSpec};
//!
//! let settings = Settings {
//!     t_fwd: 60.0,
//!     max_tasks: 10,
//!     objective: Objective::default(),
//!     groups: Arc::default(),
//!     shown_offset: 0,
//!     classes: None,
//! };
//! let start = Utc::from_seconds(0);
//! let mut allocator = Allocator::new(settings, Source::Batches, start, 4, Box::new(Arrival))?;
//! let mut decider = SolverDecider::new(SolverSpec::new(SolverKind::Exact), Limits::default())?;
//!
//! // Three of the four nodes join. Without a task, there is nothing to decide.
//! let came = [0, 1, 2].map(|node| Change::new(node, true));
//! let batch = Batch { nodes: &came, ..Batch::at(0, start) };
//! let change = allocator.advance(&batch, &mut decider)?;
//! assert_eq!(change.answer, None);
//!
//! // A task is submitted and starts on all three nodes.
//! let task = TrainingTask {
//!     name: "resnet".into(),
//!     submit: TrainingTask::FROM_START,
//!     min_nodes: 1,
//!     max_nodes: 4,
//!     rescale_up: 2.0,
//!     rescale_down: 1.0,
//!     work: 1e6,
//!     priority: 1.0,
//!     deadline: None,
//!     rung: 0,
//!     classes: ClassTerms::default(),
//!     curve: ScalingCurve {
//!         nodes: [0, 4].into(),
//!         progress: [0.0, 40.0].into(),
//!         objective: [0.0, 40.0].into(),
//!     },
//! };
//! let batch = Batch { submitted: &[task], ..Batch::at(1, Utc::from_seconds(10)) };
//! let change = allocator.advance(&batch, &mut decider)?;
//! assert_eq!((change.known, change.admitted), (0..1, vec![0]));
//! let expected = Resize { task: 0, before: 0, after: 3, class_before: 0, class_after: 0 };
//! assert_eq!(change.resized, [expected]);
//! assert_eq!(change.resized[0].kind(), ResizeKind::Started);
//! assert_eq!(change.given, [0, 1, 2].map(|node| Holding { task: 0, node }));
//!
//! // A node leaves. The task continues on the other two.
//! let left = [Change::new(1, false)];
//! let batch = Batch { nodes: &left, ..Batch::at(2, Utc::from_seconds(20)) };
//! let change = allocator.advance(&batch, &mut decider)?;
//! assert_eq!(change.lost, [Holding { task: 0, node: 1 }]);
//! assert!(change.resized.is_empty());
//!
//! // The task finishes, and its nodes become free.
//! let batch = Batch { finished: &[0], ..Batch::at(3, Utc::from_seconds(30)) };
//! let change = allocator.advance(&batch, &mut decider)?;
//! assert_eq!(change.released, [0, 2].map(|node| Holding { task: 0, node }));
//! assert!(allocator.is_over());
//!
//! // A node that is not idle cannot leave. The batch is refused, and nothing changes.
//! let batch = Batch { nodes: &left, ..Batch::at(4, Utc::from_seconds(40)) };
//! assert!(allocator.advance(&batch, &mut decider).is_err());
//! assert_eq!(allocator.now(), Utc::from_seconds(30));
//! # Ok::<(), gleaner_domain::Error>(())
//! ```

mod batch;
mod check;
mod class_demand;
pub mod decide;
mod demand;
mod groups;
mod minimums;
pub mod node_choice;
pub mod nodes;
mod placement;
mod queue;
mod registry;
pub mod rounds;
mod settings;
mod state;
mod supply;
mod trials;

use gleaner_domain::error::Result;
use gleaner_domain::results::search::SearchOutcome;
use gleaner_domain::{TrainingTask, Utc};

pub use batch::{
    Answer, Batch, Extension, Holding, Measured, Progress, Reallocation, Resize, ResizeKind,
};
pub use check::{AllocatorError, Refusal};
pub(crate) use groups::{most, outline};
pub use registry::Stage;
pub use settings::Settings;
pub use state::AllocatorState;
pub use supply::Source;
pub use trials::{NewTrial, Searcher};

use check::{Checker, State};
use decide::Decider;
use demand::{Demand, Nodes, Question};
use groups::Groups;
use node_choice::NodeChoice;
use nodes::NodePool;
use placement::Placement;
use registry::Registry;
use supply::Supply;

/// Decides which task gets which nodes. See the [module](self).
pub struct Allocator<'a> {
    settings: Settings,
    /// Time of the last batch, or the start time if there was no batch.
    now: Utc,
    registry: Registry,
    supply: Supply<'a>,
    /// The active tasks and the values of their objectives. [`Placement`] lists the tasks in the same order.
    demand: Demand,
    placement: Placement<'a>,
    checker: Checker,
}

impl<'a> Allocator<'a> {
    /// Creates an allocator for `nodes` nodes, none of which is idle yet. Its first batch must be at `start` or later.
    ///
    /// # Errors
    /// The plan of the search is invalid.
    pub fn new(
        settings: Settings,
        source: Source<'a>,
        start: Utc,
        nodes: usize,
        choice: Box<dyn NodeChoice + 'a>,
    ) -> Result<Self> {
        let groups = Groups::new(&settings.groups);
        let mut registry = Registry::new(groups, settings.classes.as_ref());
        let nodes = match &settings.classes {
            Some(classes) => NodePool::in_classes(classes),
            None => NodePool::new(nodes),
        };
        let supply = Supply::new(source, &mut registry, start)?;
        Ok(Allocator {
            demand: Demand::new(&settings),
            settings,
            now: start,
            registry,
            supply,
            checker: Checker::new(nodes.len()),
            placement: Placement::new(nodes, choice),
        })
    }

    /// Processes a batch of events. If any node is then idle and any task is active, makes a decision.
    ///
    /// # Errors
    /// The batch is invalid, the decider fails, its plan cannot be carried out, or a value of the objective is out of
    /// range. After an invalid batch, the allocator can process another batch; after any other error, it cannot
    /// continue.
    pub fn advance(
        &mut self,
        batch: &Batch<'_>,
        decider: &mut dyn Decider,
    ) -> Result<Reallocation, AllocatorError> {
        self.check(batch)?;
        self.pass_time(batch.time);
        self.placement.observe(batch.nodes);
        let mut change = Reallocation::none(self.registry.count());
        self.placement.leave(batch.nodes, &mut change.lost);
        self.demand.report(batch.progress);
        self.measure(batch.measured)?;
        self.finish(batch.finished, &mut change)?;
        self.placement.join(batch.nodes);
        self.submit(batch);
        self.admit(&mut change)?;
        let active = self.demand.len();
        let (registry, most) = (&mut self.registry, self.settings.max_tasks);
        if self.supply.repeat(registry, active, most, self.now) {
            self.admit(&mut change)?;
        }
        change.known.end = self.registry.count();
        if !(batch.finished.is_empty() && change.admitted.is_empty()) {
            self.demand.regroup(&self.registry);
        }
        if self.placement.pool().idle() > 0 && self.demand.len() > 0 {
            change.answer = Some(self.decide(batch.event, decider, &mut change)?);
        }
        Ok(change)
    }

    fn check(&mut self, batch: &Batch<'_>) -> Result<(), AllocatorError> {
        let state = State {
            now: self.now,
            pool: self.placement.pool(),
            registry: &self.registry,
            settings: &self.settings,
        };
        let checked = self.checker.check(batch, &state);
        checked.map_err(|refusal| AllocatorError::Refused {
            refusal,
            event: batch.event,
            time: batch.time,
        })
    }

    fn pass_time(&mut self, time: Utc) {
        let seconds = time.seconds_since(self.now);
        self.demand.pass_time(seconds, self.placement.counts());
        self.now = time;
    }

    /// Replaces the curves and rescaling costs of measured tasks by the measured ones.
    fn measure(&mut self, measured: &[Measured]) -> Result<()> {
        for measured in measured {
            // The batch was checked, so the task uses the measured class.
            if let Some(task) = self.registry.with(measured) {
                self.registry.tasks[measured.task as usize] = task;
            }
            self.demand
                .refresh(measured.task, &self.registry, self.now)?;
        }
        Ok(())
    }

    /// Reports finished tasks to the search, and retires the tasks that do not continue.
    fn finish(&mut self, finished: &[u32], change: &mut Reallocation) -> Result<()> {
        if finished.is_empty() {
            return Ok(());
        }
        for &task in finished {
            match self.supply.finish(task, self.now) {
                Some(extension) => {
                    self.registry.extend(&extension);
                    self.demand.refresh(task, &self.registry, self.now)?;
                    change.extended.push(extension);
                }
                None => self.registry.set_stage(task, Stage::Finished),
            }
        }
        // Tasks are removed from last to first, so that no removal shifts the positions of the remaining
        // tasks.
        let places: Vec<usize> = (0..)
            .zip(self.demand.tasks())
            .filter(|&(_, task)| self.registry.stage(task) == Some(Stage::Finished))
            .map(|(place, _)| place)
            .collect();
        for place in places.into_iter().rev() {
            self.demand.retire(place);
            self.placement.retire(place, &mut change.released);
        }
        Ok(())
    }

    fn submit(&mut self, batch: &Batch<'_>) {
        if batch.submitted.is_empty() {
            return;
        }
        self.registry.join_groups(batch.groups);
        let tasks = batch.submitted.iter().map(|task| (task.clone(), task));
        self.supply.submit(tasks, &mut self.registry, self.now);
    }

    /// Makes waiting tasks active while there is room.
    fn admit(&mut self, change: &mut Reallocation) -> Result<()> {
        while self.demand.len() < self.settings.max_tasks
            && let Some(task) = self.supply.next(&mut self.registry, self.now)
        {
            self.registry.set_stage(task, Stage::Active);
            self.placement.admit(task);
            self.demand.admit(task, &self.registry, self.now)?;
            change.admitted.push(task);
        }
        Ok(())
    }

    /// Requests a plan from the decider and carries it out.
    fn decide(
        &mut self,
        event: usize,
        decider: &mut dyn Decider,
        change: &mut Reallocation,
    ) -> Result<Answer> {
        let nodes = Nodes {
            idle: self.placement.pool().idle_by_class(),
            held: self.placement.held(),
        };
        let tasks = &self.registry.tasks;
        let decision = match self.demand.problem((event, self.now), nodes, tasks)? {
            Question::Alike(problem) => decider.decide(event, problem)?,
            Question::InClasses(problem) => decider.decide_in_classes(event, problem)?,
        };
        let answer = Answer {
            status: decision.status,
            gap: decision.gap,
            micros: decision.micros,
            is_short: decision.is_short,
            prices: decision.prices,
        };
        let applied = self.placement.apply(decision.plan, tasks, change);
        applied.map_err(|impossible| {
            let task = self.demand.tasks().nth(impossible.place);
            let name = task.map_or("", |task| &tasks[task as usize].name);
            decider.impossible(event, name, impossible.what)
        })?;
        self.demand.resized(&change.resized);
        Ok(answer)
    }

    /// Time of the last batch, or the start time if there was no batch.
    pub fn now(&self) -> Utc {
        self.now
    }

    /// All known tasks, by index.
    pub fn tasks(&self) -> &[TrainingTask] {
        &self.registry.tasks
    }

    /// The stage of the task with this index; `None` if there is no such task.
    pub fn stage(&self, task: u32) -> Option<Stage> {
        self.registry.stage(task)
    }

    /// Indices of the active tasks, in the order of admission.
    pub fn active(&self) -> impl Iterator<Item = u32> {
        self.demand.tasks()
    }

    /// All nodes that tasks hold, sorted by the tasks' order of admission, then by the nodes' order of arrival.
    pub fn holdings(&self) -> impl Iterator<Item = Holding> {
        self.placement.holdings()
    }

    /// Number of idle nodes, whether held or free.
    pub fn idle(&self) -> u32 {
        self.placement.pool().idle()
    }

    /// Whether decisions depend on progress. If they do not, batches need not report progress.
    pub fn uses_progress(&self) -> bool {
        self.demand.varies()
    }

    /// Whether tasks are waiting, or a search has further jobs. Later rounds of a repeated set do not count.
    pub fn expects_tasks(&self) -> bool {
        !self.supply.is_empty()
    }

    /// Whether no task is active, and no task will become active unless a batch submits it.
    pub fn is_over(&self) -> bool {
        self.demand.len() == 0 && !self.expects_tasks()
    }

    /// Whether any group of tasks has a minimum number of nodes.
    pub fn has_minimums(&self) -> bool {
        self.registry.groups().any_minimum()
    }

    /// Number of rounds so far; `None` if no set is repeated.
    pub fn rounds(&self) -> Option<usize> {
        self.supply.rounds()
    }

    /// Name of the search; `None` if there is no search.
    pub fn search_name(&self) -> Option<String> {
        self.supply.search_name()
    }

    /// The results of the search; `None` if there is no search. `work_done` maps the index of a task to the work that
    /// the task has done.
    pub fn into_search(self, work_done: impl Fn(u32) -> f64) -> Option<SearchOutcome> {
        let trials = self.supply.into_search()?;
        Some(trials.outcome(work_done))
    }
}
