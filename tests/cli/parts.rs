//! Tests sweeps that are executed in parts, as on any batch system.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::runs::{command, gleaner};

/// A directory with samples and a plan of 40 runs.
fn samples() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    for name in ["idle.csv", "tasks.toml"] {
        let from = gleaner_testing::workspace().join("dataset").join(name);
        fs::copy(from, directory.path().join(name)).unwrap();
    }
    write_plan(directory.path(), 10, "");
    directory
}

/// A plan of four runs for each seed.
fn write_plan(directory: &Path, seeds: usize, more: &str) {
    let seeds: Vec<usize> = (0..seeds).collect();
    let plan = format!(
        "[replay]\nevents = 'idle.csv'\ntasks = 'tasks.toml'\nt_fwd = [60, 240]\n\
         max_tasks = [5, 10]\nseed = {seeds:?}\n{more}"
    );
    fs::write(directory.join("plan.toml"), plan).unwrap();
}

/// The contents of the tables and the summary of a sweep.
fn tables(directory: &Path, out: &str) -> Vec<Vec<u8>> {
    let names = ["sweep.csv", "sweep.parquet", "settings.csv", "summary.json"];
    let read = |name| fs::read(directory.join(out).join(name)).unwrap();
    names.into_iter().map(read).collect()
}

#[test]
fn parts_in_any_order_give_the_tables_of_one_process() {
    let directory = samples();
    let at = directory.path();
    gleaner(at, "sweep plan.toml --out whole").expect(0);
    // Two processes run part 1 and another process runs part 3, all at the same time. Part 2 runs afterwards.
    let spawn = |line: &str| command(at, line).stdout(Stdio::null()).spawn().unwrap();
    let children =
        [1, 1, 3].map(|part| spawn(&format!("sweep plan.toml --out parts --part {part}/3")));
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let early = gleaner(at, "sweep plan.toml --out parts --collect").expect(1);
    assert!(
        early.err.contains("of 40 runs are not done"),
        "{}",
        early.err
    );
    assert!(!at.join("parts/sweep.csv").exists());
    let status = gleaner(at, "sweep plan.toml --out parts --status")
        .expect(0)
        .out;
    assert!(
        status.contains("runs     40\n") && status.contains("failed   0\n"),
        "{status}"
    );
    let second = gleaner(at, "sweep plan.toml --out parts --part 2/3")
        .expect(0)
        .out;
    assert!(
        second.contains("part 2/3: 1") && second.contains("0 of them already done"),
        "{second}"
    );
    gleaner(at, "sweep plan.toml --out parts --collect").expect(0);
    assert_eq!(tables(at, "parts"), tables(at, "whole"));
    assert_eq!(gleaner_testing::segments(&at.join("parts")).len(), 1);
    // All runs are done, so neither a part nor the whole sweep executes a run.
    let again = gleaner(at, "sweep plan.toml --out parts --part 2/3")
        .expect(0)
        .out;
    assert!(again.contains("0 done now"), "{again}");
    let again = gleaner(at, "sweep plan.toml --out parts").expect(0).out;
    assert!(again.contains("40, 40 of them already done"), "{again}");
}

#[test]
fn an_unfinished_sweep_is_reported_and_marked() {
    let directory = samples();
    let at = directory.path();
    gleaner(at, "sweep plan.toml --out o --part 1/4").expect(0);
    let refused = gleaner(at, "report o -o page.html").expect(3);
    refused.says(&["--collect --partial"]);
    let partial = gleaner(at, "sweep plan.toml --out o --collect --partial")
        .expect(0)
        .out;
    assert!(partial.contains("unfinished  30 runs missing"), "{partial}");
    let rows = |out: &str| {
        let table = fs::read_to_string(at.join(out).join("sweep.csv")).unwrap();
        table.lines().skip(1).map(str::to_owned).collect::<Vec<_>>()
    };
    let some = rows("o");
    gleaner(at, "report o -o page.html").expect(0);
    let page = fs::read_to_string(at.join("page.html")).unwrap();
    assert!(page.contains("This sweep is unfinished"));
    // When the remaining runs have been executed, the tables equal those of a sweep in one process. They contain all
    // rows of the earlier, partial tables.
    gleaner(at, "sweep plan.toml --out o").expect(0);
    gleaner(at, "sweep plan.toml --out whole").expect(0);
    assert_eq!(tables(at, "o"), tables(at, "whole"));
    let all = rows("o");
    assert!(some.len() == 10 && some.iter().all(|row| all.contains(row)));
    gleaner(at, "report o -o page.html").expect(0);
    let page = fs::read_to_string(at.join("page.html")).unwrap();
    assert!(!page.contains("This sweep is unfinished"));
}

#[test]
fn a_missing_directory_is_not_collected_from() {
    let directory = samples();
    let at = directory.path();
    let refused = gleaner(at, "sweep plan.toml --out parts --collect").expect(1);
    refused.says(&["cannot collect from parts: No such file or directory"]);
    assert!(!at.join("parts").exists());
}

