//! The settings of a replay.

use std::sync::Arc;

use gleaner_classes::Counts;
use gleaner_domain::error::{Error, Result};
use gleaner_domain::{
    EventLog, NodeClasses, NodeOrder, NodeRule, Objective, TaskGroup, TrainingTask, TrialSearch,
};
use gleaner_solvers::{Goal, Problem};

use super::allocator::{Settings, outline};
use super::initial::Initial;

/// The GPUs and the power of a used node, and the price of energy.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NodeRates {
    /// Number of GPUs of a node.
    pub gpus: Option<u32>,
    /// Power of a used node, in watts.
    pub watts: Option<f64>,
    /// Price of a kilowatt-hour.
    pub price: Option<f64>,
    /// Currency of the price.
    pub currency: Option<String>,
}

impl NodeRates {
    /// The GPU-hours in `node_seconds` of node-time; `None` if the number of GPUs is not set.
    pub(crate) fn gpu_hours(&self, node_seconds: f64) -> Option<f64> {
        Some(node_seconds / 3600.0 * f64::from(self.gpus?))
    }

    /// The energy, in kilowatt-hours, that nodes use in `node_seconds` of node-time; `None` if the power is not set.
    pub(crate) fn energy_kwh(&self, node_seconds: f64) -> Option<f64> {
        Some(node_seconds / 3600.0 * (self.watts? / 1000.0))
    }

    /// The cost of the energy that nodes use in `node_seconds` of node-time; `None` if the power or the price is not
    /// set.
    pub(crate) fn energy_cost(&self, node_seconds: f64) -> Option<f64> {
        Some(self.energy_kwh(node_seconds)? * self.price?)
    }
}

/// Settings of a replay.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Forward window in seconds (`-Tfwd`).
    pub t_fwd: f64,
    /// Maximum number of active tasks (`-maxJ`).
    pub max_tasks: usize,
    /// The objective that every decision maximises.
    pub objective: Objective,
    /// Groups of tasks with joint limits on their nodes. Runs with the same groups share this list.
    pub groups: Arc<[TaskGroup]>,
    /// The search whose trials train the tasks; `None` without a search.
    pub search: Option<Arc<TrialSearch>>,
    /// The rule for assigning idle nodes to tasks at event 0.
    pub initial: Initial,
    /// The rule that chooses the nodes of growing tasks.
    pub node_choice: NodeRule,
    /// An order of nodes that replaces the order of their names. Runs with the same order share this value.
    pub node_order: Option<Arc<NodeOrder>>,
    /// Seed of the random assignment at event 0.
    pub seed: u64,
    /// Whether the nodes of a finished task are reallocated as soon as it finishes. Otherwise, the task keeps its
    /// nodes until the next event of the log.
    pub completion_events: bool,
    /// Whether the tasks are resubmitted as they finish. If so, they must pass
    /// [`check_repeatable`](super::rounds::check_repeatable).
    pub repeat_tasks: bool,
    /// Fragments shorter than this number of seconds were removed from the log; `None` if no fragments were removed.
    /// Only the summary uses this setting.
    pub min_fragment: Option<f64>,
    /// Seconds until a batch job can use a node that a task holds; `None` if delays of batch jobs are not counted.
    pub hand_back: Option<f64>,
    /// The GPUs and the power of a used node, and the price of energy. Only the summary uses this setting.
    pub rates: NodeRates,
    /// Whether to compute the upper bound on the work that any allocator could have done, even with hindsight.
    pub bound: bool,
}

impl Options {
    /// The settings of the original replayer, with a window of `t_fwd` seconds and at most
    /// `max_tasks` active tasks.
    pub fn original(t_fwd: f64, max_tasks: usize) -> Self {
        Options {
            t_fwd,
            max_tasks,
            objective: Objective::default(),
            groups: Arc::default(),
            search: None,
            initial: Initial::Random,
            node_choice: NodeRule::Arrival,
            node_order: None,
            seed: 0,
            completion_events: false,
            repeat_tasks: false,
            min_fragment: None,
            hand_back: None,
            rates: NodeRates::default(),
            bound: false,
        }
    }

    /// The settings of the allocator, which are a subset of the settings of the replay. Times in messages
    /// are `shown_offset` seconds ahead of UTC.
    pub fn allocator(&self, shown_offset: i32) -> Settings {
        Settings {
            t_fwd: self.t_fwd,
            max_tasks: self.max_tasks,
            objective: self.objective.clone(),
            groups: Arc::clone(&self.groups),
            shown_offset,
            classes: None,
        }
    }

    /// A problem that contains the grouped tasks of the set `tasks`, but no nodes. Callers use it to find out whether a
    /// solver supports the groups of the replay.
    pub fn outline(&self, tasks: &[TrainingTask]) -> Problem {
        outline(&self.groups, tasks, self.allocator(0).empty_problem())
    }

    /// The classes of nodes among which decisions choose; `None` if all nodes of `log` are interchangeable for the
    /// tasks and the objective. A single class of the log is returned only if tasks have values by class or
    /// `counts = "points"`, groups have maxima by class, or the objective is `sia`.
    ///
    /// # Errors
    /// [`Error::Usage`] if the options do not support classes, or if tasks or groups have values by class but the nodes
    /// of the log have no classes.
    pub fn classes(&self, log: &EventLog, tasks: &[TrainingTask]) -> Result<Option<NodeClasses>> {
        let has_terms = tasks.iter().any(|task| !task.classes.by_name.is_empty());
        let has_limits = self
            .groups
            .iter()
            .any(|group| !group.max_by_class.is_empty());
        let has_points = tasks
            .iter()
            .any(|task| task.classes.counts == Counts::Points);
        let of_one = has_points || self.objective.sia().is_some();
        let needs_names = has_terms || has_limits;
        let classes = match log.classes() {
            Some(classes) if classes.names().len() > 1 || needs_names || of_one => classes.clone(),
            Some(_) => return Ok(None),
            None if has_terms => {
                return Err(without_classes(
                    "the tasks have a curve for each node class",
                ));
            }
            None if has_limits => {
                return Err(without_classes(
                    "a group of tasks has a maximum for a node class",
                ));
            }
            None if of_one => {
                NodeClasses::of_names(log.nodes().iter().map(|_| "all")).unwrap_or_default()
            }
            None => return Ok(None),
        };
        self.check_classes()?;
        Ok(Some(classes))
    }

    /// Checks that the options support decisions among classes.
    fn check_classes(&self) -> Result<()> {
        let unsupported = [
            (self.objective.goal() == Goal::MaxMin, "a max-min objective"),
            (self.bound, "--bound"),
        ];
        match unsupported.iter().find(|(is_given, _)| *is_given) {
            None => Ok(()),
            Some((_, what)) => Err(Error::Usage(format!(
                "{what}: not supported with node classes, counts = \"points\" or the objective sia"
            ))),
        }
    }

    /// Validates the window and the tasks, as file readers do.
    ///
    /// # Errors
    /// [`Error::Usage`] if the window or a task is invalid. The error lists all faults, one sentence per fault.
    pub(super) fn check(&self, tasks: &[TrainingTask]) -> Result<()> {
        let faults = self.allocator(0).faults(tasks);
        if faults.is_empty() {
            Ok(())
        } else {
            Err(Error::Usage(faults.join("; ")))
        }
    }
}

/// The error if an input needs node classes but the log has none. `what` describes the input.
fn without_classes(what: &str) -> Error {
    Error::Usage(format!(
        "{what}, but the log has no node classes: specify them with --classes FILE"
    ))
}
