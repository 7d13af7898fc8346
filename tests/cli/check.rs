//! Tests that `gleaner check` accepts unchanged output of runs and detects changes.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use gleaner_domain::Digest;
use gleaner_domain::results::states::JobRow;
use gleaner_domain::results::{Column, Record, Table};
use gleaner_io::table::WriteTable;
use gleaner_runs::read as runs;
use gleaner_runs::read::{ReplayRun, RunResult};
use serde_json::Value;
use tempfile::TempDir;

use crate::support::{dataset, gleaner, json};

const REPLAY: &str = "replay --events idle.csv --tasks tasks.toml";

/// A directory with a sample log, tasks, plan and cluster.
fn samples() -> TempDir {
    let directory = crate::support::samples();
    for name in ["cluster", "sweep.toml"] {
        symlink(dataset().join(name), directory.path().join(name)).unwrap();
    }
    directory
}

fn replayed(at: &Path) -> ReplayRun {
    match runs::read(&at.join("run")).unwrap().result {
        RunResult::Replay(run) => *run,
        other => panic!("{other:?}"),
    }
}

/// Replaces a file of a run, and lists it in `run.json` as if the run had written it.
fn forge(run: &Path, name: &str, bytes: &[u8]) {
    fs::write(run.join(name), bytes).unwrap();
    let mut info = json(&run.join("run.json"));
    let files = info["files"].as_array_mut().unwrap();
    let file = files.iter_mut().find(|file| file["path"] == name).unwrap();
    file["bytes"] = bytes.len().into();
    file["sha256"] = Digest::of(bytes).to_string().into();
    fs::write(run.join("run.json"), info.to_string()).unwrap();
}

fn parquet(table: &Table<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    table.write_parquet(&mut bytes).unwrap();
    bytes
}

#[test]
fn correct_runs_pass_the_check() {
    let directory = samples();
    let at = directory.path();
    let with_highs = cfg!(feature = "highs").then_some("--t-fwd 60 --nodes 12 --solver highs");
    let ours = [
        "--t-fwd 120",
        "--t-fwd 30 --max-tasks 3 --initial solve",
        "--t-fwd 600 --initial empty --objective share-fair",
        "--repeat-tasks --max-tasks 4 --seed 3",
        "--completion-events --objective throughput",
        "--skip-rows 50 --first-node 10 --nodes 40 --solver equal-share",
    ];
    for more in ours.into_iter().chain(with_highs) {
        gleaner(at, &format!("{REPLAY} {more} --out run")).expect(0);
        let run = gleaner(at, "check run").expect(0);
        assert!(
            run.out.starts_with("run: ") && run.out.contains(" values verified"),
            "{more}: {}",
            run.out
        );
        let compared: u64 = run.out.split(' ').nth(1).unwrap().parse().unwrap();
        assert!(compared > 1000, "{more}: {}", run.out);
    }
    gleaner(at, "simulate --data cluster --policy all --out sim").expect(0);
    gleaner(at, "sweep sweep.toml --out swept").expect(0);
    let run = gleaner(at, "check run sim swept").expect(0);
    for name in ["run: ", "sim: ", "swept: "] {
        let starts = |line: &str| line.starts_with(name);
        assert!(run.out.lines().any(starts), "{}", run.out);
    }
}

/// A change to any figure in a row is detected.
#[test]
fn changed_rows_are_found() {
    let directory = samples();
    let at = directory.path();
    gleaner(at, &format!("{REPLAY} --t-fwd 120 --out run")).expect(0);
    let run = replayed(at);
    type Change = fn(&mut ReplayRun);
    let changes: [(&str, Change); 9] = [
        ("row 20 (", |run| run.steps[20].rate *= 1.001),
        ("ReScost is", |run| run.steps[21].rescale_cost += 1.0),
        ("Thr is", |run| run.steps[22].progress += 1.0),
        ("nNrun is", |run| run.steps[23].nodes_used += 1),
        ("Nleft is", |run| run.steps[24].nodes_left += 1),
        ("work_done is", |run| run.tasks[1].work_done *= 0.999),
        ("preemptions is", |run| run.tasks[2].preemptions += 1),
        ("node_seconds is", |run| run.tasks[0].node_seconds += 60.0),
        ("nNrun is", |run| {
            run.allocations.remove(40);
        }),
    ];
    for (words, change) in changes {
        let mut changed = run.clone();
        change(&mut changed);
        let tables = [
            Table::of("steps", &changed.steps),
            Table::of("tasks", &changed.tasks),
            gleaner_domain::results::replay::AllocationRow::table(
                &changed.allocations,
                &changed.tasks,
                &changed.nodes,
                None,
            ),
        ];
        for table in &tables {
            let mut text = Vec::new();
            table.write_csv(&mut text).unwrap();
            for (bytes, ending) in [(parquet(table), "parquet"), (text, "csv")] {
                forge(&at.join("run"), &format!("{}.{ending}", table.name), &bytes);
            }
        }
        let found = gleaner(at, "check run").expect(1);
        assert!(found.out.contains(words), "{words}: {}", found.out);
    }
}

