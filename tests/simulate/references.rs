//! The product against the published results, all of them (golden values).

use std::collections::BTreeMap;

use gleaner::lucid::Simulation;
use gleaner::lucid::inputs::PackingTable;
use gleaner::lucid::metrics::summarise;
use gleaner::lucid::policies::Without;
use gleaner::lucid::result::PolicyRun;
use gleaner::lucid::schedule::{JobOutcome, Schedule, State};
use gleaner::output::simulate::Figure;

use crate::plain::minutes;
use crate::same::near;
use crate::table::Table;
use crate::venus::{Venus, nodes_text, path, run_one, venus};

const AS_IS: Without = Without {
    packing: false,
    throughput: false,
    estimate: false,
};

/// Fails where a job's outcome is not that of the reference.
fn assert_jobs(venus: &Venus, run: &PolicyRun, reference: &str) {
    let table = Table::read(&format!("{reference}_jobs"));
    let finished = run.finished();
    assert_eq!(finished.len(), 23_859, "{reference}");
    let mut expected = outcomes(&table);
    for job in finished {
        let id = &venus.trace.jobs[job.job].id;
        let found = outcome(job.outcome);
        assert_eq!(Some(found), expected.remove(id), "{reference}, job {id}");
    }
    assert!(expected.is_empty(), "{reference}");
}

/// Start, end, queue, checkpoints, joined another, full speed again; alone; nodes.
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

/// What a table of jobs says, by job.
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

#[test]
fn every_job_of_the_six_policies_is_as_published() {
    let Some(venus) = venus() else { return };
    let figures = [
        ("fifo", [65720, 53951, 587_040]),
        ("sjf", [21095, 9325, 322_076]),
        ("srtf", [12609, 829, 126_901]),
        ("qssf", [15548, 3779, 214_309]),
        ("tiresias", [14700, 2915, 195_846]),
        ("lucid", [12886, 915, 93756]),
    ];
    for (name, expected) in figures {
        let run = venus.run(name);
        assert_jobs(venus, run, name);
        assert_eq!(self::figures(venus, run), expected, "{name}");
    }
}

#[test]
fn every_job_of_the_variants_is_as_published() {
    let Some(venus) = venus() else { return };
    let simulation = venus.simulation();
    let lgb = Simulation {
        estimates: Some(&venus.lgb),
        ..simulation
    };
    let throughput = Without {
        throughput: true,
        ..AS_IS
    };
    let estimate = Without {
        estimate: true,
        ..AS_IS
    };
    let without = |without| Simulation {
        without,
        ..simulation
    };
    let variants = [
        ("qssf_lgb", lgb, [18797, 7028, 690_767]),
        (
            "lucid_no_throughput",
            without(throughput),
            [15098, 3387, 193_383],
        ),
        (
            "lucid_no_estimate",
            without(estimate),
            [16080, 4369, 221_435],
        ),
    ];
    for (name, simulation, expected) in variants {
        let policy = name.split('_').next().unwrap();
        let run = run_one(&simulation, policy);
        assert_jobs(venus, &run, name);
        assert_eq!(figures(venus, &run), expected, "{name}");
    }
}

#[test]
fn the_profiler_is_as_published() {
    let Some(venus) = venus() else { return };
    let profiler = venus.run("lucid").profiler.as_ref().unwrap();
    let table = Table::read("profiler_jobs");
    let [ids, profiled, start, end, queue, ended] = [
        "job_id",
        "profiled",
        "start_time",
        "end_time",
        "profqueue",
        "toskip",
    ]
    .map(|column| table.integers(column));
    let nodes = table.texts("nodes");
    for (row, job) in venus.trace.jobs.iter().enumerate() {
        assert_eq!(job.id, ids[row].to_string());
        assert_eq!(profiler.ended(row, job), ended[row] == 1, "job {}", job.id);
        let outcome = profiler.position(row).map(|at| &profiler.schedule.jobs[at]);
        let found = outcome.map(|o| (o.start, o.end, o.queue, nodes_text(&o.nodes)));
        let expected = (start[row], end[row], queue[row], nodes[row].to_owned());
        let expected = (profiled[row] == 1).then_some(expected);
        assert_eq!(found, expected, "job {}", job.id);
    }
    assert_minutes(&profiler.schedule, "profiler_seq");
}

#[test]
fn the_profilers_scaling_is_as_published() {
    let Some(venus) = venus() else { return };
    let mut reader = csv::Reader::from_path(path("reference/profiler_scaling.csv").unwrap());
    let rows = reader.as_mut().unwrap().deserialize::<(f64, i32)>();
    let expected: Vec<(i64, i32)> = rows
        .map(Result::unwrap)
        .map(|(time, step)| (time as i64, step))
        .collect();
    let run = venus.run("lucid");
    assert_eq!(run.profiler.as_ref().unwrap().schedule.scaling, expected);
}

#[test]
fn every_minute_is_as_published() {
    let Some(venus) = venus() else { return };
    for run in venus.published() {
        for name in ["vcvlY", "vchbv"] {
            let vc = &run.vcs[venus.cluster.vc(name).unwrap()];
            assert_minutes(&vc.schedule, &format!("{}_{name}_seq", run.policy));
        }
    }
}

/// Compares a schedule's samples with a table by minute.
pub fn assert_minutes(schedule: &Schedule, name: &str) {
    let table = Table::read(name);
    let minutes = minutes(schedule);
    assert_eq!(minutes.len(), table.integers("time").len(), "{name}");
    for (column, value) in COLUMNS {
        // The profiler's table has no usage.
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

/// A column of a table by minute, of a second and the state then.
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

/// Average JCT, average queuing and 99.9 % queuing in seconds.
fn figures(venus: &Venus, run: &PolicyRun) -> [i64; 3] {
    let metrics = summarise(&venus.trace, &venus.cluster, run);
    Figure::ALL.map(|figure| figure.of(&metrics.all))
}

/// Of Lucid without packing analysis, as the rule gives them, and of what else that might
/// have meant: without the scores alone, and without sharing though all jobs are tried.
#[test]
fn the_figures_without_packing_are_as_described() {
    let Some(venus) = venus() else { return };
    let rule = Simulation {
        without: Without {
            packing: true,
            ..AS_IS
        },
        ..venus.simulation()
    };
    let expected = [12880, 926, 109_551];
    assert_eq!(figures(venus, &run_one(&rule, "lucid")), expected);
    for (score, expected) in [(Some(0), [12868, 875]), (None, [14512, 2801])] {
        let packing = PackingTable {
            scores: vec![score; venus.packing.scores.len()],
            ..venus.packing.clone()
        };
        let simulation = Simulation {
            packing: Some(&packing),
            ..venus.simulation()
        };
        let found = figures(venus, &run_one(&simulation, "lucid"));
        assert_eq!(found[..2], expected, "all scores {score:?}");
    }
}
