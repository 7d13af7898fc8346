//! Tests that `gleaner check` detects a change in any column or field, unless it lists the column or field as not
//! verified.
//!
//! The tests find the tables and JSON files in the run directory, so they also cover columns that are added later.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use gleaner::Unobserved;
use gleaner::cli::check::examine;
use gleaner_check::Findings;
use gleaner_domain::Digest;
use gleaner_domain::Local;
use gleaner_domain::results::{Column, Table};
use gleaner_io::table::WriteTable;
use gleaner_runs::read as runs;
use gleaner_runs::read::StoredTable;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{gleaner, json};

/// Changes each column of each table and each field of each JSON file of a run, one at a time, and
/// updates the digests. The check must detect every change, or its report must list the column or field
/// as not verified, with a reason.
#[track_caller]
pub fn every_change_is_noticed(run: &Path) {
    let before = examine(run, &Unobserved).unwrap();
    assert_eq!(before.wrong_count, 0, "{before}");
    let listed: BTreeSet<(&str, &str)> = before
        .unverified()
        .map(|(file, name, reason)| {
            assert_ne!(reason, Findings::UNKNOWN, "{file}: {name}");
            (file, name)
        })
        .collect();
    let is_listed = |file: &str, name: &str| {
        let above = name.match_indices('/').map(|(end, _)| &name[..end]);
        let mut names = above.chain([name, Findings::WHOLE]);
        names.any(|name| listed.contains(&(file, name)))
    };
    let mut missed = Vec::new();
    let info = runs::info(run).unwrap();
    for table in info.tables() {
        let stored = info.table(table).unwrap();
        let files = [format!("{table}.parquet"), format!("{table}.csv")].map(|name| {
            let bytes = fs::read(run.join(&name)).ok();
            (name, bytes)
        });
        for place in 0..stored.columns.len() {
            let name = &stored.columns[place].0;
            for changed in changes(&stored, place) {
                write(run, table, &changed, files[1].1.is_some());
                if !is_noticed(run) && !is_listed(table, name) {
                    missed.push(format!("{table}: {name}"));
                }
            }
        }
        for (name, bytes) in &files {
            if let Some(bytes) = bytes {
                forge(run, name, bytes);
            }
        }
    }
    let files = info.files.iter().map(|file| file.path.as_str());
    let files = files.filter(|path| path.ends_with(".json"));
    for file in files.chain(["run.json"]) {
        let bytes = fs::read(run.join(file)).unwrap();
        let content: Value = serde_json::from_slice(&bytes).unwrap();
        // The entries of all metrics of a sweep have the same structure, so only one of them is changed.
        let is_alike = |name: &String| {
            let entry = name.strip_prefix("best_by_metric/");
            entry.is_some_and(|entry| !entry.starts_with("total_work/"))
        };
        for name in leaves(&content).into_iter().filter(|name| !is_alike(name)) {
            let pointer = format!("/{name}");
            for value in others(&name, content.pointer(&pointer).unwrap()) {
                let mut changed = content.clone();
                *changed.pointer_mut(&pointer).unwrap() = value.clone();
                let changed = serde_json::to_vec_pretty(&changed).unwrap();
                forge(run, file, &changed);
                if !is_noticed(run) && !is_listed(file, &name) {
                    missed.push(format!("{file}: {name} as {value}"));
                }
            }
        }
        forge(run, file, &bytes);
    }
    assert_eq!(missed, Vec::<String>::new(), "{before}");
    assert_eq!(examine(run, &Unobserved).unwrap().wrong_count, 0);
}

/// Whether the check finds an error in the run, or rejects the run.
fn is_noticed(run: &Path) -> bool {
    examine(run, &Unobserved).map_or(true, |findings| findings.wrong_count > 0)
}

