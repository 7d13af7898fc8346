//! Everything that decides on a replay.

use std::fmt;
use std::path::PathBuf;

use gleaner_solvers::{BigM, Formulation, SolverKind, SolverSpec};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::domain::Objective;
use crate::domain::Stamp;
use crate::domain::events::Slice;
use crate::replay::{Initial, Options, TFwd};

/// The files of one set of tasks: a path, or `{ tasks, curves }` for the original's pickles.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct TaskFiles {
    /// Tasks.
    pub tasks: PathBuf,
    /// Scaling curves, where they are in a file of their own.
    pub curves: Option<PathBuf>,
}

/// A part of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Window {
    /// Rows dropped at the start.
    pub skip_rows: usize,
    /// First node.
    pub first_node: usize,
    /// How many nodes; all that follow where `None`.
    pub nodes: Option<usize>,
    /// First time.
    #[serde(serialize_with = "as_text", deserialize_with = "time")]
    pub from: Option<Stamp>,
    /// Last time.
    #[serde(serialize_with = "as_text", deserialize_with = "time")]
    pub to: Option<Stamp>,
}

/// Everything that decides on a replay but its files.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReplayChoices {
    /// The part of the log.
    #[serde(flatten)]
    pub window: Window,
    /// Forward window; in seconds once the log and the tasks are read.
    pub t_fwd: TFwd,
    /// Most tasks active at once.
    pub max_tasks: usize,
    /// What is maximised.
    pub objective: Objective,
    /// The solver.
    pub solver: SolverKind,
    /// How MILP backends write problems down.
    pub formulation: Formulation,
    /// Big-M of the paper's model.
    pub big_m: BigM,
    /// Seconds for one decision.
    pub time_limit: f64,
    /// Relative gap that counts as optimal.
    pub gap: f64,
    /// The deal at event 0.
    pub initial: Initial,
    /// Seed of the random deal.
    pub seed: u64,
    /// Whether completions are events.
    pub completion_events: bool,
    /// Whether the tasks are submitted again when all of them are done.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub repeat_tasks: bool,
}

/// Everything that decides on a replay.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReplaySettings {
    /// Its tasks.
    #[serde(flatten)]
    pub files: TaskFiles,
    /// All else.
    #[serde(flatten)]
    pub choices: ReplayChoices,
}

impl ReplayChoices {
    /// How to replay with a forward window of so many seconds.
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

    /// The solver.
    pub fn spec(&self) -> SolverSpec {
        SolverSpec {
            kind: self.solver,
            formulation: self.formulation,
            big_m: self.big_m,
        }
    }
}

impl fmt::Display for Window {
    /// As a plan has it, without defaults.
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

/// A time as text, or as TOML writes it.
fn time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Stamp>, D::Error> {
    let text = match toml::Value::deserialize(deserializer)? {
        toml::Value::Datetime(time) => time.to_string(),
        toml::Value::String(text) => text,
        other => other.to_string(),
    };
    let time = text
        .parse()
        .map_err(|_| D::Error::custom(format!("{text} is no time such as 2021-02-10 20:21:15")))?;
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
