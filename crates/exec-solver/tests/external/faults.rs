//! Tests programs that break the protocol: every problem gets an answer, and no process is left behind.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use gleaner_domain::{Error, Unobserved};
use gleaner_exec_solver::conformance::{Check, Verdict, conformance};
use gleaner_exec_solver::{External, SolverCommand, Tally};
use gleaner_process::Cgroups;
use gleaner_solvers::{Allocation, BigM, GroupLimit, Limits, Problem, Solver, Status, synthetic};
use gleaner_testing::StopAfter;

/// Whether Python is available. If it is not, prints a note.
pub fn python() -> bool {
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

/// The answers of a program, and their tally.
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
        assert!(tally.remark().unwrap().contains("invalid lines"));
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
    assert!(told.contains("is reported as optimal, but"), "{told}");
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
        // On a busy machine, a plan can take a while to arrive.
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

// The program writes messages so fast that one is always queued. If the deadline were checked only while no message is
// queued, it would never take effect.
#[test]
fn a_flood_of_messages_does_not_move_the_deadline() {
    if !python() {
        return;
    }
    let mut solver = External::start(command("floods-others"), BigM::default()).unwrap();
    let limits = Limits {
        time: Duration::from_millis(200),
        ..Limits::default()
    };
    let answer = solver
        .solve(&synthetic::problem(4, 12, 1), &limits)
        .unwrap();
    assert_eq!(answer.status, Status::Unknown);
    assert_eq!(solver.tally().get().late, 1);
}

#[test]
fn a_stop_does_not_wait_for_the_time_limit() {
    if !python() {
        return;
    }
    for way in ["hangs", "floods-others"] {
        let mut solver = External::start(command(way), BigM::default()).unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        solver.stop_when(&stop);
        let limits = Limits {
            time: Duration::from_secs(3600),
            ..Limits::default()
        };
        thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(Duration::from_millis(100));
                stop.store(true, Ordering::Relaxed);
            });
            let answer = solver.solve(&synthetic::problem(4, 12, 1), &limits);
            assert_eq!(answer.unwrap().status, Status::Unknown);
        });
        assert!(!solver.tally().get().has_faults());
    }
}

#[test]
fn a_program_that_does_not_read_is_ended_and_loses_no_line_silently() {
    if !python() {
        return;
    }
    let mut solver = External::start(command("deaf"), BigM::default()).unwrap();
    let problem = synthetic::problem(40, 120, 1);
    for _ in 0..200 {
        solver.solve(&problem, &Limits::default()).unwrap();
        if solver.tally().get().has_faults() {
            break;
        }
    }
    let tally = solver.tally().get();
    assert_eq!((tally.crashed, tally.late), (1, 0));
    let told = tally.remark().unwrap();
    assert!(told.contains("it does not read its input"), "{told}");
}

#[test]
fn a_false_claim_that_there_is_no_plan_is_wrong() {
    if !python() {
        return;
    }
    let (found, tally) = answers("infeasible", 10.0);
    assert_eq!(statuses(&found), [Status::Unknown; 5]);
    assert_eq!(tally.wrong, 5);
    let told = tally.remark().unwrap();
    assert!(
        told.contains("reported as infeasible, but a plan exists"),
        "{told}"
    );

    // The exact solver agrees with the first claim and cannot solve the other two problems. In the
    // second problem, the current allocation meets the limits, so the claim is wrong. In the third
    // problem, it is unknown whether a plan exists.
    let mut solver = External::start(command("infeasible"), BigM::default()).unwrap();
    let mut problem = synthetic::problem(3, 6, 1);
    let group = |tasks: [usize; 2], min_total| GroupLimit {
        name: format!("{tasks:?}"),
        tasks: tasks.map(|task| format!("task{task}")).to_vec(),
        min_total: Some(min_total),
        max_total: None,
    };
    problem.groups = vec![group([0, 1], 7)];
    let crossing = |minimum| vec![group([0, 1], minimum), group([1, 2], minimum)];
    for (groups, status, wrong) in [
        (problem.groups.clone(), Status::Infeasible, 0),
        (crossing(0), Status::Unknown, 1),
        (crossing(7), Status::Unknown, 1),
    ] {
        problem.groups = groups;
        for task in &mut problem.tasks {
            task.current = 0;
        }
        let answer = solver.solve(&problem, &Limits::default()).unwrap();
        assert_eq!((answer.status, solver.tally().get().wrong), (status, wrong));
    }
}