/// Returns copies of the table, each with one changed value in a column. In one copy, the value is in the second row,
/// which in most tables is neither the first nor the last. In the other copy, it is in the next-to-last row.
fn changes(table: &StoredTable, place: usize) -> Vec<StoredTable> {
    let rows = match &table.columns[place].1 {
        Column::Texts(values) => values.len(),
        Column::Floats(values) => values.len(),
        Column::OptionalWhole(values) => values.len(),
        Column::Times(values) => values.len(),
        other => panic!("{other:?}"),
    };
    // All rows of the wide tables of sweeps have the same structure, so one row is enough.
    let taken = if table.columns.len() > 50 { 1 } else { 2 };
    let rows: BTreeSet<usize> = [1.min(rows.saturating_sub(1)), rows.saturating_sub(2)]
        .into_iter()
        .take(taken)
        .filter(|row| *row < rows)
        .collect();
    let change = |row: usize| {
        let mut changed = table.clone();
        match &mut changed.columns[place].1 {
            Column::Texts(values) => {
                let other = values.iter().find(|value| **value != values[row]);
                let other = other.cloned().unwrap_or(Cow::Borrowed("other"));
                values[row] = other;
            }
            Column::Floats(values) => {
                values[row] = Some(values[row].map_or(1.0, |value| value * 1.01 + 0.01));
            }
            Column::OptionalWhole(values) => {
                values[row] = Some(values[row].map_or(1, |value| value + 1));
            }
            Column::Times(values) => {
                let later = |time: Local| Local(time.0 + 1_000_000_000);
                values[row] = Some(values[row].map_or(Local(0), later));
            }
            other => panic!("{other:?}"),
        }
        changed
    };
    rows.into_iter().map(change).collect()
}

/// Returns values other than `value` for the field `name` of a JSON file.
fn others(name: &str, value: &Value) -> Vec<Value> {
    let named: &[&str] = match name.rsplit('/').next().unwrap() {
        "ended" => &["tasks_finished", "log_ended", "interrupted"],
        "node_choice" => &["blocks", "arrival"],
        "objective" => &["throughput", "share-fair"],
        "search" => &["random", "asha"],
        "solver" => &["equal-share"],
        _ => &[],
    };
    let named = named.iter().map(|name| json!(name));
    let other = match value {
        Value::Null => json!(1),
        Value::Bool(flag) => json!(!flag),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => json!(whole + 1),
            None => json!(number.as_f64().unwrap() * 1.01 + 0.01),
        },
        Value::String(text) => json!(format!("x{text}")),
        Value::Array(_) => json!(["x"]),
        Value::Object(_) => json!({"x": 1}),
    };
    named
        .chain([other])
        .filter(|other| other != value)
        .collect()
}

/// JSON pointers, without the first slash, to all fields that contain a value or an empty list.
fn leaves(value: &Value) -> Vec<String> {
    let below: Vec<(String, &Value)> = match value {
        Value::Object(map) => map
            .iter()
            .map(|(name, value)| (name.clone(), value))
            .collect(),
        Value::Array(list) => (0..).map(|i: usize| i.to_string()).zip(list).collect(),
        _ => Vec::new(),
    };
    let names = below.iter().flat_map(|(name, value)| match leaves(value) {
        inner if inner.is_empty() => vec![name.clone()],
        inner => inner
            .iter()
            .map(|inner| format!("{name}/{inner}"))
            .collect(),
    });
    names.collect()
}

/// Writes a table as Parquet, and also as CSV if requested.
fn write(run: &Path, name: &str, table: &StoredTable, as_csv: bool) {
    let columns = table.columns.iter();
    let table = Table {
        name,
        // Column names must live as long as the program.
        columns: columns
            .map(|(name, column)| (&*name.clone().leak(), column.clone()))
            .collect(),
    };
    let mut bytes = Vec::new();
    table.write_parquet(&mut bytes).unwrap();
    forge(run, &format!("{name}.parquet"), &bytes);
    if as_csv {
        bytes.clear();
        table.write_csv(&mut bytes).unwrap();
        forge(run, &format!("{name}.csv"), &bytes);
    }
}

/// Replaces a file of a run, and updates `run.json` as if the run had written the file.
pub fn forge(run: &Path, name: &str, bytes: &[u8]) {
    fs::write(run.join(name), bytes).unwrap();
    if name == "run.json" {
        return;
    }
    let mut info = json(&run.join("run.json"));
    let files = info["files"].as_array_mut().unwrap();
    let file = files.iter_mut().find(|file| file["path"] == name).unwrap();
    file["bytes"] = bytes.len().into();
    file["sha256"] = Digest::of(bytes).to_string().into();
    fs::write(run.join("run.json"), info.to_string()).unwrap();
}

