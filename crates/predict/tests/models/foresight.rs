//! Tests that no prediction uses a job's own duration or anything that happens later.

use gleaner_domain::Unobserved;
use gleaner_domain::inputs::{EstimateTable, Forecast, PackingTable};
use gleaner_domain::{Cluster, Job, Trace};
use gleaner_inputs::jobs;
use gleaner_learn::lucid::throughput::Series;
use gleaner_learn::lucid::workload::{Estimator, EstimatorChoice, Learning};
use gleaner_predict::{Calendar, Simulated, Weekly, WeeklyEstimates, forecast_trained};
use gleaner_runs::experiment;
use gleaner_simulate::placers;
use gleaner_simulate::policies::{self, Without};
use gleaner_simulate::profiler::Profiler;
use gleaner_simulate::{Request, Simulation, simulate};
use gleaner_synth::jobs::{Amount, JobOptions, generate};

const WEEK: i64 = 7 * 24 * 3600;

/// Four weeks of jobs on a small cluster.
struct World {
    trace: Trace,
    cluster: Cluster,
    packing: PackingTable,
    profiler: Profiler,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let options = JobOptions {
            vcs: 2,
            nodes: 6,
            gpus_per_node: 8,
            days: 28,
            amount: Amount::Load(0.9),
            seed: 5,
        };
        experiment::write(&generate(&options, &Unobserved).unwrap(), folder.path()).unwrap();
        let file = |name: &str| folder.path().join(name);
        let cluster = jobs::cluster::read(&file("vc_config.csv"), 8)
            .unwrap()
            .value;
        let profiles = jobs::profiles::read(&file("single_data.csv"))
            .unwrap()
            .value;
        let pairs = jobs::colocate::read(&file("colocate_info.csv"))
            .unwrap()
            .value;
        let trace = jobs::trace::read(&file("jobs.csv"), &cluster, jobs::trace::Options::default());
        let trace = trace.unwrap().value.trace;
        World {
            packing: PackingTable::new(&trace.workloads, &profiles, &pairs),
            profiler: Profiler {
                limit: 200,
                nodes: 1,
                factor: 4.0,
                lent: vec![(0, 1)],
                elastic: None,
            },
            trace,
            cluster,
        }
    }

    /// The estimates that are learnt in a simulation of `trace`.
    fn learn(&self, trace: &Trace, weekly: &Weekly, request: &Request) -> WeeklyEstimates {
        let simulation = self.simulation(trace);
        let learnt = weekly.estimates(&Simulated {
            trace,
            cluster: &self.cluster,
            start: simulation.start,
            observer: &Unobserved,
            simulate: |first: &Trace, estimates: &EstimateTable| {
                let ends = simulation.ends(first, estimates, request, &Unobserved);
                Ok::<_, Box<dyn std::error::Error>>(ends?)
            },
        });
        learnt.unwrap()
    }

    fn simulation<'a>(&'a self, trace: &'a Trace) -> Simulation<'a> {
        Simulation {
            trace,
            cluster: &self.cluster,
            start: 0,
            placer: placers::ALL[0],
            estimates: None,
            forecast: None,
            packing: Some(&self.packing),
            profiler: Some(&self.profiler),
            without: Without::default(),
            check: false,
        }
    }
}

fn request(name: &str) -> Request<'static> {
    let policy = *policies::ALL
        .iter()
        .find(|policy| policy.name == name)
        .unwrap();
    Request {
        name: policy.name,
        policy,
        corrected: false,
    }
}

fn weekly(choice: EstimatorChoice) -> Weekly {
    Weekly {
        choice,
        learning: Learning {
            profile: true,
            seed: 3,
            monotone: Vec::new(),
        },
        calendar: Calendar::new("2024-01-01 00:00".parse().unwrap()),
        first: 1234.0,
    }
}

fn of(estimates: &EstimateTable, jobs: &[Job]) -> Vec<f64> {
    jobs.iter().map(|job| estimates.0[&job.id]).collect()
}

