//! Tasks as users submit them.

use std::collections::BTreeMap;
use std::sync::Arc;

use gleaner_classes::Counts;
use gleaner_domain::{ClassTerms, ScalingCurve, Terms, TrainingTask, Utc};
use serde::{Deserialize, Serialize};

use super::trial::Trial;

/// The way in which a task is launched on its nodes, and the task's reaction to a change of these nodes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LaunchStyle {
    /// One process on each node. If the nodes change, all processes are stopped with SIGTERM, and the task starts
    /// again.
    #[default]
    Restart,
    /// One elastic agent on each node. If the nodes change, agents start on new nodes and stop on lost nodes, and all
    /// other agents continue.
    Torchrun,
    /// One replica group of torchft on each node. The groups meet at a lighthouse outside the task's nodes, so the
    /// remaining groups continue whenever nodes are added or taken away, even if the first node is lost.
    Torchft,
    /// One driver, on the first node. It reads the run's nodes from a host discovery script. If the nodes change, the
    /// script prints the changed list.
    Horovod,
}

impl LaunchStyle {
    /// Whether a run continues while its nodes change.
    pub fn is_elastic(self) -> bool {
        self != LaunchStyle::Restart
    }

    /// Whether a run ends if it loses its first node. This node hosts the driver or the store through which the ranks
    /// find each other.
    pub fn needs_first_node(self) -> bool {
        self != LaunchStyle::Torchft
    }

    /// Number of ranks that the pilots start for a run on `nodes` nodes.
    pub fn ranks(self, nodes: usize) -> usize {
        match self {
            LaunchStyle::Horovod => nodes.min(1),
            LaunchStyle::Restart | LaunchStyle::Torchrun | LaunchStyle::Torchft => nodes,
        }
    }
}

/// A task as it is submitted.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Submission {
    /// Name, unique among all tasks of the daemon.
    pub name: String,
    /// Minimum number of nodes, at least 1.
    pub min_nodes: u32,
    /// Maximum number of nodes.
    pub max_nodes: u32,
    /// Seconds of progress lost when the task grows. The value is used until the cost has been measured.
    pub rescale_up: f64,
    /// Seconds of progress lost when the task shrinks. The value is used until the cost has been measured.
    pub rescale_down: f64,
    /// Total work, in the curve's units. `None` if the task ends when its program ends.
    pub work: Option<f64>,
    /// Weight under the objective `priority-weighted`.
    pub priority: f64,
    /// Time by which the task should finish, in seconds since 1970.
    pub deadline: Option<i64>,
    /// The scaling curve.
    pub curve: Curve,
    /// Bounds and curves by class of nodes.
    #[serde(default, skip_serializing_if = "SubmittedTerms::is_default")]
    pub classes: SubmittedTerms,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The launch style of the program.
    #[serde(default)]
    pub launch: LaunchStyle,
    /// Environment variables to set for the program, in addition to those that every rank receives from its pilot.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// The trial that the task trains, if the core has added the task for a search.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trial: Option<Trial>,
}

/// The terms on which a task runs on nodes of several classes; see [`ClassTerms`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SubmittedTerms {
    /// Bounds and curve by class name. If the map is empty, the task's own bounds and curve apply in every class.
    pub by_name: BTreeMap<String, InClass>,
    /// Seconds of progress lost when the task moves to another class. If `None`, the cost is the sum of the costs of
    /// growing and shrinking.
    pub move_cost: Option<f64>,
    /// The numbers of nodes that the task is allowed to hold.
    pub counts: Counts,
}

/// Bounds and curve of a task in one class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InClass {
    /// Minimum number of nodes, at least 1.
    pub min_nodes: u32,
    /// Maximum number of nodes.
    pub max_nodes: u32,
    /// The scaling curve.
    pub curve: Curve,
}

impl SubmittedTerms {
    fn of(terms: &ClassTerms) -> Self {
        let by_name = terms.by_name.iter().map(|(class, terms)| {
            let terms = InClass {
                min_nodes: terms.min_nodes,
                max_nodes: terms.max_nodes,
                curve: (&terms.curve).into(),
            };
            (class.clone(), terms)
        });
        SubmittedTerms {
            by_name: by_name.collect(),
            move_cost: terms.move_cost,
            counts: terms.counts,
        }
    }