/// A log of five nodes. Its last row changes no node.
const LOG: &str = "\
time,n1,n2,n3,n4,n5
2026-01-01 00:00:00,1,1,0,1,0
2026-01-01 00:05:00,1,1,1,1,0
2026-01-01 00:07:00,1,0,1,1,1
2026-01-01 00:12:00,1,0,0,1,1
2026-01-01 00:21:00,0,0,0,0,0
2026-01-01 00:25:00,1,1,0,0,1
2026-01-01 00:40:00,1,1,1,1,1
2026-01-01 00:52:00,1,1,1,0,1
2026-01-01 01:05:00,0,1,1,0,1
2026-01-01 01:20:00,0,1,0,1,0
2026-01-01 01:45:00,1,1,1,1,0
2026-01-01 02:10:00,1,1,1,1,1
2026-01-01 02:40:00,0,1,1,1,1
2026-01-01 03:00:00,1,1,0,1,1
2026-01-01 03:10:00,1,1,0,1,1
";

/// Three tasks, the second of which needs two nodes.
fn tasks(work: f64) -> String {
    let task = |name: &str, min: u32, work: f64, more: &str| {
        format!(
            "[[task]]\nname = {name:?}\nmin_nodes = {min}\nmax_nodes = 4\nrescale_up = 20.0\n\
             rescale_down = 10.0\nwork = {work}\ncurve = \"c\"\n{more}\n"
        )
    };
    format!(
        "[curve.c]\nnodes = [0, 1, 2, 4]\nprogress = [0.0, 10.0, 18.0, 30.0]\n\n{}{}{}",
        task("a", 1, work, ""),
        task("b", 2, 2.0 * work, "deadline = 2026-01-01T02:00:00"),
        task("c", 1, work, "submit = 2026-01-01T00:06:00"),
    )
}

/// Creates a directory with the log and a task file. In the task file, the text `more` precedes the tasks.
fn inputs(more: &str, work: f64) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("idle.csv"), LOG).unwrap();
    let tasks = format!("{more}\n{}", tasks(work));
    fs::write(directory.path().join("tasks.toml"), tasks).unwrap();
    directory
}

/// Runs a replay, and checks that every change to its output is detected. The input paths are absolute, because the
/// check runs in this process.
#[track_caller]
fn replayed(directory: &TempDir, more: &str) {
    let at = directory.path();
    let path = at.display();
    let line =
        format!("replay --events {path}/idle.csv --tasks {path}/tasks.toml {more} --out run");
    gleaner(at, &line).expect(0);
    every_change_is_noticed(&at.join("run"));
}

#[test]
fn changed_replays_are_noticed() {
    let directory = inputs("", 60_000.0);
    replayed(&directory, "--t-fwd 120 --bound");
    replayed(
        &directory,
        "--t-fwd 300 --no-completion-events --solver equal-share",
    );
}

#[test]
fn changed_rounds_are_noticed() {
    let directory = inputs("", 20_000.0);
    let rates = "--gpus-per-node 8 --node-power 500 --price 0.25 --currency EUR";
    let options = format!("--t-fwd 120 --repeat-tasks --max-tasks 2 {rates}");
    replayed(&directory, &options);
}

#[test]
fn changed_replays_of_groups_are_noticed() {
    let groups = "[[group]]\nname = \"x\"\ntasks = [\"a\", \"c\"]\nmin_nodes = 2\nmax_nodes = 3\n";
    let directory = inputs(groups, 60_000.0);
    replayed(&directory, "--t-fwd 120 --initial solve");
}

#[test]
fn changed_searches_are_noticed() {
    for (algorithm, trials) in [
        ("asha", "trials = 9\n"),
        ("hyperband", ""),
        ("asha", "trials = 9\nlosses = [\"a\", \"b\"]\n"),
    ] {
        let search = format!(
            "[search]\nalgorithm = {algorithm:?}\n{trials}eta = 3\nmin_resource = 1.0\n\
             max_resource = 9.0\n"
        );
        let directory = inputs(&search, 9_000.0);
        // Tasks that a search trains must not have `submit` or `deadline`: the search decides when its trials start.
        let file = directory.path().join("tasks.toml");
        let text = fs::read_to_string(&file).unwrap();
        let is_kept = |line: &&str| !line.starts_with("submit") && !line.starts_with("deadline");
        let lines: Vec<&str> = text.lines().filter(is_kept).collect();
        fs::write(&file, lines.join("\n")).unwrap();
        replayed(&directory, "--t-fwd 60");
    }
}

