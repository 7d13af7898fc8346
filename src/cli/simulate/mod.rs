//! `gleaner simulate`: how scheduling policies compare on a trace of a GPU cluster.

mod info;
mod results;

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Instant;

use clap::Args as ClapArgs;
use serde::Serialize;

use super::caller::{Caller, Terminal};
use super::progress::Progress;
use super::{remark, threads};
use gleaner_core::error::{Error, Result};
use gleaner_core::results::policy_run::PolicyRun;
use gleaner_core::results::run::Seconds;
use gleaner_core::words::printable;
use gleaner_formats::ingest::SourceId;
use gleaner_formats::output::events;
use gleaner_formats::output::run::RunDir;
use gleaner_setup::experiment::{Choice, FileArgs, Inputs, Learnt, ModelArgs, ProfilerArgs};
use gleaner_setup::{Experiment, ExperimentArgs, report_left_out};
use gleaner_simulate::placer::Placer;
use gleaner_simulate::policies::{self, PolicyEntry};
use gleaner_simulate::{Control, Request, SimulateError, Simulation, simulate, simulate_in_turn};

pub use results::Simulated;

/// Simulate scheduling policies on a job trace of a GPU cluster.
///
/// Each virtual cluster is simulated on its own, from event to event. The results are those of
/// Lucid's simulator, which steps through every second; "the original" is that simulator, and its
/// flags -e, -t, -l, -s, -p, -j and --sweep work as well.
#[derive(Debug, ClapArgs, Serialize)]
#[command(after_help = after_help())]
pub struct Args {
    #[command(flatten)]
    #[serde(flatten)]
    choice: Choice,
    /// Check every schedule with a checker that shares no code with the policies.
    #[arg(long)]
    check: bool,
    /// Number of threads [default: the number of cores]. The results do not depend on it.
    #[arg(short = 'j', long, alias = "processes", value_name = "COUNT")]
    jobs: Option<NonZeroUsize>,
    #[command(flatten)]
    #[serde(flatten)]
    files: FileArgs,
    #[command(flatten)]
    #[serde(flatten)]
    models: ModelArgs,
    #[command(flatten)]
    #[serde(flatten)]
    profiler: ProfilerArgs,
    #[command(flatten)]
    #[serde(flatten)]
    output: OutputArgs,
}

const EXAMPLES: &str = "\
Examples:
  gleaner synth jobs -o trace
  gleaner simulate --data trace --policy all,easy --profiler 200,2,4 --lend auto --out run
  gleaner simulate --trace jobs.csv --cluster vc_config.csv --policy fifo,srtf --out run
  gleaner simulate --preset venus-sept --data venus_sept --policy all --out run
  gleaner simulate --data trace --policy lucid --models train --out run
  gleaner simulate -e Venus_Sept -t ./data/Venus -l ./log -s lucid -p consolidate

Harvest what a policy leaves idle:
  gleaner simulate --data trace --policy srtf --epoch 2026-01-05 --idle-events idle.csv
  gleaner synth tasks -o tasks.toml
  gleaner replay --events idle.csv --tasks tasks.toml";

/// The policies there are, and examples.
fn after_help() -> String {
    let policies = policies::ALL.iter().map(|policy| {
        let mark = if policy.published { '*' } else { ' ' };
        format!("  {:8} {mark} {}\n", policy.name, policy.title)
    });
    let policies: String = policies.collect();
    format!("Policies:\n{policies}\nPolicies with a star are those of `all`.\n\n{EXAMPLES}")
}

