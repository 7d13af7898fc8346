//! Checks a sweep.

use std::path::Path;

use gleaner_check::again::Again;
use gleaner_check::sweep::{Planned, results, sweep};
use gleaner_check::{Findings, tables};
use gleaner_domain::Observer;
use gleaner_domain::error::{Error, Fault, Result};
use gleaner_domain::results::run::RUN_FILE;
use gleaner_domain::results::sweep::Mode;
use gleaner_runs::read::{RunInfo, SweepRuns};
use gleaner_sweep::plan::{self, Plan, ReplicationArgs};
use gleaner_sweep::{PreparedRuns, prepare};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use serde_json::Value;

use super::Args;
use super::again::refuse_programs;
use super::inputs::{Given, given};

/// Tables of every sweep.
const TABLES: [&str; 6] = [
    "sweep",
    "settings",
    "settings_sd",
    "settings_se",
    "settings_low",
    "settings_high",
];

/// Checks a sweep.
///
/// # Errors
/// The inputs are missing, or differ from those of the sweep.
pub(super) fn check(info: &RunInfo, run: &SweepRuns, observer: &dyn Observer) -> Result<Findings> {
    let mut findings = given(info, observer)?;
    Given::of(info).names(&["plan"])?;
    let (mode, prepared) = open(info, observer)?;
    tables::listed(info, TABLES, true, &mut findings);
    findings.equal(
        "sweep: whether the runs are replays",
        run.mode == Mode::Replay,
        mode == Mode::Replay,
    );
    let planned = (0..prepared.count()).map(|run| {
        Ok(Planned {
            key: prepared.key(run).to_string(),
            settings: prepared.settings(run)?,
        })
    });
    let planned = planned.collect::<Result<Vec<_>>>()?;
    let best = info.arguments.get("best").and_then(Value::as_str);
    let over = prepared.replication();
    findings.merge(sweep(info, mode, over, &planned, best, observer)?);
    let arguments = ["plan", "best", "windows", "bootstrap"];
    findings.covers(RUN_FILE, arguments.map(|name| format!("arguments/{name}")));
    findings.equal("run.json: complete", info.complete, true);
    findings.covers(RUN_FILE, ["complete"]);
    let why = "the results do not depend on how the runs are distributed";
    findings.not_verified(RUN_FILE, "arguments", why);
    let why = "it depends on the times at which processes were killed or interrupted";
    findings.not_verified(RUN_FILE, "runs_begun_again", why);
    Ok(findings)
}

/// The mode of a sweep, and its runs with everything that they need.
fn open(info: &RunInfo, observer: &dyn Observer) -> Result<(Mode, Box<dyn PreparedRuns>)> {
    let Some(path) = info.arguments.get("plan").and_then(Value::as_str) else {
        let fault = Fault::of(&info.path.join(RUN_FILE), "nothing", "the path of the plan");
        return Err(fault.field("arguments/plan").into());
    };
    let mut plan = plan::read(Path::new(path))?;
    if let Plan::Replay(replay) = &mut plan.value {
        // A check must not write files, so the cache is turned off.
        replay.base.replay.log.slice.cache = false;
    }
    let mode = plan.value.mode();
    let prepared = prepare(plan.value.with_cut(&replication(info)?)?, observer)?;
    let given = Given::of(info);
    given.same(&plan.sources)?;
    given.same(prepared.sources())?;
    Ok((mode, prepared))
}

/// The options that determine how the sweep cut its log.
fn replication(info: &RunInfo) -> Result<ReplicationArgs> {
    let arguments = Value::Object(info.arguments.clone());
    serde_json::from_value(arguments).map_err(|error| {
        let expected = "windows and bootstrap as gleaner sweep writes them";
        let fault = Fault::of(&info.path.join(RUN_FILE), error.to_string(), expected);
        fault.field("arguments").into()
    })
}

/// Repeats a sample of the runs.
///
/// # Errors
/// The inputs are missing or differ from those of the sweep, a run would start a program without permission, or a run
/// fails.
pub(super) fn again(info: &RunInfo, args: &Args, observer: &dyn Observer) -> Result<Again> {
    let sample = args.sample;
    let (_, prepared) = open(info, observer)?;
    let count = prepared.count();
    let mut random = ChaCha8Rng::seed_from_u64(args.seed);
    let mut drawn: Vec<usize> = (0..count).collect();
    for place in 0..sample.min(count) {
        drawn.swap(place, random.random_range(place..count));
    }
    drawn.truncate(sample);
    drawn.sort_unstable();
    let results = results(&info.path)?;
    let mut found = Again::default();
    for run in drawn {
        let settings = prepared.settings(run)?;
        refuse_programs([&settings], args.run_programs)?;
        let key = prepared.key(run).to_string();
        // A run has no outcome if it is stopped.
        let outcome = prepared.execute(run, observer)?.ok_or(Error::Stopped)?;
        let summary = serde_json::to_value(&outcome.summary);
        let summary = summary.map_err(|error| Error::Run(error.to_string()))?;
        let written = results.get(&key).and_then(|result| result.get("summary"));
        if written == Some(&summary) {
            found.same += 1;
        } else {
            found.different.push(format!(
                "run {key}: the repeated run has a different summary"
            ));
        }
    }
    let others = count - sample.min(count);
    if others > 0 {
        let name = format!("{others} of {count} runs");
        found.except(
            &name,
            "--sample limits the number of runs that are repeated",
        );
    }
    Ok(found)
}
