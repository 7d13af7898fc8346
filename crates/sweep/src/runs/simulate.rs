//! Prepares sweeps of simulations. All simulations of a sweep use the same jobs.

use serde_json::{Value, json};

use super::{Alike, PreparedRuns, settings_value, sweep_key};
use crate::plan::{Listed, SimulatePlan, together};
use gleaner_domain::Observer;
use gleaner_domain::error::{Error, Result};
use gleaner_domain::results::sweep::{Replication, RunOutcome, RunSummary};
use gleaner_io::SourceId;
use gleaner_setup::experiment::{Choice, Given, Learned, figures};
use gleaner_setup::{Experiment, report_left_out};
use gleaner_simulate::policies::Needs;
use gleaner_simulate::{Request, simulate};
use gleaner_store::RunKey;

/// The simulations of a plan.
pub struct Simulations {
    /// For each run, its key, and its settings as the results list them.
    runs: Vec<(RunKey, Value)>,
    /// For each run, the choice that defines it, and the request to simulate.
    jobs: Vec<(Choice, Request<'static>)>,
    experiment: Experiment,
    check: bool,
}

impl Simulations {
    /// Reads and checks all inputs of the plan.
    ///
    /// # Errors
    /// `gleaner simulate` would reject the settings, or a file has faults.
    pub fn prepare(plan: SimulatePlan, observer: &dyn Observer) -> Result<Self> {
        let files = &plan.base.files;
        let mut jobs = Vec::new();
        for choice in plan.expand() {
            let single = together(std::slice::from_ref(&choice));
            let request = single.requests(files)?.into_iter().next();
            jobs.extend(request.map(|request| (choice, request)));
        }
        let choices: Vec<Choice> = jobs.iter().map(|(choice, _)| choice.clone()).collect();
        let mut settings = plan.base.clone();
        settings.choice = together(&choices);
        let requests = settings.choice.requests(files)?;
        let experiment = Experiment::open(settings.experiment(false), &requests, observer)?;
        report_left_out(&experiment.inputs.skipped, observer);
        let runs = jobs.iter().map(|(choice, request)| {
            let listed = Listed::of(choice);
            let key = sweep_key(&decisive(&plan, &listed, request, &experiment))?;
            Ok((key, settings_value(&listed)?))
        });
        Ok(Simulations {
            runs: runs.collect::<Result<_>>()?,
            jobs,
            check: plan.base.check,
            experiment,
        })
    }
}

/// Everything that determines the result of a simulation. Includes only the files that the policy
/// reads.
fn decisive(
    plan: &SimulatePlan,
    settings: &Listed,
    request: &Request,
    experiment: &Experiment,
) -> Value {
    let needs = request.policy.needs;
    let files = &plan.base.files;
    let estimates = files.estimates.as_ref();
    let estimates = estimates.filter(|_| needs >= Needs::Estimates);
    let forecast = files.forecast.as_ref();
    let forecast = forecast.filter(|_| needs == Needs::Packing);
    let packing = [&files.profiles, &files.colocate];
    let is_used = |source: &&SourceId| {
        let named = |given: &Option<Given>| matches!(given, Some(Given::File(path)) if *path == source.path);
        let packs = packing
            .iter()
            .any(|path| path.as_ref() == Some(&source.path));
        !(named(&files.estimates) && estimates.is_none()
            || named(&files.forecast) && forecast.is_none()
            || packs && needs != Needs::Packing)
    };
    let used = experiment.inputs.sources.iter().filter(is_used);
    let no_file = |given: &&Given| !matches!(given, Given::File(_));
    let no_directory = |models: &&Learned| **models == Learned::Train;
    let mut key = json!({
        "mode": "simulate",
        "settings": settings,
        "inputs": used.map(|source| source.sha256.to_string()).collect::<Vec<_>>(),
        "gpus_per_node": plan.gives("gpus_per_node").then_some(files.gpus_per_node),
        "estimates": estimates.filter(no_file),
        "forecast": forecast.filter(no_file),
        "models": plan.base.models.models.as_ref().filter(no_directory),
        "preset": files.preset,
        "from": files.from.map(|time| time.to_string()),
        "to": files.to.map(|time| time.to_string()),
        "profiler": experiment.profiler().filter(|_| request.policy.profiled),
        "skipped": experiment.inputs.skipped.to_string(),
    });
    let others = plan.others();
    if let Some(key) = key.as_object_mut().filter(|_| !others.is_empty()) {
        key.insert("others".to_owned(), json!(others));
    }
    key
}

impl PreparedRuns for Simulations {
    fn count(&self) -> usize {
        self.runs.len()
    }

    fn key(&self, run: usize) -> RunKey {
        self.runs[run].0
    }

    fn settings(&self, run: usize) -> Result<Value> {
        Ok(self.runs[run].1.clone())
    }

    fn sources(&self) -> &[SourceId] {
        &self.experiment.inputs.sources
    }

    fn length(&self, _: usize) -> usize {
        self.experiment.inputs.cluster.vcs.len()
    }

    fn alike(&self, run: usize) -> Alike {
        let policy = self.jobs[run].0.policy.first();
        let same = self
            .jobs
            .iter()
            .position(|job| job.0.policy.first() == policy);
        Alike {
            same_but_seed: run as u64,
            same_problem: same.unwrap_or(run) as u64,
        }
    }

    fn replication(&self) -> Replication {
        Replication::Seeds
    }

    fn execute(&self, index: usize, observer: &dyn Observer) -> Result<Option<RunOutcome>> {
        let (choice, request) = &self.jobs[index];
        let simulation = self.experiment.simulation(choice, self.check);
        let learnt = self
            .experiment
            .learn(simulation, std::slice::from_ref(request), observer)?;
        let simulation = learnt.simulation(simulation);
        let runs = simulate(&simulation, std::slice::from_ref(request), observer);
        let runs = runs.map_err(|error| Error::Run(error.to_string()))?;
        let Some(run) = runs.first() else {
            return Ok(None);
        };
        let used = self.experiment.inputs.estimates_used.as_ref();
        let figures = figures(&simulation, request, used, run);
        Ok(Some(RunOutcome {
            summary: RunSummary::Simulate(Box::new(figures)),
            program: None,
        }))
    }
}
