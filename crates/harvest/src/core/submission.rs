//! Tasks as users submit them.

use std::collections::BTreeMap;

use gleaner_domain::{ClassTerms, ScalingCurve, TrainingTask, Utc};
use serde::{Deserialize, Serialize};

/// How a task is started on its nodes, and what happens when its nodes change.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LaunchStyle {
    /// One process on each node. If the nodes change, all processes are stopped by SIGTERM, and the task starts again.
    #[default]
    Restart,
    /// One elastic agent on each node. If the nodes change, agents are started and stopped, and the others continue.
    Torchrun,
    /// One driver on the first node, which reads the nodes from a host discovery script. If the nodes change, the
    /// script prints the new ones.
    Horovod,
}

impl LaunchStyle {
    /// Whether a run continues while its nodes change.
    pub fn is_elastic(self) -> bool {
        self != LaunchStyle::Restart
    }

    /// On how many of a run's `nodes` nodes the pilots start a rank.
    pub fn ranks(self, nodes: usize) -> usize {
        match self {
            LaunchStyle::Horovod => nodes.min(1),
            LaunchStyle::Restart | LaunchStyle::Torchrun => nodes,
        }
    }
}

/// A task as it is submitted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Submission {
    /// Name, unique among all tasks of the daemon.
    pub name: String,
    /// Minimum number of nodes, at least 1.
    pub min_nodes: u32,
    /// Maximum number of nodes.
    pub max_nodes: u32,
    /// Seconds of progress lost when the task grows, until the cost is measured.
    pub rescale_up: f64,
    /// Seconds of progress lost when the task shrinks, until the cost is measured.
    pub rescale_down: f64,
    /// Total work, in the curve's units. `None` if the task ends when its program ends.
    pub work: Option<f64>,
    /// Weight under the objective `priority-weighted`.
    pub priority: f64,
    /// Time by which the task should finish, in seconds since 1970.
    pub deadline: Option<i64>,
    /// The scaling curve.
    pub curve: Curve,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// How the program is started.
    #[serde(default)]
    pub launch: LaunchStyle,
    /// Environment variables of the program, in addition to the daemon's own.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
}

/// Points of a scaling curve; see [`ScalingCurve`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    /// Node counts, from 0.
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
            rung: 0,
            curve: (&self.curve).into(),
            classes: ClassTerms::default(),
        }
    }

    /// The submission of a task from a file, with the program that trains it.
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
            command,
            launch: LaunchStyle::default(),
            environment: BTreeMap::new(),
        }
    }
}
