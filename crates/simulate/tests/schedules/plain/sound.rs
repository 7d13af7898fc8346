//! Tests that the plain simulator's schedules are valid. The checker and the plain simulator share no code.

use gleaner_domain::Job;
use gleaner_domain::results::schedule::Schedule;
use gleaner_simulate::checker::{self, Terms, Violation};
use proptest::prelude::*;

use super::cases::{Case, case};
use super::{Easy, Fifo, Lucid, Placer, Qssf, Rule, Sjf, Srtf, Tiresias, World, run};

/// The properties that a policy guarantees for its schedules.
#[derive(Clone, Copy)]
pub struct Promise {
    notice: i64,
    sharing: bool,
    /// Seconds after which a job ends even if its work is not done.
    limit: i64,
}

/// The properties that FIFO, SJF, QSSF and EASY guarantee. The profiler guarantees the same properties, but also
/// ends each job at its limit.
pub const TIMED: Promise = Promise {
    notice: 0,
    sharing: false,
    limit: i64::MAX,
};

/// The properties that SRTF and Tiresias guarantee.
pub const STEPPED: Promise = Promise { notice: 1, ..TIMED };

/// The properties that Lucid guarantees.
pub const SHARED: Promise = Promise {
    sharing: true,
    ..STEPPED
};

fn overhead(gpus: u32) -> i64 {
    if gpus <= 8 { 40 } else { 60 }
}

/// Fails with a list of all violations if a schedule is invalid.
pub fn assert_sound(schedule: &Schedule, world: &World, promise: Promise) {
    let violations = violations(schedule, world, promise);
    assert!(violations.is_empty(), "{violations:#?}");
}

/// The properties that the policy with this name guarantees.
pub fn promise(policy: &str) -> Promise {
    match policy {
        "srtf" | "tiresias" => STEPPED,
        "lucid" => SHARED,
        _ => TIMED,
    }
}

/// All violations of a schedule.
pub fn violations(schedule: &Schedule, world: &World, promise: Promise) -> Vec<Violation> {
    let terms = Terms {
        jobs: &world.jobs,
        gpus_per_node: world.gpus_per_node,
        nodes: world.nodes,
        start: world.start,
        sharing: promise.sharing,
        split: world.placer != Placer::Consolidate,
        notice: promise.notice,
        due: &|job: &Job| job.duration.min(promise.limit),
        overhead: &overhead,
        entries: Some(&world.entries),
        queued: Some(&world.queued),
    };
    checker::check(schedule, &terms)
}

fn assert_policy(case: &Case, rule: &mut dyn Rule, promise: Promise) {
    let world = case.world();
    assert_sound(&run(&world, rule), &world, promise);
}

proptest! {
    #![proptest_config(gleaner_testing::cases(128))]

    #[test]
    fn plain_schedules_are_sound(case in case()) {
        assert_policy(&case, &mut Fifo, TIMED);
        assert_policy(&case, &mut Sjf, TIMED);
        assert_policy(&case, &mut Qssf, TIMED);
        assert_policy(&case, &mut Easy, TIMED);
        assert_policy(&case, &mut Srtf, STEPPED);
        assert_policy(&case, &mut Tiresias, STEPPED);
    }

    #[test]
    fn plain_lucid_is_sound(case in case()) {
        let mut world = case.world();
        world.queued = case.queued.clone();
        let schedule = run(&world, &mut Lucid::new(case.switches.clone()));
        assert_sound(&schedule, &world, SHARED);
    }

    #[test]
    fn the_plain_profiler_is_sound(case in case()) {
        let (world, _) = case.profiler.world(&case.world());
        let schedule = run(&world, &mut case.profiler.clone());
        let promise = Promise { limit: case.profiler.limit, ..TIMED };
        assert_sound(&schedule, &world, promise);
    }
}
