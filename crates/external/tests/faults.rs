//! Programs that break the protocol: every problem is answered, and nothing is left behind.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::process::Command;
use std::time::Duration;

use gleaner_external::{External, SolverCommand, Tally};
use gleaner_solvers::{Allocation, BigM, Limits, Problem, Solver, Status, synthetic};

/// Whether there is Python; says so if not.
fn python() -> bool {
    let found = Command::new("python3").arg("--version").output().is_ok();
    if !found {
        eprintln!("skipped: python3 is not installed, and the programs are written in it");
    }
    found
}

fn command(way: &str) -> SolverCommand {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs/bad.py");
    format!("exec:python3 '{path}' {way}").parse().unwrap()
}

fn problems() -> Vec<Problem> {
    (0..5).map(|seed| synthetic::problem(4, 12, seed)).collect()
}

/// The answers of a program, and the counts.
fn answers(way: &str, seconds: f64) -> (Vec<Allocation>, Tally) {
    let limits = Limits {
        time: Duration::from_secs_f64(seconds),
        gap: 1e-9,
    };
    let mut solver = External::start(command(way), BigM::default()).unwrap();
    let tally = solver.tally();
    let problems = problems();
    let answers = problems
        .iter()
        .map(|problem| solver.solve(problem, &limits).unwrap());
    let answers: Vec<Allocation> = answers.collect();
    drop(solver);
    for (problem, answer) in problems.iter().zip(&answers) {
        gleaner_solvers::check(problem, answer, BigM::default()).unwrap();
    }
    (answers, tally.get())
}

fn statuses(answers: &[Allocation]) -> Vec<Status> {
    answers.iter().map(|answer| answer.status).collect()
}

#[test]
fn lines_that_are_no_messages_are_counted_and_skipped() {
    if !python() {
        return;
    }
    for (way, lines) in [("garbage", 10), ("long-line", 5), ("wrong-status", 5)] {
        let (found, tally) = answers(way, 10.0);
        assert_eq!(statuses(&found), [Status::Feasible; 5], "{way}");
        assert_eq!(tally.garbage, lines, "{way}");
        assert!(
            tally
                .remark()
                .unwrap()
                .contains("lines that are no message")
        );
    }
}

#[test]
fn wrong_plans_are_not_used() {
    if !python() {
        return;
    }
    for way in ["too-many", "wrong-length", "no-counts"] {
        let (found, tally) = answers(way, 10.0);
        assert_eq!(statuses(&found), [Status::Unknown; 5], "{way}");
        assert_eq!(tally.wrong, 5, "{way}");
    }
    let (found, tally) = answers("claims", 10.0);
    assert_eq!(statuses(&found), [Status::Feasible; 5]);
    assert_eq!((tally.wrong, tally.confirmed), (5, 0));
    let told = tally.remark().unwrap();
    assert!(told.contains("is called optimal, but"), "{told}");
}

#[test]
fn late_programs_are_ended_and_started_again() {
    if !python() {
        return;
    }
    for way in [
        "hangs",
        "other-id",
        "incumbent-then-hangs",
        "ignores-signals",
        "floods",
    ] {
        // A busy machine needs a while until a plan is there.
        let plan = ["incumbent-then-hangs", "floods"].contains(&way);
        let (found, tally) = answers(way, if plan { 1.5 } else { 0.3 });
        let status = if plan {
            Status::Feasible
        } else {
            Status::Unknown
        };
        assert_eq!(statuses(&found), [status; 5], "{way}");
        assert_eq!((tally.problems, tally.late), (5, 5), "{way}");
    }
}

#[test]
fn dead_programs_are_started_again_but_not_for_ever() {
    if !python() {
        return;
    }
    let (found, tally) = answers("third", 10.0);
    let mut expected = [Status::Feasible; 5];
    expected[2] = Status::Unknown;
    assert_eq!(statuses(&found), expected);
    assert_eq!((tally.crashed, tally.given_up), (1, false));
    let (found, tally) = answers("closes", 10.0);
    assert_eq!(
        (statuses(&found), tally.crashed),
        (vec![Status::Unknown; 5], 5)
    );

    let mut solver = External::start(command("every"), BigM::default()).unwrap();
    let problem = synthetic::problem(4, 12, 1);
    for _ in 0..30 {
        let answer = solver.solve(&problem, &Limits::default()).unwrap();
        assert_eq!(answer.status, Status::Unknown);
    }
    let tally = solver.tally().get();
    assert_eq!(
        (tally.problems, tally.crashed, tally.given_up),
        (30, 10, true)
    );
    let told = tally.remark().unwrap();
    assert!(
        told.contains("out of tokens") && told.contains("not started again"),
        "{told}"
    );
}

