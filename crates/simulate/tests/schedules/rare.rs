//! Tests coincidences that are too rare for random traces, with small examples worked out by hand.

use gleaner_domain::inputs::{EstimateTable, PackingTable};
use gleaner_simulate::Simulation;

use crate::small::{cluster, simulation, trace};
use crate::venus::run_one;

/// Job 7 takes the GPUs on which job 6 would have been placed. Job 6 is then placed on other GPUs, where it does not
/// delay job 4, which has a reservation.
#[test]
fn easy_considers_a_job_again_after_another_was_backfilled() {
    let jobs = [
        (0, 2, 106, 4),
        (0, 1, 106, 5),
        (0, 1, 106, 103),
        (0, 2, 106, 103),
        (0, 4, 106, 1),
        (0, 1, 106, 99),
        (0, 1, 107, 1),
        (0, 1, 207, 2),
    ];
    let estimates = [1000.0, 1000.0, 1000.0, 334.0, 1000.0, 1.0, 1000.0, 11.0];
    let trace = trace(&jobs);
    let cluster = cluster(&[3], 2);
    let ids = trace.jobs.iter().map(|job| job.id.clone());
    let estimates = EstimateTable(ids.zip(estimates).collect());
    let simulation = Simulation {
        estimates: Some(&estimates),
        ..simulation(&trace, &cluster)
    };
    let run = run_one(&simulation, "easy");
    let starts = run.vcs[0].schedule.jobs.iter().map(|job| job.start);
    let starts: Vec<i64> = starts.collect();
    assert_eq!(starts, [106, 106, 106, 106, 209, 110, 208, 207]);
}

/// Job 3 joins job 0. Job 2 is too long for job 0 and joins job 1. Jobs 2 and 3 end in the same second, job 2 first, so
/// job 1 becomes alone before job 0. Job 4 may join job 0 or job 1, and joins job 0, which started first.
#[test]
fn lucid_joins_the_job_that_started_first_not_that_left_first() {
    let jobs = [
        (0, 1, 0, 1000),
        (0, 1, 0, 1000),
        (0, 1, 9, 51),
        (0, 1, 10, 50),
        (0, 1, 20, 100),
    ];
    let mut trace = trace(&jobs);
    // There is one workload for each score, and its index equals the score. Jobs 0 and 1 must not share GPUs with each
    // other.
    for (job, score) in trace.jobs.iter_mut().zip([2, 2, 0, 0, 0]) {
        job.workload = Some(score);
    }
    let ids = trace.jobs.iter().map(|job| job.id.clone());
    let estimates = EstimateTable(ids.zip([100.0, 1000.0, 500.0, 50.0, 50.0]).collect());
    let packing = PackingTable {
        scores: vec![Some(0), Some(1), Some(2)],
        unmeasured: vec![true; 3],
        ..PackingTable::default()
    };
    let cluster = cluster(&[1], 2);
    let simulation = Simulation {
        estimates: Some(&estimates),
        packing: Some(&packing),
        ..simulation(&trace, &cluster)
    };
    let run = run_one(&simulation, "lucid");
    let jobs = &run.vcs[0].schedule.jobs;
    let joined: Vec<(i64, u64)> = jobs.iter().map(|job| (job.start, job.nodes[0].1)).collect();
    assert_eq!(
        joined,
        [(0, 0b01), (0, 0b10), (9, 0b10), (10, 0b01), (61, 0b01)]
    );
}
