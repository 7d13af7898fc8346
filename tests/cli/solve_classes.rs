//! Tests `gleaner solve` with problems that have node classes.

use std::fs;

use serde_json::{Value, json};

use crate::support::{Run, gleaner, samples, with_stdin};

/// Worked out by hand: task a takes both nodes of class a100, and task b takes all four nodes of class v100.
const OPTIONS: &str = r#"{"classes": [{"name": "v100", "capacity": 4}, {"name": "a100", "capacity": 2}], "kind": "ignored",
    "tasks": [{"name": "a", "options": [[0, 2, 10], [0, 4, 16], [1, 1, 12, 3.5], [1, 2, 20]]},
              {"name": "b", "options": [[0, 2, 10], [0, 4, 18], [1, 2, 21]]}, {"name": "c", "options": []}]}"#;

/// Worked out by hand: the task earns 10 a second on 2 nodes of class a, and 30 a second on 3 nodes of class b. Over
/// the window of 100 s, moving to b is worth 100 · 30 = 3,000, less 4 · 10 for the move.
const CURVES: &str = r#"{"id": "moves", "t_fwd": 100, "classes": [{"name": "a", "nodes": 4}, {"name": "b", "nodes": 3}],
    "tasks": [{"name": "t", "curves": {"a": {"nodes": [0, 2, 4], "objective": [0, 10, 16]},
    "b": {"nodes": [0, 1, 3], "objective": [0, 12, 30]}}, "min_nodes": {"a": 2, "b": 1}, "max_nodes": 4,
    "rescale_up": 3, "rescale_down": 2, "move": 4, "counts": "points", "current": {"class": "a", "nodes": 2}}]}"#;

const ONE_CLASS: &str = r#"{"nodes": 4, "t_fwd": 10, "tasks": [{"name": "a", "min_nodes": 1, "max_nodes": 4,
    "rescale_up": 1, "rescale_down": 1, "curve_nodes": [0, 4], "curve_objective": [0, 40], "current": 1}]}"#;

fn answers(run: &Run) -> Vec<Value> {
    let lines = run.out.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The solvers in this build that support node classes.
fn solvers() -> Vec<&'static str> {
    let built = [
        ("exact", true),
        ("highs", cfg!(feature = "highs")),
        ("cbc", cfg!(feature = "cbc")),
    ];
    let built = built.into_iter().filter(|(_, is_built)| *is_built);
    built.map(|(name, _)| name).collect()
}

#[test]
fn all_kinds_of_problems_are_solved_in_one_file() {
    let directory = samples();
    let at = directory.path();
    let mixed = [OPTIONS, ONE_CLASS, CURVES].join("\n");
    for solver in solvers() {
        let run = with_stdin(at, &format!("solve --check --solver {solver}"), &mixed).expect(0);
        let found = answers(&run);
        let of = |field: &str| {
            found
                .iter()
                .map(|answer| &answer[field])
                .collect::<Vec<_>>()
        };
        assert_eq!(of("id"), ["1", "2", "moves"]);
        assert_eq!(of("status"), ["optimal"; 3], "{solver}");
        let held = |class: &str, nodes: u32| json!({"class": class, "nodes": nodes});
        let plans = [
            json!([held("a100", 2), held("v100", 4), null]),
            json!([4]),
            json!([held("b", 3)]),
        ];
        assert_eq!(of("counts"), plans.iter().collect::<Vec<_>>(), "{solver}");
        for (answer, expected) in found.iter().zip([38.0, 390.0, 2960.0]) {
            let objective = answer["objective"].as_f64().unwrap();
            assert!((objective - expected).abs() < 1e-6, "{solver}: {answer}");
            assert!(answer["bound"].as_f64().unwrap() >= objective, "{answer}");
            assert!(answer["gap"].as_f64().unwrap() < 1e-9, "{answer}");
        }
    }
    let run = with_stdin(at, "solve", OPTIONS).expect(0);
    let head = r#"{"id":"1","solver":"exact","status":"optimal","objective":38.0,"bound":38.0,"gap":0.0,"counts":[{"class":"a100","nodes":2},{"class":"v100","nodes":4},null],"prices":{"v100":"#;
    assert!(run.out.starts_with(head), "{}", run.out);
}

