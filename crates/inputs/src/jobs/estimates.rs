//! Reads estimated durations of jobs in seconds, in the format of the original's `Venus_Sept_lgb.csv`.
//!
//! ```csv
//! job_id,priority
//! 765472,10326
//! ```

use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::path::Path;

use super::bounds::ESTIMATE;
use super::words::some;
use crate::rows::{Id, Kind, Later, Rows, input};
use gleaner_domain::Trace;
use gleaner_domain::error::Result;
use gleaner_domain::inputs::EstimateTable;
use gleaner_domain::words::counted;
use gleaner_io::Loaded;
use gleaner_io::source::Source;

input! {
    /// The estimate of a job.
    pub(super) struct EstimateRow {
        /// the job's id
        id: String as Id = "job_id" or "jobname" [""],
        /// the estimated duration in seconds
        seconds: PhantomData<f64> as Later(ESTIMATE) = "priority" ["s"],
    }
}

/// Reads the estimates for the jobs of a trace. Rows for jobs that are not in the trace are ignored.
///
/// # Errors
/// The file cannot be read or has faults, which are reported together. It is a fault if an estimate is not a number, or
/// if its absolute value exceeds [`LONGEST_ESTIMATE`](gleaner_domain::inputs::LONGEST_ESTIMATE). It is also a fault if
/// a job has two estimates or no estimate.
pub fn read(path: &Path, trace: &Trace) -> Result<Loaded<EstimateTable>> {
    let source = Source::open(path)?;
    let jobs = || trace.jobs.iter().map(|job| job.id.as_str());
    let mut found: BTreeMap<&str, Option<f64>> = jobs().map(|id| (id, None)).collect();
    let rows = Rows::<EstimateRow>::open(&source)?;
    rows.each("estimate", |line| {
        let id = line.read()?.id;
        let Some(estimate) = found.get_mut(id.as_str()) else {
            return Ok(());
        };
        match estimate.replace(ESTIMATE.read(&line.cell("priority"))?) {
            None => Ok(()),
            Some(_) => Err(line.fault(
                "job_id",
                format!("{id:?} a second time"),
                "one estimate per job",
            )),
        }
    })?;
    let missing: Vec<_> = jobs().filter(|id| found[id].is_none()).collect();
    if !missing.is_empty() {
        let jobs = counted(missing.len() as u64, "job");
        let found = format!("no estimate for {jobs}: {}", some(missing.into_iter()));
        let fault = source.fault(found, "an estimate for every job of the trace");
        let remedy = "add the missing estimates, or pass the estimates file for this trace";
        return Err(fault.remedy(remedy).into());
    }
    let estimates = found.into_iter();
    let estimates = estimates.filter_map(|(id, estimate)| Some((id.to_owned(), estimate?)));
    Ok(source.loaded(EstimateTable(estimates.collect())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::testing::{Input, assert_has, fault};
    use gleaner_domain::Job;

    fn trace(ids: &[&str]) -> Trace {
        let job = |id: &&str| Job {
            id: (*id).to_owned(),
            ..Job::default()
        };
        Trace {
            jobs: ids.iter().map(job).collect(),
            ..Trace::default()
        }
    }

    fn read_csv(content: &str, ids: &[&str]) -> Result<EstimateTable> {
        let input = Input::csv(content);
        read(input.path(), &trace(ids)).map(|loaded| loaded.value)
    }

    #[test]
    fn estimates_of_other_jobs_are_ignored() {
        let content = "priority,job_id\n1.5,9\nx,4\n-7,8.0\n1,4\n";
        let estimates = read_csv(content, &["8", "9"]).unwrap();
        let expected = [("8", -7.0), ("9", 1.5)].map(|(id, estimate)| (id.to_owned(), estimate));
        assert_eq!(estimates, EstimateTable(BTreeMap::from(expected)));
    }

    #[test]
    fn faults_are_gathered() {
        let content = "job_id,priority\n1,1\n1,2\n2,inf\n,1\n";
        assert_has(
            &fault(read_csv(content, &["1", "2"])),
            &[
                "3 faults",
                "line 3, job_id: found \"1\" a second time, expected one estimate per job",
                "line 4, priority: found \"inf\", expected a number of seconds from -1e12 to 1e12",
                "line 5, job_id: found nothing",
            ],
        );
        let message = fault(read_csv("job_id,vc\n1,a\n", &["1"]));
        assert_has(&message, &["header, priority"]);
        let ids = ["1", "2", "3", "4", "5", "6", "7"];
        let message = fault(read_csv("job_id,priority\n7,1\n", &ids));
        assert_has(
            &message,
            &["found no estimate for 6 jobs: 1, 2, 3, 4, 5 and 1 more"],
        );
    }
}
