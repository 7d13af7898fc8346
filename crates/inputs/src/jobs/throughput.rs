//! Reads how many jobs were submitted to a cluster in each interval and how many GPUs they requested, in the format of
//! the original's `cluster_throughput.csv`. Forecasts are learnt from these numbers.
//!
//! ```csv
//! time,submit_gpu_job,submit_gpu_num
//! 2020-04-01 00:00:00,3,3
//! 2020-04-01 00:10:00,3,24
//! ```

use std::marker::PhantomData;
use std::path::Path;

use gleaner_learn::lucid::throughput::{MINUTES, Series};

use super::bounds::AMOUNT;
use super::clock::Form;
use crate::rows::{Clock, Later, Rows, input};
use gleaner_domain::Local;
use gleaner_domain::error::Result;
use gleaner_io::Loaded;
use gleaner_io::rows::CellTime;
use gleaner_io::rows::{Cell, CellResult};
use gleaner_io::source::Source;

input! {
    /// The submissions in an interval.
    pub(super) struct IntervalRow {
        /// the start of the interval
        time: PhantomData<CellTime> as Later(Clock) = "time" [""],
        /// the number of GPU jobs submitted in the interval
        gpu_jobs: f64 as AMOUNT = "submit_gpu_job" [""],
        /// the number of GPUs that the submitted GPU jobs request
        gpus: f64 as AMOUNT = "submit_gpu_num" [""],
    }
}

/// Length of an interval in nanoseconds.
const INTERVAL: i64 = MINUTES * 60 * 1_000_000_000;

/// Reads a series of consecutive ten-minute intervals.
///
/// # Errors
/// The file cannot be read or has faults, which are reported together. It is a fault if a time is not ten minutes after
/// the previous time, if a value is negative, too large or not a number, or if there are no rows.
pub fn read(path: &Path) -> Result<Loaded<Series>> {
    let source = Source::open(path)?;
    let rows = Rows::<IntervalRow>::open(&source)?;
    let mut times = Times::default();
    let (mut jobs, mut gpus) = (Vec::new(), Vec::new());
    rows.each("interval", |line| {
        times.follow(line.cell("time"))?;
        let row = line.read()?;
        jobs.push(row.gpu_jobs);
        gpus.push(row.gpus);
        Ok(())
    })?;
    let start = times.first.and_then(Local::civil).unwrap_or_default();
    let series = Series::new(start, jobs, gpus);
    let series = series.map_err(|error| source.fault(error.to_string(), "a whole series"));
    Ok(source.loaded(series?))
}

/// The times of the intervals read so far.
#[derive(Default)]
struct Times {
    form: Option<Form>,
    first: Option<Local>,
    last: Option<Local>,
}

impl Times {
    /// Reads the time of the next interval, and checks that the interval follows the previous interval.
    fn follow(&mut self, cell: Cell<'_>) -> CellResult<()> {
        // If the time of this row is invalid, the next row has no previous time with which it could be compared.
        let last = self.last.take();
        let form = self.form.or(Form::of(&cell)).unwrap_or(Form::Civil);
        let Some(time) = form.time(&cell)? else {
            let mut fault = cell.fault("a time such as 2020-04-01 00:00:00");
            fault.remedy =
                "write dates and times: forecasts depend on the hour and the weekday".to_owned();
            return Err(fault);
        };
        self.form = Some(form);
        self.first = self.first.or(Some(time));
        self.last = Some(time);
        let next = last.map(|last| Local(last.0.saturating_add(INTERVAL)));
        let (Some(last), Some(next)) = (last, next.filter(|next| *next != time)) else {
            return Ok(());
        };
        let mut fault = cell.fault(format!("{next}, ten minutes after the previous row"));
        let remedy = if time <= last {
            "sort the rows by time, without duplicates"
        } else {
            "fill the gap, with 0 for intervals during which nothing was submitted"
        };
        fault.remedy = remedy.to_owned();
        Err(fault)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::testing::{Input, assert_has, fault};

    const HEADER: &str = "submit_gpu_num,time,start_gpu_job,submit_gpu_job\n";

    fn read_rows(rows: &str) -> Result<Series> {
        let input = Input::csv(&format!("{HEADER}{rows}"));
        read(input.path()).map(|loaded| loaded.value)
    }

    #[test]
    fn intervals_are_consecutive() {
        let series = read_rows("8,2020-04-30 23:50:00,1,3\n0,2020-05-01,x,0\n").unwrap();
        let start = "2020-04-30 23:50".parse().unwrap();
        let expected = Series::new(start, vec![3.0, 0.0], vec![8.0, 0.0]);
        assert_eq!(Ok(series), expected);
        // These times are ten minutes apart, because the clock was set back by an hour in between.
        let zoned = "8,2020-04-30 23:50:00+02:00,1,3\n0,2020-04-30 23:00:00+01:00,x,0\n";
        assert_eq!(Ok(read_rows(zoned).unwrap()), expected);
    }

    #[test]
    fn faults_are_gathered() {
        let message = fault(read_rows(
            "1,2020-04-01 00:00:00,1,1\n1,2020-04-01 00:00:00,1,1\n1,2020-04-01 00:30:00,1,1\n\
             1,2020-04-01 00:40:00,1,-1\n,2020-04-01 00:50:00,1,1\n1,1585702800,1,1\n\
             1,2020-04-01 01:00:00,1,1\n",
        ));
        assert_has(
            &message,
            &[
                "5 faults",
                "line 3, time: found \"2020-04-01 00:00:00\", expected 2020-04-01 00:10:00, ten \
                 minutes after the previous row",
                "sort the rows",
                "line 4, time: found \"2020-04-01 00:30:00\", expected 2020-04-01 00:10:00",
                "fill the gap",
                "line 5, submit_gpu_job: found \"-1\"",
                "line 6, submit_gpu_num: found nothing",
                "line 7, time: found \"1585702800\", expected a civil time, as in earlier rows",
            ],
        );
        let counted = fault(read_rows("1,1585702800,1,1\n"));
        assert_has(
            &counted,
            &["expected a time such as 2020-04-01 00:00:00", "write dates"],
        );
        assert_has(&fault(read_rows("")), &["no interval"]);
        let input = Input::csv("time,submit_gpu_job\n2020-04-01,1\n");
        let message = fault(read(input.path()));
        assert_has(&message, &["header, submit_gpu_num: found no such column"]);
    }
}
