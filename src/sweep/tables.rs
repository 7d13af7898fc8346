//! Writes the tables of a sweep, for all runs or only for the runs finished so far.

use std::time::Instant;

use super::opened::Opened;
use gleaner_document::{Block, Fact, text};
use gleaner_domain::Observer;
use gleaner_domain::error::{Error, Result};
use gleaner_domain::results::programs;
use gleaner_domain::results::run::Seconds;
use gleaner_domain::results::sweep::RunOutcome;
use gleaner_domain::words::counted;
use gleaner_runs::run::{End, RunDir};
use gleaner_runs::sweep;
use gleaner_runs::sweep::{Sweep, SweepRun};
use gleaner_store::Store;
use gleaner_sweep::sweep_run;
use serde_json::json;

/// The facts about a sweep that its tables contain in addition to the results.
pub(crate) struct Finished<'a> {
    pub opened: &'a Opened<'a>,
    pub directory: RunDir,
    /// Number of runs that had finished before this execution of the sweep.
    pub found_done: usize,
    /// Number of restarts of runs.
    pub begun_again: u64,
    /// Seconds between reading the inputs and writing the tables.
    pub compute: f64,
}

/// The results of a sweep.
#[derive(Debug)]
pub(crate) struct Results {
    /// The finished runs, in the plan's order.
    runs: Vec<usize>,
    /// Results of the finished runs.
    outcomes: Vec<RunOutcome>,
    /// Number of unfinished runs.
    pub missing: usize,
}

impl FromIterator<Option<RunOutcome>> for Results {
    /// Collects the results of all finished runs, in the plan's order.
    fn from_iter<I: IntoIterator<Item = Option<RunOutcome>>>(all: I) -> Self {
        let (mut runs, mut outcomes, mut count) = (Vec::new(), Vec::new(), 0);
        for (run, outcome) in all.into_iter().enumerate() {
            count = run + 1;
            if let Some(outcome) = outcome {
                runs.push(run);
                outcomes.push(outcome);
            }
        }
        Results {
            missing: count - runs.len(),
            runs,
            outcomes,
        }
    }
}

impl Results {
    /// Whether there are no finished runs.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }
}

impl Finished<'_> {
    /// Writes the tables. `run.json` records whether runs are missing.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn write(self, results: &Results) -> Result<Swept> {
        let clock = Instant::now();
        let opened = self.opened;
        let prepared = opened.prepared.as_ref();
        let keys = opened.keys();
        let complete = results.missing == 0;
        if complete {
            Store::at(self.directory.path()).merge(|key| keys.contains(key))?;
        }
        let runs = results.runs.iter().map(|&run| sweep_run(prepared, run));
        let runs: Vec<SweepRun> = runs.collect::<Result<_>>()?;
        let outcomes = &results.outcomes;
        let sweep = Sweep::new(
            &runs,
            outcomes,
            opened.mode,
            opened.by,
            prepared.replication(),
        );
        let summary = sweep::summary(&sweep);
        self.directory.write_table(&sweep::table(&sweep))?;
        for table in sweep::settings(&sweep) {
            self.directory.write_table(&table)?;
        }
        self.directory.write_json("summary.json", &summary)?;
        let mut blocks = sweep::ended(&sweep, self.found_done);
        blocks.push(Block::Facts(self.troubles(results)));
        let seconds = Seconds {
            read: opened.read,
            compute: self.compute,
            write: clock.elapsed().as_secs_f64(),
        };
        let written = self.directory.finish_with(
            &End {
                sources: &opened.sources,
                complete,
                seconds,
            },
            &json!({"runs_begun_again": self.begun_again}),
        )?;
        opened.observer.inform(&[written]);
        let json = serde_json::to_string_pretty(&summary);
        Ok(Swept {
            text: text(&blocks),
            json: json.map_err(|e| Error::Run(e.to_string()))? + "\n",
            faults: programs::remarks(
                outcomes
                    .iter()
                    .filter_map(|outcome| outcome.program.as_ref()),
            ),
        })
    }
}

impl Finished<'_> {
    /// The numbers of missing runs and of restarted runs, if there are any.
    fn troubles(&self, results: &Results) -> Vec<Fact> {
        let mut facts = Vec::new();
        if results.missing > 0 {
            let missing = counted(results.missing, "run");
            facts.push(Fact::new("unfinished", format!("{missing} missing")));
        }
        if self.begun_again > 0 {
            let again = self.begun_again.to_string();
            let remark = "after kills, interrupts and failures";
            facts.push(Fact::new("restarted runs", again).remark(remark));
        }
        facts
    }
}

/// The information that is reported after the tables of a sweep have been written.
pub struct Swept {
    /// The best settings.
    pub text: String,
    /// The summary.
    pub json: String,
    /// The faults of solver programs in all runs, including runs that had finished before this
    /// execution of the sweep.
    faults: Vec<String>,
}

impl Swept {
    /// Reports the faults of solver programs as remarks.
    ///
    /// # Errors
    /// There are faults, and `strict` is set.
    pub fn report_faults(&self, strict: bool, observer: &dyn Observer) -> Result<()> {
        if strict && !self.faults.is_empty() {
            return Err(Error::Run(self.faults.join("; ")));
        }
        observer.remark(&self.faults);
        Ok(())
    }
}
