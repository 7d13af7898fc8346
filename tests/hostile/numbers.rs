//! Sets every number in tasks, plans and problems to values at and beyond the limits of its range. The result must be
//! an answer or a fault, never a panic, an overflow or an abort.

use std::fs;
use std::path::Path;

use crate::support::{attack, samples};

/// Numbers at and beyond the limits of ranges, and values that are not numbers. In an earlier attack, CBC received
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

/// For each `key = value` in a TOML file, runs `line` once for each extreme value in place of `value`. If a key occurs
/// several times, only its first occurrence is changed.
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
            // A number that JSON cannot represent is written as a string.
            let edge = serde_json::from_str(edge).unwrap_or_else(|_| edge.into());
            *problem.pointer_mut(pointer).unwrap() = edge;
            for goal in ["total", "max-min"] {
                problem["goal"] = goal.into();
                fs::write(at.join("p.json"), problem.to_string()).unwrap();
                let solve = |solver: &str| {
                    let line = format!("solve p.json --check --time-limit 1 --solver {solver}");
                    attack(at, &line).code
                };
                // Exit code 3 means a fault in the problem. Such faults are found before any solver starts, so one
                // solver is enough.
                if solve("exact") != 3 {
                    for solver in ["equal-share", "highs", "cbc"] {
                        solve(solver);
                    }
                }
            }
        }
        *problem.pointer_mut(pointer).unwrap() = sound;
    }
}

#[test]
fn problems_with_classes() {
    let directory = samples();
    let at = directory.path();
    let all = fs::read_to_string(at.join("class-problems.jsonl")).unwrap();
    let curves = [
        "/t_fwd",
        "/classes/0/nodes",
        "/tasks/0/min_nodes",
        "/tasks/0/max_nodes",
        "/tasks/0/rescale_up",
        "/tasks/0/rescale_down",
        "/tasks/0/move",
        "/tasks/0/current/nodes",
        "/tasks/0/curves/slow/nodes/1",
        "/tasks/0/curves/slow/objective/1",
    ];
    let options = [
        "/classes/0/capacity",
        "/tasks/0/options/0/0",
        "/tasks/0/options/0/1",
        "/tasks/0/options/0/2",
        "/tasks/0/none",
        "/tasks/0/current",
    ];
    let problems = [(0, &curves[..]), (2, &options[..])];
    for (line, pointers) in problems {
        let mut problem: serde_json::Value =
            serde_json::from_str(all.lines().nth(line).unwrap()).unwrap();
        let task = &mut problem["tasks"][0];
        if line == 0 {
            task["move"] = 60.into();
            task["current"] = serde_json::json!({"class": "slow", "nodes": 1});
        } else {
            task["none"] = 0.into();
            task["current"] = serde_json::json!([0, 1]);
        }
        for pointer in pointers {
            let sound = problem
                .pointer(pointer)
                .unwrap_or_else(|| panic!("no {pointer}"))
                .clone();
            for edge in EDGES {
                // A number that JSON cannot represent is written as a string.
                let edge = serde_json::from_str(edge).unwrap_or_else(|_| edge.into());
                *problem.pointer_mut(pointer).unwrap() = edge;
                fs::write(at.join("p.json"), problem.to_string()).unwrap();
                let solve = |solver: &str| {
                    let line = format!("solve p.json --check --time-limit 1 --solver {solver}");
                    attack(at, &line).code
                };
                // Exit code 3 means a fault in the problem. Such faults are found before any solver starts, so one
                // solver is enough.
                if solve("exact") != 3 {
                    for solver in ["highs", "cbc"] {
                        solve(solver);
                    }
                }
            }
            *problem.pointer_mut(pointer).unwrap() = sound;
        }
    }
}
