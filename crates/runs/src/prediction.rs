//! Writes predictions as the tables that `gleaner simulate` reads.

use std::collections::BTreeMap;
use std::path::Path;

use gleaner_learn::lucid::packing::PackingModel;
use gleaner_learn::lucid::throughput::{LEAD, Series, ThroughputModel};

use crate::workloads;
use gleaner_domain::error::Result;
use gleaner_domain::inputs::{EstimateTable, Profile, ProfileSource};
use gleaner_domain::results::{Column, Table};
use gleaner_domain::{Local, Trace, Workload};
use gleaner_io::table::WriteTable;
use gleaner_predict::score_profiles;

/// Writes a forecast and the actual submissions, in the same rows. The table covers all intervals of the series, and
/// the intervals after its end that can be forecast. Returns the number of rows.
///
/// # Errors
/// The file cannot be written.
pub fn throughput(model: &ThroughputModel, series: &Series, path: &Path) -> Result<usize> {
    let steps = 0..series.len() + LEAD;
    let (jobs, gpus) = model.predict(series, steps.clone());
    let times = steps.clone().map(|step| Local::from(series.time(step)));
    let known = |values: &[f64]| {
        let known = steps.clone().map(|step| values.get(step).copied());
        Column::Floats(known.collect())
    };
    let all = |values: Vec<f64>| Column::Floats(values.into_iter().map(Some).collect());
    let table = Table {
        name: "forecast",
        columns: vec![
            ("time", Column::EveryTime(times.collect())),
            ("submit_gpu_job", known(series.jobs())),
            ("submit_gpu_num", known(series.gpus())),
            ("pred_gpu_job", all(jobs)),
            ("pred_gpu_num", all(gpus)),
        ],
    };
    table.write_file(path)?;
    Ok(table.rows())
}

/// Writes the estimated duration of each job, in seconds, in the trace's order. Returns the number of rows.
///
/// # Errors
/// The file cannot be written.
pub fn workload(estimates: &EstimateTable, trace: &Trace, path: &Path) -> Result<usize> {
    let ids = trace.jobs.iter().map(|job| job.id.as_str().into());
    let seconds = trace
        .jobs
        .iter()
        .map(|job| estimates.0.get(&job.id).copied());
    let table = Table {
        name: "estimates",
        columns: vec![
            ("job_id", Column::Texts(ids.collect())),
            ("priority", Column::Floats(seconds.collect())),
        ],
    };
    table.write_file(path)?;
    Ok(table.rows())
}

/// Writes profiles with the sharing scores that the model predicts. Returns the number of rows.
///
/// # Errors
/// The file cannot be written.
pub fn packing(
    model: &PackingModel,
    profiles: &BTreeMap<Workload, Profile>,
    path: &Path,
) -> Result<usize> {
    let scores = score_profiles(model, profiles).into_iter();
    let scored = profiles
        .iter()
        .zip(scores)
        .map(|((workload, profile), score)| {
            let score = Some(score);
            (workload.clone(), Profile { score, ..*profile })
        });
    self::profiles(&scored.collect(), path)
}

/// Writes profiles. If any profile is predicted, a column states for each profile whether it was
/// measured or predicted. Returns the number of rows.
///
/// # Errors
/// The file cannot be written.
pub fn profiles(profiles: &BTreeMap<Workload, Profile>, path: &Path) -> Result<usize> {
    let number = |of: fn(&Profile) -> f64| {
        Column::Floats(profiles.values().map(|profile| Some(of(profile))).collect())
    };
    let scores = profiles
        .values()
        .map(|profile| profile.score.map(i64::from));
    // Predicted profiles have no measured speed, so the cell stays empty.
    let speeds = profiles.values().map(|profile| match profile.source {
        ProfileSource::Measured => Some(profile.usage.speed),
        ProfileSource::Predicted => None,
    });
    let mut columns = workloads::columns(profiles.keys());
    columns.extend([
        ("speed", Column::Floats(speeds.collect())),
        ("gpu_util", number(|profile| profile.usage.gpu_util)),
        ("gmem_util", number(|profile| profile.usage.gmem_util)),
        ("gmem", number(|profile| profile.usage.gmem)),
        ("label", Column::OptionalWhole(scores.collect())),
    ]);
    let source = |profile: &Profile| match profile.source {
        ProfileSource::Measured => "measured",
        ProfileSource::Predicted => "predicted",
    };
    let is_predicted = |profile: &Profile| profile.source == ProfileSource::Predicted;
    if profiles.values().any(is_predicted) {
        let sources = profiles.values().map(|profile| source(profile).into());
        columns.push(("source", Column::Texts(sources.collect())));
    }
    let name = "profiles";
    let table = Table { name, columns };
    table.write_file(path)?;
    Ok(table.rows())
}