#[test]
fn changed_sweeps_are_noticed() {
    let directory = inputs("", 60_000.0);
    let plan = "[replay]\nevents = \"idle.csv\"\ntasks = \"tasks.toml\"\nt_fwd = [30, 300]\n\
                seed = [0, 1]\n";
    let at = directory.path();
    fs::write(at.join("plan.toml"), plan).unwrap();
    gleaner(at, &format!("sweep {}/plan.toml --out run", at.display())).expect(0);
    every_change_is_noticed(&at.join("run"));
}

#[test]
fn changed_sweeps_of_windows_and_blocks_are_noticed() {
    let two_days = "time,node,state\n2026-01-01 00:00:00,a,1\n2026-01-01 09:00:00,b,1\n\
                    2026-01-02 15:00:00,a,0\n2026-01-03 00:00:00,,\n";
    for (log, cut) in [(LOG, "windows = 5"), (two_days, "bootstrap = 100")] {
        let directory = inputs("", 60_000.0);
        let at = directory.path();
        fs::write(at.join("idle.csv"), log).unwrap();
        let plan =
            format!("[replay]\nevents = \"idle.csv\"\ntasks = \"tasks.toml\"\nt_fwd = 30\n{cut}\n");
        fs::write(at.join("plan.toml"), plan).unwrap();
        gleaner(at, &format!("sweep {}/plan.toml --out run", at.display())).expect(0);
        every_change_is_noticed(&at.join("run"));
    }
}

/// A stored result that was changed together with its digest is detected, because it contradicts its key or the tables.
#[test]
fn forged_records_are_noticed() {
    let directory = inputs("", 60_000.0);
    let plan = "[replay]\nevents = \"idle.csv\"\ntasks = \"tasks.toml\"\nt_fwd = [30, 300]\n";
    let at = directory.path();
    fs::write(at.join("plan.toml"), plan).unwrap();
    gleaner(at, "sweep plan.toml --out run").expect(0);
    let segment = fs::read_dir(at.join("run/runs")).unwrap().next().unwrap();
    let segment = segment.unwrap().path();
    let text = fs::read_to_string(&segment).unwrap();
    for (from, to) in [
        (
            "\"t_fwd\":30.0,\"max_tasks\":10,\"objective\"",
            "\"t_fwd\":31.0,\"max_tasks\":10,\"objective\"",
        ),
        ("\"tasks_finished\":", "\"tasks_finished\":1"),
        ("\"run\":\"", "\"run\":\"0"),
    ] {
        let lines = text.lines().map(|line| {
            let json = line[65..].replace(from, to);
            format!("{} {json}\n", Digest::of(json.as_bytes()))
        });
        let forged: String = lines.collect();
        assert_ne!(forged, text, "{from}");
        fs::write(&segment, forged).unwrap();
        gleaner(at, "check run").expect(1);
    }
    fs::write(&segment, &text[1..]).unwrap();
    gleaner(at, "check run").expect(1);
    fs::write(&segment, &text).unwrap();
    gleaner(at, "check run").expect(0);
}