/// End time of each job, in seconds, under a policy that uses these estimates.
fn ends(world: &World, estimates: &EstimateTable, request: &Request) -> Vec<i64> {
    let simulation = Simulation {
        estimates: Some(estimates),
        ..world.simulation(&world.trace)
    };
    let runs = simulate(&simulation, std::slice::from_ref(request), &Unobserved).unwrap();
    runs[0]
        .finished()
        .iter()
        .map(|finished| finished.outcome.end)
        .collect()
}

/// Returns a copy of the trace with a different future after the start of `week`, and the number of earlier jobs that
/// have not ended by then. In the copy, these jobs have longer durations, and jobs submitted later have other
/// durations. Half of the jobs submitted after the week are removed, and the remaining ones belong to another user.
/// `ends` contains the end time of each job.
fn another_future(trace: &Trace, ends: &[i64], week: i64) -> (Trace, usize) {
    let (now, next) = (week * WEEK, (week + 1) * WEEK);
    let mut other = trace.clone();
    let mut running = 0;
    for (job, end) in other.jobs.iter_mut().zip(ends) {
        if *end >= now && job.submit < now {
            job.duration += 100_000 + job.submit % 977;
            running += 1;
        } else if job.submit >= now {
            job.duration = 1 + job.submit % 7_919;
        }
        if job.submit >= next {
            job.user = "another".to_owned();
        }
    }
    let later = other.jobs.partition_point(|job| job.submit < next);
    other.jobs.truncate(later + (other.jobs.len() - later) / 2);
    (other, running)
}

/// Asserts that estimates under a policy depend only on jobs that have ended by the start of the
/// week in which a job is submitted.
#[track_caller]
fn knows_only_the_past(world: &World, name: &str, choice: EstimatorChoice) {
    let request = request(name);
    let learn = |trace: &Trace| world.learn(trace, &weekly(choice), &request);
    let whole = learn(&world.trace);
    let estimators: Vec<Estimator> = whole.weeks.iter().map(|week| week.estimator).collect();
    assert_eq!(estimators.len(), 3, "{name}, {choice}");
    if let EstimatorChoice::Named(estimator) = choice {
        assert_eq!(estimators, [estimator; 3]);
    }
    let estimates = whole.table;
    let ends = ends(world, &estimates, &request);
    for week in [1, 2] {
        let (other, running) = another_future(&world.trace, &ends, week);
        assert!(
            running > 0,
            "{name}, week {week}: all earlier jobs have ended"
        );
        let changed = learn(&other).table;
        let later = other
            .jobs
            .partition_point(|job| job.submit < (week + 1) * WEEK);
        let told = &world.trace.jobs[..later];
        assert_eq!(
            of(&estimates, told),
            of(&changed, told),
            "{name}, {choice}, week {week}"
        );
        // The estimates for later weeks must differ. If they were equal, the estimators would not
        // have learnt from the changed jobs.
        let after = &other.jobs[later..];
        assert_ne!(
            of(&estimates, after),
            of(&changed, after),
            "{name}, {choice}, week {week}"
        );
    }
    let first = world.trace.jobs.partition_point(|job| job.submit < WEEK);
    let (first, rest) = world.trace.jobs.split_at(first);
    assert!(of(&estimates, first).iter().all(|&s| s == 1234.0));
    assert!(of(&estimates, rest).iter().all(|&s| s != 1234.0));
}

#[test]
fn estimates_use_only_jobs_that_have_ended() {
    let world = World::new();
    for name in ["qssf", "lucid", "easy"] {
        knows_only_the_past(&world, name, EstimatorChoice::Named(Estimator::Ebm));
    }
    for estimator in [Estimator::History, Estimator::Median, Estimator::Mean] {
        knows_only_the_past(&world, "qssf", EstimatorChoice::Named(estimator));
    }
    knows_only_the_past(&world, "lucid", EstimatorChoice::Best);
}

