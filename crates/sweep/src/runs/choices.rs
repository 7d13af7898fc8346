//! The settings of a replay in a sweep, in one form for the run's key and in another for its results.

use std::path::PathBuf;

use gleaner_domain::Slice;
use gleaner_setup::{ReplaySettings, Rules, SolverName};
use gleaner_solvers::{BigM, Formulation};
use serde::Serialize;

use super::parts::Window;

/// The settings of a run as its results list them.
#[derive(Serialize)]
pub(super) struct Listed<'a> {
    pub tasks: &'a Option<PathBuf>,
    pub curves: &'a Option<PathBuf>,
    #[serde(flatten)]
    pub choices: Choices<'a>,
    /// Number of the part of the log, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<usize>,
}

/// All settings that determine the result of a run, with its part of the log. If the log is not cut, no part is stored,
/// so the keys equal those of earlier versions, which could not cut logs.
#[derive(Serialize)]
pub(super) struct Keyed<'a> {
    #[serde(flatten)]
    pub choices: Choices<'a>,
    #[serde(flatten)]
    pub window: Option<Window>,
}

/// All settings that determine the result of a run, except for its files.
#[derive(Serialize)]
pub(super) struct Choices<'a> {
    #[serde(flatten)]
    pub window: Slice,
    /// The rules of the replay. Their forward window is in seconds, because `auto` has been resolved.
    #[serde(flatten)]
    pub rules: &'a Rules,
    /// The node features or the node resource from which classes are read. They affect the result, because they
    /// determine the class of each node.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub class_feature: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class_resource: Option<&'a str>,
    /// The solver. If it is a program, its path is relative to the folder of the plan.
    pub solver: &'a SolverName,
    pub formulation: Formulation,
    pub big_m: BigM,
    pub time_limit: f64,
    pub gap: f64,
}

impl<'a> Choices<'a> {
    /// The settings that determine the result of a run.
    pub fn of(settings: &'a ReplaySettings) -> Self {
        let solver = &settings.solver;
        Choices {
            window: settings.log.slice.slice(),
            rules: &settings.log.rules,
            class_feature: &settings.log.classes.class_feature,
            class_resource: settings.log.classes.class_resource.as_deref(),
            solver: &solver.solver,
            formulation: solver.formulation.unwrap_or_default(),
            big_m: solver.big_m,
            time_limit: solver.time_limit,
            gap: solver.gap,
        }
    }
}
