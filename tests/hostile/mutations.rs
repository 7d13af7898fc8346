//! Cut and changed files of every kind: the program reads them, or refuses them with a message.

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

/// Up to three changes: a bit, a byte, a cut, a repetition.
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
        ("sweep.toml", "sweep sweep.toml --dry-run"),
        ("trace/jobs.csv", "simulate --data trace --policy fifo"),
        ("trace/vc_config.csv", "simulate --data trace --policy fifo"),
        (
            "trace/single_data.csv",
            "simulate --data trace --policy lucid --profiler off",
        ),
        ("logs/sacct.txt", "ingest slurm logs/sacct.txt -o x.gev"),
        ("logs/pbs.txt", "ingest pbs logs/pbs.txt -o x.gev"),
        ("logs/cobalt.log", "ingest cobalt logs/cobalt.log -o x.gev"),
        ("logs/djc.csv", "ingest djc logs/djc.csv -o x.gev"),
        ("logs/workload.swf", "ingest swf logs/workload.swf -o x.gev"),
        (
            "logs/philly-jobs.json",
            "ingest philly logs/philly-jobs.json -o x.csv",
        ),
        (
            "logs/batsim.json",
            "ingest batsim logs/batsim.json -o x.csv",
        ),
        ("logs/helios.csv", "ingest helios logs/helios.csv -o x.csv"),
    ] {
        attack_file(at, file, line);
    }
}

#[test]
fn binaries() {
    let directory = samples();
    let at = directory.path();
    for line in [
        "convert idle.csv -o log.gev",
        "convert idle.csv -o log.parquet",
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
        ("log.gev", "inspect log.gev".to_owned()),
        ("log.parquet", "inspect log.parquet".to_owned()),
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

// The attack: 75 of 300 flipped bits were read as another log.
#[test]
fn no_flipped_bit_of_an_own_log_is_read_as_another_log() {
    let directory = samples();
    let at = directory.path();
    for name in ["log.parquet", "log.gev"] {
        attack(at, &format!("convert idle.csv -o {name}"));
        attack(at, &format!("convert {name} -o sound.csv"));
        let sound = fs::read(at.join("sound.csv")).unwrap();
        let bytes = fs::read(at.join(name)).unwrap();
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        for _ in 0..80 {
            let mut flipped = bytes.clone();
            let bit = rng.random_range(0..8 * flipped.len());
            flipped[bit / 8] ^= 1 << (bit % 8);
            fs::write(at.join(name), flipped).unwrap();
            if attack(at, &format!("convert {name} -o flipped.csv")).code == 0 {
                let read = fs::read(at.join("flipped.csv")).unwrap();
                assert!(read == sound, "{name}: bit {bit}");
            }
        }
    }
}