/// What is written.
#[derive(Debug, ClapArgs, Serialize)]
#[command(next_help_heading = "Output")]
struct OutputArgs {
    /// Directory for run.json, summary.json and the tables.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Write to DIR/EXPERIMENT, as --out would; EXPERIMENT is the name given with -e.
    #[arg(
        short = 'l',
        long,
        value_name = "DIR",
        conflicts_with = "out",
        requires = "experiment"
    )]
    log_dir: Option<PathBuf>,
    /// Write the tables of jobs and minutes as CSV as well as Parquet.
    #[arg(long)]
    csv: bool,
    /// Also write the CSV logs of the original: DIR/logs/VC/POLICY_PLACER_VC_{log,seq}.csv.
    #[arg(long)]
    logs: bool,
    /// Write when each node is fully idle, as an event log for `gleaner replay`: .csv, .parquet or
    /// .gev. It requires a single policy. If the trace has no dates, --epoch sets them.
    #[arg(long, value_name = "FILE")]
    idle_events: Option<PathBuf>,
    /// Extend the log of --idle-events to the end of the last job. By default it ends at the last
    /// submission, because the drain that follows does not occur on a cluster in use.
    #[arg(long)]
    with_drain: bool,
    /// Print the summary as JSON instead of tables.
    #[arg(long)]
    json: bool,
    /// Show no progress bar.
    #[arg(long)]
    quiet: bool,
}

/// Runs the subcommand.
///
/// # Errors
/// Wrong usage, invalid input, a failed run, or an interrupt after its results are written.
pub fn run(args: &Args) -> Result<()> {
    args.with_threads(|| {
        let opened = Opened::read(args, &[], &Terminal)?;
        let open = |path: PathBuf| RunDir::open(&path, "simulate", args);
        let directory = args.out(opened.inputs()).map(open).transpose()?;
        let opened = opened.learn(args, &Terminal)?;
        let runs = opened.simulate(args, &opened.requests, &Terminal)?;
        let mut simulated = Simulated::new(args, opened, runs);
        let idle_log = simulated.write_idle_log(args, &Terminal)?;
        let write = |directory| simulated.write(args, directory, &Terminal);
        let written = directory.map(write).transpose()?;
        simulated.print(args)?;
        remark(&written.into_iter().chain(idle_log).collect::<Vec<_>>());
        if simulated.is_complete {
            Ok(())
        } else {
            Err(Error::Interrupted)
        }
    })
}

/// A simulation that was read.
pub struct Opened<'p> {
    /// What is simulated.
    pub requests: Vec<Request<'p>>,
    experiment: Experiment,
    learnt: Learnt,
    seconds: Seconds,
}

