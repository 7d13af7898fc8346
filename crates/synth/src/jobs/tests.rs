//! Tests that generated experiments have the requested properties.

use gleaner_domain::Unobserved;
use gleaner_testing::StopAfter;

use super::*;

fn options() -> JobOptions {
    JobOptions {
        vcs: 4,
        nodes: 40,
        gpus_per_node: 8,
        days: 14,
        amount: Amount::Load(0.7),
        seed: 1,
    }
}

fn jobs(options: &JobOptions) -> Vec<(Job, i64)> {
    generate(options, &Unobserved).unwrap().jobs().collect()
}

#[test]
fn the_trace_has_the_requested_load() {
    for load in [0.1, 0.7, 1.5] {
        let options = JobOptions {
            amount: Amount::Load(load),
            ..options()
        };
        let experiment = generate(&options, &Unobserved).unwrap();
        let work: f64 = experiment
            .jobs()
            .map(|(job, _)| f64::from(job.gpus) * job.duration as f64)
            .sum();
        let offered = 40.0 * 8.0 * 14.0 * 86_400.0;
        assert!((work / offered - load).abs() < 0.03, "{}", work / offered);
        assert!((experiment.load - work / offered).abs() < 1e-9);
    }
}

#[test]
fn the_requested_number_of_jobs_is_generated_in_order() {
    let options = JobOptions {
        amount: Amount::Jobs(1234),
        ..options()
    };
    let jobs = jobs(&options);
    assert_eq!(jobs.len(), 1234);
    assert!(jobs.is_sorted_by_key(|(job, _)| job.submit));
    let last = 14 * 86_400;
    assert!(jobs.iter().all(|(job, _)| (0..last).contains(&job.submit)));
}

#[test]
fn sizes_and_lengths_are_those_of_real_clusters() {
    let jobs = jobs(&options());
    let share = |of: &dyn Fn(&Job) -> bool| {
        jobs.iter().filter(|(job, _)| of(job)).count() as f64 / jobs.len() as f64
    };
    assert!((share(&|job| job.gpus == 1) - 0.54).abs() < 0.08);
    assert!((0.02..0.15).contains(&share(&|job| job.gpus > 8)));
    assert!(share(&|job| job.duration < 3600) > 0.7);
    assert!(share(&|job| job.duration > 86_400) > 0.001);
    assert!((share(&|job| job.state == "COMPLETED") - 0.62).abs() < 0.05);
    let negative = jobs.iter().filter(|(_, estimate)| *estimate < 0).count();
    assert!((0.005..0.05).contains(&(negative as f64 / jobs.len() as f64)));
    let night = share(&|job| job.submit % 86_400 < 6 * 3600);
    assert!(night < 0.2, "{night}");
}

#[test]
fn every_job_fits_beside_a_node_that_is_lent() {
    let options = JobOptions {
        vcs: 7,
        nodes: 20,
        gpus_per_node: 4,
        ..options()
    };
    let experiment = generate(&options, &Unobserved).unwrap();
    let nodes: Vec<u32> = experiment.cluster.vcs.iter().map(|vc| vc.nodes).collect();
    assert_eq!(nodes.iter().sum::<u32>(), 20);
    assert!(nodes.is_sorted_by(|a, b| a >= b), "{nodes:?}");
    for (job, _) in experiment.jobs() {
        assert!(job.gpus <= 4 * (nodes[job.vc] - 1).max(1), "{job:?}");
        assert!(job.duration >= 1);
    }
}

#[test]
fn the_forecast_counts_every_job() {
    let experiment = generate(&options(), &Unobserved).unwrap();
    let counted: u32 = experiment.forecast.iter().map(|i| i.jobs).sum();
    assert_eq!(counted as usize, experiment.len());
    let forecast: f64 = experiment.forecast.iter().map(|i| i.forecast_jobs).sum();
    assert!((forecast / experiment.len() as f64 - 1.0).abs() < 0.05);
    assert_eq!(experiment.forecast.len(), 14 * 144);
}

#[test]
fn the_same_seed_gives_the_same_experiment() {
    assert_eq!(
        generate(&options(), &Unobserved).unwrap(),
        generate(&options(), &Unobserved).unwrap()
    );
    let other = JobOptions {
        seed: 2,
        ..options()
    };
    assert_ne!(
        generate(&options(), &Unobserved).unwrap(),
        generate(&other, &Unobserved).unwrap()
    );
}

#[test]
fn options_outside_their_ranges_are_refused() {
    let refused = |change: fn(&mut JobOptions), flag: &str| {
        let mut options = options();
        change(&mut options);
        match generate(&options, &Unobserved) {
            Err(Error::Usage(text)) => assert!(text.contains(flag), "{text}"),
            other => panic!("{flag}: {other:?}"),
        }
    };
    refused(|o| o.vcs = 0, "--vcs");
    refused(|o| o.nodes = 3, "--nodes");
    refused(|o| o.nodes = 100_001, "--nodes");
    refused(|o| o.gpus_per_node = 65, "--gpus-per-node");
    refused(|o| o.days = 0, "--days");
    refused(|o| o.amount = Amount::Jobs(0), "--jobs");
    refused(|o| o.amount = Amount::Load(f64::NAN), "--load");
    refused(|o| o.amount = Amount::Load(0.0), "--load");
}

#[test]
fn a_stopped_generation_ends_at_the_next_batch() {
    for amount in [Amount::Load(0.7), Amount::Jobs(1234)] {
        let options = JobOptions {
            amount,
            ..options()
        };
        for reports in [0, 3] {
            let observer = StopAfter::new(reports);
            let stopped = generate(&options, &observer);
            assert!(matches!(stopped, Err(Error::Stopped)));
            assert_eq!(observer.progress().len(), reports);
        }
    }
}
