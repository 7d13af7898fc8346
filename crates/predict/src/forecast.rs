//! Converts forecasts of submissions to inputs of the simulator.

use gleaner_learn::ebm::FitError;
use gleaner_learn::lucid::throughput::{
    LEAD, MINUTES, Series, SeriesError, ThroughputModel, settings,
};

use super::Calendar;
use gleaner_domain::Observer;
use gleaner_domain::Trace;
use gleaner_domain::inputs::ForecastTable;

/// Number of intervals in a week. A model needs at least this number of intervals for training.
const WEEK: usize = (7 * 24 * 60 / MINUTES) as usize;

/// Number of intervals for which the simulator has forecasts. It is one less than [`LEAD`], because
/// the current interval of the simulation is not over.
const AHEAD: usize = LEAD - 1;

/// The actual submissions of a trace in intervals of ten minutes, starting at second `start`.
///
/// # Errors
/// Returns an error if a count is not finite, which does not occur in practice.
pub fn submissions(trace: &Trace, start: i64, calendar: Calendar) -> Result<Series, SeriesError> {
    let interval = MINUTES * 60;
    let last = trace.jobs.last().map_or(start, |job| job.submit.max(start));
    let steps = ((last - start) / interval + 1) as usize;
    let (mut jobs, mut gpus) = (vec![0.0; steps], vec![0.0; steps]);
    for job in trace.jobs.iter().filter(|job| job.submit >= start) {
        let step = ((job.submit - start) / interval) as usize;
        jobs[step] += 1.0;
        gpus[step] += f64::from(job.gpus);
    }
    Series::new(calendar.civil(start), jobs, gpus)
}

/// A trained model's forecast of all intervals, starting at second `start`.
pub fn forecast_by(
    model: &ThroughputModel,
    series: &Series,
    start: i64,
    calendar: Calendar,
) -> ForecastTable {
    let first = series.steps_before(calendar.civil(start));
    let end = series.len() + LEAD;
    let (jobs, gpus) = model.predict(series, first..end);
    table(series, first, calendar, jobs, gpus)
}

/// Forecasts all intervals, starting at second `start`. Each model learns only from submissions before the intervals
/// that it forecasts. If there is at least a week of submissions before `start`, a single model is trained. Otherwise a
/// new model is trained each week. Until a week of submissions is available, the forecast repeats the submissions of an
/// hour earlier. The unit of progress is one interval.
///
/// # Errors
/// [`FitError::Stopped`] if the training is stopped. No other error occurs in practice, because all
/// values of the series are finite.
pub fn forecast_trained(
    series: &Series,
    start: i64,
    calendar: Calendar,
    seed: u64,
    observer: &dyn Observer,
) -> Result<ForecastTable, FitError> {
    let (first, end) = (
        series.steps_before(calendar.civil(start)),
        series.len() + LEAD,
    );
    let once = first >= WEEK;
    let (mut jobs, mut gpus) = (Vec::new(), Vec::new());
    let mut from = first;
    while from < end {
        observer.progress(from - first, end - first);
        let to = if once { end } else { (from + WEEK).min(end) };
        let known = from.min(series.len());
        let (more_jobs, more_gpus) = if known >= WEEK {
            let model = ThroughputModel::fit(series, 0..known, &settings(seed), observer.stop())?;
            model.predict(series, from..to)
        } else {
            (
                hour_ago(series.jobs(), from..to),
                hour_ago(series.gpus(), from..to),
            )
        };
        jobs.extend(more_jobs);
        gpus.extend(more_gpus);
        from = to;
    }
    Ok(table(series, first, calendar, jobs, gpus))
}

/// For each interval, the value an hour (six intervals) earlier; 0 if it is unknown.
fn hour_ago(values: &[f64], steps: std::ops::Range<usize>) -> Vec<f64> {
    let before = |step: usize| step.checked_sub(LEAD + 1).and_then(|step| values.get(step));
    steps
        .map(|step| before(step).copied().unwrap_or_default())
        .collect()
}

fn table(
    series: &Series,
    first: usize,
    calendar: Calendar,
    jobs: Vec<f64>,
    gpus: Vec<f64>,
) -> ForecastTable {
    let time = |step: usize| calendar.second(series.time(step));
    ForecastTable {
        times: (first..first + jobs.len()).map(time).collect(),
        gpu_jobs: jobs,
        gpus,
        ahead: AHEAD,
    }
}