/// The check detects changed, extended or removed CSV files, and files that the run did not write.
#[test]
fn changed_csv_files_are_found() {
    let directory = inputs("", 60_000.0);
    let at = directory.path();
    gleaner(
        at,
        "replay --events idle.csv --tasks tasks.toml --t-fwd 120 --out run",
    )
    .expect(0);
    let file = at.join("run/steps.csv");
    let before = fs::read_to_string(&file).unwrap();
    let cut = before.trim_end().rsplit_once('\n').unwrap().0;
    for (changed, words) in [
        (
            before.replacen(",optimal,", ",feasible,", 1),
            "status is \"feasible\"",
        ),
        (
            format!("{before}{}\n", before.lines().nth(1).unwrap()),
            "rows",
        ),
        (format!("{cut}\n"), "rows"),
        (before.replacen("Thr", "thr", 1), "columns"),
        (before.replacen(",nodes,", ",nodes,1,", 1), "cells"),
    ] {
        assert_ne!(changed, before);
        fs::write(&file, &changed).unwrap();
        let found = gleaner(at, "check run").expect(1);
        assert!(
            found.out.contains("steps.csv: length or digest differs"),
            "{}",
            found.out
        );
        forge(&at.join("run"), "steps.csv", changed.as_bytes());
        let found = gleaner(at, "check run").expect(1);
        assert!(found.out.contains(words), "{words}: {}", found.out);
        forge(&at.join("run"), "steps.csv", before.as_bytes());
    }
    fs::remove_file(&file).unwrap();
    let found = gleaner(at, "check run").expect(1);
    assert!(found.out.contains("steps.csv"), "{}", found.out);
    fs::write(&file, &before).unwrap();
    fs::write(at.join("run/notes.txt"), "mine").unwrap();
    let found = gleaner(at, "check run").expect(0);
    assert!(found.out.contains("notes.txt"), "{}", found.out);
}

/// The check repeats the command of a run, and writes only to a temporary directory.
#[test]
fn runs_are_run_again() {
    let directory = inputs("", 60_000.0);
    let at = directory.path();
    let replay = "replay --events idle.csv --tasks tasks.toml --t-fwd 120 --cache --out run";
    gleaner(at, replay).expect(0);
    fs::write(
        at.join("plan.toml"),
        "[replay]\nevents = \"idle.csv\"\ntasks = \"tasks.toml\"\nt_fwd = [30, 300]\nseed = [0, 1]\n",
    )
    .unwrap();
    gleaner(at, "sweep plan.toml --out swept").expect(0);
    let copy = fs::read_dir(at).unwrap().map(|entry| entry.unwrap().path());
    let copy = copy
        .into_iter()
        .find(|path| path.extension().is_some_and(|e| e == "gev"));
    fs::remove_file(copy.unwrap()).unwrap();
    let names = || -> BTreeSet<_> {
        let entries = fs::read_dir(at).unwrap();
        entries.map(|entry| entry.unwrap().file_name()).collect()
    };
    let before = names();
    let found = gleaner(at, "check run swept --again --sample 3")
        .expect(0)
        .out;
    for words in [
        "run again: 9 identical",
        "run again: 3 identical",
        "timings.csv",
        "1 of 4 runs",
    ] {
        assert!(found.contains(words), "{words}: {found}");
    }
    assert_eq!(names(), before);
    // A different seed in `run.json` does not contradict the tables, so only a repetition of the run reveals this
    // change.
    let file = at.join("run/run.json");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("\"seed\": 0", "\"seed\": 5")).unwrap();
    gleaner(at, "check run").expect(0);
    let found = gleaner(at, "check run --again").expect(1).out;
    assert!(
        found.contains("steps.csv: the second run wrote different bytes"),
        "{found}"
    );
    // Without --run-programs, the check does not start the program that the run names as its solver.
    let forged = text.replace("\"solver\": \"auto\"", "\"solver\": \"exec:touch started\"");
    assert_ne!(forged, text);
    fs::write(&file, forged).unwrap();
    gleaner(at, "check run --again")
        .expect(2)
        .says(&["--run-programs"]);
    assert_eq!(names(), before);
}

/// A run can be checked from another directory.
#[test]
fn inputs_are_seen_from_the_directory_of_the_run() {
    let directory = inputs("", 60_000.0);
    let at = directory.path();
    gleaner(
        at,
        "replay --events idle.csv --tasks tasks.toml --t-fwd 120 --out run",
    )
    .expect(0);
    let elsewhere = tempfile::tempdir().unwrap();
    let path = at.display();
    gleaner(elsewhere.path(), &format!("check {path}/run"))
        .expect(1)
        .says(&["idle.csv", "--inputs"]);
    let line = format!("check {path}/run --inputs {path} --json");
    let report: Value =
        serde_json::from_str(&gleaner(elsewhere.path(), &line).expect(0).out).unwrap();
    assert_eq!(report[0]["wrong"], 0);
    assert!(report[0]["verified"].as_u64().unwrap() > 300);
}
