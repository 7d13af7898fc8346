//! `gleaner check`: whether what runs wrote is whole and agrees with itself and with its inputs.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use serde_json::Value;

use super::{print, remark};
use gleaner_check::{self, Findings};
use gleaner_core::error::{Error, Fault, Result};
use gleaner_core::results::run::RUN_FILE;
use gleaner_core::results::simulate::is_lucid;
use gleaner_core::words::counted;
use gleaner_formats::ingest::SourceId;
use gleaner_formats::ingest::runs::{self, ReplayRun, RunInfo, RunResult, SimulateRun};
use gleaner_setup::{LogArgs, Replay};

/// Check run directories: that every file is as the run wrote it, and that the figures follow from
/// the tables and the inputs.
///
/// Of a replay, the log and the tasks are read again, and every row of steps and tasks and every
/// sum is computed from the allocations. Run it where the replay was run, as its inputs are read
/// by their names. Of a simulation, jobs are compared with each other and with the summary. The
/// checks share no code with the replay and the simulation.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:\n  \
    gleaner check run\n  \
    gleaner check run policies")]
pub struct Args {
    /// Run directories.
    #[arg(value_name = "RUN", required = true)]
    runs: Vec<PathBuf>,
}

/// Runs the subcommand.
///
/// # Errors
/// Files that are missing or not as they were written, inputs that changed since, and figures
/// that do not follow.
pub fn run(args: &Args) -> Result<()> {
    let mut failed = 0;
    for path in &args.runs {
        let run = runs::read(path)?;
        let findings = match &run.result {
            RunResult::Replay(replay) => check_replay(&run.info, replay)?,
            RunResult::Simulate(simulation) => check_simulation(&run.info, simulation)?,
            RunResult::Sweep(sweep) => {
                let runs = counted(sweep.runs.len(), "run");
                print(&format!(
                    "{}: the files of {runs} are as they were written\n",
                    path.display()
                ))?;
                continue;
            }
            RunResult::Compare(compared) => {
                let answers = counted(compared.answers.len(), "answer");
                print(&format!(
                    "{}: the tables of {answers} are as they were written\n",
                    path.display()
                ))?;
                continue;
            }
        };
        remark(findings.remark.as_slice());
        print(&format!("{}: {}\n", path.display(), told(&findings)))?;
        failed += usize::from(findings.count > 0);
    }
    match failed {
        0 => Ok(()),
        _ => Err(Error::Run(format!(
            "figures of {} do not follow from the tables and inputs",
            counted(failed, "run")
        ))),
    }
}

/// What was found, as text.
fn told(findings: &Findings) -> String {
    if findings.count == 0 {
        return format!("{} verified", counted(findings.compared, "value"));
    }
    let mut text = format!("{} wrong of {}", findings.count, findings.compared);
    for sentence in &findings.sentences {
        text.push_str("\n  ");
        text.push_str(sentence);
    }
    let others = findings.count - findings.sentences.len();
    if others > 0 {
        text.push_str(&format!("\n  and {others} more"));
    }
    text
}

fn check_replay(info: &RunInfo, run: &ReplayRun) -> Result<Findings> {
    let values = Value::Object(info.arguments.clone());
    let args: LogArgs = serde_json::from_value(values).map_err(|error| {
        let fault = Fault::of(
            &info.path.join(RUN_FILE),
            error.to_string(),
            "the arguments of gleaner replay",
        );
        fault
            .field("arguments")
            .remedy("run it again with this version")
    })?;
    let skip_invalid = info.arguments.get("skip_invalid").and_then(Value::as_bool);
    let inputs = Replay::open(&args, skip_invalid.unwrap_or(false), &remark)?;
    same_inputs(info, &inputs.sources)?;
    let written = gleaner_check::replay::Written {
        steps: &run.steps,
        tasks: &run.tasks,
        allocations: &run.allocations,
        nodes: &run.nodes,
        summary: &run.summary,
    };
    Ok(gleaner_check::replay::replay(
        &inputs.log,
        &inputs.tasks,
        &inputs.options.groups,
        &written,
    ))
}

/// Refuses inputs that are not those of the run.
fn same_inputs(info: &RunInfo, sources: &[SourceId]) -> Result<()> {
    for source in sources {
        let path = source.path.display().to_string();
        let sha256 = source.sha256.to_string();
        let mut listed = info.inputs.iter();
        if !listed.any(|input| input.path == path && input.sha256 == sha256) {
            let fault = Fault::of(
                &source.path,
                "content other than when the run read it",
                "the same",
            );
            return Err(fault
                .remedy("check the run where its inputs are, or run it again")
                .into());
        }
    }
    Ok(())
}

fn check_simulation(info: &RunInfo, run: &SimulateRun) -> Result<Findings> {
    let mut all = Findings::default();
    for policy in &run.policies {
        let jobs = runs::job_rows(info, &policy.name)?;
        let shares = is_lucid(&policy.name);
        all.merge(gleaner_check::simulate::policy(
            &policy.name,
            &jobs,
            &policy.figures,
            shares,
        ));
    }
    Ok(all)
}
