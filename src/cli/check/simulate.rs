//! Checks a simulation against its inputs.

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::inputs;
use gleaner_check::Findings;
use gleaner_check::simulate::{Given, Placer, Profiling, RunFile, simulation};
use gleaner_domain::Observer;
use gleaner_domain::error::{Fault, Result};
use gleaner_domain::results::run::{RUN_FILE, fields};
use gleaner_runs::read::{RunInfo, SimulateRun};
use gleaner_setup::experiment::{Choice, FileArgs, ModelArgs, ProfilerArgs};
use gleaner_setup::settings::Settings;
use gleaner_setup::{Experiment, ExperimentArgs, SimulationSettings};
use gleaner_simulate::Request;
use gleaner_simulate::policies;

/// Checks a simulation.
///
/// # Errors
/// A table is missing or damaged, or the inputs are missing or differ from those of the run.
pub(super) fn check(
    info: &RunInfo,
    run: &SimulateRun,
    observer: &dyn Observer,
) -> Result<Findings> {
    let mut findings = inputs::given(info, observer)?;
    inputs::Given::of(info).names(&["trace", "cluster", "profiles", "colocate", "series"])?;
    let mut choice: Choice = arguments(info)?;
    let files: FileArgs = arguments(info)?;
    let models: ModelArgs = arguments(info)?;
    let profiler: ProfilerArgs = arguments(info)?;
    let policies = names(&choice, &files)?;
    choice.policy.retain(|name| is_known(name));
    let requests = choice.requests(&files)?;
    let args = ExperimentArgs {
        choice: &choice,
        files: &files,
        models: &models,
        profiler: &profiler,
        dated: false,
    };
    let experiment = Experiment::open(args, &requests, observer)?;
    let read = &experiment.inputs;
    inputs::Given::of(info).same(&read.sources)?;
    let placer = Placer::named(&choice.placer).ok_or_else(|| {
        let found = format!("the placer {:?}", choice.placer);
        of_run_file(info, found, "consolidate, consolidate-first or random")
    })?;
    let profiling = experiment.profiler().map(|profiler| Profiling {
        limit: profiler.limit,
        nodes: profiler.nodes,
        factor: profiler.factor,
        lent: profiler.lent.clone(),
        elastic: profiler.elastic,
    });
    let without = choice.without();
    let text = read.estimates_used.as_ref().map(ToString::to_string);
    let corrected = |request: &Request<'_>| request.name == "lucid" && request.corrected;
    let given = Given {
        trace: &read.trace,
        cluster: &read.cluster,
        start: read.start,
        placer,
        packing: read.packing.as_deref(),
        forecast: read.forecast.as_deref(),
        estimates: read.estimates.as_deref(),
        estimates_text: text.as_deref(),
        ignores_estimates: without.estimate,
        profiler: profiling.as_ref(),
        ignores_scores: without.packing,
        never_shares: without.throughput,
        is_corrected: requests.iter().any(corrected),
    };
    let written = run.policies.iter().map(|policy| policy.name.as_str());
    let written: Vec<&str> = written.collect();
    let used = read.estimates_used.as_ref();
    let estimates = used
        .map(fields)
        .transpose()?
        .map_or(Value::Null, Value::Object);
    let settings = SimulationSettings::list();
    let run_file = RunFile {
        written: &super::run_file(&info.path)?,
        estimates: &estimates,
        settings: settings.iter().map(|setting| setting.about.name).collect(),
        policies,
        is_complete: info.complete,
    };
    findings.merge(simulation(info, &given, &written, &run_file, observer)?);
    Ok(findings)
}

/// Whether Gleaner includes a policy with this name. Python programs can add their own policies.
fn is_known(name: &str) -> bool {
    name == "all" || policies::ALL.iter().any(|policy| policy.name == name)
}

/// The names of the policies in the arguments, without duplicates.
fn names(choice: &Choice, files: &FileArgs) -> Result<Vec<String>> {
    let mut names: Vec<String> = Vec::new();
    for name in &choice.policy {
        let single = Choice {
            policy: vec![name.clone()],
            corrected: choice.corrected,
            ..Choice::default()
        };
        let asked = if is_known(name) || files.sweep {
            let requests = single.requests(files)?;
            let names = requests.iter().map(|request| request.name.to_owned());
            names.collect()
        } else {
            vec![name.clone()]
        };
        for name in asked {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    Ok(names)
}

/// Arguments of the run.
fn arguments<T: DeserializeOwned>(info: &RunInfo) -> Result<T> {
    let values = Value::Object(info.arguments.clone());
    serde_json::from_value(values).map_err(|error| {
        let fault = of_run_file(info, error.to_string(), "the arguments of gleaner simulate");
        fault
            .field("arguments")
            .remedy("repeat the run with this version")
            .into()
    })
}

fn of_run_file(info: &RunInfo, found: String, expected: &str) -> Fault {
    Fault::of(&info.path.join(RUN_FILE), found, expected)
}
