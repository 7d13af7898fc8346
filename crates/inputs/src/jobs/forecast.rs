//! Reads forecasts of how many jobs are submitted to a cluster in each interval and how many GPUs they request, in the
//! format of the original's `Venus_throughput_pred.csv`.
//!
//! ```csv
//! time,pred_gpu_job,pred_gpu_num
//! 2020-09-01 00:00:00,5.4,28.8
//! 2020-09-01 00:10:00,5.8,31.9
//! ```
//!
//! If the prediction columns are missing, the actual submissions, `submit_gpu_job` and
//! `submit_gpu_num`, are used as the forecast.

use std::marker::PhantomData;
use std::path::Path;

use super::bounds::PREDICTED_AMOUNT;
use super::clock::Form;
use crate::rows::{Clock, Later, Rows, input};
use gleaner_domain::error::Result;
use gleaner_domain::inputs::ForecastTable;
use gleaner_io::Loaded;
use gleaner_io::rows::CellTime;
use gleaner_io::rows::Header;
use gleaner_io::source::Source;

input! {
    /// The forecast for an interval.
    pub(super) struct ForecastRow {
        /// the start of the interval
        time: PhantomData<CellTime> as Later(Clock) = "time" [""],
        /// the number of GPU jobs expected in the interval
        gpu_jobs: f64 as PREDICTED_AMOUNT = "pred_gpu_job" [""],
        /// the number of GPUs that the expected GPU jobs request
        gpus: f64 as PREDICTED_AMOUNT = "pred_gpu_num" [""],
    }
}

/// Reads a forecast, and shifts its times so that the first interval begins at second `start`.
///
/// # Errors
/// The file cannot be read or has faults, which are reported together. It is a fault if a time is not later than the
/// previous time, if a value is too large or not a number, or if there are no rows.
pub fn read(path: &Path, start: i64) -> Result<Loaded<ForecastTable>> {
    let source = Source::open(path)?;
    let header = Header::open(&source)?;
    let is_past = !header.has("pred_gpu_job") && header.has("submit_gpu_job");
    let rows = Rows::<ForecastRow>::with_names(header, |name| {
        let prefix = if is_past { "submit_" } else { "pred_" };
        name.replace("pred_", prefix)
    })?;
    let (mut form, mut table) = (None, ForecastTable::default());
    rows.each("interval", |line| {
        let cell = line.cell("time");
        form = form.or(Form::of(&cell));
        let time = form.unwrap_or(Form::Civil).second(&cell)?;
        let earlier = table.times.last();
        if earlier.is_some_and(|earlier| time <= *earlier) {
            let mut fault = cell.fault("a time later than in the previous row");
            fault.remedy = "sort the rows by time, without duplicates".to_owned();
            return Err(fault);
        }
        let row = line.read()?;
        table.times.push(time);
        table.gpu_jobs.push(row.gpu_jobs);
        table.gpus.push(row.gpus);
        Ok(())
    })?;
    let mut loaded = source.loaded(shifted(table, start));
    let note = "the forecast has no column pred_gpu_job: the columns submit_gpu_job and submit_gpu_num \
                are used as the forecast";
    loaded.notes.extend(is_past.then(|| note.to_owned()));
    Ok(loaded)
}

/// Shifts the forecast so that its first interval begins at `start`.
fn shifted(mut table: ForecastTable, start: i64) -> ForecastTable {
    let first = table.times.first().copied().unwrap_or_default();
    for time in &mut table.times {
        *time = start.saturating_add(*time - first);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::testing::{Input, assert_has, fault};

    fn read_csv(content: &str) -> Result<Loaded<ForecastTable>> {
        read(Input::csv(content).path(), 1000)
    }

    #[test]
    fn intervals_keep_their_spacing() {
        let expected = ForecastTable {
            times: vec![1000, 1600, 2800],
            gpu_jobs: vec![5.5, 6.0, 0.0],
            gpus: vec![28.0, 31.0, -1.5],
            ..ForecastTable::default()
        };
        let civil = read_csv(
            "time,submit_gpu_job,submit_gpu_num,pred_gpu_job,pred_gpu_num\n\
             2020-09-01 00:00:00,1,1,5.5,28\n2020-09-01 00:10:00,1,1,6,31\n\
             2020-09-01 00:30:00,1,1,0,-1.5\n",
        );
        let civil = civil.unwrap();
        assert_eq!((civil.value, civil.notes.len()), (expected.clone(), 0));
        let past = "submit_gpu_num,submit_gpu_job,time\n28,5.5,600\n31,6,1200\n-1.5,0,2400\n";
        let past = read_csv(past).unwrap();
        assert_eq!((past.value, past.notes.len()), (expected, 1));
    }

    #[test]
    fn faults_are_gathered() {
        let message = fault(read_csv(
            "time,pred_gpu_job,pred_gpu_num\n600,1,1\n600,1,1\n2020-09-01,1,1\nx,1,1\n700,nan,1\n\
             800,1,\n",
        ));
        assert_has(
            &message,
            &[
                "5 faults",
                "line 3, time: found \"600\", expected a time later than in the previous row",
                "line 4, time: found \"2020-09-01\", expected whole seconds, as in earlier rows",
                "line 5, time: found \"x\"",
                "line 6, pred_gpu_job: found \"nan\"",
                "line 7, pred_gpu_num: found nothing",
            ],
        );
        let empty = read_csv("time,pred_gpu_job,pred_gpu_num\n");
        assert_has(&fault(empty), &["no interval"]);
        let message = fault(read_csv("time,pred_gpu_job\n1,1\n"));
        assert_has(&message, &["header, pred_gpu_num: found no such column"]);
    }
}
