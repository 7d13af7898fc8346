//! Tests truncated and changed files. The program must use the valid part of a file, or reject the file with a message.
//! The tests of `gleaner-inputs` damage files of every format in the same way, but only read them.

use std::fs;
use std::path::Path;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::support::{attack, samples};

/// Number of changed copies of each file: 12, or the value of `GLEANER_CORRUPTIONS`.
fn changes() -> u64 {
    let asked = std::env::var("GLEANER_CORRUPTIONS");
    asked.map_or(12, |number| number.parse().unwrap())
}

/// Makes up to three changes: flips a bit, replaces a byte, cuts off the end, repeats a part, or removes a part.
fn mutate(rng: &mut ChaCha8Rng, bytes: &mut Vec<u8>) {
    for _ in 0..rng.random_range(1..=3) {
        if bytes.is_empty() {
            return;
        }
        let at = rng.random_range(0..bytes.len());
        match rng.random_range(0..5) {
            0 => bytes[at] ^= 1 << rng.random_range(0..8),
            1 => bytes[at] = rng.random(),
            2 => bytes.truncate(at),
            3 => {
                let end = rng
                    .random_range(at..bytes.len().min(at + 64) + 1)
                    .min(bytes.len());
                let part = bytes[at..end].to_vec();
                bytes.splice(at..at, part);
            }
            _ => drop(bytes.drain(at..bytes.len().min(at + rng.random_range(1..40)))),
        }
    }
}

fn attack_file(at: &Path, file: &str, line: &str) {
    let sound = fs::read(at.join(file)).unwrap();
    assert_eq!(attack(at, line).code, 0, "{line} of the sound file");
    for seed in 0..changes() {
        let mut bytes = sound.clone();
        mutate(&mut ChaCha8Rng::seed_from_u64(seed), &mut bytes);
        fs::write(at.join(file), bytes).unwrap();
        attack(at, line);
    }
    fs::write(at.join(file), sound).unwrap();
}

#[test]
fn texts() {
    let directory = samples();
    let at = directory.path();
    for (file, line) in [
        ("idle.csv", "replay --events idle.csv --tasks tasks.toml"),
        ("tasks.toml", "replay --events idle.csv --tasks tasks.toml"),
        ("problems.jsonl", "solve problems.jsonl"),
        ("class-problems.jsonl", "solve class-problems.jsonl --check"),
        ("sweep.toml", "sweep sweep.toml --dry-run"),
        ("trace/jobs.csv", "simulate --data trace --policy fifo"),
    ] {
        attack_file(at, file, line);
    }
}

#[test]
fn binaries() {
    let directory = samples();
    let at = directory.path();
    for line in [
        "train workload --data trace --out models",
        "synth graphs --count 6 -o made",
        "driple build --graphs made/graphs --measured made/measured.csv -o data.safetensors",
        "driple train --data data.safetensors --hidden 4 --epochs 1 --quiet -o model.safetensors",
    ] {
        assert_eq!(attack(at, line).code, 0, "{line}");
    }
    let graph = crate::support::files(&at.join("made/graphs")).remove(0);
    let graph = format!("made/graphs/{graph}");
    for (file, line) in [
        (
            "models/workload.json",
            "explain models/workload.json".to_owned(),
        ),
        (
            "data.safetensors",
            "driple train --data data.safetensors --hidden 4 --epochs 1 --quiet -o m".to_owned(),
        ),
        (
            "model.safetensors",
            format!("driple predict --model model.safetensors {graph}"),
        ),
        (
            graph.as_str(),
            format!("driple predict --model model.safetensors {graph}"),
        ),
    ] {
        attack_file(at, file, &line);
    }
}
