//! Tests two runs that write to the same directory at the same time, and runs whose --out directory contains the run of
//! another command.

use std::fs;
use std::process::Stdio;

use crate::support::{State, attack, bounded, end, files, json, samples, state};

#[test]
fn one_of_two_runs_into_a_directory_is_refused() {
    let directory = samples();
    let at = directory.path();
    attack(at, "synth events --nodes 500 --days 20 -o long.gev");
    let line = |t_fwd: u32| {
        format!(
            "replay --events long.gev --tasks tasks.toml --repeat-tasks --t-fwd {t_fwd} --quiet --out run"
        )
    };
    let mut refused = 0;
    for round in 0..12 {
        let lines = [line(60 + round), line(600 + round)];
        let children = lines
            .each_ref()
            .map(|line| bounded(at, line).spawn().unwrap());
        let mut done = Vec::new();
        for (child, line) in children.into_iter().zip(&lines) {
            let found = end(child, line);
            match found.code {
                0 => done.push(line),
                1 => {
                    assert!(
                        found.err.contains("another run is writing to run"),
                        "{}",
                        found.err
                    );
                    refused += 1;
                }
                code => panic!("{code}: {}", found.err),
            }
        }
        assert_eq!(state(&at.join("run")), State::Whole);
        let t_fwd = json(&at.join("run/run.json"))["arguments"]["t_fwd"]
            .as_f64()
            .unwrap();
        assert_eq!(json(&at.join("run/summary.json"))["t_fwd"], t_fwd);
        assert!(
            done.iter()
                .any(|line| line.contains(&format!("--t-fwd {t_fwd} ")))
        );
    }
    eprintln!("in {refused} of 12 rounds, both runs met");
    // The following check does not depend on the load of the machine, because the test itself locks the directory.
    let held = fs::File::open(at.join("run")).unwrap();
    held.lock().unwrap();
    let found = attack(at, &line(60));
    assert_eq!(found.code, 1);
    assert!(
        found.err.contains("another run is writing to run"),
        "{}",
        found.err
    );
    drop(held);
    assert_eq!(attack(at, &line(60)).code, 0);
}

#[test]
fn files_of_an_earlier_run_are_removed() {
    let directory = samples();
    let at = directory.path();
    let replay = "replay --events idle.csv --tasks tasks.toml --out run";
    let simulate =
        "simulate --data trace --policy fifo,srtf,lucid --profiler 200,1,4 --csv --logs --out run";
    let fewer = "simulate --data trace --policy sjf --out run";
    let compare = "compare --problems problems.jsonl --solvers exact --out run";
    let mut alone = Vec::new();
    for line in [replay, simulate, fewer, compare] {
        let _ = fs::remove_dir_all(at.join("run"));
        assert_eq!(attack(at, line).code, 0, "{line}");
        alone.push((line, files(&at.join("run"))));
    }
    for (before, _) in &alone {
        for (line, expected) in &alone {
            assert_eq!(attack(at, before).code, 0);
            assert_eq!(attack(at, line).code, 0);
            assert_eq!(state(&at.join("run")), State::Whole);
            assert_eq!(files(&at.join("run")), *expected, "{line} after {before}");
        }
    }
    // A replay rejects a directory that contains files but no run, and leaves the files unchanged. It also rejects the
    // directory of a sweep.
    fs::create_dir(at.join("own")).unwrap();
    fs::write(at.join("own/notes.txt"), "mine").unwrap();
    assert_eq!(
        attack(at, &replay.replace("--out run", "--out own")).code,
        2
    );
    assert_eq!(files(&at.join("own")), ["notes.txt"]);
    assert_eq!(attack(at, "sweep sweep.toml --quiet --out swept").code, 0);
    assert_eq!(
        attack(at, &replay.replace("--out run", "--out swept")).code,
        2
    );
}

// The reader of the output may close the pipe early.
#[test]
fn a_closed_pipe_is_not_an_error() {
    let directory = samples();
    let at = directory.path();
    for line in [
        "solve problems.jsonl",
        "inspect idle.csv",
        "replay --events idle.csv --tasks tasks.toml --json",
    ] {
        let mut child = bounded(at, line).stdout(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{line}");
    }
}
