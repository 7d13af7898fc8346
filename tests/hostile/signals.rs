//! Tests SIGTERM, which batch systems send at the time limit, and Ctrl-C. Every command must end in an orderly way,
//! with exit code 143 or 130, and leave no partial file.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use crate::support::{Attack, State, attack, bounded, end, files, samples, state};

/// Starts the command `line`, and sends it the signal after a while. Repeats this with ever longer waits until the
/// program catches the signal. Returns `None` if the program succeeds before it receives the signal.
fn stopped(at: &Path, line: &str, signal: &str) -> Option<Attack> {
    let mut wait = Duration::from_millis(5);
    for _ in 0..20 {
        let child = bounded(at, line).spawn().unwrap();
        thread::sleep(wait);
        let kill = ["-s", signal, &child.id().to_string()];
        Command::new("kill").args(kill).status().unwrap();
        let found = try_end(child, line);
        match found {
            // The signal arrived before the program had installed its handler, so it killed the process.
            None => wait = wait.mul_f64(1.6),
            Some(found) if found.code == 0 => return None,
            Some(found) => return Some(found),
        }
    }
    panic!("{line} never catches {signal}")
}

/// Like [`end`], but returns `None` if the signal killed the process because no handler was installed yet.
fn try_end(mut child: std::process::Child, line: &str) -> Option<Attack> {
    use std::os::unix::process::ExitStatusExt;
    let status = child.wait().unwrap();
    match status.signal() {
        Some(_) => None,
        None => Some(end(child, line)),
    }
}

#[test]
fn every_command_stops_cleanly_on_a_signal() {
    let directory = samples();
    let at = directory.path();
    for line in [
        "synth events --nodes 3000 --days 90 -o long.gev",
        "synth slurm --nodes 3000 --days 90 -o jobs.txt",
        "synth tasks --count 400 --hours 9999 -o many.toml",
        "synth jobs --vcs 8 --nodes 20 --days 60 -o big",
        "synth graphs --count 40 -o made",
        "driple build --graphs made/graphs --measured made/measured.csv -o made.safetensors",
        "driple train --data made.safetensors --hidden 8 --depth 3 --epochs 1 --quiet -o model.safetensors",
        "replay --events idle.csv --tasks tasks.toml --quiet --out done",
    ] {
        assert_eq!(attack(at, line).code, 0, "{line}");
    }
    let row = "n0|2026-01-05T00:00:00|2026-01-05T01:00:00|DOWN\n";
    let outages = format!("NodeName|TimeStart|TimeEnd|State\n{}", row.repeat(300_000));
    fs::write(at.join("outages.txt"), outages).unwrap();
    let before = files(at);
    let mut met = 0;
    for line in [
        "ingest slurm jobs.txt -o out.gev",
        "ingest slurm jobs.txt --events outages.txt -o out.gev",
        "synth slurm --nodes 3000 --days 300 -o out.txt",
        "convert long.gev -o out.csv",
        "inspect long.gev -o out.html",
        "replay --events long.gev --tasks many.toml --max-tasks 200 --t-fwd 60 --quiet --out run",
        "simulate --data big --policy all --estimates oracle --profiler off --quiet --out run",
        "train workload --data big --out out",
        "evaluate workload --data big",
        "driple build --graphs made/graphs --measured made/measured.csv -o out.safetensors",
        "driple predict --model model.safetensors made/graphs -o out.csv",
        "driple evaluate --model model.safetensors --data made.safetensors -o out.csv",
        "driple convert model.safetensors --weights -o out.safetensors",
        "report done -o out.html",
        "sweep sweep.toml --quiet --out swept",
        "compare --events idle.csv --tasks tasks.toml --every 1 --solvers exact --quiet --out run",
        "check done --again",
    ] {
        for (signal, code) in [("TERM", 143), ("INT", 130)] {
            for name in [
                "out.gev",
                "out.csv",
                "out.html",
                "out.safetensors",
                "out.txt",
            ] {
                let _ = fs::remove_file(at.join(name));
            }
            for name in ["run", "swept", "out"] {
                let _ = fs::remove_dir_all(at.join(name));
            }
            let Some(found) = stopped(at, line, signal) else {
                continue;
            };
            met += 1;
            assert_eq!(found.code, code, "{line}: {}", found.err);
            assert!(found.err.contains("interrupted"), "{line}: {}", found.err);
            // A stopped run either writes no `run.json`, or lists its files in it, all of which are complete.
            for run in ["run", "swept"] {
                if at.join(run).exists() {
                    assert_ne!(state(&at.join(run)), State::Unfinished, "{line}");
                }
            }
            let parts: Vec<String> = files(at)
                .into_iter()
                .filter(|name| name.ends_with(".part"))
                .collect();
            assert!(parts.is_empty(), "{line}: {parts:?}");
            let made: Vec<String> = files(at)
                .into_iter()
                .filter(|name| name.starts_with("out."))
                .collect();
            assert!(made.is_empty(), "{line}: {made:?}");
        }
    }
    assert!(met > 8, "{met} runs met the signal");
    assert!(before.iter().all(|name| files(at).contains(name)));
}

/// Each decision of the replay would take HiGHS or CBC more than 10 minutes. A run that waits for a decision after the
/// signal therefore counts as hanging.
#[cfg(all(feature = "highs", feature = "cbc"))]
#[test]
fn a_signal_ends_a_long_decision_of_a_library() {
    let directory = samples();
    let at = directory.path();
    for line in [
        "synth events --nodes 600 --days 5 -o long.gev",
        "synth tasks --count 60 --hours 9999 --max-nodes 64 -o many.toml",
    ] {
        assert_eq!(attack(at, line).code, 0, "{line}");
    }
    for (solver, signal, code) in [("highs", "TERM", 143), ("cbc", "INT", 130)] {
        let line = format!(
            "replay --events long.gev --tasks many.toml --max-tasks 60 --t-fwd 60 \
             --solver {solver} --formulation paper --time-limit 3600 --quiet --out {solver}"
        );
        let mut child = bounded(at, &line).spawn().unwrap();
        // The program watches for signals before it creates the directory, and starts its first decision soon after.
        while !at.join(solver).exists() {
            assert_eq!(child.try_wait().unwrap(), None, "{line}");
            thread::sleep(Duration::from_millis(10));
        }
        thread::sleep(Duration::from_secs(2));
        let kill = ["-s", signal, &child.id().to_string()];
        Command::new("kill").args(kill).status().unwrap();
        let found = end(child, &line);
        assert_eq!(found.code, code, "{line}: {}", found.err);
        assert!(found.err.contains("interrupted"), "{line}: {}", found.err);
        assert_ne!(state(&at.join(solver)), State::Unfinished, "{line}");
    }
}
