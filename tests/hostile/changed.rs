//! Tests files that are replaced or rewritten while they are read. The recorded hash must be that of the bytes that
//! were parsed.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use sha2::{Digest, Sha256};

use crate::support::{attack, bounded, end, json, samples};

fn digest(path: &Path) -> String {
    let bytes = fs::read(path).unwrap();
    Sha256::digest(&bytes)
        .iter()
        .map(|b| format!("{b:02x}"))
        .collect()
}

/// Repeatedly replaces one log with another while replays run. The two logs lead to different results.
fn swapped(replace: impl Fn(&Path, &Path) + Sync) {
    let directory = samples();
    let at = directory.path();
    attack(at, "synth events --nodes 60 --days 4 --seed 1 -o a.csv");
    attack(at, "synth events --nodes 60 --days 4 --seed 2 -o b.csv");
    let work = |run: &str| json(&at.join(run).join("summary.json"))["idle_node_seconds"].clone();
    let line = |events: &str, out: &str| {
        format!("replay --events {events} --tasks tasks.toml --t-fwd 60 --quiet --out {out}")
    };
    let mut known = Vec::new();
    for name in ["a", "b"] {
        assert_eq!(attack(at, &line(&format!("{name}.csv"), name)).code, 0);
        known.push((digest(&at.join(format!("{name}.csv"))), work(name)));
    }
    assert_ne!(known[0].1, known[1].1);
    fs::copy(at.join("a.csv"), at.join("log.csv")).unwrap();
    let stop = AtomicBool::new(false);
    let mut whole = 0;
    thread::scope(|scope| {
        scope.spawn(|| {
            for round in 0.. {
                if stop.load(Ordering::Relaxed) {
                    break;
                }
                let from = ["a.csv", "b.csv"][round % 2];
                replace(&at.join(from), &at.join("log.csv"));
                thread::sleep(Duration::from_millis(3));
            }
        });
        for _ in 0..24 {
            let line = line("log.csv", "run");
            let found = end(bounded(at, &line).spawn().unwrap(), &line);
            if found.code != 0 {
                // Either the program noticed the change, or it read the file during the rewriting and saw only a part
                // of the new content.
                assert!([1, 3].contains(&found.code), "{}", found.err);
                continue;
            }
            whole += 1;
            let inputs = json(&at.join("run/run.json"))["inputs"].clone();
            let hash = inputs[0]["sha256"].as_str().unwrap().to_owned();
            let expected = known.iter().find(|(digest, _)| *digest == hash);
            if let Some((_, work_of)) = expected {
                assert_eq!(
                    work("run"),
                    *work_of,
                    "the run has the hash of one log and the result of the other"
                );
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
    eprintln!("{whole} of 24 runs read only one file");
}

#[test]
fn files_that_are_replaced() {
    swapped(|from, to| {
        let beside = to.with_extension("new");
        fs::copy(from, &beside).unwrap();
        fs::rename(beside, to).unwrap();
    });
}

#[test]
fn files_that_are_rewritten_in_place() {
    swapped(|from, to| {
        let before = fs::metadata(to).unwrap().ino();
        fs::write(to, fs::read(from).unwrap()).unwrap();
        assert_eq!(fs::metadata(to).unwrap().ino(), before);
    });
}
