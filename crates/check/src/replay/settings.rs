//! Compares the arguments of a replay in `run.json` with its summary.

use gleaner_domain::results::replay::Summary;
use gleaner_domain::results::run::RUN_FILE;
use serde_json::{Map, Value};

use crate::Findings;

const SUMMARY: &str = "summary.json";

/// The arguments that the check uses to read the log, the tasks and the search again. All tables depend on these
/// arguments.
const READ: [&str; 19] = [
    "events",
    "tasks",
    "curves",
    "topology",
    "classes",
    "class_feature",
    "class_resource",
    "skip_rows",
    "first_node",
    "nodes",
    "from",
    "to",
    "drop_end_row",
    "all_rows",
    "timezone",
    "max_tasks",
    "min_fragment",
    "repeat_tasks",
    "search",
];

/// Arguments that do not affect any result.
const WITHOUT_EFFECT: [&str; 6] = ["cache", "check", "strict", "out", "json", "quiet"];

/// Arguments whose effect can be verified only by running the command again.
const RUN_AGAIN: [&str; 7] = [
    "initial",
    "seed",
    "big_m",
    "time_limit",
    "gap",
    "scripted",
    "skip_invalid",
];

/// Settings that are derived from both the arguments and the inputs.
#[derive(Debug, Clone)]
pub struct Chosen {
    /// The forward window in seconds.
    pub t_fwd: f64,
    /// The expression of the objective.
    pub objective_expression: String,
    /// The solver's name; `None` for an external program, which reports its own name.
    pub solver: Option<String>,
}

/// Recomputes the GPU-hours and the energy of the used nodes, and the cost of the energy.
fn consumption(arguments: &Map<String, Value>, summary: &Summary, findings: &mut Findings) {
    let number = |name: &str| arguments.get(name).and_then(Value::as_f64);
    let node_hours = summary.used_node_seconds / 3600.0;
    let gpu_hours = number("gpus_per_node").map(|gpus| node_hours * gpus);
    let kilowatt_hours = number("node_power").map(|watts| node_hours * watts / 1000.0);
    let cost = kilowatt_hours
        .zip(number("price"))
        .map(|(energy, price)| energy * price);
    for (field, written, expected) in [
        ("gpu_hours", summary.gpu_hours, gpu_hours),
        ("energy_kwh", summary.energy_kwh, kilowatt_hours),
        ("energy_cost", summary.energy_cost, cost),
    ] {
        findings.option(format_args!("{SUMMARY}: {field}"), written, expected);
        findings.covers(SUMMARY, [field]);
    }
    let currency = arguments.get("currency").and_then(Value::as_str);
    let none = "none";
    findings.equal(
        format_args!("{SUMMARY}: currency"),
        summary.currency.as_deref().unwrap_or(none),
        currency.unwrap_or(none),
    );
    findings.covers(SUMMARY, ["currency"]);
    let names = ["gpus_per_node", "node_power", "price", "currency"];
    findings.covers(RUN_FILE, names.map(|name| format!("arguments/{name}")));
}

/// Compares the arguments with the summary, and lists the arguments that are not verified.
pub fn settings(arguments: &Map<String, Value>, chosen: &Chosen, summary: &Summary) -> Findings {
    let mut findings = Findings::default();
    let argument = |name: &str| arguments.get(name).filter(|value| !value.is_null());
    let is_scripted = argument("scripted").is_some();
    let mut same = |name: &str, written: Value, expected: Value| {
        findings.equal(format_args!("{SUMMARY}: {name}"), written, expected);
        findings.covers(SUMMARY, [name]);
        findings.covers(RUN_FILE, [format!("arguments/{name}")]);
    };
    let text = |name: &str| argument(name).cloned().unwrap_or(Value::Null);
    same("max_tasks", summary.max_tasks.into(), text("max_tasks"));
    same("objective", json(&summary.objective), text("objective"));
    // A scripted replay has no completion events, only the events of the log.
    let asked = argument("completion_events").and_then(Value::as_bool);
    let has_completions = !is_scripted && asked.unwrap_or(false);
    same(
        "completion_events",
        summary.completion_events.into(),
        has_completions.into(),
    );
    let arrival = || Value::from("arrival");
    let choice = argument("node_choice").cloned().unwrap_or_else(arrival);
    let choice = if is_scripted { arrival() } else { choice };
    same("node_choice", json(&summary.node_choice), choice);
    let bound = argument("bound").and_then(Value::as_bool).unwrap_or(false);
    findings.equal(
        format_args!("{SUMMARY}: presence of bound_work"),
        summary.bound_work.is_some(),
        bound,
    );
    findings.covers(RUN_FILE, ["arguments/bound"]);
    let hand_back = argument("hand_back").and_then(Value::as_f64);
    findings.option(
        format_args!("{SUMMARY}: hand_back_seconds"),
        summary.hand_back_seconds,
        hand_back,
    );
    findings.covers(RUN_FILE, ["arguments/hand_back"]);
    consumption(arguments, summary, &mut findings);
    window(argument("t_fwd"), chosen.t_fwd, summary, &mut findings);
    findings.equal(
        format_args!("{SUMMARY}: objective_expression"),
        &summary.objective_expression,
        &chosen.objective_expression,
    );
    findings.covers(SUMMARY, ["objective_expression"]);
    solver(arguments, is_scripted, chosen, summary, &mut findings);
    functions(arguments, summary, &mut findings);
    findings.covers(RUN_FILE, READ.map(|name| format!("arguments/{name}")));
    let kinds: [(&[&str], &str); 2] = [
        (&WITHOUT_EFFECT, "it does not affect any result"),
        (&RUN_AGAIN, "its effect is verified only by --again"),
    ];
    for (names, why) in kinds {
        for name in names.iter().filter(|name| arguments.contains_key(**name)) {
            findings.not_verified(RUN_FILE, format!("arguments/{name}"), why);
        }
    }
    findings
}

