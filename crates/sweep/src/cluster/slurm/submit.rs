//! Submits batches.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use crate::PreparedRuns;
use gleaner_domain::error::{Error, Result};
use gleaner_io::files;

use super::limits::ClusterLimits;
use super::program::call;
use super::{Call, Queue, SlurmOptions};
use crate::cluster::batch::{Batch, BatchFolder, now};
use crate::cluster::{Costs, Deal};

/// Maximum number of attempts to submit a job while the controller does not answer.
const ATTEMPTS: u32 = 10;
/// Time between two attempts to submit a job.
const BETWEEN_ATTEMPTS: Duration = Duration::from_secs(3);

/// Runs to submit as a batch.
pub struct Submission<'a> {
    /// The plan's runs.
    pub prepared: &'a dyn PreparedRuns,
    /// The indices of the runs to submit, whose results are missing.
    pub runs: &'a [usize],
    /// Estimates of the durations of runs.
    pub costs: &'a Costs,
    /// The options with which jobs are submitted.
    pub options: &'a SlurmOptions,
    /// The command line with which jobs run gleaner.
    pub call: &'a Call,
    /// The previous batch, whose remaining runs the new batch takes over; `None` for a batch that a user submits.
    pub after: Option<&'a Batch>,
    /// The [`Batch::round`] of the new batch.
    pub round: u32,
}

/// Submits runs as job arrays, and a separate job that collects results. The separate job starts when all arrays have
/// ended, successfully or not.
///
/// # Errors
/// [`Error::Usage`] if Slurm is missing, or if there are more parts than Slurm's limits allow. [`Error::Run`] if
/// Slurm refuses the jobs. Jobs that were submitted before the error keep running, and can be found by their
/// names.
pub fn submit(batches: &BatchFolder, submission: &Submission<'_>) -> Result<Batch> {
    let limits = ClusterLimits::ask()?;
    let Submission { options, .. } = submission;
    // The limit also covers the job that collects results.
    let most = limits.job_count.saturating_sub(1).max(1);
    let parts = options.parts.unwrap_or(SlurmOptions::PARTS.min(most));
    if parts > most {
        return Err(Error::Usage(format!(
            "--parts is {parts}, expected at most {most}: this cluster accepts {} jobs (MaxJobCount)",
            limits.job_count
        )));
    }
    let deal = Deal::new(
        submission.prepared,
        submission.runs,
        submission.costs,
        parts,
    );
    let name = batches.create()?;
    deal.write(&batches.deal(&name))?;
    let mut batch = Batch {
        name,
        round: submission.round,
        earlier: submission.after.map_or(Vec::new(), |batch| {
            batch.chain().map(str::to_owned).collect()
        }),
        parts: deal.parts(),
        submitted: now(),
        options: (*options).clone(),
        jobs: Vec::new(),
        array_size: limits.array_size,
    };
    let call = submission.call;
    files::write_bytes(&batches.script(&batch.name), &call.part(batches, &batch)?)?;
    files::write_bytes(&batches.collecting(&batch.name), &call.collect(&batch)?)?;
    // The batch is written before its jobs are submitted, so that the jobs can be found if gleaner is killed in
    // between.
    batches.write(&batch)?;
    for first in (0..batch.parts).step_by(limits.array_size) {
        let id = array(
            batches,
            &batch,
            first,
            batch.parts.min(first + limits.array_size),
        )?;
        batch.jobs.push(id);
        batches.write(&batch)?;
    }
    let id = collecting(batches, &batch)?;
    batch.jobs.push(id);
    batches.write(&batch)?;
    Ok(batch)
}

/// Submits the parts with the indices `first..end`, counted from 0, as a job array. Returns the array's id.
fn array(batches: &BatchFolder, batch: &Batch, first: usize, end: usize) -> Result<String> {
    let limit = batch.options.array_limit;
    let limit = limit.map_or(String::new(), |limit| format!("%{limit}"));
    let mut words: Vec<OsString> = vec![
        format!("--array=0-{}{limit}", end - first - 1).into(),
        output(&batches.logs(&batch.name), &format!("{first}+%a.log"))?,
    ];
    words.extend(batch.options.of_tasks().into_iter().map(OsString::from));
    words.push(absolute(&batches.script(&batch.name))?.into());
    words.push(first.to_string().into());
    sbatch(batch, &words)
}

/// Submits the job that collects results, and returns the job's id.
fn collecting(batches: &BatchFolder, batch: &Batch) -> Result<String> {
    let mut words: Vec<OsString> = vec![
        format!("--dependency=afterany:{}", batch.jobs.join(":")).into(),
        output(&batches.logs(&batch.name), "collect.log")?,
    ];
    words.extend(
        batch
            .options
            .of_collecting()
            .into_iter()
            .map(OsString::from),
    );
    words.push(absolute(&batches.collecting(&batch.name))?.into());
    sbatch(batch, &words)
}

/// The `sbatch` option with the path of a log. In Slurm's patterns, `%%` is a literal percent sign.
fn output(folder: &Path, name: &str) -> Result<OsString> {
    let folder = absolute(folder)?;
    let text = folder.to_str().ok_or_else(|| {
        Error::Usage(format!(
            "{}: --slurm accepts only paths in UTF-8",
            folder.display()
        ))
    })?;
    Ok(format!("--output={}/{name}", text.replace('%', "%%")).into())
}

fn absolute(path: &Path) -> Result<std::path::PathBuf> {
    fs::canonicalize(path).map_err(|error| Error::io("find", path, error))
}

/// Submits the next job of a batch and returns its id. If the controller does not answer, the submission is
/// repeated, unless the queue shows that the job was submitted.
fn sbatch(batch: &Batch, words: &[OsString]) -> Result<String> {
    let name = batch.job_name(batch.jobs.len());
    let mut all: Vec<OsString> = vec![
        "--parsable".into(),
        "--open-mode=append".into(),
        format!("--job-name={name}").into(),
    ];
    all.extend(words.iter().cloned());
    let mut attempt = 1;
    loop {
        let error = match call("sbatch", &all) {
            // The answer is the id. If there are several clusters, a semicolon and the cluster's name follow.
            Ok(text) => return Ok(text.trim().split(';').next().unwrap_or_default().to_owned()),
            Err(error) => error,
        };
        if !is_silent(&error) || attempt >= ATTEMPTS {
            return Err(error);
        }
        attempt += 1;
        thread::sleep(BETWEEN_ATTEMPTS);
        // The job may have been submitted although the answer was lost.
        let queue = Queue::ask([batch]);
        if let Some(id) = queue.as_ref().ok().and_then(|queue| queue.id_of(&name)) {
            return Ok(id.to_owned());
        }
    }
}

/// Whether the controller could not be reached. False if the controller refused the job.
fn is_silent(error: &Error) -> bool {
    let text = error.to_string();
    let silent = [
        "Unable to contact slurm controller",
        "Socket timed out",
        "Connection refused",
    ];
    silent.iter().any(|words| text.contains(words))
}
