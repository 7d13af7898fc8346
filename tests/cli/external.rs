//! Solvers that are programs, as a user names them.

use std::fs;
use std::process::Command;

use tempfile::TempDir;

use crate::support::{Run, command, gleaner, json, samples};

const REPLAY: &str = "replay --events idle.csv --tasks tasks.toml --t-fwd 120";

/// The samples with the programs `dp.py` and `bad.py` beside them; `None`, with a note, without Python.
fn with_programs() -> Option<TempDir> {
    if Command::new("python3").arg("--version").output().is_err() {
        eprintln!("skipped: python3 is not installed, and the programs are written in it");
        return None;
    }
    let directory = samples();
    for from in [
        "solvers/python/dp.py",
        "crates/external/tests/programs/bad.py",
    ] {
        let from = gleaner_testing::workspace().join(from);
        fs::copy(&from, directory.path().join(from.file_name().unwrap())).unwrap();
    }
    Some(directory)
}

/// Writes a manifest for a program, so that its command is one word.
fn manifest(directory: &TempDir, name: &str, arguments: &[&str]) {
    let command: Vec<String> = arguments.iter().map(|word| format!("{word:?}")).collect();
    let text = format!("command = [\"python3\", {}]\n", command.join(", "));
    fs::write(directory.path().join(name), text).unwrap();
}

#[test]
fn a_program_replays_as_well_as_the_exact_solver() {
    let Some(directory) = with_programs() else {
        return;
    };
    manifest(&directory, "dp.toml", &["dp.py"]);
    gleaner(
        directory.path(),
        &format!("{REPLAY} --solver exec:dp.toml --strict --check --out run"),
    )
    .expect(0);
    let at = |name: &str| json(&directory.path().join("run").join(name));
    let summary = at("summary.json");
    assert_eq!(summary["events_optimal"], summary["events"]);
    assert_eq!(summary["solver"], "exec:dp.py");
    let tally = at("solver.json");
    assert_eq!(tally["confirmed"], tally["problems"]);
    let inputs = at("run.json")["inputs"].to_string();
    assert!(
        inputs.contains("dp.py") && inputs.contains("python3"),
        "{inputs}"
    );
    gleaner(directory.path(), "check run").expect(0);
    gleaner(directory.path(), "report run -o run.html").expect(0);
}

#[test]
fn a_program_gets_the_values_of_an_expression() {
    let Some(directory) = with_programs() else {
        return;
    };
    manifest(&directory, "dp.toml", &["dp.py"]);
    // The first is a list of the task times a factor, the second is evaluated at every point.
    for objective in ["rate / left", "min(rate, 3000) + waited"] {
        for (solver, out) in [("exec:dp.toml", "theirs"), ("exact", "ours")] {
            let line =
                format!("{REPLAY} --strict --check --out {out} --solver {solver} --objective");
            let mut command = command(directory.path(), &line);
            let run: Run = command.arg(objective).output().unwrap().into();
            run.expect(0);
        }
        let works = ["theirs", "ours"].map(|out| {
            let summary = json(&directory.path().join(out).join("summary.json"));
            assert_eq!(summary["objective_expression"], objective);
            assert_eq!(summary["events_optimal"], summary["events"]);
            summary["total_work"].as_f64().unwrap()
        });
        // Plans that are equally good may differ.
        assert!((works[0] / works[1] - 1.0).abs() < 0.02, "{works:?}");
    }
}

#[test]
fn a_replay_goes_to_its_end_whatever_a_program_does() {
    let Some(directory) = with_programs() else {
        return;
    };
    for (way, told) in [
        ("third", "crashed"),
        ("every", "not started again"),
        ("garbage", "no message"),
        ("too-many", "wrong"),
    ] {
        let file = format!("{way}.toml");
        manifest(&directory, &file, &["bad.py", way]);
        let line = format!("{REPLAY} --skip-rows 2200 --solver exec:{file} --out {way}");
        gleaner(directory.path(), &line).expect(0).says(&[told]);
        let summary = json(&directory.path().join(way).join("summary.json"));
        assert_eq!(
            (&summary["complete"], &summary["ended"]),
            (&true.into(), &"log_ended".into())
        );
        gleaner(directory.path(), &format!("check {way}")).expect(0);
        let strict =
            format!("{REPLAY} --skip-rows 2200 --solver exec:{file} --strict --out strict-{way}");
        gleaner(directory.path(), &strict).expect(1).says(&[told]);
    }
}