#[test]
fn changed_summaries_are_found() {
    let directory = samples();
    let at = directory.path();
    gleaner(at, &format!("{REPLAY} --t-fwd 120 --out run")).expect(0);
    gleaner(at, "simulate --data cluster --policy fifo,srtf --out sim").expect(0);
    for (run, pointer) in [
        ("run", "/total_work"),
        ("run", "/rescale_loss"),
        ("run", "/preemption_loss"),
        ("run", "/idle_node_seconds"),
        ("run", "/efficiency"),
        ("run", "/completion_mean_s"),
        ("sim", "/policies/fifo/avg_jct_s"),
        ("sim", "/policies/srtf/small/p999_queue_s"),
        ("sim", "/policies/srtf/makespan_s"),
    ] {
        let path = at.join(run).join("summary.json");
        let before = fs::read(&path).unwrap();
        let mut summary: Value = serde_json::from_slice(&before).unwrap();
        let value = summary.pointer_mut(pointer).unwrap();
        *value = match value.as_i64() {
            Some(whole) => (whole + 1).into(),
            None => (value.as_f64().unwrap() * 1.01 + 0.01).into(),
        };
        forge(
            &at.join(run),
            "summary.json",
            summary.to_string().as_bytes(),
        );
        let found = gleaner(at, &format!("check {run}")).expect(1);
        let name = pointer.rsplit('/').next().unwrap();
        assert!(found.out.contains(name), "{pointer}: {}", found.out);
        forge(&at.join(run), "summary.json", &before);
        gleaner(at, &format!("check {run}")).expect(0);
    }
}

#[test]
fn other_files_and_inputs_are_refused() {
    let directory = samples();
    let at = directory.path();
    gleaner(at, &format!("{REPLAY} --t-fwd 120 --out run")).expect(0);
    let tasks = fs::read_to_string(at.join("tasks.toml")).unwrap();
    fs::write(at.join("tasks.toml"), format!("# changed\n{tasks}")).unwrap();
    gleaner(at, "check run")
        .expect(3)
        .says(&["tasks.toml", "other content"]);
    fs::remove_file(at.join("tasks.toml")).unwrap();
    gleaner(at, "check run").expect(1).says(&["tasks.toml"]);
    fs::write(at.join("tasks.toml"), tasks).unwrap();
    fs::write(at.join("run/steps.parquet"), "x").unwrap();
    let found = gleaner(at, "check run").expect(1);
    assert!(
        found
            .out
            .contains("steps.parquet: length or digest differs"),
        "{}",
        found.out
    );
    gleaner(at, "check nothing").expect(1).says(&["nothing"]);
}

/// Numbers that no simulation writes are reported as faults or findings, and cause no overflow.
#[test]
fn extreme_job_tables_are_refused() {
    let directory = samples();
    let at = directory.path();
    gleaner(at, "simulate --data cluster --policy fifo --out sim").expect(0);
    let run = runs::read(&at.join("sim")).unwrap();
    let rows = runs::job_rows(&run.info, "fifo").unwrap();
    for field in JobRow::FIELDS
        .iter()
        .filter(|field| !TEXTS.contains(&field.name))
    {
        for number in [
            i64::MIN,
            i64::MIN / 4,
            i64::from(u32::MAX),
            i64::MAX / 4,
            i64::MAX,
        ] {
            let table = Table {
                name: "fifo_jobs",
                columns: job_columns(&rows, field.name, number),
            };
            forge(&at.join("sim"), "fifo_jobs.parquet", &parquet(&table));
            let found = gleaner(at, "check sim");
            assert!(
                found.code.is_some_and(|code| [1, 3].contains(&code)),
                "{} {number}: {} {}",
                field.name,
                found.out,
                found.err
            );
        }
    }
}

const TEXTS: [&str; 3] = ["job_id", "vc", "nodes"];

/// The columns of a table of jobs, with `number` in every row of the column `changed`.
fn job_columns<'a>(
    rows: &'a [JobRow],
    changed: &str,
    number: i64,
) -> Vec<(&'static str, Column<'a>)> {
    let names = JobRow::FIELDS.iter().map(|field| field.name);
    let columns = names.zip(JobRow::columns(rows));
    let forged = columns.map(|(name, column)| {
        if name == changed {
            (name, Column::Whole(vec![number; rows.len()]))
        } else {
            (name, column)
        }
    });
    forged.collect()
}
