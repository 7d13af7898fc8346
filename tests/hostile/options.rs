//! Tests every numeric option of every command with numbers at and beyond its range. Each option must yield a result or
//! a message, in bounded time and memory. The list of options comes from the parser, so new options are tested
//! automatically.

use std::any::TypeId;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::thread;

use clap::builder::ValueParser;
use clap::{Arg, Command};
use tempfile::TempDir;

use crate::support::{attack, samples};

/// Numbers at the limits of types and ranges, and values that are not numbers.
const EXTREMES: [&str; 15] = [
    "0",
    "1",
    "-1",
    "4294967295",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "1e19",
    "1e308",
    "-1e308",
    "1e-320",
    "nan",
    "inf",
    "1/18446744073709551615",
];

/// For each command with numeric options, a command line with the smallest possible inputs.
const LINES: &[(&str, &str)] = &[
    // Without a state directory, the pilot exits at once.
    ("harvest pilot", "--pilot 1 --state missing"),
    ("ingest slurm", "logs/sacct-gpus.txt --jobs o.csv"),
    ("ingest swf", "logs/workload.swf -o o.gev"),
    ("ingest djc", "logs/djc.csv -o o.gev"),
    ("ingest sinfo", "logs/sinfo-polls.txt -o o.gev"),
    ("ingest spot", "logs/spot-counts.csv -o o.gev"),
    ("ingest table", "logs/table.csv -o o.gev"),
    ("ingest philly", "logs/philly-jobs.json -o o.csv"),
    (
        "ingest pai",
        "logs/pai_job_table.csv logs/pai_task_table.csv -o o.csv",
    ),
    ("ingest batsim", "logs/batsim.json -o o.csv"),
    ("ingest helios", "logs/helios.csv -o o.csv"),
    (
        "ingest gavel",
        "logs/gavel.trace --throughputs logs/gavel-throughputs.json -o o.csv",
    ),
    ("ingest pbs", "logs/pbs.txt -o o.gev"),
    ("ingest cobalt", "logs/cobalt.log -o o.gev"),
    (
        "replay",
        "--events idle.csv --tasks tasks.toml --quiet --out o",
    ),
    (
        "simulate",
        "--data trace --policy fifo,qssf,lucid --quiet --out o",
    ),
    ("solve", "one.jsonl"),
    ("solver-check", "exec:true"),
    ("compare", "--problems one.jsonl --solvers exact --quiet"),
    ("inspect", "idle.csv"),
    ("pilots", "idle.csv --best 1 --time-limit 1 --quiet"),
    ("convert", "idle.csv -o o.csv"),
    ("train", "workload --data trace --out o"),
    ("evaluate", "workload --data trace"),
    ("report", "swept -o o.html"),
    ("driple convert", "small-model.safetensors -o o.safetensors"),
    ("sweep", "one.toml --out o --quiet"),
    ("check", "swept --again"),
    (
        "driple build",
        "--graphs made/graphs --measured made/measured.csv -o o.safetensors",
    ),
    ("explain", "models/workload.json"),
    ("predict", "models/workload.json --data trace -o o.csv"),
    (
        "driple predict",
        "--model small-model.safetensors made/graphs",
    ),
    (
        "driple profiles",
        "--model small-model.safetensors --graphs made/graphs -o o.csv",
    ),
    (
        "driple train",
        "--data small.safetensors -o o.safetensors --epochs 1 --quiet",
    ),
    ("synth events", "--nodes 3 --days 0.1 -o o.csv"),
    ("synth tasks", "--count 2 -o o.toml"),
    ("synth search", "-o o.toml"),
    ("synth problems", "--count 1 --tasks 1 -o o.jsonl"),
    ("synth jobs", "--vcs 1 --nodes 1 --days 1 -o o"),
    ("synth graphs", "--count 1 -o o"),
    ("synth slurm", "--nodes 3 --days 0.1 -o o.txt"),
    ("synth pbs", "--nodes 3 --days 0.1 -o o.txt"),
    ("synth swf", "--nodes 3 --days 0.1 -o o.txt"),
];

/// Whether an option accepts numbers. It may also accept other text, such as `1/3` or `auto`.
fn takes_a_number(option: &Arg) -> bool {
    let parser: &ValueParser = option.get_value_parser();
    let is = |of: TypeId| parser.type_id() == of;
    let is_other =
        is(TypeId::of::<PathBuf>()) || is(TypeId::of::<String>()) || is(TypeId::of::<bool>());
    let is_word = parser.possible_values().is_some();
    option.get_action().takes_values() && !option.is_positional() && !is_other && !is_word
}

/// Collects the commands, with the names of their numeric options.
fn commands(command: &Command, words: &str, found: &mut Vec<(String, Vec<String>)>) {
    let options = command
        .get_arguments()
        .filter(|option| takes_a_number(option));
    let names: Vec<String> = options
        .filter_map(|option| option.get_long().map(str::to_owned))
        .collect();
    if !names.is_empty() {
        found.push((words.to_owned(), names));
    }
    for below in command
        .get_subcommands()
        .filter(|below| below.get_name() != "help")
    {
        let words = format!("{words} {}", below.get_name());
        commands(below, words.trim(), found);
    }
}

/// Creates the inputs of [`LINES`].
fn inputs() -> TempDir {
    let directory = samples();
    let at = directory.path();
    let problems = std::fs::read_to_string(at.join("problems.jsonl")).unwrap();
    std::fs::write(at.join("one.jsonl"), problems.lines().next().unwrap()).unwrap();
    let plan = "[replay]\nevents = 'idle.csv'\ntasks = 'tasks.toml'\n";
    std::fs::write(at.join("one.toml"), plan).unwrap();
    for line in [
        "sweep one.toml --out swept --quiet",
        "synth graphs --count 12 -o made",
        "driple build --graphs made/graphs --measured made/measured.csv --groups 4 --fewer-groups \
         -o small.safetensors",
        "driple train --data small.safetensors --epochs 1 --quiet -o small-model.safetensors",
        "train workload --data trace --out models",
    ] {
        assert_eq!(attack(at, line).code, 0, "{line}");
    }
    directory
}

/// Runs a command line in a directory, unless the argument parser rejects it.
fn draw(at: &Path, line: &str) {
    let words = ["gleaner"].into_iter().chain(line.split_whitespace());
    match gleaner::cli::command().try_get_matches_from(words) {
        Err(error) => assert!((0..=2).contains(&error.exit_code()), "{line}: {error}"),
        Ok(_) => drop(attack(at, line)),
    }
}

#[test]
fn every_option_that_takes_a_number_is_bounded() {
    let mut all = Vec::new();
    commands(&gleaner::cli::command(), "", &mut all);
    let line = |words: &str| LINES.iter().find(|(command, _)| *command == words);
    let missing: Vec<_> = all
        .iter()
        .filter(|(words, _)| line(words).is_none())
        .collect();
    assert!(missing.is_empty(), "no line for {missing:?}");
    let mut drawn = Vec::new();
    for (words, options) in &all {
        let rest = line(words).map_or("", |(_, rest)| rest);
        for option in options {
            drawn.extend(EXTREMES.map(|extreme| format!("{words} {rest} --{option}={extreme}")));
        }
    }
    assert!(drawn.len() > 500, "{} lines", drawn.len());
    let left = Mutex::new(drawn);
    let threads = thread::available_parallelism()
        .map_or(1, NonZeroUsize::get)
        .min(8);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let directory = inputs();
                loop {
                    let Some(line) = left.lock().unwrap().pop() else {
                        return;
                    };
                    draw(directory.path(), &line);
                }
            });
        }
    });
}
