//! Tests that `gleaner check` accepts unchanged output of simulations and detects changes.

use std::fs;
use std::path::Path;

use gleaner::Unobserved;
use gleaner::cli::check::examine;
use gleaner_domain::results::states::{JobRow, RunRow};
use gleaner_domain::results::{Record, Table};
use gleaner_io::table::WriteTable;
use gleaner_runs::read as runs;
use tempfile::TempDir;

use crate::check_changes::{every_change_is_noticed, forge};
use crate::simulate::names_of_policies;
use crate::support::gleaner;

const SYNTH: &str = "synth jobs --vcs 2 --nodes 7 --days 1 --jobs 150 -o trace";
const SIMULATE: &str = "simulate --data trace --policy fifo,srtf,lucid \
                        --profiler 200,2,4 --lend vc2=1 --elastic vc1 --out sim";

/// Creates a directory with a small trace.
fn trace() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    gleaner(directory.path(), SYNTH).expect(0);
    directory
}

/// Rewrites the rows of a table of `sim`, and lists the file as if the run had written it.
fn forge_rows<R: Record>(at: &Path, name: &str, rows: &[R]) {
    let mut bytes = Vec::new();
    Table::of(name, rows).write_parquet(&mut bytes).unwrap();
    forge(&at.join("sim"), &format!("{name}.parquet"), &bytes);
}

#[test]
fn simulations_pass_the_check() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    let policies = names_of_policies().join(",");
    let every_policy = format!("--policy {policies} --profiler 200,2,4 --lend auto");
    for (synth, simulate) in [
        ("--days 1 --seed 1", every_policy.as_str()),
        (
            "--days 2 --load 0.9 --seed 2",
            "--policy tiresias,lucid --profiler 60,1,4 --elastic vc3",
        ),
        (
            "--days 1 --load 1.5 --seed 3",
            "--policy all --placer random --csv",
        ),
        (
            "--days 1 --gpus-per-node 4 --seed 4",
            "--policy all --placer consolidate-first",
        ),
        (
            "--days 1 --load 1.1 --seed 5",
            "--policy lucid --without packing --estimates oracle",
        ),
        (
            "--days 1 --load 1.1 --seed 6",
            "--policy lucid --without throughput --logs",
        ),
        (
            "--days 1 --seed 7",
            "--policy lucid,qssf --without estimate --forecast 9 --estimates 60",
        ),
        (
            "--days 1 --load 1.4 --seed 8",
            "--policy lucid --corrected=both --logs --csv",
        ),
    ] {
        gleaner(at, &format!("synth jobs {synth} -o trace")).expect(0);
        gleaner(at, &format!("simulate --data trace {simulate} --out sim")).expect(0);
        let run = gleaner(at, "check sim").expect(0);
        let verified: u64 = run.out.split(' ').nth(1).unwrap().parse().unwrap();
        assert!(verified > 100_000, "{simulate}: {}", run.out);
    }
}

/// Simulates the trace, and checks that every change to the output of the simulation is detected. The input paths are
/// absolute, because the check runs in this process.
#[track_caller]
fn simulated(arguments: &str) {
    let directory = trace();
    let at = directory.path().display();
    let line = format!("simulate --data {at}/trace {arguments} --out sim");
    gleaner(directory.path(), &line).expect(0);
    every_change_is_noticed(&directory.path().join("sim"));
}

#[test]
fn changed_simulations_are_noticed() {
    simulated("--policy fifo,srtf,lucid --profiler 200,2,4 --lend vc2=1 --elastic vc1 --csv");
    simulated("--policy lucid,qssf --profiler 60,1,4 --estimates median");
}

/// A change to one cell in any column of any file in `logs/` is detected.
#[test]
fn changed_logs_are_noticed() {
    let directory = trace();
    let at = directory.path().display();
    let simulate = "--policy lucid,fifo --profiler 60,1,4 --logs --out sim";
    gleaner(
        directory.path(),
        &format!("simulate --data {at}/trace {simulate}"),
    )
    .expect(0);
    let run = directory.path().join("sim");
    let before = examine(&run, &Unobserved).unwrap();
    assert_eq!(before.wrong_count, 0, "{before}");
    let info = runs::info(&run).unwrap();
    let logs = info
        .files
        .iter()
        .filter(|file| file.path.starts_with("logs/"));
    let logs: Vec<&str> = logs.map(|file| file.path.as_str()).collect();
    assert_eq!(logs.len(), 2 * 2 * 3);
    for log in logs {
        let text = fs::read_to_string(run.join(log)).unwrap();
        let columns = text.lines().next().unwrap().split(',').count();
        for column in 0..columns {
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            let mut cells = split(&lines[2]);
            let name = split(&lines[0])[column].clone();
            cells[column] = if cells[column] == "7" { "8" } else { "7" }.to_owned();
            lines[2] = cells.join(",");
            forge(&run, log, (lines.join("\n") + "\n").as_bytes());
            let is_noticed =
                examine(&run, &Unobserved).map_or(true, |findings| findings.wrong_count > 0);
            let mut unverified = before.unverified();
            let is_listed = unverified.any(|(file, other, _)| file == log && other == name);
            assert!(is_noticed || is_listed, "{log}: {name}");
        }
        forge(&run, log, text.as_bytes());
    }
}