#[test]
fn the_solvers_agree_on_the_samples() {
    let directory = samples();
    let line = "solve class-problems.jsonl --check --solver";
    let objectives = |solver: &str| -> Vec<f64> {
        let run = gleaner(directory.path(), &format!("{line} {solver}")).expect(0);
        let found = answers(&run);
        assert!(
            found.iter().all(|answer| answer["status"] == "optimal"),
            "{}",
            run.out
        );
        let objectives = found.iter().map(|answer| answer["objective"].as_f64());
        objectives.map(Option::unwrap).collect()
    };
    let exact = objectives("exact");
    assert_eq!(exact.len(), 3);
    for solver in solvers() {
        for (exact, other) in exact.iter().zip(objectives(solver)) {
            assert!(
                (exact - other).abs() < 1e-6 * exact.abs(),
                "{solver}: {exact}, {other}"
            );
        }
    }
}

#[test]
fn problems_without_a_plan_and_without_tasks_have_answers() {
    let directory = samples();
    let fixed = r#"{"classes": [{"name": "k", "capacity": 1}], "tasks": [{"name": "a", "options": [[0, 2, 10]], "fixed": true,
        "current": [0, 2]}]} {"classes": [{"name": "k", "capacity": 1}], "tasks": []}"#;
    let run = with_stdin(directory.path(), "solve --check", fixed).expect(0);
    let found = answers(&run);
    assert_eq!(found[0]["status"], "infeasible");
    assert_eq!(
        (&found[0]["counts"], &found[0]["objective"]),
        (&Value::Null, &Value::Null)
    );
    assert_eq!(found[1]["counts"], json!([]));
    assert!(
        run.out.contains(r#""objective":0.0,"bound":0.0"#),
        "{}",
        run.out
    );
}

