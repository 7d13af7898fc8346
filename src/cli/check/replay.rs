//! Checks a replay against its inputs.

use serde_json::Value;

use super::again::PYTHON;
use super::inputs::{Given, given};
use gleaner_check::Findings;
use gleaner_check::replay::{self, Chosen, Inputs, Written};
use gleaner_check::tables;
use gleaner_domain::Objective;
use gleaner_domain::Observer;
use gleaner_domain::error::{Error, Fault, Result};
use gleaner_domain::results::run::RUN_FILE;
use gleaner_runs::read::{ReplayRun, RunInfo};
use gleaner_setup::{LogArgs, Replay, SolverName};
use gleaner_solvers::{SolverKind, SolverSpec};

/// Tables of every replay. A replay that counts the delays of batch jobs also has `DELAYS`. A replay of a log with
/// several classes of nodes also has `CLASS_TABLES`. A replay of a search also has `SEARCH_TABLES`.
const TABLES: [&str; 5] = ["steps", "timings", "tasks", "allocations", "fragments"];
const DELAYS: [&str; 1] = ["delays"];
const CLASS_TABLES: [&str; 3] = ["classes", "moves", "class_totals"];
const SEARCH_TABLES: [&str; 3] = ["search", "trials", "rungs"];

/// Checks a replay.
///
/// # Errors
/// The inputs are missing, or differ from those of the run.
pub(super) fn check(info: &RunInfo, run: &ReplayRun, observer: &dyn Observer) -> Result<Findings> {
    if function(info, "search").is_some() {
        return Err(Error::Usage(
            "the trials were chosen by a search in a Python program, whose decisions cannot be recomputed"
                .to_owned(),
        ));
    }
    let args: LogArgs = arguments(info)?;
    let mut findings = given(info, observer)?;
    Given::of(info).names(&["events", "tasks", "curves", "classes", "scripted"])?;
    let skip_invalid = info.arguments.get("skip_invalid").and_then(Value::as_bool);
    let mut inputs = Replay::open(&args, skip_invalid.unwrap_or(false), observer)?;
    // The tables do not state the log's clock. The times of the inputs are therefore converted to the form in the
    // tables first.
    let clock = inputs.log.clock().clone();
    inputs.log = inputs.log.as_in_tables();
    let tasks = inputs.tasks.into_iter();
    inputs.tasks = tasks.map(|task| task.as_in_tables(&clock)).collect();
    Given::of(info).same(&inputs.sources)?;
    tables::listed(info, TABLES, true, &mut findings);
    if run.delays.is_some() {
        tables::listed(info, DELAYS, true, &mut findings);
    }
    if run.classes.is_some() {
        tables::listed(info, CLASS_TABLES, true, &mut findings);
    }
    if run.search.is_some() {
        tables::listed(info, SEARCH_TABLES, true, &mut findings);
    }
    let written = Written {
        steps: &run.steps,
        tasks: &run.tasks,
        allocations: &run.allocations,
        nodes: &run.nodes,
        class_of_node: run.class_of_node.as_deref(),
        delays: run.delays.as_deref(),
        classes: run.classes.as_ref(),
        summary: &run.summary,
        search: run.search.as_ref(),
    };
    let options = &inputs.options;
    let classes = options.classes(&inputs.log, &inputs.tasks)?;
    findings.merge(replay::replay(
        &Inputs {
            log: &inputs.log,
            set: &inputs.tasks,
            groups: &options.groups,
            search: options.search.as_deref(),
            seed: options.seed,
            repeat: options.repeat_tasks,
            classes: classes.as_ref(),
            min_fragment: options.min_fragment,
        },
        &written,
        observer,
    )?);
    if let Some(fragments) = &run.fragments {
        findings.merge(replay::fragments(&inputs.log, fragments));
    }
    findings.merge(replay::timings(info, &run.steps)?);
    let why = "it counts the answers of a solver program by outcome";
    if info.files.iter().any(|file| file.path == "solver.json") {
        findings.not_verified("solver.json", Findings::WHOLE, why);
    }
    let own_objective = function(info, "objective");
    let chosen = Chosen {
        t_fwd: options.t_fwd,
        objective_expression: own_objective
            .map_or_else(|| options.objective.expression(), str::to_owned),
        solver: solver(info, &inputs)?,
    };
    findings.merge(replay::settings(&info.arguments, &chosen, &run.summary));
    findings.equal("run.json: complete", info.complete, run.summary.complete);
    findings.covers(RUN_FILE, ["complete"]);
    Ok(findings)
}

/// The arguments of the run.
fn arguments(info: &RunInfo) -> Result<LogArgs> {
    let mut values = info.arguments.clone();
    // A check must not write files, so the cache is turned off.
    values.insert("cache".to_owned(), Value::Bool(false));
    if function(info, "objective").is_some() {
        // The checks do not use the objective, so the default replaces a Python function.
        let default = Objective::default().to_string();
        values.insert("objective".to_owned(), Value::String(default));
    }
    let values = Value::Object(values);
    serde_json::from_value(values).map_err(|error| {
        let fault = Fault::of(
            &info.path.join(RUN_FILE),
            error.to_string(),
            "the arguments of gleaner replay",
        );
        fault
            .field("arguments")
            .remedy("repeat the run with this version")
            .into()
    })
}

/// The value of argument `name`, if it is a Python function.
fn function<'i>(info: &'i RunInfo, name: &str) -> Option<&'i str> {
    let value = info.arguments.get(name)?.as_str()?;
    value.starts_with(PYTHON).then_some(value)
}

/// The name of the solver in the arguments; `None` if it is a program or a function.
fn solver(info: &RunInfo, inputs: &Replay) -> Result<Option<String>> {
    if function(info, "solver").is_some() {
        return Ok(None);
    }
    let named = info.arguments.get("solver").and_then(Value::as_str);
    let kind = match named.unwrap_or("auto").parse()? {
        SolverName::Program(_) => return Ok(None),
        SolverName::Ours(kind) => kind,
    };
    let chosen = match kind {
        SolverKind::Auto => {
            let (options, spec) = (&inputs.options, SolverSpec::new(kind));
            let in_classes = options.classes(&inputs.log, &inputs.tasks)?.is_some();
            let chosen = if in_classes {
                gleaner_classes::solver::chosen(spec, !options.groups.is_empty())
            } else {
                spec.for_problem(&options.outline(&inputs.tasks))
            };
            chosen.kind
        }
        named => named,
    };
    Ok(Some(SolverName::Ours(chosen).to_string()))
}