#[test]
fn a_broken_batch_is_told_beside_the_status() {
    let directory = samples();
    let at = directory.path();
    gleaner(at, "sweep plan.toml --out parts --part 1/4").expect(0);
    for (name, text) in [("0123abcd", "{\"name\""), ("4567cdef", "{}")] {
        let batch = at.join("parts/batch").join(name);
        fs::create_dir_all(&batch).unwrap();
        fs::write(batch.join("batch.json"), text).unwrap();
    }
    let status = gleaner(at, "sweep plan.toml --out parts --status")
        .expect(0)
        .out;
    for words in [
        "done     10\nfailed   0\nmissing  30\n",
        "batch 0123abcd: its jobs are unknown: parts/batch/0123abcd/batch.json: not a batch of \
         this version (EOF",
        "parts/batch/4567cdef/batch.json: not a batch of this version (missing field `name`",
    ] {
        assert!(status.contains(words), "{words}:\n{status}");
    }
}

#[test]
fn what_is_missing_is_dealt_by_what_finished_runs_took() {
    let directory = samples();
    let at = directory.path();
    gleaner(at, "sweep plan.toml --out parts --part 1/4").expect(0);
    let dealt = gleaner(at, "sweep plan.toml --out parts --deal 2").expect(0);
    assert!(
        dealt.err.contains("deal-2.json: 30 runs for 2 parts"),
        "{}",
        dealt.err
    );
    let status = gleaner(at, "sweep plan.toml --out parts --status")
        .expect(0)
        .out;
    assert!(
        status.contains("done     10\n") && status.contains("on one core"),
        "{status}"
    );
    for part in [1, 2] {
        let line = format!("sweep plan.toml --out parts --part {part}/2");
        let out = gleaner(at, &line).expect(0).out;
        assert!(out.contains("0 of them already done"), "{out}");
    }
    gleaner(at, "sweep plan.toml --out parts --collect").expect(0);
    // A changed plan has different runs, so the stored assignment of runs to parts does not apply to it.
    write_plan(at, 11, "");
    let refused = gleaner(at, "sweep plan.toml --out parts --part 1/2").expect(2);
    assert!(refused.err.contains("deal-2.json") && refused.err.contains("--deal or --slurm again"));
}

#[test]
fn a_part_that_fails_says_so_and_the_others_go_on() {
    let directory = samples();
    let at = directory.path();
    // The second objective is negative for tasks that have waited for 1,000 to 30,000 s, so runs with this objective
    // fail.
    write_plan(
        at,
        2,
        "objective = ['throughput', 'rate * (waited - 1000) * (waited - 30000)']\n",
    );
    let part = gleaner(at, "sweep plan.toml --out parts --part 1/1").expect(1);
    assert!(part.err.contains("8 failed"), "{}", part.err);
    let status = gleaner(at, "sweep plan.toml --out parts --status")
        .expect(0)
        .out;
    assert!(
        status.contains("done     8\nfailed   8\nmissing  0\n"),
        "{status}"
    );
    assert!(
        status.contains("exit code") && status.contains("and 3 other failed runs"),
        "{status}"
    );
    let collect = gleaner(at, "sweep plan.toml --out parts --collect").expect(1);
    assert!(
        collect
            .err
            .contains("8 of 16 runs are not done, of which 8 failed"),
        "{}",
        collect.err
    );
}

#[cfg(unix)]
#[test]
fn a_part_that_is_warned_begins_no_other_run() {
    let directory = samples();
    let at = directory.path();
    write_plan(at, 600, "");
    let child = command(at, "sweep plan.toml --out parts --part 1/1 --jobs 1")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    while gleaner_testing::results(&at.join("parts")) < 2
        && begun.elapsed() < Duration::from_secs(60)
    {
        sleep(Duration::from_millis(1));
    }
    let pid = child.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-USR1", &pid])
            .status()
            .unwrap()
            .success()
    );
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let out = String::from_utf8(output.stdout).unwrap();
    assert!(
        out.contains("remain because the time limit is near"),
        "{out}"
    );
    let status = gleaner(at, "sweep plan.toml --out parts --status")
        .expect(0)
        .out;
    // The part has finished all runs that it began, so no run is restarted.
    assert!(!status.contains("restarted"), "{status}");
}

#[test]
fn without_slurm_the_parts_are_named() {
    let directory = samples();
    let at = directory.path();
    let mut command = command(at, "sweep plan.toml --out swept --slurm");
    let output = command.env("PATH", at).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let err = String::from_utf8(output.stderr).unwrap();
    assert!(
        err.contains("--part I/N") && err.contains("docs/CLUSTER.md"),
        "{err}"
    );
}

