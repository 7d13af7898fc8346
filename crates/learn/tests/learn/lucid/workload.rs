//! Tests the features of jobs and the estimates from history on the published trace.

use gleaner_learn::lucid::Usage;
use gleaner_learn::lucid::history::{Ended, estimates};
use gleaner_learn::lucid::workload::{Job, features};
use gleaner_learn::metrics::spearman;
use gleaner_learn::{Column, Table};
use jiff::SignedDuration;
use jiff::civil::DateTime;

use crate::support::Sheet;

/// The features of a trace's jobs. The trace's times are in seconds since the beginning of April
/// 2020.
fn table(trace: &Sheet) -> Table {
    let start: DateTime = "2020-04-01 00:00:00".parse().unwrap();
    let column = |name| trace.numbers(name);
    let [gpus, cpus, submitted, amp] = ["gpu_num", "cpu_num", "submit_time", "amp"].map(column);
    let [gpu_util, gmem_util, gmem] = ["gpu_util", "gmem_util", "gmem"].map(column);
    let people = trace.texts("user").into_iter().zip(trace.texts("vc"));
    let job = |(row, (user, vc))| Job {
        user,
        name: "",
        vc,
        gpus: gpus[row] as u32,
        cpus: cpus[row],
        submitted: start + SignedDuration::from_secs(submitted[row] as i64),
        amp: Some(amp[row] == 1.0),
        usage: Usage {
            gpu_util: gpu_util[row],
            gmem_util: gmem_util[row],
            gmem: gmem[row],
        },
    };
    let jobs: Vec<Job<'_>> = people.enumerate().map(job).collect();
    features(&jobs, true)
}

// Golden values: the reference table, which pandas computed.
#[test]
fn all_features_of_venus_are_those_of_the_reference() {
    let Some(trace) = Sheet::shared("venus_sept/jobs.csv") else {
        return;
    };
    let expected = Sheet::shared("models/workload_features.csv").unwrap();
    assert_eq!(trace.texts("job_id"), expected.texts("job_id"));
    let table = table(&trace);
    assert_eq!((table.rows(), table.names().len()), (23_859, 12));
    for (name, column) in table.names().iter().zip(table.columns()) {
        match column {
            Column::Categorical(_) => {
                let texts = expected.texts(name).into_iter().map(Some);
                assert_eq!(*column, Column::texts(texts), "{name}");
            }
            // All jobs were submitted in September, so the reference leaves the month out.
            Column::Numeric(values) if name == "month" => {
                assert!(values.iter().all(|month| *month == 9.0));
            }
            Column::Numeric(values) => assert_eq!(*values, expected.numbers(name), "{name}"),
        }
    }
}

/// The jobs of a trace. They end as if each job had started at its submission.
fn ended<'s>(trace: &'s Sheet, names: &'s [String]) -> Vec<Ended<'s>> {
    let column = |name| trace.numbers(name);
    let [gpus, submitted, duration] = ["gpu_num", "submit_time", "duration"].map(column);
    let people = trace.texts("user").into_iter().zip(names);
    let job = |(row, (user, name)): (usize, (&'s str, &'s String))| Ended {
        user,
        name,
        gpus: gpus[row] as u32,
        submitted: submitted[row] as i64,
        ended: (submitted[row] + duration[row]) as i64,
        seconds: duration[row],
    };
    people.enumerate().map(job).collect()
}

// The job names of this trace are not published, so estimates use only the user and the number of
// GPUs. In the reference, the means over the first fortnight rank the jobs after that fortnight
// with a correlation of 0.285.
#[test]
fn experience_ranks_the_jobs_of_venus() {
    let Some(trace) = Sheet::shared("venus_sept/jobs.csv") else {
        return;
    };
    let names: Vec<String> = trace
        .texts("jobname")
        .iter()
        .map(|name| (*name).to_owned())
        .collect();
    let jobs = ended(&trace, &names);
    let estimates = estimates(&jobs);
    let known = jobs
        .iter()
        .zip(&estimates)
        .filter_map(|(job, estimate)| Some((job.seconds, (*estimate)?)));
    let (seconds, told): (Vec<f64>, Vec<f64>) = known.skip(12_809).unzip();
    let rank = spearman(&seconds, &told);
    eprintln!("{} jobs, rank correlation {rank:.3}", told.len());
    assert!(rank > 0.3, "{rank}");
}

/// All jobs belong to the same user and have different but similar names, which maximises the
/// number of comparisons of names.
#[test]
fn as_many_names_as_jobs_can_be_compared() {
    let Some(trace) = Sheet::shared("venus_sept/jobs.csv") else {
        return;
    };
    let name = |row: usize| format!("train_resnet50_lr{}_seed{}_{row}", row % 7, row % 113);
    let names: Vec<String> = (0..trace.texts("user").len()).map(name).collect();
    let mut jobs = ended(&trace, &names);
    jobs.iter_mut().for_each(|job| job.user = "ann");
    let estimates = estimates(&jobs);
    let first = estimates.iter().position(Option::is_some);
    // The first jobs were submitted before any job had ended. Before each later job was submitted,
    // at least one job had ended.
    let known = estimates
        .iter()
        .filter(|estimate| estimate.is_some())
        .count();
    assert!(
        first.is_some_and(|first| known == estimates.len() - first),
        "{first:?} {known}"
    );
}