/// The estimates must equal the median duration of all jobs or the mean duration of the user's
/// similar jobs, depending on the estimator. Only jobs that ended under the policy before the week
/// count.
#[test]
fn rules_use_only_jobs_that_have_ended() {
    let world = World::new();
    let request = request("qssf");
    let learn = |estimator| {
        let weekly = weekly(EstimatorChoice::Named(estimator));
        world.learn(&world.trace, &weekly, &request)
    };
    let jobs = &world.trace.jobs;
    for estimator in [Estimator::Median, Estimator::History] {
        let WeeklyEstimates { table, weeks } = learn(estimator);
        let ends = ends(&world, &table, &request);
        for week in weeks {
            let ended = jobs.iter().zip(&ends).filter(|(_, end)| **end < week.from);
            let ended: Vec<&Job> = ended.map(|(job, _)| job).collect();
            assert_eq!(week.learnt, ended.len());
            let of_week = |job: &&Job| (week.from..week.from + WEEK).contains(&job.submit);
            for job in jobs.iter().filter(of_week) {
                let mean = |jobs: &[&&Job]| {
                    let sum: f64 = jobs.iter().map(|job| job.duration as f64).sum();
                    (!jobs.is_empty()).then(|| sum / jobs.len() as f64)
                };
                let alike = |like: &dyn Fn(&Job) -> bool| {
                    mean(&ended.iter().filter(|past| like(past)).collect::<Vec<_>>())
                };
                let expected = match estimator {
                    Estimator::Median => {
                        let mut durations: Vec<i64> = ended.iter().map(|j| j.duration).collect();
                        durations.sort_unstable();
                        let (low, high) = ((durations.len() - 1) / 2, durations.len() / 2);
                        (durations[low] + durations[high]) as f64 / 2.0
                    }
                    // Jobs without a past job of the same user and name are skipped. Other tests check
                    // their estimates.
                    _ => {
                        let named = |past: &Job| past.user == job.user && past.name == job.name;
                        let Some(any) = alike(&named) else { continue };
                        alike(&|past| named(past) && past.gpus == job.gpus).unwrap_or(any)
                    }
                };
                let found = table.0[&job.id];
                assert!(
                    (found - expected).abs() <= 1e-9 * expected,
                    "{found}, {expected}"
                );
            }
        }
    }
}

#[test]
fn forecasts_use_only_past_intervals() {
    let calendar = Calendar::new("2024-01-01 00:00".parse().unwrap());
    let series = |from: usize| {
        // The series with other values in interval `from` and all later intervals.
        let value = |step: usize| {
            if step < from {
                ((step / 6) % 24) as f64 + (step % 5) as f64
            } else {
                500.0 + (step % 13) as f64
            }
        };
        let jobs: Vec<f64> = (0..3500).map(value).collect();
        let gpus = jobs.iter().map(|jobs| 3.0 * jobs).collect();
        Series::new(calendar.civil(0), jobs, gpus).unwrap()
    };
    let interval = 600;
    for start in [0, 1500] {
        let learn = |from: usize| {
            let series = series(from);
            forecast_trained(&series, start * interval, calendar, 1, &Unobserved).unwrap()
        };
        let (known, changed) = (learn(usize::MAX), learn(2500));
        let at = |step: i64| {
            let now = (start.max(step)) * interval + 599;
            [
                known.gpu_jobs(now),
                known.gpus(now),
                changed.gpu_jobs(now),
                changed.gpus(now),
            ]
        };
        // `at` returns the forecasts in the last second of an interval. Interval 2500 is therefore
        // not over yet, so its values cannot influence the forecasts.
        for step in 1500..=2500 {
            let [jobs, gpus, other_jobs, other_gpus] = at(step);
            assert!(
                jobs.is_some() && jobs == other_jobs && gpus == other_gpus,
                "interval {step}"
            );
        }
        assert!(
            (2501..2520).any(|step| at(step)[0] != at(step)[2]),
            "the changed submissions must influence later forecasts"
        );
    }
}