#[test]
fn wrong_parts_are_refused() {
    let directory = samples();
    let at = directory.path();
    for (line, words) in [
        ("--out o --part 0/3", "expected I/N"),
        ("--out o --part 4/3", "expected I/N"),
        ("--out o --part 1/3 --collect", "cannot be used with"),
        ("--part 1/3", "--out"),
        ("--out o --partition cpu", "--slurm"),
        ("--out o --slurm --interval 0", "seconds from 0.1"),
    ] {
        let refused = gleaner(at, &format!("sweep plan.toml {line}")).expect(2);
        assert!(refused.err.contains(words), "{line}: {}", refused.err);
    }
    assert!(!at.join("o").exists());
    // A part rejects a directory that contains the user's own files.
    fs::create_dir(at.join("mine")).unwrap();
    fs::write(at.join("mine/notes.txt"), "mine").unwrap();
    let refused = gleaner(at, "sweep plan.toml --out mine --part 1/3").expect(2);
    assert!(
        refused.err.contains("files that no earlier run wrote"),
        "{}",
        refused.err
    );
    // If the plan is faulty, a part ends in the same way as a whole sweep, and records the fault.
    fs::write(
        at.join("plan.toml"),
        "[replay]\nevents = 'none.csv'\ntasks = 'tasks.toml'\n",
    )
    .unwrap();
    gleaner(at, "sweep plan.toml --out o --part 1/3").expect(1);
    assert!(
        gleaner_testing::records(&at.join("o"))
            .iter()
            .any(|json| json.contains("none.csv"))
    );
}

/// Writes a plan with `seeds` seeds to the file `name`.
fn write_named(directory: &Path, name: &str, seeds: usize) {
    write_plan(directory, seeds, "");
    fs::rename(directory.join("plan.toml"), directory.join(name)).unwrap();
}

/// Starts a part of a plan with many runs, and waits for its first results.
fn long_part(at: &Path, plan: &str) -> std::process::Child {
    let line = format!("sweep {plan} --out o --part 1/1 --jobs 1 --quiet");
    let child = command(at, &line).stdout(Stdio::piped()).spawn().unwrap();
    let begun = Instant::now();
    while gleaner_testing::results(&at.join("o")) < 2 && begun.elapsed() < Duration::from_secs(60) {
        sleep(Duration::from_millis(1));
    }
    child
}

#[test]
fn the_directory_of_another_plan_is_refused() {
    let directory = samples();
    let at = directory.path();
    write_named(at, "b.toml", 2);
    gleaner(at, "sweep b.toml --out o --part 1/2").expect(0);
    // The name and the runs of this plan differ from those of the plan whose results are in the directory.
    write_plan(at, 1, "");
    let plan = fs::read_to_string(at.join("plan.toml")).unwrap();
    fs::write(at.join("a.toml"), plan.replace("[60, 240]", "[77]")).unwrap();
    let before = gleaner_testing::records(&at.join("o"));
    for line in ["", "--part 1/1", "--deal 2", "--status", "--collect"] {
        let refused = gleaner(at, &format!("sweep a.toml --out o {line}")).expect(2);
        refused.says(&[
            "--out o: the directory contains the results of the plan b.toml",
            "name another directory",
        ]);
    }
    assert_eq!(gleaner_testing::records(&at.join("o")), before);
    // A renamed plan still finds its runs.
    fs::rename(at.join("b.toml"), at.join("c.toml")).unwrap();
    let whole = gleaner(at, "sweep c.toml --out o").expect(0).out;
    assert!(whole.contains("4 of them already done"), "{whole}");
}

#[cfg(unix)]
#[test]
fn a_segment_in_use_is_not_merged() {
    let directory = samples();
    let at = directory.path();
    write_named(at, "b.toml", 60);
    let child = long_part(at, "b.toml");
    // Two other sweeps execute some of the runs of the running part. Each of them could wrongly merge its own segment
    // with the part's segment.
    for seeds in [1, 2] {
        write_named(at, "a.toml", seeds);
        gleaner(at, "sweep a.toml --out o --quiet").expect(0);
    }
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let status = gleaner(at, "sweep b.toml --out o --status").expect(0).out;
    assert!(status.contains("runs     240\ndone     240\n"), "{status}");
}

#[cfg(unix)]
#[test]
fn a_named_pipe_among_the_runs_is_refused() {
    let directory = samples();
    let at = directory.path();
    write_plan(at, 1, "");
    gleaner(at, "sweep plan.toml --out o --part 1/2").expect(0);
    let pipe = at.join("o/runs/x.records");
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    for line in ["", "--part 2/2", "--status"] {
        let refused = gleaner(at, &format!("sweep plan.toml --out o {line}")).expect(3);
        refused.says(&["o/runs/x.records", "expected a regular file", "remove it"]);
    }
    fs::remove_file(pipe).unwrap();
    gleaner(at, "sweep plan.toml --out o").expect(0);
}
