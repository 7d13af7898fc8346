//! Compares schedules with tables of the published results.

use std::collections::BTreeMap;

use gleaner_domain::results::schedule::{JobOutcome, Schedule, State};

use crate::plain::minutes;
use crate::same::near;
use crate::table::Table;
use crate::venus::nodes_text;

/// The outcome of a job. The numbers are its start, end, time in the queue and checkpoints, and the seconds at which it
/// joined another job and returned to full speed. The flag states whether it was alone, and the text names its nodes.
pub type Outcome = ([i64; 6], bool, String);

pub fn outcome(found: &JobOutcome) -> Outcome {
    let &JobOutcome {
        start,
        end,
        queue,
        checkpoints,
        colocated,
        delocated,
        exclusive,
        ..
    } = found;
    let numbers = [start, end, queue, checkpoints.into(), colocated, delocated];
    (numbers, exclusive, nodes_text(&found.nodes))
}

/// The outcomes in a table of jobs, by job id.
pub fn outcomes(table: &Table) -> BTreeMap<String, Outcome> {
    let columns = [
        "start_time",
        "end_time",
        "queue",
        "ckpt_times",
        "Tcolocate",
        "Tdelocate",
    ];
    let columns = columns.map(|column| table.integers(column));
    let (alone, nodes) = (table.integers("exclusive"), table.texts("nodes"));
    let row = |row: usize| {
        let numbers = [0, 1, 2, 3, 4, 5].map(|column| columns[column][row]);
        (numbers, alone[row] == 1, nodes[row].to_owned())
    };
    let ids = table.integers("job_id").into_iter().enumerate();
    ids.map(|(index, id)| (id.to_string(), row(index)))
        .collect()
}

/// Compares a schedule's samples with a minute-by-minute table.
pub fn assert_minutes(schedule: &Schedule, name: &str) {
    let table = Table::read(name);
    let minutes = minutes(schedule);
    assert_eq!(minutes.len(), table.integers("time").len(), "{name}");
    for (column, value) in COLUMNS {
        // The profiler's table has no usage columns.
        if !table.has(column) {
            assert!(name == "profiler_seq" && column.contains("util"), "{name}");
            continue;
        }
        for ((second, state), expected) in minutes.iter().zip(table.floats(column)) {
            let found = value(*second, state);
            let told = || format!("{name}, second {second}: {column} is {found}, not {expected}");
            assert!(near(found, expected), "{}", told());
        }
    }
}

/// A column of a minute-by-minute table: its name, and its value as a function of the second and the state in that
/// second.
type Column = (&'static str, fn(i64, &State) -> f64);

const COLUMNS: [Column; 14] = [
    ("time", |second, _| second as f64),
    ("total_gpu_num", |_, s| s.total_gpus as f64),
    ("idle_gpu_num", |_, s| s.idle_gpus as f64),
    ("pending_gpu_num", |_, s| s.pending_gpus as f64),
    ("running_gpujob_num", |_, s| s.running_jobs.into()),
    ("pending_gpujob_num", |_, s| s.pending_jobs.into()),
    ("pending_job_num_less_8", |_, s| s.pending_small_jobs.into()),
    ("total_node_num", |_, s| s.nodes.into()),
    ("consolidate_node_num", |_, s| s.single_nodes.into()),
    ("shared_node_num", |_, s| s.shared_nodes.into()),
    ("sm_util", |_, s| s.gpu_util),
    ("gmem_util", |_, s| s.gmem),
    ("sm_util_active", |_, s| s.gpu_util_active),
    ("gmem_util_active", |_, s| s.gmem_active),
];
