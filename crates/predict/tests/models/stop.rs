//! Tests that evaluations, forecasts and builds of data sets can be stopped.

use gleaner_domain::Error;
use gleaner_learn::ebm::FitError;
use gleaner_learn::lucid::throughput::Series;
use gleaner_predict::driple::build::{Job, Settings, build};
use gleaner_predict::evaluate::throughput;
use gleaner_predict::{Calendar, forecast_trained};
use gleaner_testing::StopAfter;

fn calendar() -> Calendar {
    Calendar::new("2024-01-01 00:00".parse().unwrap())
}

/// Three weeks of submissions.
fn series() -> Series {
    let jobs: Vec<f64> = (0..3024).map(|step| ((step / 6) % 24) as f64).collect();
    let gpus = jobs.iter().map(|jobs| 3.0 * jobs).collect();
    Series::new(calendar().civil(0), jobs, gpus).unwrap()
}

#[test]
fn a_stopped_evaluation_fails() {
    let observer = StopAfter::new(0);
    let error = throughput(&series(), 2000, 1, &observer).unwrap_err();
    assert_eq!(error.to_string(), "EBM: the fit was stopped");
    assert!(observer.progress().is_empty());
}

#[test]
fn a_stopped_forecast_ends_before_its_next_fit() {
    // In the first week, there are no earlier submissions to learn from, so the first fit is in the
    // second week.
    for weeks in [1, 2] {
        let observer = StopAfter::new(weeks);
        let found = forecast_trained(&series(), 0, calendar(), 1, &observer);
        assert_eq!(found.unwrap_err(), FitError::Stopped);
        assert_eq!(observer.progress().len(), 2);
    }
}

#[test]
fn a_stopped_data_set_reads_no_further_graph() {
    let job = |number: u8| Job {
        name: format!("job{number}"),
        file: format!("{number}.pbtxt").into(),
        labels: [0.0; 12],
    };
    let observer = StopAfter::new(0);
    let jobs = (0..20).map(job).collect();
    let read = |file: &std::path::Path| panic!("{} is read", file.display());
    let stopped = build(jobs, &Settings::default(), read, &observer);
    assert!(matches!(stopped, Err(Error::Stopped)), "{stopped:?}");
}
