//! Columns of a sweep's table.

use super::replication::WINDOW;

/// The type of a column's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Strings; the values of switches are `true` and `false`.
    Text,
    /// Whole numbers.
    Whole,
    /// Floating-point numbers.
    Float,
}

/// A column that holds one value for each run. A JSON pointer locates the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// Name of the column.
    pub name: &'static str,
    /// JSON pointer to the value in the run's settings or summary.
    pub pointer: &'static str,
    /// Type of the column's values.
    pub kind: Kind,
}

const fn field(name: &'static str, pointer: &'static str, kind: Kind) -> Field {
    Field {
        name,
        pointer,
        kind,
    }
}

/// Settings of a replay, in the order in which they are varied. The last setting, the window, is the number of the
/// replayed part of the log; it is empty if the sweep does not cut the log.
pub const REPLAY_SETTINGS: [Field; 20] = [
    field("tasks", "/tasks", Kind::Text),
    field("curves", "/curves", Kind::Text),
    field("skip_rows", "/skip_rows", Kind::Whole),
    field("first_node", "/first_node", Kind::Whole),
    field("nodes_used", "/nodes", Kind::Whole),
    field("from", "/from", Kind::Text),
    field("to", "/to", Kind::Text),
    field("t_fwd", "/t_fwd", Kind::Float),
    field("max_tasks", "/max_tasks", Kind::Whole),
    field("objective", "/objective", Kind::Text),
    field("solver", "/solver", Kind::Text),
    field("formulation", "/formulation", Kind::Text),
    field("big_m", "/big_m", Kind::Text),
    field("time_limit", "/time_limit", Kind::Float),
    field("initial", "/initial", Kind::Text),
    field("node_choice", "/node_choice", Kind::Text),
    field("seed", "/seed", Kind::Whole),
    field("completion_events", "/completion_events", Kind::Text),
    field("search", "/search", Kind::Text),
    field(WINDOW, "/window", Kind::Whole),
];

/// Name of the column with the number of faults of the solver program.
pub const PROGRAM_FAULTS: &str = "program_faults";

/// Settings of a simulation, in the order in which they are varied.
pub const SIMULATE_SETTINGS: [Field; 4] = [
    field("policy", "/policy", Kind::Text),
    field("placer", "/placer", Kind::Text),
    field("without", "/without", Kind::Text),
    field("corrected", "/corrected", Kind::Text),
];
