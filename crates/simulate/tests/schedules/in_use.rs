//! Tests the GPU use while jobs arrive: compares it with the number of GPUs that the runs hold in each second.

use std::collections::BTreeSet;

use gleaner_domain::results::policy_run::PolicyRun;
use gleaner_domain::results::schedule::Schedule;
use gleaner_simulate::metrics::summarise;
use gleaner_simulate::policies;
use proptest::prelude::*;

use crate::same::near;
use crate::town::{self, town};

/// Number of GPUs that the runs of a schedule hold in a given second.
fn held(schedule: &Schedule, second: i64) -> usize {
    let runs = schedule.runs.iter();
    let now = runs.filter(|run| run.from <= second && second < run.until);
    let gpus = now
        .flat_map(|run| &run.placement)
        .flat_map(|&(slot, gpus)| {
            let held = (0..64).filter(move |gpu| gpus >> gpu & 1 == 1);
            held.map(move |gpu| (slot, gpu))
        });
    gpus.collect::<BTreeSet<(u32, u32)>>().len()
}

fn in_use(run: &PolicyRun, second: i64) -> f64 {
    let vcs = run.vcs.iter().map(|vc| &vc.schedule);
    let profiler = run.profiler.iter().map(|profiler| &profiler.schedule);
    let all = vcs.chain(profiler);
    all.map(|schedule| held(schedule, second) as f64).sum()
}

proptest! {
    #![proptest_config(gleaner_testing::cases(48))]

    #[test]
    fn gpus_in_use_while_jobs_arrive(town in town(), profiled: bool) {
        let chosen = ["srtf", "lucid"];
        let requests = policies::ALL.iter().filter(|policy| chosen.contains(&policy.name));
        let requests: Vec<_> = requests.map(|policy| town.request(policy)).collect();
        let submits = || town.trace.jobs.iter().map(|job| job.submit);
        let (first, last) = (submits().min().unwrap(), submits().max().unwrap());
        for run in town::run(&town.simulation(profiled), &requests).unwrap() {
            let figures = summarise(&town.trace, &town.cluster, &run);
            if first == last {
                prop_assert_eq!((figures.in_use_while_arriving, figures.warm_up_until), (None, None));
                continue;
            }
            let busy: f64 = (first..last).map(|second| in_use(&run, second)).sum();
            let mean = busy / (last - first) as f64;
            let share = figures.in_use_while_arriving.unwrap();
            prop_assert!(near(share, mean / figures.gpus as f64), "{share}");
            let reached = (first..last).find(|&second| in_use(&run, second) >= mean / 2.0);
            prop_assert_eq!(figures.warm_up_until, reached.filter(|_| busy > 0.0));
        }
    }
}
