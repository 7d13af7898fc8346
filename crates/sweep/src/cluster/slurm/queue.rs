//! The jobs in Slurm's queue.

use std::collections::BTreeMap;

use gleaner_domain::error::Result;

use super::program::call;
use crate::cluster::Batch;

/// The waiting and running jobs of batches, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Queue(BTreeMap<String, Job>);

/// A job or job array in the queue.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Job {
    /// Id of the job or job array, without the index of a task.
    id: String,
    tasks: Jobs,
}

/// Numbers of running and waiting jobs of a batch. Each task of an array counts as a job.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Jobs {
    /// Number of running jobs.
    pub running: usize,
    /// Number of waiting jobs.
    pub waiting: usize,
    /// Slurm's reason, such as `launch failed requeued held`, if some waiting jobs will never start by themselves;
    /// otherwise `None`.
    pub held: Option<String>,
}

impl Queue {
    /// Requests the jobs of all given batches in one call. Makes no call if there are no batches.
    ///
    /// # Errors
    /// [`Error::Usage`] if Slurm is missing, [`Error::Run`] if Slurm does not answer.
    ///
    /// [`Error::Usage`]: gleaner_domain::error::Error::Usage
    /// [`Error::Run`]: gleaner_domain::error::Error::Run
    pub fn ask<'b>(batches: impl IntoIterator<Item = &'b Batch>) -> Result<Self> {
        let names: Vec<String> = batches.into_iter().flat_map(Batch::job_names).collect();
        if names.is_empty() {
            return Ok(Queue::default());
        }
        let names = format!("--name={}", names.join(","));
        let text = call("squeue", &["--noheader", "--format=%i|%T|%j|%r", &names])?;
        Ok(Self::parse(&text))
    }

    /// The jobs of a batch; `None` if the queue contains no job of the batch.
    pub fn of(&self, batch: &Batch) -> Option<Jobs> {
        let names = batch.job_names();
        let found: Vec<Jobs> = names
            .filter_map(|name| Some(self.0.get(&name)?.tasks.clone()))
            .collect();
        let sum = |of: fn(&Jobs) -> usize| found.iter().map(of).sum();
        (!found.is_empty()).then(|| Jobs {
            running: sum(|jobs| jobs.running),
            waiting: sum(|jobs| jobs.waiting),
            held: found.iter().find_map(|jobs| jobs.held.clone()),
        })
    }

    /// The id of the waiting or running job with this name.
    pub(super) fn id_of(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(|job| job.id.as_str())
    }

    /// Reads lines such as `12_[3-9%2]|PENDING|gleaner-0123abcd-0|Resources`.
    fn parse(text: &str) -> Self {
        let mut queue = Queue::default();
        for line in text.lines() {
            let mut fields = line.trim().split('|');
            let (Some(id), Some(state), Some(name)) = (fields.next(), fields.next(), fields.next())
            else {
                continue;
            };
            let job = queue.0.entry(name.to_owned()).or_default();
            job.id = id.split('_').next().unwrap_or(id).to_owned();
            match state {
                "PENDING" | "REQUEUED" | "REQUEUE_HOLD" | "SPECIAL_EXIT" => {
                    job.tasks.waiting += tasks(id);
                    let reason = fields.next().filter(|reason| is_final(reason));
                    job.tasks.held = job.tasks.held.take().or(reason.map(str::to_owned));
                }
                _ => job.tasks.running += tasks(id),
            }
        }
        queue
    }
}

/// Whether a job that waits for this reason will not start until its owner intervenes.
fn is_final(reason: &str) -> bool {
    let held = reason.to_ascii_lowercase().contains("held");
    held || reason.starts_with("Partition")
        || ["BadConstraints", "DependencyNeverSatisfied"].contains(&reason)
}

/// Number of tasks that an id stands for: 1, or the number of tasks in a list. For example, `12_[1,3-9%2]` has 8
/// tasks.
fn tasks(id: &str) -> usize {
    let Some((_, list)) = id.split_once("_[") else {
        return 1;
    };
    let list = list.trim_end_matches(']');
    let list = list.split_once('%').map_or(list, |(list, _)| list);
    let count = |range: &str| {
        let Some((first, last)) = range.split_once('-') else {
            return 1;
        };
        let number = |text: &str| text.parse::<usize>().ok();
        let span = number(last).zip(number(first));
        span.and_then(|(last, first)| last.checked_sub(first))
            .map_or(1, |span| span + 1)
    };
    list.split(',').map(count).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    // Example lines in the format of Slurm 22.05.
    #[test]
    fn tasks_of_arrays_are_counted() {
        let queue = Queue::parse(
            "12_[3-9%2]|PENDING|gleaner-a\n12_1|RUNNING|gleaner-a\n12_2|COMPLETING|gleaner-a\n\
             13|PENDING|gleaner-a|(launch failed requeued held)\n\
             20_[0,2,4-5]|PENDING|gleaner-b|Resources\n\nnonsense\n",
        );
        let held = queue.0["gleaner-a"].tasks.held.clone();
        assert_eq!(held.as_deref(), Some("(launch failed requeued held)"));
        let jobs = |running, waiting| Some((running, waiting));
        let of = |name: &str| {
            queue
                .0
                .get(name)
                .map(|job| (job.tasks.running, job.tasks.waiting))
        };
        assert_eq!(of("gleaner-a"), jobs(2, 8));
        assert_eq!(of("gleaner-b"), jobs(0, 4));
        assert_eq!(queue.id_of("gleaner-b"), Some("20"));
        assert_eq!(queue.0.len(), 2);
    }
}
