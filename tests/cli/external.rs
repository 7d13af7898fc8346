//! Tests solvers that are external programs, named on the command line or in plans.

use std::fs;
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::support::{Run, command, gleaner, json, samples};

const REPLAY: &str = "replay --events idle.csv --tasks tasks.toml --t-fwd 120";

/// A directory with the samples and the solver programs `dp.py` and `bad.py`. Without Python, prints a note and returns
/// `None`.
fn with_programs() -> Option<TempDir> {
    if Command::new("python3").arg("--version").output().is_err() {
        eprintln!("skipped: python3 is not installed, and the programs are written in it");
        return None;
    }
    let directory = samples();
    for from in [
        "solvers/python/classes.py",
        "solvers/python/dp.py",
        "crates/exec-solver/tests/programs/bad.py",
    ] {
        let from = gleaner_testing::workspace().join(from);
        fs::copy(&from, directory.path().join(from.file_name().unwrap())).unwrap();
    }
    Some(directory)
}

/// Writes a manifest with a program and its arguments, so that the single word `exec:NAME` stands for both.
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
    // Under the first objective, the program receives each task's curve multiplied by a factor. Under the second
    // objective, it receives values that are computed for every point of the curve.
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
        // If several plans are optimal, the solvers may choose different ones, so the work may differ slightly.
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
        ("every", "not restarted"),
        ("garbage", "invalid lines"),
        ("too-many", "wrong"),
    ] {
        let file = format!("{way}.toml");
        manifest(&directory, &file, &["bad.py", way]);
        let line = format!("{REPLAY} --skip-rows 2200 --solver exec:{file} --out {way}");
        let run = gleaner(directory.path(), &line).expect(0);
        run.says(&[told, "failing-problems.jsonl"]);
        let kept = format!("{way}/failing-problems.jsonl");
        let problems = fs::read_to_string(directory.path().join(&kept)).unwrap();
        let first: serde_json::Value =
            serde_json::from_str(problems.lines().next().unwrap()).unwrap();
        let id = first["id"].as_str().unwrap();
        assert!(id.starts_with("event ") && id.contains(", 20"), "{id}");
        gleaner(directory.path(), &format!("solve {kept}")).expect(0);
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
    let (_, programs) = compared.split_once("Programs: all solves").unwrap();
    let row = programs.lines().find(|line| line.starts_with("exec:dp.py"));
    let cells: Vec<&str> = row.unwrap().split_whitespace().collect();
    assert_eq!((cells[4], cells[5]), ("0", "0"), "{compared}");
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
fn a_program_solves_problems_with_classes() {
    let Some(directory) = with_programs() else {
        return;
    };
    let at = directory.path();
    manifest(&directory, "classes.toml", &["classes.py"]);
    manifest(&directory, "dp.toml", &["dp.py"]);
    let solve = |solver: &str| {
        let line = format!("solve small.jsonl --check --strict --solver {solver}");
        let out = gleaner(at, &line).expect(0).out;
        let lines = out.lines();
        let answers = lines.map(|line| serde_json::from_str(line).unwrap());
        answers.collect::<Vec<serde_json::Value>>()
    };
    let synth = "synth problems --classes options --count 3 --tasks 5 --nodes 24 -o small.jsonl";
    gleaner(at, synth).expect(0);
    for (ours, theirs) in solve("exact").iter().zip(solve("exec:classes.toml")) {
        assert_eq!(theirs["solver"], "exec:classes.py");
        assert_eq!(theirs["status"], "optimal");
        let [ours, theirs] = [ours, &theirs].map(|answer| answer["objective"].as_f64().unwrap());
        assert!((ours - theirs).abs() < 1e-9, "{ours}, {theirs}");
    }
    let refused = gleaner(at, "solve small.jsonl --solver exec:dp.toml").expect(2);
    refused.says(&["does not list the capability \"classes\""]);
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
    bad.says(&["of 8 checks failed"]);
}

#[test]
fn programs_that_cannot_be_used_are_refused_before_anything_runs() {
    let directory = samples();
    let at = directory.path();
    let refused = |line: &str, code: i32, told: &str| gleaner(at, line).expect(code).says(&[told]);
    refused(
        &format!("{REPLAY} --solver exec:no-such-program"),
        1,
        "no-such-program cannot be started: it is not in PATH",
    );
    refused(
        &format!("{REPLAY} --solver exec:./none.py"),
        1,
        "./none.py cannot be started: there is no such file",
    );
    fs::write(at.join("plain.py"), "#!/usr/bin/env python3\n").unwrap();
    refused(
        &format!("{REPLAY} --solver exec:./plain.py"),
        1,
        "./plain.py cannot be started: it is not executable",
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
        .says(&["does not list the capability \"max-min\""]);
}

/// Writes a plan with these solvers to `plans/plan.toml`, and runs it in the folder `at` with the additional arguments
/// `more`.
fn sweep(at: &std::path::Path, solvers: &str, more: &str) -> crate::support::Run {
    let plan = format!(
        "[replay]\nevents = \"../idle.csv\"\ntasks = \"../tasks.toml\"\nt_fwd = 120\n\
         window = {{ nodes = 20, skip_rows = 2200 }}\nmax_tasks = [2, 4]\nsolver = [{solvers}]\n"
    );
    fs::write(at.join("plans/plan.toml"), plan).unwrap();
    gleaner(
        at,
        &format!("sweep plans/plan.toml --jobs 1 --quiet {more}"),
    )
}

/// The cells of a column of `sweep.csv`.
fn swept(at: &std::path::Path, column: &str) -> Vec<String> {
    let mut table = csv::Reader::from_path(at.join("swept/sweep.csv")).unwrap();
    let names = table.headers().unwrap().clone();
    let place = names.iter().position(|name| name == column).unwrap();
    table
        .records()
        .map(|row| row.unwrap()[place].to_owned())
        .collect()
}

#[test]
fn a_sweep_tells_the_faults_of_programs_also_when_it_is_started_again() {
    let Some(directory) = with_programs() else {
        return;
    };
    let at = directory.path();
    fs::create_dir(at.join("plans")).unwrap();
    manifest(&directory, "dp.toml", &["dp.py"]);
    manifest(&directory, "third.toml", &["bad.py", "third"]);
    manifest(&directory, "wrong.toml", &["bad.py", "too-many"]);
    let solvers = "\"exact\", \"exec:../dp.toml\", \"exec:../third.toml\", \"exec:../wrong.toml\"";
    let told = [
        "the solver third (exec:../third.toml) had faults in 2 of 2 runs: 4 crashed. First fault: ",
        "the solver too-many (exec:../wrong.toml) had faults in 2 of 2 runs: ",
        " wrong. First fault: ",
    ];
    let first = sweep(at, solvers, "--out swept").expect(0).says(&told);
    assert!(!first.err.contains("dp.py"), "{}", first.err);
    // The rows of all solvers with `max_tasks = 2` precede those with `max_tasks = 4`.
    let faults = swept(at, "program_faults");
    assert_eq!((&*faults[0], &*faults[1], &*faults[2]), ("", "0", "2"));
    assert!(faults[3].parse::<u32>().unwrap() > 1);
    assert_eq!((&*faults[4], &*faults[5], &*faults[6]), ("", "0", "2"));
    let again = sweep(at, solvers, "--out swept").expect(0).says(&told);
    assert!(
        again.out.contains("8, 8 of them already done"),
        "{}",
        again.out
    );
    assert_eq!(swept(at, "program_faults"), faults);
    let strict = sweep(at, solvers, "--out swept --strict")
        .expect(1)
        .says(&told);
    assert!(
        strict.out.contains("8, 8 of them already done"),
        "{}",
        strict.out
    );
    let sound = "\"exact\", \"exec:../dp.toml\"";
    sweep(at, sound, "--out swept --strict").expect(0);
    gleaner(at, "report swept -o swept.html").expect(0);
    // Stored results with altered counts of faults are ignored, and their runs are repeated.
    for segment in gleaner_testing::segments(&at.join("swept")) {
        let text = fs::read_to_string(&segment).unwrap();
        fs::write(&segment, text.replace("\"crashed\":2", "\"crashed\":0")).unwrap();
    }
    let again = sweep(at, solvers, "--out swept").expect(0).says(&told);
    assert!(
        again.out.contains("8, 6 of them already done"),
        "{}",
        again.out
    );
}

#[test]
fn programs_of_a_plan_are_seen_from_its_folder() {
    let Some(directory) = with_programs() else {
        return;
    };
    let at = directory.path();
    fs::create_dir_all(at.join("plans/solvers")).unwrap();
    fs::rename(at.join("dp.py"), at.join("plans/solvers/dp.py")).unwrap();
    // Paths in the command of a manifest are relative to the manifest's folder.
    let text = "command = [\"python3\", \"dp.py\"]\n";
    fs::write(at.join("plans/solvers/dp.toml"), text).unwrap();
    let solvers = "\"exec:solvers/dp.toml\", \"exec:python3 solvers/dp.py\"";
    sweep(at, solvers, "--out swept --strict").expect(0);
    assert_eq!(swept(at, "program_faults"), ["0"; 4]);
    let optimal = swept(at, "events_optimal");
    assert_eq!(optimal[0], optimal[1]);
    let inputs = json(&at.join("swept/run.json"))["inputs"].to_string();
    for file in ["plans/solvers/dp.toml", "plans/solvers/dp.py", "/python3"] {
        assert!(inputs.contains(file), "{file}: {inputs}");
    }
    // A changed program counts as a different solver, so all its runs are repeated.
    let again = || sweep(at, solvers, "--out swept --strict").expect(0).out;
    assert!(again().contains("4, 4 of them already done"));
    let program = fs::read_to_string(at.join("plans/solvers/dp.py")).unwrap();
    fs::write(at.join("plans/solvers/dp.py"), program + "# changed\n").unwrap();
    assert!(again().contains("4, 0 of them already done"));
    // The plan starts the same programs in any current folder.
    let below = "sweep plan.toml --out ../below --quiet --strict";
    gleaner(&at.join("plans"), below).expect(0);
    // On the command line, paths of manifests and programs are relative to the folder in which gleaner runs.
    let line = format!("{REPLAY} --skip-rows 2200 --solver exec:plans/solvers/dp.toml --strict");
    gleaner(at, &line).expect(0);
    sweep(at, "\"exec:none.toml\"", "--dry-run")
        .expect(1)
        .says(&["cannot read plans/none.toml"]);
    sweep(at, "\"exec:'open\"", "--dry-run")
        .expect(3)
        .says(&["a quote is not closed", "line"]);
}

/// Waits until a file exists, and returns its content.
fn awaited(file: &std::path::Path) -> String {
    loop {
        match fs::read_to_string(file) {
            Ok(text) => return text,
            Err(_) => std::thread::sleep(std::time::Duration::from_millis(10)),
        }
    }
}

/// Starts a replay with a solver program that starts three children. The program writes the process ids of its children
/// and its own id to the file `family`, and then loops forever.
fn with_a_family(directory: &TempDir) -> std::process::Child {
    let file = directory.path().join("family");
    manifest(
        directory,
        "bad.toml",
        &["bad.py", "family", file.to_str().unwrap()],
    );
    let line = format!("{REPLAY} --quiet --time-limit 3600 --solver exec:bad.toml --out run");
    let mut command = command(directory.path(), &line);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().unwrap()
}

fn signal(process: u32, signal: &str) {
    let sent = Command::new("kill")
        .args(["-s", signal, &process.to_string()])
        .status();
    assert!(sent.unwrap().success());
}

/// Whether a process is running. The command line of a zombie process is empty.
fn runs(process: &str) -> bool {
    fs::read(format!("/proc/{process}/cmdline")).is_ok_and(|command| !command.is_empty())
}

/// The processes in `family`, a list of a solver program's processes, that gleaner can find. Without control groups, it
/// cannot find the third child, which has left the session and lacks the identifying environment variable.
fn known(family: &str) -> Vec<&str> {
    let hides = usize::from(gleaner_process::Cgroups::find().is_none());
    let family = family.split_whitespace().enumerate();
    family
        .filter(|(i, _)| *i != 2 || hides == 0)
        .map(|(_, process)| process)
        .collect()
}

#[test]
fn a_program_and_its_children_end_when_gleaner_is_killed() {
    let Some(directory) = with_programs().filter(|_| cfg!(target_os = "linux")) else {
        return;
    };
    let mut run = with_a_family(&directory);
    let family = awaited(&directory.path().join("family"));
    signal(run.id(), "KILL");
    run.wait().unwrap();
    for process in known(&family) {
        while runs(process) {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    }
}

#[test]
fn sigterm_does_not_wait_for_a_decision() {
    let Some(directory) = with_programs().filter(|_| cfg!(target_os = "linux")) else {
        return;
    };
    let mut run = with_a_family(&directory);
    let family = awaited(&directory.path().join("family"));
    signal(run.id(), "TERM");
    assert_eq!(run.wait().unwrap().code(), Some(143));
    assert!(known(&family).into_iter().all(|process| !runs(process)));
    let summary = json(&directory.path().join("run/summary.json"));
    assert_eq!(summary["complete"], false);
}
