//! The function `simulate`, which also accepts policies in Python.

use std::collections::BTreeMap;
use std::path::PathBuf;

use gleaner::simulation::{
    IdleLog, OpenedSimulation, Simulated, Simulation, SimulationSettings, Writing,
};
use gleaner::threads;
use gleaner_domain::Observer;
use gleaner_domain::error::{Error, Fault, Result};
use gleaner_domain::results::Table as ResultTable;
use gleaner_domain::results::policy_run::PolicyRun;
use gleaner_runs::run::RunDir;
use gleaner_runs::simulate as tables;
use gleaner_setup::settings;
use gleaner_simulate::Request;
use gleaner_simulate::policies::Needs;
use pyo3::prelude::*;
use serde::Serialize;
use serde_json::Value;

use crate::host::Host;
use crate::options::Pairs;
use crate::policy::PolicyClass;
use crate::run::{Call, Function, Given, Held, Run};
use crate::table::Table;

settings! {
    /// The options of a simulation.
    #[derive(Debug, Clone, Serialize)]
    pub struct SimulationOptions {
        /// All settings of the simulation.
        #[serde(flatten)]
        pub simulation: SimulationSettings;
        /// Settings of the log of idle nodes that the simulation writes.
        #[serde(flatten)]
        pub idle: IdleLog;
    }
}

/// Simulates policies. `own` contains the caller's Python policy classes, each with the kind of input that it needs.
/// `options` select these policies by name.
#[pyfunction]
pub fn simulate(
    py: Python<'_>,
    options: Pairs,
    names: Vec<(PathBuf, String)>,
    out: Option<PathBuf>,
    own: Vec<(Function, String)>,
) -> PyResult<Py<Run>> {
    let functions: Vec<&Function> = own.iter().map(|(policy, _)| policy).collect();
    let given = Given { names, out };
    let call = Call::<SimulationOptions>::begin(py, "simulate", &options, given, &functions)?;
    let (
        SimulationOptions {
            simulation: settings,
            idle,
        },
        host,
    ) = (&*call.settings, &call.host);
    let classes = own
        .iter()
        .map(|(policy, needs)| PolicyClass::new(py, policy, needs, settings.choice.placer(), host));
    let classes = classes.collect::<PyResult<Vec<_>>>()?;
    let own_sources: BTreeMap<String, Option<String>> = own
        .iter()
        .map(|(policy, _)| (policy.name.clone(), policy.sha256.clone()))
        .collect();
    let entries: Vec<_> = classes.iter().map(PolicyClass::entry).collect();
    let is_own = |request: &Request<'_>| classes.iter().any(|own| own.name == request.name);

    let mut opened = host.on_a_thread(py, || {
        let requests = settings.choice.requests_with(&settings.files, &entries)?;
        idle.check(&requests)?;
        let simulation = Simulation::with(settings.clone()).observer(host.as_ref());
        let simulation = simulation.dated(idle.is_dated());
        threads::with(settings.jobs, || {
            let opened = simulation.own_policies(entries).open()?;
            host.remark(idle.without_effect().as_slice());
            check_known(&opened, &classes)?;
            opened.learn()
        })
    })?;
    call.have_read(py, opened.sources())?;
    let (own, ours): (Vec<_>, Vec<_>) = opened.requests.iter().copied().partition(is_own);
    let mut timed = host.on_a_thread(py, || {
        threads::with(settings.jobs, || opened.simulate(&ours))
    })?;
    // Policies in Python run on the calling thread.
    let mine = host.here(py, || opened.simulate_in_turn(&own))?;
    timed.seconds += mine.seconds;
    timed.runs = in_order(&opened.requests, timed.runs, mine.runs);
    let simulated = host.on_a_thread(py, || {
        let mut simulated = opened.end(timed);
        idle.write(&mut simulated, host.as_ref())?;
        Ok(simulated)
    })?;
    let held = HeldSimulation {
        simulated: with_sources(simulated, &own_sources),
    };
    call.end(py, held)
}

