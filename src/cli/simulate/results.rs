//! Writes and prints what was simulated.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use rayon::prelude::*;

use super::info::Info;
use super::{Args, Opened, Timed};
use crate::cli::caller::Caller;
use crate::cli::{print, print_json};
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
use gleaner_setup::Experiment;
use gleaner_setup::experiment::{Inputs, Learnt, figures};
use gleaner_simulate::Simulation;
use gleaner_simulate::idle::{TooLate, idle_log};
use gleaner_simulate::policies::Needs;

/// What was simulated, complete or stopped.
pub struct Simulated {
    /// The runs of the policies that were not cut short.
    pub runs: Vec<PolicyRun>,
    /// The figures by which these are compared.
    pub figures: Vec<PolicyFigures>,
    /// Whether no policy was cut short.
    pub is_complete: bool,
    experiment: Experiment,
    learnt: Learnt,
    seconds: Seconds,
    /// Part of the time of writing.
    idle_log_seconds: f64,
}

/// The same with its arguments, to be reported.
pub(super) struct Results<'a> {
    pub args: &'a Args,
    pub simulated: &'a Simulated,
    pub simulation: Simulation<'a>,
}

/// Of an idle log of a trace whose clock has no dates.
const NO_CALENDAR: &str = "\
the trace has no dates: the idle log counts from 1970-01-01 00:00:00; name the civil time of the \
trace's second 0 with --epoch TIME";

/// Warning for an idle log that begins and ends in the same second.
const NO_SPAN: &str = "\
the idle log spans no time, because no job is submitted after its start; --with-drain extends it to the \
end of the last job";

impl Simulated {
    /// The end of a simulation that began so. The runs are in the order of its requests.
    pub fn new(args: &Args, opened: Opened<'_>, timed: Timed) -> Self {
        let Opened {
            requests,
            experiment,
            learnt,
            mut seconds,
        } = opened;
        seconds.compute += timed.seconds;
        let simulation = learnt.simulation(experiment.simulation(&args.choice, args.check));
        let used = experiment.inputs.estimates_used.as_ref();
        let figures = timed.runs.par_iter().filter_map(|run| {
            let mut requests = requests.iter();
            let request = requests.find(|request| request.name == run.policy)?;
            Some(figures(&simulation, request, used, run))
        });
        Simulated {
            figures: figures.collect(),
            is_complete: timed.runs.len() == requests.len(),
            runs: timed.runs,
            experiment,
            learnt,
            seconds,
            idle_log_seconds: 0.0,
        }
    }

    /// What was read.
    pub fn inputs(&self) -> &Inputs {
        &self.experiment.inputs
    }

    /// The weeks for which estimates were learnt, by policy.
    pub(super) fn weeks(&self) -> &BTreeMap<&'static str, Vec<Week>> {
        &self.learnt.weeks
    }

    fn results<'a>(&'a self, args: &'a Args) -> Results<'a> {
        let simulation = self.experiment.simulation(&args.choice, args.check);
        Results {
            args,
            simulated: self,
            simulation: self.learnt.simulation(simulation),
        }
    }

    /// Writes the log of idle nodes, if the arguments ask for one. Returns a line that says what was written.
    ///
    /// # Errors
    /// The schedule is too long for a log, or the file cannot be written.
    pub fn write_idle_log(&mut self, args: &Args, caller: &dyn Caller) -> Result<Option<String>> {
        let clock = Instant::now();
        let idle_log = self.results(args).idle_log(caller)?;
        if let Some((path, log)) = &idle_log {
            events::write(log, path, Layout::Long, None)?;
        }
        let line = idle_log.as_ref().map(told);
        self.idle_log_seconds = clock.elapsed().as_secs_f64();
        self.seconds.write = self.idle_log_seconds;
        Ok(line)
    }

    /// Writes the run directory. Returns a line that says what it holds.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn write(&mut self, args: &Args, directory: RunDir, caller: &dyn Caller) -> Result<String> {
        let clock = Instant::now();
        let results = self.results(args);
        let interval = Interval::of(&self.runs);
        caller.inform(interval.remark(&self.runs).as_slice());
        results.write_tables(&directory, interval)?;
        let mut seconds = self.seconds;
        seconds.write = self.idle_log_seconds + clock.elapsed().as_secs_f64();
        let end = End {
            sources: &self.inputs().sources,
            complete: self.is_complete,
            seconds,
        };
        let written = directory.finish_with(&end, &Info::new(&results))?;
        self.seconds = seconds;
        Ok(written)
    }

    /// Prints the figures.
    pub(super) fn print(&self, args: &Args) -> Result<()> {
        self.results(args).print(self.seconds)
    }
}