    fn class_terms(&self) -> ClassTerms {
        let by_name = self.by_name.iter().map(|(class, terms)| {
            let terms = Terms {
                min_nodes: terms.min_nodes,
                max_nodes: terms.max_nodes,
                curve: (&terms.curve).into(),
            };
            (class.clone(), terms)
        });
        ClassTerms {
            by_name: Arc::new(by_name.collect()),
            move_cost: self.move_cost,
            counts: self.counts,
            ..ClassTerms::default()
        }
    }

    /// Whether these are the default terms, which suit interchangeable nodes.
    pub fn is_default(&self) -> bool {
        *self == SubmittedTerms::default()
    }
}

/// Points of a scaling curve; see [`ScalingCurve`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    /// Node counts of the points, starting with 0.
    pub nodes: Vec<u32>,
    /// Work per second at each count.
    pub progress: Vec<f64>,
    /// Objective per second at each count.
    pub objective: Vec<f64>,
}

impl From<&ScalingCurve> for Curve {
    fn from(curve: &ScalingCurve) -> Self {
        Curve {
            nodes: curve.nodes.to_vec(),
            progress: curve.progress.to_vec(),
            objective: curve.objective.to_vec(),
        }
    }
}

impl From<&Curve> for ScalingCurve {
    fn from(curve: &Curve) -> Self {
        let progress: gleaner_solvers::Rates = curve.progress.as_slice().into();
        ScalingCurve {
            nodes: curve.nodes.as_slice().into(),
            objective: if curve.objective == curve.progress {
                progress.clone()
            } else {
                curve.objective.as_slice().into()
            },
            progress,
        }
    }
}

impl Submission {
    /// The task as the allocator sees it, submitted at `now`.
    pub fn training_task(&self, now: Utc) -> TrainingTask {
        TrainingTask {
            name: self.name.clone(),
            submit: now,
            min_nodes: self.min_nodes,
            max_nodes: self.max_nodes,
            rescale_up: self.rescale_up,
            rescale_down: self.rescale_down,
            work: self.work.unwrap_or(f64::INFINITY),
            priority: self.priority,
            deadline: self.deadline.map(Utc::from_seconds),
            rung: self.trial.as_ref().map_or(0, |trial| trial.rung),
            curve: (&self.curve).into(),
            classes: self.classes.class_terms(),
        }
    }

    /// Creates the submission of a task from a file. `command` is the program that trains the task, followed by the
    /// program's arguments.
    pub fn of(task: &TrainingTask, command: Vec<String>) -> Self {
        Submission {
            name: task.name.clone(),
            min_nodes: task.min_nodes,
            max_nodes: task.max_nodes,
            rescale_up: task.rescale_up,
            rescale_down: task.rescale_down,
            work: Some(task.work).filter(|work| work.is_finite()),
            priority: task.priority,
            deadline: task.deadline.map(Utc::second),
            curve: (&task.curve).into(),
            classes: SubmittedTerms::of(&task.classes),
            command,
            launch: LaunchStyle::default(),
            environment: BTreeMap::new(),
            trial: None,
        }
    }
}

#[cfg(test)]
impl Submission {
    /// A task for up to two nodes.
    pub(crate) fn example(name: &str) -> Self {
        let progress = vec![0.0, 4.0];
        Submission {
            name: name.to_owned(),
            min_nodes: 1,
            max_nodes: 2,
            rescale_up: 1.0,
            rescale_down: 1.0,
            work: Some(100.0),
            priority: 1.0,
            deadline: None,
            curve: Curve {
                nodes: vec![0, 2],
                objective: progress.clone(),
                progress,
            },
            classes: SubmittedTerms::default(),
            command: vec!["true".to_owned()],
            launch: LaunchStyle::default(),
            environment: BTreeMap::new(),
            trial: None,
        }
    }
}
