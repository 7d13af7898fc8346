//! The settings of a replay.

use std::fmt;
use std::path::PathBuf;

use gleaner_solvers::{BigM, Formulation, SolverKind, SolverSpec};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use gleaner_core::domain::Objective;
use gleaner_core::domain::Stamp;
use gleaner_core::domain::events::Slice;
use gleaner_replay::{Initial, Options, TFwd};

/// The files of one set of tasks: a path, or `{ tasks, curves }` for the original's pickles.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct TaskFiles {
    /// The file of tasks.
    pub tasks: PathBuf,
    /// The file of scaling curves; `None` if they are in the file of tasks.
    pub curves: Option<PathBuf>,
}

/// A part of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Window {
    /// Rows dropped at the start.
    pub skip_rows: usize,
    /// Index of the first node.
    pub first_node: usize,
    /// Number of nodes; all that follow the first if `None`.
    pub nodes: Option<usize>,
    /// Rows before this time are dropped.
    #[serde(serialize_with = "as_text", deserialize_with = "time")]
    pub from: Option<Stamp>,
    /// Rows after this time are dropped.
    #[serde(serialize_with = "as_text", deserialize_with = "time")]
    pub to: Option<Stamp>,
}

/// All settings of a replay except its files.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReplayChoices {
    /// The part of the log.
    #[serde(flatten)]
    pub window: Window,
    /// Forward window; in seconds once the log and the tasks are read.
    pub t_fwd: TFwd,
    /// Most tasks active at once.
    pub max_tasks: usize,
    /// The objective that every decision maximises.
    pub objective: Objective,
    /// The solver.
    pub solver: SolverKind,
    /// Formulation of problems for MILP solvers.
    pub formulation: Formulation,
    /// Big-M of the paper's model.
    pub big_m: BigM,
    /// Time limit of one decision, in seconds.
    pub time_limit: f64,
    /// Relative gap that counts as optimal.
    pub gap: f64,
    /// How idle nodes are dealt to tasks at event 0.
    pub initial: Initial,
    /// Seed of the random deal.
    pub seed: u64,
    /// Whether completions are events.
    pub completion_events: bool,
    /// Whether the tasks are submitted again when all of them are done.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub repeat_tasks: bool,
}

/// All settings of a replay.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReplaySettings {
    /// The files of its tasks.
    #[serde(flatten)]
    pub files: TaskFiles,
    /// All other settings.
    #[serde(flatten)]
    pub choices: ReplayChoices,
}

impl ReplayChoices {
    /// The options of the replay, with a forward window of `t_fwd` seconds.
    pub fn options(&self, t_fwd: f64) -> Options {
        Options {
            t_fwd,
            max_tasks: self.max_tasks,
            objective: self.objective,
            initial: self.initial,
            seed: self.seed,
            completion_events: self.completion_events,
            repeat_tasks: self.repeat_tasks,
        }
    }

    /// The solver with its formulation.
    pub fn spec(&self) -> SolverSpec {
        SolverSpec {
            kind: self.solver,
            formulation: self.formulation,
            big_m: self.big_m,
        }
    }
}

impl fmt::Display for Window {
    /// As it is written in a plan, without defaults.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = Window::default();
        let count = |name: &str, value: usize, default: usize| {
            (value != default).then(|| format!("{name} = {value}"))
        };
        let time = |name: &str, time: Option<Stamp>| time.map(|time| format!("{name} = {time}"));
        let parts = [
            count("skip_rows", self.skip_rows, all.skip_rows),
            count("first_node", self.first_node, all.first_node),
            self.nodes.map(|nodes| format!("nodes = {nodes}")),
            time("from", self.from),
            time("to", self.to),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        write!(f, "{{ {} }}", parts.join(", "))
    }
}

impl From<Window> for Slice {
    fn from(window: Window) -> Self {
        Slice {
            skip_rows: window.skip_rows,
            first_node: window.first_node,
            nodes: window.nodes,
            from: window.from,
            to: window.to,
        }
    }
}

/// Reads a time, given as text or as a TOML time.
fn time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Stamp>, D::Error> {
    let text = match toml::Value::deserialize(deserializer)? {
        toml::Value::Datetime(time) => time.to_string(),
        toml::Value::String(text) => text,
        other => other.to_string(),
    };
    let time = text.parse().map_err(|_| {
        D::Error::custom(format!("{text} is not a time such as 2021-02-10 20:21:15"))
    })?;
    Ok(Some(time))
}

fn as_text<S: Serializer>(time: &Option<Stamp>, serializer: S) -> Result<S::Ok, S::Error> {
    time.map(|time| time.to_string()).serialize(serializer)
}

impl<'de> Deserialize<'de> for TaskFiles {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TaskFilesVisitor)
    }
}

struct TaskFilesVisitor;

impl<'de> Visitor<'de> for TaskFilesVisitor {
    type Value = TaskFiles;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a file, or { tasks = FILE, curves = FILE }")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<TaskFiles, E> {
        Ok(TaskFiles {
            tasks: text.into(),
            curves: None,
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<TaskFiles, A::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Pair {
            tasks: PathBuf,
            curves: PathBuf,
        }
        let pair = Pair::deserialize(MapAccessDeserializer::new(map))?;
        Ok(TaskFiles {
            tasks: pair.tasks,
            curves: Some(pair.curves),
        })
    }
}
