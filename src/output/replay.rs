//! The tables of a replay.

use super::table::{Column, Table};
use crate::domain::EventLog;
use crate::inspect::fragment_bins;
use crate::replay::{AllocationRow, Outcome, StepRow, TaskRow};

/// All tables of a replay of `log`: steps, timings, tasks, allocations, fragments.
pub fn tables<'a>(outcome: &'a Outcome, log: &'a EventLog) -> [Table<'a>; 5] {
    [
        steps(&outcome.steps, &outcome.summary.solver),
        timings(&outcome.steps),
        tasks(&outcome.tasks),
        allocations(&outcome.allocations, &outcome.tasks, log),
        fragments(log),
    ]
}

/// The original's 13 columns under their names, then this program's own.
fn steps<'a>(rows: &'a [StepRow], solver: &'a str) -> Table<'a> {
    let fixed = |of: fn(&StepRow) -> f64| Column::Fixed(rows.iter().map(of).collect());
    let count =
        |of: fn(&StepRow) -> u32| Column::Integers(rows.iter().map(|r| of(r).into()).collect());
    let text = |of: fn(&StepRow) -> &'static str| {
        Column::Texts(rows.iter().map(|r| of(r).into()).collect())
    };
    Table {
        name: "steps",
        columns: vec![
            (
                "evtTime",
                Column::EveryTime(rows.iter().map(|r| r.time).collect()),
            ),
            ("Thr", fixed(|r| r.progress)),
            ("Rate", fixed(|r| r.rate)),
            ("ReScost", fixed(|r| r.rescale_cost)),
            (
                "evt",
                Column::Integers(rows.iter().map(|r| r.event as u64).collect()),
            ),
            ("Nleft", count(|r| r.nodes_left)),
            ("Npre", count(|r| r.tasks_preempted)),
            ("Njoin", count(|r| r.nodes_joined)),
            ("nJob", count(|r| r.tasks_active)),
            ("nNd", count(|r| r.nodes_idle)),
            ("nJrun", count(|r| r.tasks_running)),
            ("nNrun", count(|r| r.nodes_used)),
            ("PreCost", fixed(|r| r.preemption_cost)),
            ("kind", text(|r| r.kind.as_str())),
            (
                "solver",
                Column::Names {
                    names: vec![solver],
                    indices: vec![0; rows.len()],
                },
            ),
            ("status", text(|r| r.status.as_str())),
            ("gap", Column::Floats(rows.iter().map(|r| r.gap).collect())),
        ],
    }
}

/// Solver wall times, apart: they differ from run to run.
fn timings(rows: &[StepRow]) -> Table<'_> {
    Table {
        name: "timings",
        columns: vec![
            (
                "evt",
                Column::Integers(rows.iter().map(|r| r.event as u64).collect()),
            ),
            (
                "solve_us",
                Column::Integers(rows.iter().map(|r| r.micros).collect()),
            ),
        ],
    }
}

fn tasks(rows: &[TaskRow]) -> Table<'_> {
    let number =
        |of: fn(&TaskRow) -> f64| Column::Floats(rows.iter().map(|r| Some(of(r))).collect());
    let count =
        |of: fn(&TaskRow) -> u32| Column::Integers(rows.iter().map(|r| of(r).into()).collect());
    Table {
        name: "tasks",
        columns: vec![
            (
                "task",
                Column::Texts(rows.iter().map(|r| r.name.as_str().into()).collect()),
            ),
            (
                "submit",
                Column::EveryTime(rows.iter().map(|r| r.submit).collect()),
            ),
            (
                "start",
                Column::Times(rows.iter().map(|r| r.start).collect()),
            ),
            ("end", Column::Times(rows.iter().map(|r| r.end).collect())),
            (
                "work",
                Column::Floats(rows.iter().map(|r| finite(r.work)).collect()),
            ),
            ("work_done", number(|r| r.work_done)),
            ("node_seconds", number(|r| r.node_seconds)),
            ("rescales_up", count(|r| r.rescales_up)),
            ("rescales_down", count(|r| r.rescales_down)),
            ("preemptions", count(|r| r.preemptions)),
            ("lost_up_s", number(|r| r.lost_up)),
            ("lost_down_s", number(|r| r.lost_down)),
            ("lost_preempted_s", number(|r| r.lost_preempted)),
            ("active_s", number(|r| r.active_seconds)),
            (
                "normalised_progress",
                Column::Floats(rows.iter().map(|r| r.normalised_progress).collect()),
            ),
        ],
    }
}

/// Nothing for the work of an endless task.
fn finite(work: f64) -> Option<f64> {
    work.is_finite().then_some(work)
}

fn allocations<'a>(rows: &[AllocationRow], tasks: &'a [TaskRow], log: &'a EventLog) -> Table<'a> {
    let names = |names: Vec<&'a str>, of: fn(&AllocationRow) -> u32| Column::Names {
        names,
        indices: rows.iter().map(of).collect(),
    };
    Table {
        name: "allocations",
        columns: vec![
            (
                "task",
                names(tasks.iter().map(|t| t.name.as_str()).collect(), |r| r.task),
            ),
            (
                "node",
                names(log.nodes().iter().map(String::as_str).collect(), |r| r.node),
            ),
            (
                "from",
                Column::EveryTime(rows.iter().map(|r| r.from).collect()),
            ),
            ("to", Column::EveryTime(rows.iter().map(|r| r.to).collect())),
        ],
    }
}

/// The idle fragments of the log, by length.
fn fragments(log: &EventLog) -> Table<'static> {
    let bins = fragment_bins(log);
    Table {
        name: "fragments",
        columns: vec![
            (
                "from_s",
                Column::Floats(bins.iter().map(|bin| Some(bin.from_s)).collect()),
            ),
            (
                "to_s",
                Column::Floats(bins.iter().map(|bin| bin.to_s).collect()),
            ),
            (
                "fragments",
                Column::Integers(bins.iter().map(|bin| bin.count as u64).collect()),
            ),
            (
                "node_seconds",
                Column::Floats(bins.iter().map(|bin| Some(bin.sum_s)).collect()),
            ),
        ],
    }
}
