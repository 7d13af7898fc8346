//! `gleaner simulate`: compares scheduling policies on a trace of a GPU cluster.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use serde::Serialize;

use super::terminal::Terminal;
use super::{print, print_json};
use crate::simulation::{IdleLog, Simulated, Simulation, SimulationSettings, Writing};
use crate::threads;
use gleaner_document::{Block, Fact, text};
use gleaner_domain::Observer;
use gleaner_domain::error::{Error, Result};
use gleaner_runs::run::RunDir;
use gleaner_runs::simulate as tables;
use gleaner_runs::simulate::Figure;
use gleaner_runs::summary::time_taken;
use gleaner_setup::experiment::Inputs;
use gleaner_simulate::policies;

/// Simulate scheduling policies on a job trace of a GPU cluster.
///
/// Each virtual cluster is simulated separately, from event to event. The results equal those of Lucid's simulator,
/// which steps through every second. In this help, "the original" is that simulator. Its flags -e, -t, -l, -s, -p, -j
/// and --sweep are also accepted.
#[derive(Debug, ClapArgs, Serialize)]
#[command(before_help = EXAMPLES, after_help = policies())]
pub struct Args {
    /// The settings.
    #[command(flatten)]
    #[serde(flatten)]
    pub settings: SimulationSettings,
    /// The outputs to write.
    #[command(flatten)]
    #[serde(flatten)]
    pub output: OutputArgs,
}

const EXAMPLES: &str = "\
Examples:
  gleaner synth jobs -o trace
  gleaner simulate --data trace --policy all,easy --profiler 200,2,4 --lend auto --out run
  gleaner simulate --trace jobs.csv --cluster vc_config.csv --policy fifo,srtf --out run
  gleaner simulate --preset venus-sept --data venus_sept --policy all --out run
  gleaner simulate --data trace --policy lucid --models train --out run
  gleaner simulate -e Venus_Sept -t ./data/Venus -l ./log -s lucid -p consolidate

Use the nodes that a policy leaves idle:
  gleaner simulate --data trace --policy srtf --epoch 2026-01-05 --idle-events idle.csv
  gleaner synth tasks -o tasks.toml
  gleaner replay --events idle.csv --tasks tasks.toml";

/// The list of policies.
fn policies() -> String {
    let policies = policies::ALL.iter().map(|policy| {
        let mark = if policy.published { '*' } else { ' ' };
        format!("  {:8} {mark} {}\n", policy.name, policy.title)
    });
    let policies: String = policies.collect();
    format!("Policies:\n{policies}\n`all` selects the policies with a star.")
}

/// The outputs to write.
#[derive(Debug, ClapArgs, Serialize)]
#[command(next_help_heading = "Output")]
pub struct OutputArgs {
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
    /// Write the tables of jobs and minutes both as CSV and as Parquet.
    #[arg(long)]
    csv: bool,
    /// Also write the CSV logs of the original: DIR/logs/VC/POLICY_PLACER_VC_{log,seq}.csv.
    #[arg(long)]
    logs: bool,
    #[command(flatten)]
    #[serde(flatten)]
    idle: IdleLog,
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
/// The usage is wrong, an input is invalid, or the run fails. An interrupt is also an error; it is reported after the
/// results have been written.
pub fn run(args: &Args) -> Result<()> {
    let Args { settings, output } = args;
    threads::with(settings.jobs, || {
        output
            .idle
            .check(&settings.choice.requests(&settings.files)?)?;
        let terminal = Terminal::new(output.quiet);
        let simulation = Simulation::with(settings.clone()).observer(&terminal);
        let opened = simulation.dated(output.idle.is_dated()).open()?;
        terminal.remark(&output.without_effect());
        let open = |path: PathBuf| RunDir::open(&path, "simulate", args);
        let directory = output.directory(opened.inputs()).map(open).transpose()?;
        let opened = opened.learn()?;
        let timed = opened.simulate(&opened.requests)?;
        terminal.clear();
        let mut simulated = opened.end(timed);
        let idle_log = output.idle.write(&mut simulated, &terminal)?;
        let write = |directory| simulated.write_to(directory, output.writing(), &terminal);
        let written = directory.map(write).transpose()?;
        show(&simulated, output.json)?;
        terminal.remark(&written.into_iter().chain(idle_log).collect::<Vec<_>>());
        if simulated.is_complete {
            Ok(())
        } else {
            Err(Error::Interrupted)
        }
    })
}

/// Prints the results as text or JSON.
fn show(simulated: &Simulated, as_json: bool) -> Result<()> {
    if as_json {
        let text = serde_json::to_string_pretty(&simulated.summary()?);
        return print_json(&(text.map_err(|e| Error::Run(e.to_string()))? + "\n"));
    }
    let entries = simulated.entries();
    let mut blocks = tables::compared(&entries, tables::PLACEMENT_AFFECTS_SPEED);
    blocks.push(Block::Grid(tables::by_cluster(
        Figure::AverageJct,
        &entries,
    )));
    let estimates = simulated
        .estimates()
        .map(|used| Fact::new("estimates", used));
    let mut facts: Vec<Fact> = estimates.into_iter().collect();
    if simulated.settings.check {
        facts.push(Fact::new("checker", "every schedule passed the checker"));
    }
    facts.push(time_taken(simulated.seconds, "simulating"));
    blocks.push(Block::Facts(facts));
    print(&text(&blocks))
}

impl OutputArgs {
    /// The run directory.
    fn directory(&self, inputs: &Inputs) -> Option<PathBuf> {
        let logs = self.log_dir.as_ref();
        let logs = logs.zip(inputs.experiment.as_ref());
        let beside = logs.map(|(directory, experiment)| directory.join(experiment));
        self.out.clone().or(beside)
    }

    /// The optional outputs to write.
    pub fn writing(&self) -> Writing {
        Writing {
            csv: self.csv,
            logs: self.logs,
        }
    }

    /// A note for each option that has no effect because another option is missing.
    pub fn without_effect(&self) -> Vec<String> {
        let has_directory = self.out.is_some() || self.log_dir.is_some();
        let options = [("--csv", self.csv), ("--logs", self.logs)];
        let idle = options.iter().filter(|(_, given)| *given && !has_directory);
        let remark = |(name, _): &(&str, bool)| {
            format!("{name} has no effect: tables are written only with --out")
        };
        idle.map(remark).chain(self.idle.without_effect()).collect()
    }
}