/// Rejects estimates that would have to be learnt by simulating a policy in Python.
fn check_known(opened: &OpenedSimulation<'_>, own: &[PolicyClass]) -> Result<()> {
    let going_by = own.iter().find(|own| own.needs >= Needs::Estimates);
    match (going_by, &opened.inputs().weekly) {
        (Some(policy), Some(_)) => Err(Error::Usage(format!(
            "{} needs estimates, which would have to be learnt by simulating it: pass estimates (a file, \
             oracle, or a number of seconds), or a directory as models",
            policy.name
        ))),
        _ => Ok(()),
    }
}

/// Adds the digest of each Python policy's source to the figures of the policy.
fn with_sources(mut simulated: Simulated, sources: &BTreeMap<String, Option<String>>) -> Simulated {
    for (run, figures) in simulated.runs.iter().zip(&mut simulated.figures) {
        figures.sha256 = sources.get(run.policy).cloned().flatten();
    }
    simulated
}

/// The runs in the order in which they were requested.
fn in_order(requests: &[Request<'_>], ours: Vec<PolicyRun>, own: Vec<PolicyRun>) -> Vec<PolicyRun> {
    let mut runs: Vec<PolicyRun> = ours.into_iter().chain(own).collect();
    let place = |run: &PolicyRun| {
        let mut requests = requests.iter();
        requests.position(|request| request.name == run.policy)
    };
    runs.sort_by_key(place);
    runs
}

/// The results of a simulation.
struct HeldSimulation {
    simulated: Simulated,
}

impl HeldSimulation {
    /// The run that has the table `name`, and the kind of table: `fifo_jobs` is the table `jobs` of the run of `fifo`.
    fn of_policy<'n>(&self, name: &'n str) -> Option<(&PolicyRun, &'n str)> {
        let mut runs = self.simulated.runs.iter();
        runs.find_map(|run| {
            let kind = name.strip_prefix(run.policy)?.strip_prefix('_')?;
            Some((run, kind))
        })
    }
}

impl Held for HeldSimulation {
    fn is_complete(&self) -> bool {
        self.simulated.is_complete
    }

    fn summary(&self) -> Result<Value> {
        self.simulated.summary()
    }

    fn names(&self) -> Vec<String> {
        let policies = self.simulated.runs.iter();
        let own = policies
            .flat_map(|run| ["jobs", "runs", "seq"].map(|kind| format!("{}_{kind}", run.policy)));
        ["policies", "vcs"]
            .map(str::to_owned)
            .into_iter()
            .chain(own)
            .collect()
    }

    fn table(&self, name: &str) -> Result<Option<Table>> {
        let inputs = self.simulated.inputs();
        let table = match (name, self.of_policy(name)) {
            ("policies", _) => Table::of(&tables::policies(&self.simulated.entries()))?,
            ("vcs", _) => Table::of(&tables::vcs(&self.simulated.entries()))?,
            (_, Some((run, "jobs"))) => {
                let rows = tables::job_rows(&inputs.trace, &inputs.cluster, run);
                Table::of(&ResultTable::of(name, &rows))?
            }
            (_, Some((run, "runs"))) => {
                let rows = tables::run_rows(&inputs.trace, &inputs.cluster, run);
                Table::of(&ResultTable::of(name, &rows))?
            }
            (_, Some((run, "seq"))) => {
                let vcs = inputs.cluster.vcs.iter();
                let vcs: Vec<&str> = vcs.map(|vc| vc.name.as_str()).collect();
                Table::of(&tables::seq(name, run, &vcs, self.simulated.interval()))?
            }
            _ => return Ok(None),
        };
        Ok(Some(table))
    }

    fn write(&mut self, directory: RunDir, host: &Host) -> Result<String> {
        self.simulated.write_to(directory, Writing::default(), host)
    }

    fn skipped(&self) -> &[Fault] {
        &self.simulated.inputs().skipped.0
    }
}
