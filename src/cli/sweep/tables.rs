//! Writes the tables of a sweep whose runs are all done.

use std::time::Instant;

use super::opened::Opened;
use super::{Args, print, remark};
use crate::cli::print_json;
use gleaner_core::error::{Error, Result};
use gleaner_core::results::programs;
use gleaner_core::results::run::Seconds;
use gleaner_core::results::sweep::RunOutcome;
use gleaner_formats::output::run::{End, RunDir};
use gleaner_formats::output::sweep::{self, Sweep, SweepRun};
use gleaner_store::Store;
use gleaner_sweep::sweep_run;
use serde_json::json;

/// What is known of a sweep besides its results.
pub(super) struct Finished<'a> {
    pub opened: &'a Opened,
    pub args: &'a Args,
    pub directory: RunDir,
    /// Number of runs that were done before.
    pub found_done: usize,
    /// How often runs were begun again.
    pub begun_again: u64,
    /// Seconds spent computing.
    pub compute: f64,
}

impl Finished<'_> {
    /// Writes the tables, of results in the plan's order, and prints the best settings.
    ///
    /// # Errors
    /// A file cannot be written; with `--strict`, the faults of programs.
    pub fn write(self, results: &[RunOutcome]) -> Result<()> {
        let clock = Instant::now();
        let Finished { opened, args, .. } = self;
        Store::at(self.directory.path()).merge()?;
        let prepared = opened.prepared.as_ref();
        let runs = (0..prepared.count()).map(|run| sweep_run(prepared, run));
        let runs: Vec<SweepRun> = runs.collect::<Result<_>>()?;
        let sweep = Sweep::new(&runs, results, opened.mode, opened.by);
        let summary = sweep::summary(&sweep);
        self.directory.write_table(&sweep::table(&sweep))?;
        for table in sweep::settings(&sweep) {
            self.directory.write_table(&table)?;
        }
        self.directory.write_json("summary.json", &summary)?;
        let mut text = sweep::text(&sweep, self.found_done);
        if self.begun_again > 0 {
            text += &format!(
                "runs begun again, after kills, interrupts and failures  {}\n",
                self.begun_again
            );
        }
        let seconds = Seconds {
            read: opened.read,
            compute: self.compute,
            write: clock.elapsed().as_secs_f64(),
        };
        let written = self.directory.finish_with(
            &End {
                sources: &opened.sources,
                complete: true,
                seconds,
            },
            &json!({"runs_begun_again": self.begun_again}),
        )?;
        remark(&[written]);
        match args.json {
            true => {
                let text = serde_json::to_string_pretty(&summary);
                print_json(&(text.map_err(|e| Error::Run(e.to_string()))? + "\n"))?;
            }
            false => print(&text)?,
        }
        tell_faults(results, args.strict)
    }
}

/// Tells the faults of programs over all runs, those that were done before included; fails if that is
/// wanted and there are any.
fn tell_faults(results: &[RunOutcome], strict: bool) -> Result<()> {
    let told = programs::remarks(results.iter().filter_map(|result| result.program.as_ref()));
    match strict && !told.is_empty() {
        true => Err(Error::Run(told.join("; "))),
        false => {
            remark(&told);
            Ok(())
        }
    }
}