/// Returns the verdicts of the conformance checks on a program.
fn verdicts(way: &str) -> Vec<(&'static str, Verdict)> {
    let mut verdicts = Vec::new();
    let mut ended = |check: Check| verdicts.push((check.name, check.verdict));
    conformance(&command(way), &Unobserved, &mut ended).unwrap();
    verdicts
}

#[test]
fn stopped_conformance_checks_have_no_further_verdicts() {
    if !python() {
        return;
    }
    for (reports, verdicts) in [(0, 0), (1, 1)] {
        let (observer, mut names) = (StopAfter::new(reports), Vec::new());
        // The program never answers, so running all checks would take minutes.
        let found = conformance(&command("hangs"), &observer, &mut |check| {
            names.push(check.name);
        });
        assert!(matches!(found, Err(Error::Stopped)), "{found:?}");
        assert_eq!(names.len(), verdicts, "{names:?}");
    }
}

#[test]
fn conformance_refuses_a_solver_without_plans_and_takes_one_that_answers_at_once() {
    if !python() {
        return;
    }
    let of = |way, name| {
        let found = verdicts(way).into_iter().find(|(asked, _)| *asked == name);
        found.unwrap().1
    };
    let refused = of("infeasible", "solves small problems");
    assert!(
        matches!(&refused, Verdict::Failed(why) if why.contains("reported as infeasible")),
        "{refused:?}"
    );
    // The program's answer arrives before the request is cancelled.
    let at_once = of("at-once", "stops when cancelled");
    assert!(matches!(at_once, Verdict::Passed(_)), "{at_once:?}");
}

#[test]
fn long_texts_of_programs_are_bounded() {
    if !python() {
        return;
    }
    let error = External::start(command("long-name"), BigM::default()).err();
    let told = error.unwrap().to_string();
    assert!(
        told.contains("its name has 524288 bytes, expected at most 256"),
        "{told}"
    );
    let (_, tally) = answers("long-status", 0.5);
    let told = tally.remark().unwrap();
    assert!(tally.garbage > 0 && told.len() < 2000, "{}", told.len());
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
        told.contains("out of tokens") && told.contains("not restarted"),
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

/// Peak memory of this process, in KiB; 0 if the system does not report it.
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
        // Other tests in this process may be running programs at the same time.
        let command = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
        let is_sleep = command.starts_with(b"sleep");
        assert!(
            !(is_sleep && environment.split(|&b| b == 0).any(is_ours)),
            "{process:?}"
        );
    }
}

/// Whether a process is running. A zombie process has an empty command line.
fn runs(process: &str) -> bool {
    let command = std::fs::read(Path::new("/proc").join(process).join("cmdline"));
    command.is_ok_and(|command| !command.is_empty())
}

#[test]
fn children_that_hide_are_ended_where_there_are_control_groups() {
    if !python() || !cfg!(target_os = "linux") {
        return;
    }
    let known = match Cgroups::find() {
        Some(_) => 4,
        None => {
            eprintln!("skipped in part: no control group can be created here");
            2
        }
    };
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("family");
    let text = format!("{} '{}'", command("family").as_str(), file.display());
    let mut solver = External::start(text.parse().unwrap(), BigM::default()).unwrap();
    let limits = Limits {
        time: Duration::from_secs(2),
        ..Limits::default()
    };
    solver
        .solve(&synthetic::problem(4, 12, 1), &limits)
        .unwrap();
    drop(solver);
    let family = std::fs::read_to_string(file).unwrap();
    for process in family.split_whitespace().take(known) {
        assert!(!runs(process), "{process} of {family}");
    }
    // Without control groups, the test itself must kill the hidden child.
    if let (2, Some(hidden)) = (known, family.split_whitespace().nth(2)) {
        Command::new("kill").arg(hidden).status().unwrap();
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
        ("command = []", "command with at least a program name"),
        ("comand = [\"a\"]", "line 1"),
        ("command = [\"a\"]\nthreads = 0", "threads of at least 1"),
        (
            "command = [\"a\"]\nstart_seconds = nan",
            "start_seconds above 0",
        ),
        (
            "command = [\"a\"]\nconfirm_gap = 1",
            "confirm_gap of at least 0 and below 1",
        ),
    ] {
        std::fs::write(&path, text).unwrap();
        let found = error(&format!("exec:{}", path.display()));
        assert!(found.contains(told), "{found}");
    }
    assert!(error("exec:/no/such/solver.toml").contains("cannot read"));
}
