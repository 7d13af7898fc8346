//! Sweeps of simulations: as one `gleaner simulate` of all the plan's policies, so that
//! all see the same jobs.

use std::ffi::OsString;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use clap::{Args as _, FromArgMatches};
use serde_json::{Value, json};

use super::prepared::{PreparedRuns, sweep_run};
use crate::cli::remark;
use crate::cli::simulate::Args;
use gleaner_core::error::{Error, Result};
use gleaner_core::results::sweep::RunSummary;
use gleaner_formats::ingest::SourceId;
use gleaner_formats::output::sweep::SweepRun;
use gleaner_setup::Experiment;
use gleaner_simulate::metrics::summarise;
use gleaner_simulate::policies::Needs;
use gleaner_simulate::{Control, Request, simulate};
use gleaner_sweep::{SimulatePlan, SimulateSettings, TRAIN, Text, is_no_file};

/// The simulations of a plan.
pub struct Simulations {
    runs: Vec<SweepRun>,
    /// Arguments and policy of each run.
    jobs: Vec<(Args, Request)>,
    experiment: Experiment,
    check: bool,
}

impl Simulations {
    /// Reads and checks everything that the plan, of this file, names.
    ///
    /// # Errors
    /// Settings that `gleaner simulate` refuses; faults of the files.
    pub fn prepare(file: &Path, plan: SimulatePlan) -> Result<Self> {
        let settings = plan.expand();
        let mut jobs = Vec::new();
        for one in &settings {
            let args = arguments(file, &plan, std::slice::from_ref(one))?;
            let requests = args.requests()?;
            jobs.extend(requests.into_iter().next().map(|request| (args, request)));
        }
        let all = arguments(file, &plan, &settings)?;
        let experiment = all.open(&all.requests()?)?;
        if !experiment.inputs.skipped.0.is_empty() {
            remark(&[format!("left out: {}", experiment.inputs.skipped)]);
        }
        let named = settings.iter().zip(&jobs);
        let runs = named
            .map(|(one, (_, request))| sweep_run(one, &decisive(&plan, one, request, &experiment)));
        Ok(Simulations {
            runs: runs.collect::<Result<_>>()?,
            jobs,
            check: plan.check,
            experiment,
        })
    }
}

/// The arguments of `gleaner simulate` for these settings together.
fn arguments(file: &Path, plan: &SimulatePlan, settings: &[SimulateSettings]) -> Result<Args> {
    let mut words: Vec<OsString> = vec!["simulate".into()];
    let mut flag = |name: &str, value: OsString| words.extend([name.into(), value]);
    let numbers = plan.gpus_per_node.map(|count| count.to_string());
    let text = |given: &Option<Text>| given.as_ref().map(|text| text.0.clone());
    let texts = [
        ("--gpus-per-node", numbers),
        ("--estimates", text(&plan.estimates)),
        ("--forecast", text(&plan.forecast)),
        ("--models", text(&plan.models)),
        ("--preset", plan.preset.clone()),
        ("--from", text(&plan.from)),
        ("--to", text(&plan.to)),
        ("--profiler", plan.profiler.clone()),
        ("--elastic", plan.elastic.clone()),
        (
            "--lend",
            (!plan.lend.is_empty()).then(|| plan.lend.join(",")),
        ),
        ("--policy", Some(joined(settings, |s| &s.policy))),
        ("--placer", settings.first().map(|s| s.placer.clone())),
        (
            "--without",
            Some(joined(settings, |s| &s.without)).filter(|w| !w.is_empty()),
        ),
    ];
    for (name, value) in texts {
        value.into_iter().for_each(|value| flag(name, value.into()));
    }
    for (name, path) in [
        ("--data", &plan.data),
        ("--trace", &plan.trace),
        ("--cluster", &plan.cluster),
        ("--profiles", &plan.profiles),
        ("--colocate", &plan.colocate),
    ] {
        path.iter().for_each(|path| flag(name, path.into()));
    }
    if settings.iter().all(|s| s.corrected) {
        words.push("--corrected".into());
    }
    if plan.skip_invalid {
        words.push("--skip-invalid".into());
    }
    let refused = |e: clap::Error| Error::Usage(format!("{}: {e}", file.display()));
    let command = Args::augment_args(clap::Command::new("simulate"));
    let matches = command.try_get_matches_from(words).map_err(refused)?;
    Args::from_arg_matches(&matches).map_err(refused)
}