/// Splits a line of CSV into cells. Commas within quotes do not separate cells.
fn split(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut is_quoted = false;
    for letter in line.chars() {
        match letter {
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => cells.push(String::new()),
            _ => {}
        }
        if letter != ',' || is_quoted {
            cells.last_mut().unwrap().push(letter);
        }
    }
    cells
}

/// A change is detected by comparison with other tables, even if the changed row is consistent.
#[test]
fn consistent_changes_are_found() {
    let directory = trace();
    let at = directory.path();
    gleaner(at, SIMULATE).expect(0);
    let info = runs::info(&at.join("sim")).unwrap();
    let (jobs, runs) = (
        runs::job_rows(&info, "fifo").unwrap(),
        runs::run_rows(&info, "fifo").unwrap(),
    );
    type Change = fn(&mut Vec<JobRow>, &mut Vec<RunRow>);
    let changes: [(&str, Change); 4] = [
        // A job starts a minute later than in the original table, and its end and queuing time are changed to match.
        ("the runs give another", |jobs, runs| {
            let row = runs.len() - 1;
            let job = jobs.iter_mut().find(|job| job.id == runs[row].id).unwrap();
            runs[row].from += 60;
            runs[row].to += 60;
            job.start += 60;
            job.end += 60;
            job.queue += 60;
            job.jct += 60;
        }),
        ("s of work", |jobs, runs| {
            let job = jobs.iter_mut().find(|job| job.id == runs[9].id).unwrap();
            runs[9].to += 1;
            job.end += 1;
            job.jct += 1;
        }),
        ("its speeds differ from", |_, runs| runs[3].speed = 0.5),
        ("GPUs", |jobs, runs| {
            let job = jobs.iter_mut().find(|job| job.id == runs[5].id).unwrap();
            let elsewhere = "[{2: [7]}]".to_owned();
            job.nodes.clone_from(&elsewhere);
            runs[5].nodes = elsewhere;
        }),
    ];
    for (words, change) in changes {
        let (mut jobs, mut runs) = (jobs.clone(), runs.clone());
        change(&mut jobs, &mut runs);
        forge_rows(at, "fifo_jobs", &jobs);
        forge_rows(at, "fifo_runs", &runs);
        let found = gleaner(at, "check sim").expect(1);
        assert!(found.out.contains(words), "{words}: {}", found.out);
    }
    forge_rows(at, "fifo_jobs", &jobs);
    forge_rows(at, "fifo_runs", &runs);
    gleaner(at, "check sim").expect(0);
}

/// The check rebuilds the command of a simulation from its arguments and repeats it.
#[test]
fn simulations_are_run_again() {
    let directory = trace();
    let at = directory.path();
    for more in [
        "--lend vc2=1 --estimates 60",
        "--lend auto --estimates trace/duration_estimate.csv",
    ] {
        let line =
            format!("simulate --data trace --policy qssf,lucid --profiler 60,1,4 {more} --out sim");
        gleaner(at, &line).expect(0);
        let found = gleaner(at, "check sim --again").expect(0).out;
        assert!(found.contains("run again: "), "{found}");
    }
}

/// The check rereads the trace and the other inputs, and rejects the run if one of them has changed.
#[test]
fn a_simulation_is_refused_where_its_inputs_have_changed() {
    let directory = trace();
    let at = directory.path();
    gleaner(at, SIMULATE).expect(0);
    for name in [
        "jobs.csv",
        "vc_config.csv",
        "colocate_info.csv",
        "duration_estimate.csv",
    ] {
        let path = at.join("trace").join(name);
        let before = fs::read_to_string(&path).unwrap();
        fs::write(&path, format!("{before}\n")).unwrap();
        let run = gleaner(at, "check sim");
        assert_ne!(run.code, Some(0), "{name}: {}", run.out);
        fs::write(&path, before).unwrap();
    }
    gleaner(at, "check sim").expect(0);
}

/// Numbers that no simulation writes are reported as faults or findings, and cause no overflow.
#[test]
fn extreme_tables_of_runs_are_refused() {
    let directory = trace();
    let at = directory.path();
    gleaner(at, SIMULATE).expect(0);
    let info = runs::info(&at.join("sim")).unwrap();
    let rows = runs::run_rows(&info, "lucid").unwrap();
    for number in [i64::MIN, i64::MIN / 4, i64::MAX / 4, i64::MAX] {
        type Set = fn(&mut RunRow, i64);
        let sets: [Set; 3] = [
            |row, number| row.from = number,
            |row, number| row.to = number,
            |row, number| (row.from, row.to) = (number.saturating_sub(1), number),
        ];
        for set in sets {
            let mut rows = rows.clone();
            let last = rows.len() - 1;
            set(&mut rows[last], number);
            forge_rows(at, "lucid_runs", &rows);
            let run = gleaner(at, "check sim");
            assert!(
                [Some(1), Some(3)].contains(&run.code),
                "{number}: {}",
                run.err
            );
        }
    }
}
