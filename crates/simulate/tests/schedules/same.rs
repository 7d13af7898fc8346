//! Compares two schedules.

use gleaner_domain::results::schedule::{JobOutcome, JobRun, Schedule, State};

use crate::plain::minutes;

/// Fails if a schedule differs from the expected schedule. Floats are compared with a tolerance of
/// 1e-9.
pub fn assert_same(found: &Schedule, expected: &Schedule, whose: &str) {
    assert_eq!(found.jobs.len(), expected.jobs.len(), "{whose}");
    for (job, (a, b)) in found.jobs.iter().zip(&expected.jobs).enumerate() {
        assert!(same_outcome(a, b), "{whose}, job {job}: {a:?}\n{b:?}");
    }
    assert_eq!(found.runs.len(), expected.runs.len(), "{whose}");
    for (a, b) in found.runs.iter().zip(&expected.runs) {
        assert_eq!(with_changes(a), with_changes(b), "{whose}");
    }
    assert_same_minutes(found, expected, whose);
    assert_eq!(found.nodes, expected.nodes, "{whose}");
    assert_eq!(found.scaling, expected.scaling, "{whose}");
    assert_eq!(found.corrections, expected.corrections, "{whose}");
    assert_eq!(found.busy_gpu_seconds, expected.busy_gpu_seconds, "{whose}");
}

fn same_outcome(a: &JobOutcome, b: &JobOutcome) -> bool {
    let exact = JobOutcome {
        remain: b.remain,
        ..a.clone()
    };
    near(a.remain, b.remain) && exact == *b
}

/// A run without redundant speeds, that is, without speeds that equal the previous speed.
fn with_changes(run: &JobRun) -> JobRun {
    let mut run = run.clone();
    run.speeds.dedup_by(|later, earlier| later.1 == earlier.1);
    run
}

fn assert_same_minutes(found: &Schedule, expected: &Schedule, whose: &str) {
    let (found, expected) = (minutes(found), minutes(expected));
    assert_eq!(found.len(), expected.len(), "{whose}");
    for (a, b) in found.iter().zip(&expected) {
        assert!(
            a.0 == b.0 && same_state(&a.1, &b.1),
            "{whose}: {a:?}\n{b:?}"
        );
    }
}

fn same_state(a: &State, b: &State) -> bool {
    let (a_usage, b_usage) = (usage(a), usage(b));
    let mut pairs = a_usage.into_iter().zip(b_usage);
    pairs.all(|(a, b)| near(a, b)) && without_usage(a) == without_usage(b)
}

fn usage(state: &State) -> [f64; 4] {
    let State {
        gpu_util,
        gmem,
        gpu_util_active,
        gmem_active,
        ..
    } = *state;
    [gpu_util, gmem, gpu_util_active, gmem_active]
}

fn without_usage(state: &State) -> State {
    State {
        gpu_util: 0.0,
        gmem: 0.0,
        gpu_util_active: 0.0,
        gmem_active: 0.0,
        ..*state
    }
}

pub fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * b.abs().max(1.0)
}
