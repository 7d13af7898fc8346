//! Writes and prints what was simulated.

use std::path::Path;
use std::time::Instant;

use rayon::prelude::*;

use super::Args;
use super::info::Info;
use crate::cli::{print, print_json, remark};
use gleaner_core::domain::EventLog;
use gleaner_core::error::{Error, Fault, Result};
use gleaner_core::results::policy_run::PolicyRun;
use gleaner_core::results::run::Seconds;
use gleaner_core::results::simulate::PolicyFigures;
use gleaner_core::words::counted;
use gleaner_formats::output::events::{self, Layout};
use gleaner_formats::output::run::{End, RunDir};
use gleaner_formats::output::simulate::{self as tables, Entry, Interval, SimulatedTrace};
use gleaner_predict::Week;
use gleaner_setup::experiment::{EstimatesUsed, Inputs, Learnt};
use gleaner_simulate::Simulation;
use gleaner_simulate::idle::{TooLate, idle_log};
use gleaner_simulate::metrics::summarise;
use gleaner_simulate::policies::Needs;

/// Everything there is to report.
pub struct Results<'a> {
    pub args: &'a Args,
    pub learnt: &'a Learnt,
    /// Where estimates come from, where a policy uses them.
    pub estimates: Option<&'a EstimatesUsed>,
    pub simulation: Simulation<'a>,
    /// The trace's file.
    pub trace_path: &'a Path,
    pub runs: &'a [PolicyRun],
    pub inputs: &'a Inputs,
    pub complete: bool,
}

/// Of an idle log of a trace whose clock has no dates.
const NO_CALENDAR: &str = "\
the trace has no dates: the idle log counts from 1970-01-01 00:00:00; name the civil time of the \
trace's second 0 with --epoch TIME";

impl Results<'_> {
    /// Writes the run directory and the idle log where asked for, and prints the summary.
    ///
    /// # Errors
    /// A file that cannot be written; [`Error::Interrupted`] where policies are missing.
    pub fn report(&self, directory: Option<RunDir>, mut seconds: Seconds) -> Result<()> {
        let clock = Instant::now();
        let metrics: Vec<PolicyFigures> = self
            .runs
            .par_iter()
            .map(|run| self.summarise(run))
            .collect();
        let names = self.runs.iter().map(|run| run.policy);
        let entries: Vec<Entry<'_>> = names.zip(&metrics).collect();
        let interval = Interval::of(self.runs);
        let idle_log = self.idle_log()?;
        if let Some(directory) = &directory {
            remark(interval.remark(self.runs).as_slice());
            self.write_tables(directory, interval, &entries)?;
        }
        if let Some((path, log)) = &idle_log {
            events::write(log, path, Layout::Long, None)?;
        }
        seconds.write = clock.elapsed().as_secs_f64();
        let mut written: Vec<String> = idle_log.iter().map(told).collect();
        if let Some(directory) = directory {
            let end = End {
                sources: &self.inputs.sources,
                complete: self.complete,
                seconds,
            };
            written.insert(0, directory.finish_with(&end, &Info::new(self))?);
        }
        self.print(&entries, interval, seconds)?;
        remark(&written);
        if self.complete {
            Ok(())
        } else {
            Err(Error::Interrupted)
        }
    }

    fn summarise(&self, run: &PolicyRun) -> PolicyFigures {
        summarise(self.simulation.trace, self.simulation.cluster, run)
    }

    fn write_tables(
        &self,
        directory: &RunDir,
        interval: Interval,
        entries: &[Entry<'_>],
    ) -> Result<()> {
        directory.write_skipped(&self.inputs.skipped)?;
        let experiment = SimulatedTrace {
            trace: self.simulation.trace,
            cluster: self.simulation.cluster,
            placer: self.simulation.placer.original_name(),
            csv: self.args.output.csv,
            interval,
        };
        self.runs.par_iter().try_for_each(|run| {
            tables::write_run(directory, experiment, run)?;
            if self.args.output.logs {
                let packing = self.simulation.packing.filter(|_| self.packs(run));
                tables::write_logs(directory, experiment, run, packing)?;
            }
            Ok::<_, Error>(())
        })?;
        if let Some(profiler) = self.runs.iter().find_map(|run| run.profiler.as_ref()) {
            tables::write_profiler(directory, experiment, profiler)?;
        }
        if let Some(learnt) = self.learnt.by_policy() {
            directory.write_table(&tables::estimates(experiment.trace, learnt))?;
        }
        tables::write_results(directory, experiment, entries)
    }

    fn packs(&self, run: &PolicyRun) -> bool {
        let all = gleaner_simulate::policies::ALL;
        let mut packing = all.iter().filter(|entry| entry.needs == Needs::Packing);
        packing.any(|entry| run.policy.starts_with(entry.name))
    }

    /// The log of idle nodes and its file, where it is asked for.
    fn idle_log(&self) -> Result<Option<(&Path, EventLog)>> {
        let (Some(path), [run]) = (&self.args.output.idle_events, self.runs) else {
            return Ok(None);
        };
        let Simulation {
            trace,
            cluster,
            start,
            ..
        } = self.simulation;
        let too_late = |error: TooLate| {
            let fault = Fault::told(
                self.trace_path,
                format!("the schedule is too long: {error}"),
            );
            fault.remedy("leave out jobs that last this long, or leave out --idle-events")
        };
        let log = idle_log(trace, cluster, run, start).map_err(too_late)?;
        if trace.origin.is_none() {
            remark(&[NO_CALENDAR.to_owned()]);
        }
        Ok(Some((path, log)))
    }

    /// Which estimates policies used, and those learnt with the estimator of each week.
    fn estimates_line(&self) -> String {
        let Some(used) = self.estimates else {
            return String::new();
        };
        let weeks = |(policy, weeks): (&&str, &Vec<Week>)| match weeks.as_slice() {
            [] => format!(
                "; {policy} {} s for every job, as the trace ends in its first week or nothing \
                 had ended",
                self.args.models.first_estimate
            ),
            weeks => {
                let names: Vec<&str> = weeks.iter().map(|week| week.estimator.name()).collect();
                format!("; {policy} by {}", names.join(", "))
            }
        };
        let weeks: String = self.learnt.weeks.iter().map(weeks).collect();
        format!("estimates: {used}{weeks}\n")
    }

    fn print(&self, entries: &[Entry<'_>], interval: Interval, seconds: Seconds) -> Result<()> {
        if self.args.output.json {
            let summary = tables::summary(entries, interval);
            let text = serde_json::to_string_pretty(&summary);
            let text = text.map_err(|e| Error::Run(e.to_string()))?;
            return print_json(&(text + "\n"));
        }
        let checked = match self.args.check {
            true => "every schedule passed the checker\n",
            false => "",
        };
        print(&format!(
            "{}\n{}{checked}{:.2} s reading, {:.2} s simulating, {:.2} s writing\n",
            tables::text(entries),
            self.estimates_line(),
            seconds.read,
            seconds.compute,
            seconds.write
        ))
    }
}

/// A log of idle nodes in words.
fn told((path, log): &(&Path, EventLog)) -> String {
    let span = log.times().first().zip(log.times().last());
    let span = span.map_or(String::new(), |(from, to)| format!(", {from} to {to}"));
    let events = counted(log.len(), "event");
    let nodes = counted(log.nodes().len(), "node");
    format!("{}: {events} of {nodes}{span}", path.display())
}
