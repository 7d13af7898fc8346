//! Tests `gleaner solve` and `gleaner compare`.

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
    let out_of_range = PROBLEM.replace("[0, 40]", "[0, 1e308]");
    for options in ["--solver exact", "--write-model m.lp"] {
        with_stdin(at, &format!("solve {options}"), &out_of_range)
            .expect(3)
            .says(&["problem", "1e308", "expected"]);
    }
    assert!(!at.join("m.lp").exists());
    with_stdin(at, "solve --solver equal-share", &grouped())
        .expect(2)
        .says(&["problem 1", "side constraints", "group g", "highs or cbc"]);
    let crosses = [
        "problem 1",
        "nested",
        "groups g and h cross",
        "highs or cbc",
    ];
    with_stdin(at, "solve --solver exact", &crossing())
        .expect(2)
        .says(&crosses);
}

/// A problem whose tasks form a group with limits.
fn grouped() -> String {
    PROBLEM.replacen(
        '{',
        r#"{"groups": [{"name": "g", "tasks": ["a"], "max_total": 2}], "#,
        1,
    )
}

/// A problem with two overlapping groups, neither of which contains the other.
fn crossing() -> String {
    let mut problem: Value = serde_json::from_str(PROBLEM).unwrap();
    let task = problem["tasks"][0].clone();
    let named = |name: &&str| {
        let mut task = task.clone();
        task["name"] = Value::from(*name);
        task
    };
    problem["tasks"] = ["a", "b", "c"].iter().map(named).collect();
    problem["groups"] = serde_json::json!([
        {"name": "g", "tasks": ["a", "b"], "max_total": 2},
        {"name": "h", "tasks": ["b", "c"], "max_total": 2},
    ]);
    problem.to_string()
}

#[test]
fn an_answer_names_the_solver_that_ran() {
    let directory = samples();
    let name = |problem: &str| {
        let run = with_stdin(directory.path(), "solve --solver auto", problem);
        let answer = serde_json::from_str::<Value>(&run.out);
        answer.map_or(run.err, |answer| answer["solver"].to_string())
    };
    assert_eq!(name(PROBLEM), "\"exact\"");
    assert_eq!(name(&grouped()), "\"exact\"");
    let expected = match (cfg!(feature = "highs"), cfg!(feature = "cbc")) {
        (true, _) => "\"highs-counts\"",
        (false, true) => "\"cbc-counts\"",
        (false, false) => "this build has no highs",
    };
    assert!(
        name(&crossing()).contains(expected),
        "{}",
        name(&crossing())
    );
}

// Choosing a solver that cannot solve the given problem counts as wrong usage.
#[test]
fn wrong_solvers_are_wrong_usage() {
    let directory = samples();
    let at = directory.path();
    fs::write(at.join("one.json"), PROBLEM).unwrap();
    fs::write(at.join("grouped.json"), grouped()).unwrap();
    fs::write(at.join("crossing.json"), crossing()).unwrap();
    let plan = |lines: &str| {
        let text = format!("[replay]\nevents = 'idle.csv'\ntasks = 'tasks.toml'\n{lines}\n");
        fs::write(at.join("plan.toml"), text).unwrap();
        gleaner(at, "sweep plan.toml --dry-run").expect(2)
    };
    plan("formulation = 'paper'").says(&["plan.toml, line 4, formulation"]);
    for line in [
        "solve one.json --formulation paper",
        "solve one.json --solver exact --formulation counts",
        "replay --events idle.csv --tasks tasks.toml --formulation paper",
        "compare --problems crossing.json --solvers exact",
        "compare --problems crossing.json --solvers equal-share,exact",
    ] {
        gleaner(at, line).expect(2);
    }
    let missing = match (cfg!(feature = "highs"), cfg!(feature = "cbc")) {
        (false, _) => "highs",
        (_, false) => "cbc",
        _ => return only_with_libraries(at),
    };
    plan(&format!("solver = ['exact', '{missing}']")).says(&["plan.toml, line 4, solver"]);
    for line in [
        "solve one.json",
        "replay --events idle.csv --tasks tasks.toml",
        "compare --problems one.json --solvers",
    ] {
        let option = if line.contains("--solvers") {
            ""
        } else {
            "--solver"
        };
        let run = gleaner(at, &format!("{line} {option} {missing}")).expect(2);
        run.says(&["this build has no", missing]);
    }
}

