//! Tests `gleaner replay` on nodes of several classes, from the generated inputs to the report page.

use std::fs;
use std::path::Path;

use gleaner_runs::read::{self, ReplayRun, RunResult};

use crate::support::{gleaner, samples};

/// Writes a log of nodes in two classes, and tasks with curves for both classes.
fn generate(at: &Path) {
    let log = "synth events --days 1 --classes v100=18,a100=12 --seed 3 -o log.csv";
    gleaner(at, log).expect(0);
    let tasks = "synth tasks --count 8 --max-nodes 8 --classes v100=1,a100=2.4 -o tasks.toml";
    gleaner(at, tasks).expect(0);
}

fn result(at: &Path, name: &str) -> ReplayRun {
    match read::read(&at.join(name)).unwrap().result {
        RunResult::Replay(run) => *run,
        other => panic!("not a replay: {other:?}"),
    }
}

#[test]
fn a_mixed_machine_is_replayed_checked_and_drawn() {
    let directory = samples();
    let at = directory.path();
    generate(at);
    let replay = "replay --events log.csv --tasks tasks.toml --repeat-tasks --t-fwd 120";
    let run = gleaner(at, &format!("{replay} --check --out run")).expect(0);
    assert!(run.out.contains("Node classes"), "{}", run.out);
    let checked = gleaner(at, "check run").expect(0);
    assert!(
        !checked.out.contains("no check covers it"),
        "{}",
        checked.out
    );
    let found = result(at, "run");
    let classes = found.classes.unwrap();
    let names: Vec<&str> = classes.totals.iter().map(|total| &*total.class).collect();
    assert_eq!(names, ["v100", "a100"]);
    assert!(classes.totals.iter().all(|total| total.work > 0.0));
    let work: f64 = classes.totals.iter().map(|total| total.work).sum();
    assert!((work - found.summary.total_work).abs() <= 1e-9 * work);
    assert_eq!(found.summary.events_optimal, found.summary.events);
    gleaner(at, "report run -o page.html").expect(0);
    let page = fs::read_to_string(at.join("page.html")).unwrap();
    for words in [
        "Used nodes by class",
        "Moves between classes",
        "Node-time by task and class",
    ] {
        assert!(page.contains(words), "{words}");
    }
}

#[test]
fn proven_plans_do_more_work_than_equal_shares() {
    let directory = samples();
    let at = directory.path();
    generate(at);
    let replay = "replay --events log.csv --tasks tasks.toml --repeat-tasks --t-fwd 120 --to 2026-01-01T03:00:00";
    let solvers = [
        ("exact", true),
        ("equal-share", true),
        ("highs", cfg!(feature = "highs")),
    ];
    for (solver, _) in solvers.into_iter().filter(|(_, is_built)| *is_built) {
        gleaner(
            at,
            &format!("{replay} --check --solver {solver} --out {solver}"),
        )
        .expect(0);
        gleaner(at, &format!("check {solver}")).expect(0);
    }
    let exact = result(at, "exact");
    let shared = result(at, "equal-share");
    assert!(shared.summary.total_work < exact.summary.total_work);
}

#[test]
fn solvers_are_compared_on_the_decisions_of_a_replay() {
    let directory = samples();
    let at = directory.path();
    generate(at);
    let log = "--events log.csv --tasks tasks.toml --t-fwd 120 --to 2026-01-01T06:00:00 --every 10";
    gleaner(at, &format!("compare {log} --out compared")).expect(0);
    let solvers = fs::read_to_string(at.join("compared/solvers.csv")).unwrap();
    let exact: Vec<&str> = solvers.lines().nth(1).unwrap().split(',').collect();
    let [name, problems, refused, optimal, ..] = exact[..] else {
        panic!("{solvers}");
    };
    assert_eq!((name, refused, optimal), ("exact", "0", problems));
    assert!(problems.parse::<u32>().unwrap() > 5, "{solvers}");
    gleaner(at, "report compared -o page.html").expect(0);
}

#[test]
fn classes_that_do_not_fit_are_named() {
    let directory = samples();
    let at = directory.path();
    generate(at);
    let plain = "replay --events idle.csv --tasks tasks.toml --t-fwd 120";
    let refused = gleaner(at, plain).expect(2);
    assert!(refused.err.contains("--classes"), "{}", refused.err);
    let bound = "replay --events log.csv --tasks tasks.toml --t-fwd 120 --bound";
    let refused = gleaner(at, bound).expect(2);
    assert!(refused.err.contains("--bound"), "{}", refused.err);
    gleaner(at, "synth tasks --count 2 --classes h100=1 -o other.toml").expect(0);
    let strangers = "replay --events log.csv --tasks other.toml --t-fwd 120";
    let run = gleaner(at, strangers).expect(0);
    assert!(
        run.err.contains("classes that the log does not have: h100"),
        "{}",
        run.err
    );
}