#[test]
fn a_gibibyte_of_errors_is_read_and_not_kept() {
    if !python() {
        return;
    }
    let before = memory();
    let mut solver = External::start(command("errors"), BigM::default()).unwrap();
    let problem = synthetic::problem(4, 12, 1);
    let limits = Limits {
        time: Duration::from_secs(120),
        gap: 1e-9,
    };
    assert_eq!(
        solver.solve(&problem, &limits).unwrap().status,
        Status::Feasible
    );
    let more = memory().saturating_sub(before);
    assert!(more < 64 << 10, "{more} KiB more memory");
}

/// Most memory that this process has had, in KiB; 0 where the system does not tell.
fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    number.unwrap_or(0)
}

#[test]
fn nothing_is_left_behind() {
    if !python() || !cfg!(target_os = "linux") {
        return;
    }
    for way in ["forks", "hangs", "ignores-signals"] {
        let (_, tally) = answers(way, 0.5);
        assert_eq!(tally.problems, 5);
    }
    let ours = format!("GLEANER_SOLVER={}-", std::process::id());
    for process in std::fs::read_dir("/proc").unwrap().flatten() {
        let environment = std::fs::read(process.path().join("environ")).unwrap_or_default();
        let is_ours = |entry: &[u8]| entry.starts_with(ours.as_bytes());
        // Other tests of this process may run programs now.
        let command = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
        let is_sleep = command.starts_with(b"sleep");
        assert!(
            !(is_sleep && environment.split(|&b| b == 0).any(is_ours)),
            "{process:?}"
        );
    }
}

#[test]
fn programs_that_say_no_hello_are_refused() {
    if !python() {
        return;
    }
    let refusal = |way: &str| match External::start(command(way), BigM::default()) {
        Ok(_) => panic!("{way} was accepted"),
        Err(error) => error.to_string(),
    };
    assert!(refusal("wrong-version").contains("version 2 of the protocol"));
    let told = refusal("dies-at-once");
    assert!(
        told.contains("exit status: 1") && told.contains("no licence"),
        "{told}"
    );
    let directory = tempfile::tempdir().unwrap();
    let manifest = directory.path().join("solver.toml");
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs/bad.py");
    let text = format!("command = [\"python3\", {path:?}, \"silent\"]\nstart_seconds = 0.3\n");
    std::fs::write(&manifest, text).unwrap();
    let command: SolverCommand = format!("exec:{}", manifest.display()).parse().unwrap();
    let error = External::start(command, BigM::default()).err().unwrap();
    assert!(error.to_string().contains("no hello in 0.3 s"), "{error}");
}

#[test]
fn refusals_are_no_faults() {
    if !python() {
        return;
    }
    let (found, tally) = answers("refuses", 10.0);
    assert_eq!(statuses(&found), [Status::Unknown; 5]);
    assert_eq!((tally.refused, tally.has_faults()), (5, false));
}

#[test]
fn faulty_commands_and_manifests_are_reported() {
    let error = |text: &str| text.parse::<SolverCommand>().unwrap_err().to_string();
    assert!(error("exec:").contains("expected a command"));
    assert!(error("exec:a 'b").contains("a quote is not closed"));
    assert!(error("python3").contains("expected exec:COMMAND"));
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("solver.toml");
    for (text, told) in [
        ("command = []", "at least the name of a program"),
        ("comand = [\"a\"]", "line 1"),
        ("command = [\"a\"]\nthreads = 0", "threads of at least 1"),
        (
            "command = [\"a\"]\nstart_seconds = nan",
            "start_seconds above 0",
        ),
    ] {
        std::fs::write(&path, text).unwrap();
        let found = error(&format!("exec:{}", path.display()));
        assert!(found.contains(told), "{found}");
    }
    assert!(error("exec:/no/such/solver.toml").contains("cannot read"));
}