fn only_with_libraries(at: &std::path::Path) {
    let paper = "--solver highs --formulation paper";
    for line in [
        format!("solve grouped.json {paper}"),
        format!("replay --events idle.csv --tasks tasks.toml --objective share-fair {paper}"),
        "compare --problems grouped.json --solvers highs-paper".to_owned(),
    ] {
        gleaner(at, &line)
            .expect(2)
            .says(&["the paper formulation does not support"]);
    }
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
fn models_of_one_name_are_refused_before_any_is_written() {
    let directory = samples();
    let at = directory.path();
    let with_id = |id: &str| PROBLEM.replacen('{', &format!("{{\"id\": {id:?}, "), 1);
    let written = || {
        let names = fs::read_dir(at).unwrap();
        let names = names.map(|e| e.unwrap().file_name().into_string().unwrap());
        names
            .filter(|name| name.ends_with(".lp"))
            .collect::<Vec<_>>()
    };
    for (ids, found) in [
        (
            ["one", "other", "one"],
            "problem 3 of 3, id: found \"one\" a second time",
        ),
        (
            ["a/b", "other", "a b"],
            "found \"a b\", whose model would overwrite that of \"a/b\"",
        ),
        (
            ["2", "", "3"],
            "problem 2 of 3, id: found \"2\" a second time",
        ),
    ] {
        let problems: String = ids.map(with_id).join("\n");
        with_stdin(at, "solve - --write-model m.lp", &problems)
            .expect(3)
            .says(&[found]);
        assert_eq!(written(), Vec::<String>::new());
    }
    let problems = ["a/b", "a-b"].map(with_id).join("\n");
    with_stdin(at, "solve - --write-model m.lp", &problems).expect(0);
    let mut names = written();
    names.sort();
    assert_eq!(names, ["m-a-b.lp", "m-a_b.lp"]);
    // An unknown format is reported before anything is written.
    with_stdin(at, "solve - --write-model m.txt", &problems)
        .expect(2)
        .says(&[".lp or .mps"]);
}

#[test]
fn compare_distinguishes_the_heuristic_from_the_optimum() {
    let directory = samples();
    let at = directory.path();
    let line = "compare --problems problems.jsonl --solvers exact,equal-share --out compared";
    let run = gleaner(at, line).expect(0);
    // The output has a table of answers and a table of times, each with a title, a header and a row for each of the two
    // solvers.
    assert_eq!(run.out.lines().count(), 9, "{}", run.out);
    let solvers = fs::read_to_string(at.join("compared/solvers.csv")).unwrap();
    assert!(
        solvers.contains("\nexact,12,0,12,0,") && solvers.contains("\nequal-share,12,0,0,0,"),
        "{solvers}"
    );
    let line = "compare --events idle.csv --tasks tasks.toml --every 200 --solvers exact";
    gleaner(at, line).expect(0).says(&["problems"]);
}

#[test]
fn compare_leaves_the_papers_formulation_out_and_says_how_long_it_takes() {
    let directory = samples();
    let run = gleaner(directory.path(), "compare --problems problems.jsonl").expect(0);
    let solvers: Vec<&str> = run
        .out
        .lines()
        .skip(2)
        .take_while(|line| !line.is_empty())
        .map(|l| l.split(' ').next().unwrap())
        .collect();
    let expected: Vec<&str> = ["exact", "highs", "cbc", "equal-share"]
        .into_iter()
        .filter(|name| *name != "highs" || cfg!(feature = "highs"))
        .filter(|name| *name != "cbc" || cfg!(feature = "cbc"))
        .collect();
    assert_eq!(solvers, expected);
    let estimate = run
        .err
        .lines()
        .find(|line| line.contains("12 problems take "));
    let estimate = estimate.unwrap_or_else(|| panic!("no estimate in {}", run.err));
    for name in expected {
        assert!(estimate.contains(&format!("{name} ")), "{estimate}");
    }
}