#[test]
fn faulty_problems_are_named() {
    let directory = samples();
    let at = directory.path();
    let with = |text: &str, from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        text.replacen(from, to, 1)
    };
    for (text, said) in [
        (
            with(OPTIONS, "[0, 4, 16]", "[2, 4, 16]"),
            "problem 1: task a: option 2 names class 2, expected 0 to 1",
        ),
        (
            with(OPTIONS, "18]", "1e300]"),
            "task b: option 2 is worth 1e300, expected -1e15 to 1e15",
        ),
        (
            with(OPTIONS, r#""b", "#, r#""a", "#),
            "task a: duplicate name, expected unique names",
        ),
        (
            with(OPTIONS, r#""a100""#, r#""v100""#),
            "class v100: duplicate name, expected unique names",
        ),
        (
            with(
                OPTIONS,
                r#""b", "#,
                r#""b", "fixed": true, "current": [0, 3], "#,
            ),
            "task b: the task is fixed, but its current nodes are not among its options",
        ),
        (
            with(OPTIONS, "[0, 4, 18]", "[0.5, 4, 18]"),
            "line 3, column",
        ),
        (
            with(
                OPTIONS,
                r#""options": [[0, 2, 10], [0, 4, 18]"#,
                r#""other": [[0]"#,
            ),
            "missing field `options`",
        ),
        (
            with(CURVES, "[0, 2, 4]", "[0, 4, 4]"),
            "problem moves: task t: class a: the nodes must be strictly increasing",
        ),
        (
            with(CURVES, r#""b": 1}, "max"#, r#""c": 1}, "max"#),
            "task t: there is no class c",
        ),
        (
            with(CURVES, r#""t_fwd": 100, "#, ""),
            "missing field `t_fwd`",
        ),
        (
            with(CURVES, r#""min_nodes""#, r#""weight""#),
            "missing field `min_nodes`",
        ),
        (
            with(CURVES, "\"rescale_up\": 3", "\"rescale_up\": -3"),
            "rescale_up is -3e0, expected 0 to 1e12",
        ),
    ] {
        let run = with_stdin(at, "solve", &text).expect(3);
        assert!(run.err.contains(said), "{said}: {}", run.err);
        assert_eq!(run.out, "");
    }
    // Fields that would change the meaning of a problem but are not supported with classes are rejected, not ignored.
    for (text, from, to, said) in [
        (
            CURVES,
            "{",
            r#"{"goal": "max-min", "#,
            "a goal other than total",
        ),
        (
            CURVES,
            r#""move""#,
            r#""weight": 2, "move""#,
            "weights of tasks",
        ),
    ] {
        let run = with_stdin(at, "solve", &with(text, from, to)).expect(3);
        run.says(&[said, "a problem with node classes", "nodes of one class"]);
    }
    let run = with_stdin(
        at,
        "solve",
        &with(OPTIONS, "{", r#"{"goal": "total", "groups": [], "#),
    );
    run.expect(0);
    // The line number in a message is counted from the start of the input, not from the start of the problem.
    let second = format!("{ONE_CLASS}\n\n{}", with(OPTIONS, "[0, 4, 18]", "[0]"));
    let run = with_stdin(at, "solve", &second).expect(3);
    assert!(run.err.contains("line 6, column 57"), "{}", run.err);
}

// The table has a row for each solver and each problem, even if the solver does not support the problem.
#[test]
fn solvers_are_compared_on_problems_of_all_kinds() {
    let directory = samples();
    let at = directory.path();
    let mixed = [OPTIONS, ONE_CLASS, CURVES].join("\n");
    let mut names = solvers();
    names.push("equal-share");
    if names.contains(&"highs") {
        names.push("highs-paper");
    }
    let line = format!(
        "compare --problems - --out compared --solvers {}",
        names.join(",")
    );
    with_stdin(at, &line, &mixed).expect(0);
    let table = fs::read_to_string(at.join("compared/answers.csv")).unwrap();
    let rows: Vec<Vec<&str>> = table
        .lines()
        .skip(1)
        .map(|row| row.split(',').collect())
        .collect();
    assert_eq!(rows.len(), 3 * names.len(), "{table}");
    for row in &rows {
        let [problem, tasks, nodes, solver, status, objective] = row[..6] else {
            panic!("{row:?}");
        };
        let (size, best) = match problem {
            "1" => (["3", "6"], "38"),
            "2" => (["1", "4"], "390"),
            _ => (["1", "7"], "2960"),
        };
        assert_eq!([tasks, nodes], size);
        match solver {
            "equal-share" => assert_eq!(status, "feasible"),
            "highs-paper" if problem != "2" => assert!(status.starts_with("refused: "), "{status}"),
            _ => assert_eq!(
                (status, objective),
                ("optimal", best),
                "{solver} on {problem}"
            ),
        }
    }
    let line = "compare --problems - --solvers highs-paper";
    if cfg!(feature = "highs") {
        let run = with_stdin(at, line, OPTIONS).expect(2);
        run.says(&[
            "--solvers highs-paper cannot solve any",
            "the counts formulation",
        ]);
    }
}

// Choosing a solver that does not support node classes counts as wrong usage.
#[test]
fn solvers_without_classes_are_refused() {
    let directory = samples();
    let at = directory.path();
    let refused = |line: &str, says: &[&str]| {
        let run = with_stdin(at, &format!("solve {line}"), OPTIONS).expect(2);
        run.says(says);
    };
    refused("--big-m paper", &["problem 1", "--big-m corrected"]);
    refused(
        "--formulation paper --write-model m.lp",
        &[
            "problem 1",
            "the paper formulation does not support node classes",
        ],
    );
    if cfg!(feature = "highs") {
        refused(
            "--solver highs --formulation paper",
            &["problem 1", "use the counts formulation"],
        );
    } else {
        refused("--solver highs", &["this build has no highs"]);
    }
    assert!(!at.join("m.lp").exists());
}

#[test]
fn models_of_problems_with_classes_are_written() {
    let directory = samples();
    let at = directory.path();
    with_stdin(at, "solve --write-model m.lp", OPTIONS).expect(0);
    let model = fs::read_to_string(at.join("m.lp")).unwrap();
    for part in [
        "+ 16 y_0_0_4",
        "class_0:\n + 2 y_0_0_2 + 4 y_0_0_4 + 2 y_1_0_2 + 4 y_1_0_4\n  <= 4",
        "class_1:\n + 1 y_0_1_1 + 2 y_0_1_2 + 2 y_1_1_2\n  <= 2",
        "Binaries",
    ] {
        assert!(model.contains(part), "{part}: {model}");
    }
    let mixed = [OPTIONS, ONE_CLASS, CURVES].join("\n");
    with_stdin(at, "solve --write-model all.mps", &mixed).expect(0);
    for id in ["1", "2", "moves"] {
        let model = fs::read_to_string(at.join(format!("all-{id}.mps"))).unwrap();
        assert!(model.contains("ENDATA"), "{id}");
    }
}