#[test]
fn programs_solve_are_compared_and_swept() {
    let Some(directory) = with_programs() else {
        return;
    };
    let at = directory.path();
    manifest(&directory, "dp.toml", &["dp.py"]);
    gleaner(at, "synth problems -o problems.jsonl").expect(0);
    let ours = gleaner(at, "solve problems.jsonl").expect(0).out;
    let theirs = gleaner(at, "solve problems.jsonl --solver exec:dp.toml --check")
        .expect(0)
        .out;
    let objectives = |out: &str| -> Vec<f64> {
        let lines = out
            .lines()
            .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        lines
            .map(|line| line["objective"].as_f64().unwrap())
            .collect()
    };
    for (ours, theirs) in objectives(&ours).into_iter().zip(objectives(&theirs)) {
        assert!(
            (ours - theirs).abs() <= 1e-9 * ours.abs(),
            "{ours} {theirs}"
        );
    }
    let compared = gleaner(
        at,
        "compare --problems problems.jsonl --solvers exact --program exec:dp.toml --out compared",
    )
    .expect(0)
    .out;
    assert!(
        compared.contains("exec:dp.py") && compared.contains("wrong 0"),
        "{compared}"
    );
    assert_eq!(json(&at.join("compared/programs.json"))[0]["wrong"], 0);
    let plan = "[replay]\nevents = \"idle.csv\"\ntasks = \"tasks.toml\"\nt_fwd = 120\n\
                window = { nodes = 20 }\nsolver = [\"exact\", \"exec:dp.toml\"]\n";
    fs::write(at.join("plan.toml"), plan).unwrap();
    gleaner(at, "sweep plan.toml --out swept").expect(0);
    let table = fs::read_to_string(at.join("swept/sweep.csv")).unwrap();
    assert!(
        table.contains("exec:dp.toml") && table.lines().count() == 3,
        "{table}"
    );
}

#[test]
fn a_program_is_told_where_it_breaks_the_protocol() {
    let Some(directory) = with_programs() else {
        return;
    };
    let at = directory.path();
    manifest(&directory, "dp.toml", &["dp.py"]);
    let good = gleaner(at, "solver-check exec:dp.toml").expect(0).out;
    assert_eq!(good.matches("passed").count(), 6, "{good}");
    manifest(&directory, "bad.toml", &["bad.py", "claims"]);
    let bad = gleaner(at, "solver-check bad.toml").expect(1);
    assert!(
        bad.out.contains("FAILED   solves small problems"),
        "{}",
        bad.out
    );
    bad.says(&["of 7 checks failed"]);
}

#[test]
fn programs_that_cannot_be_used_are_refused_before_anything_runs() {
    let directory = samples();
    let at = directory.path();
    let refused = |line: &str, code: i32, told: &str| gleaner(at, line).expect(code).says(&[told]);
    refused(
        &format!("{REPLAY} --solver exec:no-such-program"),
        1,
        "cannot be started",
    );
    refused(
        &format!("{REPLAY} --solver exec:"),
        2,
        "expected a command after exec:",
    );
    refused(
        &format!("{REPLAY} --solver nothing"),
        2,
        "expected one of auto, exact, highs, cbc",
    );
    refused(
        &format!("{REPLAY} --solver exec:none.toml"),
        2,
        "cannot read none.toml",
    );
    let Some(directory) = with_programs() else {
        return;
    };
    manifest(&directory, "dp.toml", &["dp.py"]);
    let line = format!("{REPLAY} --solver exec:dp.toml --objective share-fair");
    gleaner(directory.path(), &line)
        .expect(2)
        .says(&["does not say that it takes the max-min goal"]);
}
