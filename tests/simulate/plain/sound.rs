//! The plain simulator's schedules hold what every schedule must (derived by formula),
//! by a checker that shares no code with it either.

use gleaner::domain::Job;
use gleaner::lucid::checker::{self, Terms, Violation};
use gleaner::lucid::schedule::Schedule;
use proptest::prelude::*;
use proptest::sample::Index;

use super::cases::{Case, case};
use super::{Easy, Fifo, Lucid, Placer, Qssf, Rule, Sjf, Srtf, Tiresias, World, run};

/// What a kind of policies promises.
#[derive(Clone, Copy)]
pub struct Promise {
    notice: i64,
    sharing: bool,
    /// Seconds after which a job ends even if it is not done.
    limit: i64,
}

/// Of FIFO, SJF, QSSF and EASY, and of the profiler but for its limit.
pub const TIMED: Promise = Promise {
    notice: 0,
    sharing: false,
    limit: i64::MAX,
};

/// Of SRTF and Tiresias.
pub const STEPPED: Promise = Promise { notice: 1, ..TIMED };

/// Of Lucid.
pub const SHARED: Promise = Promise {
    sharing: true,
    ..STEPPED
};

fn overhead(gpus: u32) -> i64 {
    if gpus <= 8 { 40 } else { 60 }
}

/// Fails with all violations of a schedule.
pub fn assert_sound(schedule: &Schedule, world: &World, promise: Promise) {
    let violations = violations(schedule, world, promise);
    assert!(violations.is_empty(), "{violations:#?}");
}

/// All violations of a schedule.
fn violations(schedule: &Schedule, world: &World, promise: Promise) -> Vec<Violation> {
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
        queued: Some(&world.queued),
    };
    checker::check(schedule, &terms)
}

fn assert_policy(case: &Case, rule: &mut dyn Rule, promise: Promise) {
    let world = case.world();
    assert_sound(&run(&world, rule), &world, promise);
}

/// A change of one number of a sound schedule.
type Spoil = fn(&mut Schedule, Index);

/// Changes after each of which a sound schedule is not sound any more.
const SPOILS: [Spoil; 12] = [
    |s, i| i.get_mut(&mut s.runs).from -= 1,
    |s, i| i.get_mut(&mut s.runs).from += 1,
    |s, i| i.get_mut(&mut s.runs).until -= 1,
    |s, i| i.get_mut(&mut s.runs).until += 1,
    |s, i| i.get_mut(&mut s.runs).placement[0].1 ^= 1,
    |s, i| i.get_mut(&mut s.runs).placement[0].0 += 100,
    |s, i| i.get_mut(&mut s.runs).last ^= true,
    |s, i| s.runs.push(i.get(&s.runs).clone()),
    |s, i| drop(s.runs.remove(i.index(s.runs.len()))),
    |s, i| i.get_mut(&mut s.jobs).queue += 1,
    |s, i| i.get_mut(&mut s.jobs).checkpoints += 1,
    |s, _| s.busy_gpu_seconds += 1,
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

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

    /// No single spoilt number goes unnoticed.
    #[test]
    fn spoilt_schedules_are_rejected(
        case in case(),
        spoil in prop::sample::select(SPOILS.to_vec()),
        which: Index,
    ) {
        let world = case.world();
        let mut schedules = [
            (run(&world, &mut Srtf), STEPPED),
            (run(&world, &mut Lucid::new(case.switches.clone())), SHARED),
        ];
        for (schedule, promise) in &mut schedules {
            spoil(schedule, which);
            prop_assert!(!violations(schedule, &world, *promise).is_empty());
        }
    }

    #[test]
    fn the_plain_profiler_is_sound(case in case()) {
        let (world, _) = case.profiler.world(&case.world());
        let schedule = run(&world, &mut case.profiler.clone());
        let promise = Promise { limit: case.profiler.limit, ..TIMED };
        assert_sound(&schedule, &world, promise);
    }
}
