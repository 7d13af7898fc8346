//! `gleaner solve` and `compare`.

use std::fs;

use serde_json::Value;

use crate::support::{gleaner, samples, with_stdin};

const PROBLEM: &str = r#"{"nodes": 4, "t_fwd": 10, "tasks": [{"name": "a", "min_nodes": 1, "max_nodes": 4,
    "rescale_up": 1, "rescale_down": 1, "curve_nodes": [0, 4], "curve_objective": [0, 40], "current": 1}]}"#;

#[test]
fn solve_answers_one_json_line_a_problem() {
    let directory = samples();
    let run = with_stdin(directory.path(), "solve --solver exact --check", PROBLEM).expect(0);
    let head = r#"{"id":"1","solver":"exact","status":"optimal","objective":390.0,"bound":390.0,"gap":0.0,"counts":[4],"microseconds":"#;
    assert!(run.out.starts_with(head), "{}", run.out);
    let all = gleaner(directory.path(), "solve problems.jsonl").expect(0);
    let ids: Vec<Value> = all
        .out
        .lines()
        .map(|l| serde_json::from_str::<Value>(l).unwrap()["id"].clone())
        .collect();
    assert_eq!(ids.len(), 12);
}

#[test]
fn solve_refuses_bad_problems() {
    let directory = samples();
    let at = directory.path();
    with_stdin(at, "solve", "").expect(3).says(&["no problem"]);
    with_stdin(at, "solve", "{\"nodes\": 4,\n nonsense")
        .expect(3)
        .says(&["line 2"]);
    with_stdin(
        at,
        "solve",
        &PROBLEM.replace("\"min_nodes\": 1", "\"min_nodes\": 9"),
    )
    .expect(3)
    .says(&["min_nodes 9"]);
    let grouped = PROBLEM.replacen(
        '{',
        r#"{"groups": [{"name": "g", "tasks": ["a"], "max_total": 2}], "#,
        1,
    );
    with_stdin(at, "solve --solver exact", &grouped)
        .expect(1)
        .says(&["side constraints", "group g"]);
}

#[test]
fn solve_writes_models_for_other_solvers() {
    let directory = samples();
    let at = directory.path();
    with_stdin(at, "solve --write-model one.lp", PROBLEM).expect(0);
    assert!(
        fs::read_to_string(at.join("one.lp"))
            .unwrap()
            .contains("Maximize")
    );
    gleaner(
        at,
        "solve problems.jsonl --write-model all.mps --formulation paper",
    )
    .expect(0);
    assert!(
        fs::read_to_string(at.join("all-synthetic-1.mps"))
            .unwrap()
            .contains("ROWS")
    );
}

#[test]
fn compare_tells_the_heuristic_from_the_optimum() {
    let directory = samples();
    let at = directory.path();
    let line = "compare --problems problems.jsonl --solvers exact,equal-share --out compared";
    let run = gleaner(at, line).expect(0);
    assert_eq!(run.out.lines().count(), 3, "{}", run.out);
    let solvers = fs::read_to_string(at.join("compared/solvers.csv")).unwrap();
    assert!(
        solvers.contains("\nexact,12,0,12,0,") && solvers.contains("\nequal-share,12,0,0,0,"),
        "{solvers}"
    );
    let line = "compare --events idle.csv --tasks tasks.toml --every 200 --solvers exact";
    gleaner(at, line).expect(0).says(&["problems"]);
}