/// Compares the digests of Python functions.
fn functions(arguments: &Map<String, Value>, summary: &Summary, findings: &mut Findings) {
    let listed = arguments.get("functions");
    let digests = [
        ("objective", &summary.objective_sha256),
        ("solver", &summary.solver_sha256),
        ("search", &summary.search_sha256),
    ];
    for (role, written) in digests {
        let digest = listed.and_then(|listed| listed.get(role)?.get("sha256")?.as_str());
        let name = format!("{role}_sha256");
        findings.equal(
            format_args!("{SUMMARY}: {name}"),
            written.as_deref().unwrap_or("null"),
            digest.unwrap_or("null"),
        );
        findings.covers(SUMMARY, [name]);
    }
    if listed.is_some() {
        let why = "the functions are defined in a Python program, outside the run";
        findings.not_verified(RUN_FILE, "arguments/functions", why);
    }
}

/// Compares the forward window, which was either given as a number or determined by the run.
fn window(given: Option<&Value>, chosen: f64, summary: &Summary, findings: &mut Findings) {
    let place = format!("{SUMMARY}: t_fwd");
    if let Some(seconds) = given.and_then(Value::as_f64) {
        findings.number(&place, summary.t_fwd, seconds);
    }
    findings.number(&place, summary.t_fwd, chosen);
    findings.covers(SUMMARY, ["t_fwd"]);
    findings.covers(RUN_FILE, ["arguments/t_fwd"]);
}

/// Compares the solver and its formulation.
fn solver(
    arguments: &Map<String, Value>,
    is_scripted: bool,
    chosen: &Chosen,
    summary: &Summary,
    findings: &mut Findings,
) {
    let expected = if is_scripted {
        Some("scripted")
    } else {
        chosen.solver.as_deref()
    };
    let Some(expected) = expected else {
        let why = "an external solver program reports its own name";
        findings.not_verified(SUMMARY, "solver", why);
        findings.not_verified(SUMMARY, "formulation", why);
        findings.not_verified(RUN_FILE, "arguments/solver", why);
        findings.not_verified(RUN_FILE, "arguments/formulation", why);
        return;
    };
    let is_milp = ["highs", "cbc"].contains(&expected);
    let given = arguments
        .get("formulation")
        .filter(|value| !value.is_null());
    let given = given.map(|value| value.as_str().map_or(value.to_string(), str::to_owned));
    let formulation = is_milp.then(|| given.as_deref().unwrap_or("counts"));
    // The names of MILP solvers contain the formulation.
    let name = match formulation {
        Some(formulation) => format!("{expected}-{formulation}"),
        None => expected.to_owned(),
    };
    findings.equal(
        format_args!("{SUMMARY}: solver"),
        summary.solver.as_str(),
        name.as_str(),
    );
    let shown = |formulation: Option<&str>| formulation.unwrap_or("null").to_owned();
    findings.equal(
        format_args!("{SUMMARY}: formulation"),
        shown(summary.formulation.as_deref()),
        shown(formulation),
    );
    findings.holds(is_milp || given.is_none(), || {
        format!(
            "{RUN_FILE}: arguments: formulation is given, but solver {expected} has no formulation"
        )
    });
    findings.covers(SUMMARY, ["solver", "formulation"]);
    findings.covers(RUN_FILE, ["arguments/solver", "arguments/formulation"]);
}

fn json(value: &impl serde::Serialize) -> Value {
    serde_json::to_value(value).unwrap_or(Value::Null)
}
