//! The settings of a replay.

use std::fmt;
use std::path::PathBuf;

use gleaner_solvers::{BigM, Formulation};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use gleaner_core::domain::Slice;
use gleaner_setup::{Rules, SolverName};

/// The files of one set of tasks: a path, or `{ tasks, curves }` for the original's pickles.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct TaskFiles {
    /// The file of tasks.
    pub tasks: PathBuf,
    /// The file of scaling curves; `None` if they are in the file of tasks.
    pub curves: Option<PathBuf>,
}

/// All settings of a replay except its files.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReplayChoices {
    /// The part of the log.
    #[serde(flatten)]
    pub window: Slice,
    /// How the log is replayed. The forward window is in seconds once the log and the tasks are
    /// read.
    #[serde(flatten)]
    pub rules: Rules,
    /// The solver. A program is seen from the folder of the plan.
    pub solver: SolverName,
    /// Formulation of problems for MILP solvers.
    pub formulation: Formulation,
    /// Big-M of the paper's model.
    pub big_m: BigM,
    /// Time limit of one decision, in seconds.
    pub time_limit: f64,
    /// Relative gap that counts as optimal.
    pub gap: f64,
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
