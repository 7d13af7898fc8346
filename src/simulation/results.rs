//! The results of a simulation, and their output.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use rayon::prelude::*;

use super::info::Info;
use super::{OpenedSimulation, SimulationSettings, Timed, simulated};
use gleaner_domain::EventLog;
use gleaner_domain::Observer;
use gleaner_domain::error::{Error, Fault, Result};
use gleaner_domain::results::policy_run::PolicyRun;
use gleaner_domain::results::run::Seconds;
use gleaner_domain::results::simulate::PolicyFigures;
use gleaner_predict::Week;
use gleaner_runs::run::{End, RunDir};
use gleaner_runs::simulate as tables;
use gleaner_runs::simulate::{Entry, Interval, SimulatedTrace};
use gleaner_setup::Experiment;
use gleaner_setup::experiment::{Inputs, Learnt, figures};
use gleaner_simulate::Simulation;
use gleaner_simulate::idle::{TooLate, idle_log};
use gleaner_simulate::policies::Needs;
use serde_json::Value;

/// The optional files to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Writing {
    /// Whether to write the tables of jobs and minutes also as CSV.
    pub csv: bool,
    /// Whether to write the logs of Lucid's simulator: `logs/VC/POLICY_PLACER_VC_{log,seq}.csv`.
    pub logs: bool,
}

/// The results of a simulation, complete or stopped.
pub struct Simulated {
    /// The runs of the policies that were not interrupted.
    pub runs: Vec<PolicyRun>,
    /// The figures that compare these policies.
    pub figures: Vec<PolicyFigures>,
    /// Whether no policy was interrupted.
    pub is_complete: bool,
    /// The settings.
    pub settings: SimulationSettings,
    /// Wall time so far, by phase.
    pub seconds: Seconds,
    experiment: Experiment,
    learnt: Learnt,
}

/// The results to write to a run directory, with the simulation that produced them.
pub(super) struct Results<'a> {
    pub simulated: &'a Simulated,
    pub simulation: Simulation<'a>,
}

/// Remark for an idle log of a trace whose times have no dates.
const NO_CALENDAR: &str = "\
the trace has no dates, so second 0 of the trace is 1970-01-01 00:00:00 in the idle log; set another \
civil time for second 0 with --epoch TIME";

/// Warning for an idle log that begins and ends in the same second.
const NO_SPAN: &str = "\
the idle log spans no time, because no job is submitted after its start; --with-drain extends it to the \
end of the last job";