impl<'p> Opened<'p> {
    /// Reads and checks all inputs. The arguments may name policies of the caller's `own`.
    ///
    /// # Errors
    /// Wrong usage, invalid input.
    pub fn read(args: &Args, own: &[PolicyEntry<'p>], caller: &dyn Caller) -> Result<Self> {
        let requests = args.choice.requests_with(&args.files, own)?;
        args.output.check(&requests)?;
        let clock = Instant::now();
        let remark = |remarks: &[String]| caller.remark(remarks);
        let experiment = Experiment::open(args.experiment(), &requests, &remark)?;
        remark(&args.output.without_effect());
        let inputs = &experiment.inputs;
        report_left_out(&inputs.skipped, &remark);
        let seconds = Seconds {
            read: clock.elapsed().as_secs_f64(),
            ..Seconds::default()
        };
        Ok(Opened {
            requests,
            experiment,
            learnt: Learnt::default(),
            seconds,
        })
    }

    /// What was read.
    pub fn inputs(&self) -> &Inputs {
        &self.experiment.inputs
    }

    /// Every file that was read.
    pub fn sources(&mut self) -> &mut [SourceId] {
        &mut self.experiment.inputs.sources
    }

    /// Learns the estimates that are to be learnt in the simulation.
    ///
    /// # Errors
    /// A simulation that fails.
    pub fn learn(mut self, args: &Args, caller: &dyn Caller) -> Result<Self> {
        let clock = Instant::now();
        let simulation = self.experiment.simulation(&args.choice, args.check);
        let experiment = &self.experiment;
        self.learnt = experiment.learn(simulation, &self.requests, caller.stop())?;
        self.seconds.compute += clock.elapsed().as_secs_f64();
        Ok(self)
    }

    /// Simulates policies in parallel. Those cut short are not among the results.
    ///
    /// # Errors
    /// A simulation that fails.
    pub fn simulate(
        &self,
        args: &Args,
        requests: &[Request<'_>],
        caller: &dyn Caller,
    ) -> Result<Timed> {
        self.simulated_by(simulate, args, requests, caller)
    }

    /// As [`Opened::simulate`], one virtual cluster after the other on the thread of the caller.
    ///
    /// # Errors
    /// As [`Opened::simulate`].
    pub fn simulate_in_turn(
        &self,
        args: &Args,
        requests: &[Request<'_>],
        caller: &dyn Caller,
    ) -> Result<Timed> {
        self.simulated_by(simulate_in_turn, args, requests, caller)
    }

    fn simulated_by(
        &self,
        simulate: Simulate,
        args: &Args,
        requests: &[Request<'_>],
        caller: &dyn Caller,
    ) -> Result<Timed> {
        let clock = Instant::now();
        let simulation = self.experiment.simulation(&args.choice, args.check);
        let simulation = self.learnt.simulation(simulation);
        let progress = Mutex::new(Progress::new(args.output.quiet));
        let control = Control {
            stop: caller.stop(),
            progress: &|done, total| {
                if let Ok(mut progress) = progress.lock() {
                    progress.update(done, total);
                }
            },
        };
        let runs = simulate(&simulation, requests, control);
        if let Ok(progress) = progress.into_inner() {
            progress.finish();
        }
        let runs = runs.map_err(|error| Error::Run(printable(&error.to_string()).into_owned()))?;
        Ok(Timed {
            runs,
            seconds: clock.elapsed().as_secs_f64(),
        })
    }
}

/// [`simulate`] or [`simulate_in_turn`].
type Simulate = fn(
    &Simulation<'_>,
    &[Request<'_>],
    Control<'_>,
) -> std::result::Result<Vec<PolicyRun>, SimulateError>;

/// What was simulated, and how long it took.
pub struct Timed {
    /// The policies that were not cut short.
    pub runs: Vec<PolicyRun>,
    /// Wall time.
    pub seconds: f64,
}

impl Args {
    /// Runs with the number of threads of the arguments.
    ///
    /// # Errors
    /// Those of `run`; threads that do not start.
    pub fn with_threads<T: Send>(&self, run: impl FnOnce() -> Result<T> + Send) -> Result<T> {
        threads::with(self.jobs, run)
    }

    /// The placer.
    pub fn placer(&self) -> &'static dyn Placer {
        self.choice.placer()
    }

    /// What the experiment is made of.
    fn experiment(&self) -> ExperimentArgs<'_> {
        ExperimentArgs {
            choice: &self.choice,
            files: &self.files,
            models: &self.models,
            profiler: &self.profiler,
            dated: self.output.idle_events.is_some(),
        }
    }

    /// The run directory.
    fn out(&self, inputs: &Inputs) -> Option<PathBuf> {
        let logs = self.output.log_dir.as_ref();
        let logs = logs.zip(inputs.experiment.as_ref());
        let beside = logs.map(|(directory, experiment)| directory.join(experiment));
        self.output.out.clone().or(beside)
    }
}

impl OutputArgs {
    /// Whether the idle log can be written, before anything is simulated for it.
    fn check(&self, requests: &[Request]) -> Result<()> {
        let Some(path) = &self.idle_events else {
            return Ok(());
        };
        if requests.len() != 1 {
            return Err(Error::Usage(
                "--idle-events writes one log: choose a single policy, as in --policy srtf".into(),
            ));
        }
        events::Format::of(path).map(drop)
    }

    /// A remark for each option that needs a run directory, if there is none.
    fn without_effect(&self) -> Vec<String> {
        let has_directory = self.out.is_some() || self.log_dir.is_some();
        let options = [("--csv", self.csv), ("--logs", self.logs)];
        let idle = options.iter().filter(|(_, given)| *given && !has_directory);
        let remark = |(name, _): &(&str, bool)| {
            format!("{name} has no effect: tables are written only with --out")
        };
        let drain = (self.with_drain && self.idle_events.is_none())
            .then(|| "--with-drain has no effect without --idle-events".to_owned());
        idle.map(remark).chain(drain).collect()
    }
}
