//! Every number of every input at the edges of its range: an answer or a fault, never a panic, an
//! overflow or an abort.

use std::fs;
use std::path::Path;

use crate::support::{attack, samples};

/// The edges. Two of the attacks: EASY added an estimate of 1e19 to the current time, and CBC met
/// coefficients of 1e308.
const EDGES: [&str; 14] = [
    "0",
    "-1",
    "1e-320",
    "1e19",
    "1e25",
    "1e308",
    "-1e308",
    "nan",
    "inf",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "18446744073709551616",
    "",
];

/// Replaces the `column`th cell of the first `rows` rows of a table.
fn with_cells(table: &str, column: usize, rows: usize, cell: &str) -> String {
    let change = |(row, line): (usize, &str)| {
        let mut cells: Vec<&str> = line.split(',').collect();
        if (1..=rows).contains(&row) {
            cells[column] = cell;
        }
        cells.join(",") + "\n"
    };
    table.lines().enumerate().map(change).collect()
}

/// Runs `lines` with every edge in every column of the table, in one row and in all.
fn attack_table(at: &Path, file: &str, lines: &[&str]) {
    let sound = fs::read_to_string(at.join(file)).unwrap();
    let columns = sound.lines().next().unwrap().split(',').count();
    for column in 0..columns {
        for edge in EDGES {
            for rows in [1, usize::MAX] {
                fs::write(at.join(file), with_cells(&sound, column, rows, edge)).unwrap();
                lines.iter().for_each(|line| drop(attack(at, line)));
            }
        }
    }
    fs::write(at.join(file), sound).unwrap();
}

/// The same for every `key = value` of a TOML text. Of equal keys, only the first is changed.
fn attack_toml(at: &Path, file: &str, line: &str) {
    let sound = fs::read_to_string(at.join(file)).unwrap();
    let mut seen: Vec<&str> = Vec::new();
    for number in sound.lines() {
        let Some((key, _)) = number.split_once(" = ") else {
            continue;
        };
        if seen.contains(&key) {
            continue;
        }
        seen.push(key);
        for edge in EDGES
            .iter()
            .chain(&["[]", "[1e308]", "[0, 1e308]", "\"auto\"", "true", "{}"])
        {
            let text = sound.replacen(number, &format!("{key} = {edge}"), 1);
            fs::write(at.join(file), text).unwrap();
            attack(at, line);
        }
    }
    fs::write(at.join(file), sound).unwrap();
}

#[test]
fn tasks() {
    let directory = samples();
    attack_toml(
        directory.path(),
        "tasks.toml",
        "replay --events idle.csv --tasks tasks.toml --check",
    );
}

#[test]
fn jobs() {
    let directory = samples();
    let at = directory.path();
    let line = "simulate --data trace --policy fifo,easy,tiresias,lucid --profiler off --check";
    attack_table(at, "trace/jobs.csv", &[line]);
}

#[test]
fn clusters_and_estimates() {
    let directory = samples();
    let at = directory.path();
    let line = "simulate --data trace --policy easy,qssf --check";
    attack_table(at, "trace/vc_config.csv", &[line]);
    attack_table(at, "trace/duration_estimate.csv", &[line]);
}

#[test]
fn profiles_and_forecasts() {
    let directory = samples();
    let at = directory.path();
    let line = "simulate --data trace --policy lucid --profiler 200,1,4 --check";
    for file in [
        "single_data.csv",
        "colocate_info.csv",
        "throughput_pred.csv",
    ] {
        attack_table(at, &format!("trace/{file}"), &[line]);
    }
}

#[test]
fn plans() {
    let directory = samples();
    attack_toml(
        directory.path(),
        "sweep.toml",
        "sweep sweep.toml --out swept --quiet",
    );
}

#[test]
fn problems() {
    let directory = samples();
    let at = directory.path();
    let all = fs::read_to_string(at.join("problems.jsonl")).unwrap();
    let mut problem: serde_json::Value = serde_json::from_str(all.lines().next().unwrap()).unwrap();
    let pointers = [
        "/nodes",
        "/t_fwd",
        "/tasks/0/min_nodes",
        "/tasks/0/max_nodes",
        "/tasks/0/rescale_up",
        "/tasks/0/rescale_down",
        "/tasks/0/current",
        "/tasks/0/curve_nodes/1",
        "/tasks/0/curve_objective/1",
    ];
    for pointer in pointers {
        let sound = problem
            .pointer(pointer)
            .unwrap_or_else(|| panic!("no {pointer}"))
            .clone();
        for edge in EDGES {
            // A number that JSON does not have is given as text.
            let edge = serde_json::from_str(edge).unwrap_or_else(|_| edge.into());
            *problem.pointer_mut(pointer).unwrap() = edge;
            for goal in ["total", "max-min"] {
                problem["goal"] = goal.into();
                fs::write(at.join("p.json"), problem.to_string()).unwrap();
                for solver in ["exact", "equal-share", "highs", "cbc"] {
                    attack(
                        at,
                        &format!("solve p.json --check --time-limit 1 --solver {solver}"),
                    );
                }
            }
        }
        *problem.pointer_mut(pointer).unwrap() = sound;
    }
}

#[test]
fn options() {
    let directory = samples();
    let at = directory.path();
    let replay = "replay --events idle.csv --tasks tasks.toml";
    let simulate = "simulate --data trace --policy lucid,qssf";
    for edge in EDGES.iter().filter(|edge| !edge.is_empty()) {
        for option in [
            "t-fwd",
            "max-tasks",
            "time-limit",
            "gap",
            "skip-rows",
            "first-node",
            "nodes",
            "from",
            "to",
            "seed",
            "timezone",
        ] {
            attack(at, &format!("{replay} --{option}={edge}"));
        }
        for option in [
            "estimates",
            "forecast",
            "profiler",
            "gpus-per-node",
            "from",
            "to",
            "epoch",
            "jobs",
            "lend",
            "elastic",
        ] {
            attack(at, &format!("{simulate} --{option}={edge}"));
        }
        for option in ["nodes", "days", "idle-share", "poll", "seed", "start"] {
            // Large numbers of nodes and days are left out: they are valid.
            if !(option == "nodes" || option == "days") || !edge.starts_with('9') {
                attack(at, &format!("synth events --{option}={edge} -o made.gev"));
            }
        }
        attack(at, &format!("inspect idle.csv --max-tasks={edge}"));
        attack(
            at,
            &format!("train workload --data trace --out models --seed={edge}"),
        );
    }
}