/// Every value once, separated by commas.
fn joined(settings: &[SimulateSettings], of: impl Fn(&SimulateSettings) -> &String) -> String {
    let mut values: Vec<&str> = Vec::new();
    for value in settings.iter().flat_map(|s| of(s).split(',')) {
        if !value.is_empty() && !values.contains(&value) {
            values.push(value);
        }
    }
    values.join(",")
}

/// All that a simulation depends on: of the files, those that its policy takes in.
fn decisive(
    plan: &SimulatePlan,
    settings: &SimulateSettings,
    request: &Request,
    experiment: &Experiment,
) -> Value {
    let needs = request.policy.needs;
    let text = |given: &Option<Text>, wanted: bool| {
        given.as_ref().map(|text| text.0.clone()).filter(|_| wanted)
    };
    let estimates = text(&plan.estimates, needs >= Needs::Estimates);
    let forecast = text(&plan.forecast, needs == Needs::Packing);
    let packing = [&plan.profiles, &plan.colocate];
    let is_used = |source: &&SourceId| {
        let named = |given: &Option<Text>| {
            given
                .as_ref()
                .is_some_and(|text| Path::new(&text.0) == source.path)
        };
        let packs = packing
            .iter()
            .any(|path| path.as_ref() == Some(&source.path));
        !(named(&plan.estimates) && estimates.is_none()
            || named(&plan.forecast) && forecast.is_none()
            || packs && needs != Needs::Packing)
    };
    let used = experiment.inputs.sources.iter().filter(is_used);
    let number = |text: Option<String>| text.filter(|text| is_no_file(text));
    json!({
        "mode": "simulate",
        "settings": settings,
        "inputs": used.map(|source| source.sha256.to_string()).collect::<Vec<_>>(),
        "gpus_per_node": plan.gpus_per_node,
        "estimates": number(estimates),
        "forecast": number(forecast),
        "models": plan.models.as_ref().map(|text| &text.0).filter(|models| *models == TRAIN),
        "preset": plan.preset,
        "from": plan.from.as_ref().map(|text| &text.0),
        "to": plan.to.as_ref().map(|text| &text.0),
        "profiler": experiment.profiler().filter(|_| request.policy.profiled),
        "skipped": experiment.inputs.skipped.to_string(),
    })
}

impl PreparedRuns for Simulations {
    fn runs(&self) -> &[SweepRun] {
        &self.runs
    }

    fn sources(&self) -> &[SourceId] {
        &self.experiment.inputs.sources
    }

    fn length(&self, _: usize) -> usize {
        self.experiment.inputs.cluster.vcs.len()
    }

    fn execute(
        &self,
        index: usize,
        stop: &AtomicBool,
        tick: &(dyn Fn(usize) + Sync),
    ) -> Result<Option<RunSummary>> {
        let (args, request) = &self.jobs[index];
        let simulation = self.experiment.simulation(args.choice(), self.check);
        let learnt = self
            .experiment
            .learn(simulation, std::slice::from_ref(request), stop)?;
        let simulation = learnt.simulation(simulation);
        let seen = AtomicUsize::new(0);
        let control = Control {
            stop,
            progress: &|_, _| {
                seen.fetch_add(1, Ordering::Relaxed);
                tick(1);
            },
        };
        let runs = simulate(&simulation, std::slice::from_ref(request), control);
        let runs = runs.map_err(|error| Error::Run(error.to_string()))?;
        tick(self.length(index).saturating_sub(seen.into_inner()));
        let Some(run) = runs.first() else {
            return Ok(None);
        };
        let figures = summarise(simulation.trace, simulation.cluster, run);
        Ok(Some(RunSummary::Simulate(Box::new(figures))))
    }
}
