//! Compares the product with the plain simulator on random small traces.

use std::sync::LazyLock;

use gleaner_domain::results::policy_run::PolicyRun;
use gleaner_simulate::policies;
use proptest::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::plain::cases::case;
use crate::product::{plain_schedule, schedule};
use crate::same::assert_same;
use crate::town::{self, Town, town};

/// Two thread pools: with one thread, and with four threads.
static POOLS: LazyLock<[ThreadPool; 2]> = LazyLock::new(|| {
    let pool = |threads| ThreadPoolBuilder::new().num_threads(threads).build();
    [1, 4].map(|threads| pool(threads).unwrap())
});

proptest! {
    #![proptest_config(gleaner_testing::slow_cases(600, 5))]

    #[test]
    fn the_engine_equals_stepping_through_every_second(case in case()) {
        for policy in policies::ALL {
            let expected = plain_schedule(&case, policy);
            let found = schedule(&case, policy).unwrap();
            assert_same(&found, &expected, policy.name);
        }
    }

    /// The schedules of `gleaner-simulate` equal those of the plain simulator, pass the checker, and do not depend on
    /// the number of threads.
    #[test]
    fn simulations_equal_stepping_through_every_second(town in town(), profiled: bool) {
        let simulation = town.simulation(profiled);
        let requests: Vec<_> = policies::ALL.iter().map(|p| town.request(p)).collect();
        let [one, four] = [0, 1].map(|pool| {
            let pool: &ThreadPool = &POOLS[pool];
            pool.install(|| town::run(&simulation, &requests)).unwrap()
        });
        assert_eq!(one, four);
        assert_plain(&town, profiled, &one);
    }
}

fn assert_plain(town: &Town, profiled: bool, runs: &[PolicyRun]) {
    let profiler = profiled.then(|| town.plain_profiler());
    assert_eq!(runs.len(), policies::ALL.len());
    for (policy, run) in policies::ALL.iter().zip(runs) {
        for (vc, found) in run.vcs.iter().enumerate() {
            let expected = town.plain_schedule(vc, policy, profiler.as_ref());
            let whose = format!("{}, vc{vc}", policy.name);
            assert_same(&found.schedule, &expected, &whose);
        }
        assert_eq!(run.profiler.is_some(), profiled && policy.profiled);
        if let (Some(found), Some(expected)) = (&run.profiler, &profiler) {
            assert_eq!(found.jobs, expected.jobs);
            assert_same(&found.schedule, &expected.schedule, "profiler");
        }
    }
}