impl Simulated {
    /// Collects the results of a simulation, with the runs in the order in which they were requested.
    pub(super) fn new(opened: OpenedSimulation<'_>, timed: Timed) -> Self {
        let OpenedSimulation {
            requests,
            settings,
            experiment,
            learnt,
            mut seconds,
            ..
        } = opened;
        seconds.compute += timed.seconds;
        let simulation = simulated(&settings, &experiment, &learnt);
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
            settings,
            experiment,
            learnt,
            seconds,
        }
    }

    /// The inputs that were read.
    pub fn inputs(&self) -> &Inputs {
        &self.experiment.inputs
    }

    /// The figures of each policy.
    pub fn entries(&self) -> Vec<Entry<'_>> {
        let names = self.runs.iter().map(|run| run.policy);
        names.zip(&self.figures).collect()
    }

    /// The interval between the rows of the per-minute tables.
    pub fn interval(&self) -> Interval {
        Interval::of(&self.runs)
    }

    /// The summary, with the content of `summary.json`.
    ///
    /// # Errors
    /// The summary cannot be serialised, which indicates a bug.
    pub fn summary(&self) -> Result<Value> {
        let summary = tables::summary(&self.inputs().trace, &self.entries(), self.interval());
        serde_json::to_value(summary).map_err(|e| Error::Run(e.to_string()))
    }

    /// The weeks for which estimates were learnt, by policy.
    pub fn weeks(&self) -> &BTreeMap<&'static str, Vec<Week>> {
        &self.learnt.weeks
    }

    fn results(&self) -> Results<'_> {
        Results {
            simulated: self,
            simulation: simulated(&self.settings, &self.experiment, &self.learnt),
        }
    }

    /// A log of the times at which each node is fully idle under the only simulated policy. The log begins at the first
    /// submission and ends at the last; `with_drain` extends the log to the end of the last job.
    ///
    /// # Errors
    /// The number of simulated policies is not 1, or the schedule is too long for a log.
    pub fn idle_log(&self, with_drain: bool, observer: &dyn Observer) -> Result<EventLog> {
        let [run] = &self.runs[..] else {
            return Err(Error::Usage(
                "a log of idle nodes needs exactly one policy".into(),
            ));
        };
        let Simulation {
            trace,
            cluster,
            start,
            ..
        } = self.results().simulation;
        let too_late = |error: TooLate| {
            let fault = Fault::told(
                &self.inputs().trace_path,
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
        observer.remark(&of_log.map(|(_, text)| text.to_owned()).collect::<Vec<_>>());
        Ok(log)
    }

    /// Writes the run directory `path`, with `run.json`, `summary.json` and the tables. `gleaner report` and
    /// `gleaner check` read this directory. Returns a line that describes the contents of the directory.
    ///
    /// # Errors
    /// The directory contains other files, or a file cannot be written.
    pub fn write(
        &mut self,
        path: impl AsRef<Path>,
        writing: Writing,
        observer: &dyn Observer,
    ) -> Result<String> {
        let directory = RunDir::open(path.as_ref(), "simulate", &self.settings)?;
        self.write_to(directory, writing, observer)
    }

    /// Writes into an open run directory.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn write_to(
        &mut self,
        directory: RunDir,
        writing: Writing,
        observer: &dyn Observer,
    ) -> Result<String> {
        let clock = Instant::now();
        let results = self.results();
        let interval = self.interval();
        observer.inform(interval.remark(&self.runs).as_slice());
        results.write_tables(&directory, interval, writing)?;
        let mut seconds = self.seconds;
        seconds.write += clock.elapsed().as_secs_f64();
        let end = End {
            sources: &self.inputs().sources,
            complete: self.is_complete,
            seconds,
        };
        let written = directory.finish_with(&end, &Info::new(&results))?;
        self.seconds = seconds;
        Ok(written)
    }

    /// A line that names the estimates that policies used. For learnt estimates, it lists the estimator of each week.
    pub fn estimates(&self) -> Option<String> {
        let used = self.inputs().estimates_used.as_ref()?;
        let weeks = |(policy, weeks): (&&str, &Vec<Week>)| match weeks.as_slice() {
            [] => format!(
                "; {policy} {} s for every job, because the trace ends in its first week or no job \
                 ended before a later week began",
                self.settings.models.first_estimate
            ),
            weeks => {
                let names: Vec<&str> = weeks.iter().map(|week| week.estimator.name()).collect();
                format!("; {policy} by {}", names.join(", "))
            }
        };
        let weeks: String = self.weeks().iter().map(weeks).collect();
        Some(format!("{used}{weeks}"))
    }
}

impl Results<'_> {
    fn write_tables(&self, directory: &RunDir, interval: Interval, writing: Writing) -> Result<()> {
        directory.write_skipped(&self.simulated.inputs().skipped)?;
        let experiment = SimulatedTrace {
            trace: self.simulation.trace,
            cluster: self.simulation.cluster,
            placer: self.simulation.placer.original_name(),
            csv: writing.csv,
            interval,
        };
        self.simulated.runs.par_iter().try_for_each(|run| {
            tables::write_run(directory, experiment, run)?;
            if writing.logs {
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
        tables::write_results(directory, experiment, &self.simulated.entries())
    }

    fn packs(&self, run: &PolicyRun) -> bool {
        let all = gleaner_simulate::policies::ALL;
        let mut packing = all.iter().filter(|entry| entry.needs == Needs::Packing);
        packing.any(|entry| run.policy.starts_with(entry.name))
    }
}