impl<'a> Results<'a> {
    /// The figures by policy.
    fn entries(&self) -> Vec<Entry<'_>> {
        let names = self.simulated.runs.iter().map(|run| run.policy);
        names.zip(&self.simulated.figures).collect()
    }

    fn write_tables(&self, directory: &RunDir, interval: Interval) -> Result<()> {
        directory.write_skipped(&self.simulated.inputs().skipped)?;
        let experiment = SimulatedTrace {
            trace: self.simulation.trace,
            cluster: self.simulation.cluster,
            placer: self.simulation.placer.original_name(),
            csv: self.args.output.csv,
            interval,
        };
        self.simulated.runs.par_iter().try_for_each(|run| {
            tables::write_run(directory, experiment, run)?;
            if self.args.output.logs {
                let packing = self.simulation.packing.filter(|_| self.packs(run));
                tables::write_logs(directory, experiment, run, packing)?;
            }
            Ok::<_, Error>(())
        })?;
        if let Some(profiler) = self
            .simulated
            .runs
            .iter()
            .find_map(|run| run.profiler.as_ref())
        {
            tables::write_profiler(directory, experiment, profiler)?;
        }
        if let Some(learnt) = self.simulated.learnt.by_policy() {
            directory.write_table(&tables::estimates(experiment.trace, learnt))?;
        }
        tables::write_results(directory, experiment, &self.entries())
    }

    fn packs(&self, run: &PolicyRun) -> bool {
        let all = gleaner_simulate::policies::ALL;
        let mut packing = all.iter().filter(|entry| entry.needs == Needs::Packing);
        packing.any(|entry| run.policy.starts_with(entry.name))
    }

    /// The log of idle nodes and its file, where it is asked for.
    fn idle_log(&self, caller: &dyn Caller) -> Result<Option<(&'a Path, EventLog)>> {
        let (Some(path), [run]) = (&self.args.output.idle_events, &self.simulated.runs[..]) else {
            return Ok(None);
        };
        let Simulation {
            trace,
            cluster,
            start,
            ..
        } = self.simulation;
        let with_drain = self.args.output.with_drain;
        let too_late = |error: TooLate| {
            let fault = Fault::told(
                &self.simulated.inputs().trace_path,
                format!("the schedule is too long: {error}"),
            );
            fault.remedy("leave out jobs that last this long, or leave out --idle-events")
        };
        let log = idle_log(trace, cluster, run, start, with_drain).map_err(too_late)?;
        let remarks = [
            (trace.origin.is_none(), NO_CALENDAR),
            (log.len() < 2, NO_SPAN),
        ];
        let of_log = remarks.into_iter().filter(|(holds, _)| *holds);
        caller.remark(&of_log.map(|(_, text)| text.to_owned()).collect::<Vec<_>>());
        Ok(Some((path, log)))
    }

    /// Which estimates policies used, and those learnt with the estimator of each week.
    fn estimates_line(&self) -> String {
        let Some(used) = &self.simulated.inputs().estimates_used else {
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
        let weeks: String = self.simulated.weeks().iter().map(weeks).collect();
        format!("estimates: {used}{weeks}\n")
    }

    fn print(&self, seconds: Seconds) -> Result<()> {
        let entries = self.entries();
        if self.args.output.json {
            let summary = tables::summary(
                self.simulation.trace,
                &entries,
                Interval::of(&self.simulated.runs),
            );
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
            tables::text(&entries),
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
