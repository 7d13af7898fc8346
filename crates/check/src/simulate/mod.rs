//! Verifies the results of a simulation.
//!
//! The jobs must match the trace. The times and checkpoints of jobs, the states of every minute and
//! all figures are recomputed from the table of runs. Each run must hold existing GPUs: either the free GPUs that the
//! placer chooses, or GPUs that the job may share with a running job. Each run must have the measured speed and last as
//! long as the work takes. The check does not examine whether a policy chose the right job at the right time: it uses
//! the recorded start times.

mod estimates;
mod figures;
mod given;
mod logs;
mod nodes;
mod placer;
mod policy;
mod profile;
mod run_file;
mod runs;
mod stage;
mod states;

pub use given::{Given, Profiling};
pub use placer::Placer;
pub use run_file::RunFile;

use gleaner_domain::Observer;
use gleaner_domain::error::{Result, check_stop};
use gleaner_domain::results::run::RUN_FILE;
use gleaner_domain::results::simulate::is_lucid;
use gleaner_domain::results::states::JobRow;
use gleaner_runs::read::{RunInfo, job_rows};
use serde_json::{Value, json};

use crate::Findings;
use policy::Policy;
use profile::Profiled;

const SUMMARY: &str = "summary.json";

/// Verifies a simulation of the given policies, which are in the order of `summary.json`. Progress is reported to the
/// observer as the number of policies verified so far.
///
/// # Errors
/// [`Error::Stopped`](gleaner_domain::Error::Stopped) if the check is stopped, and another error if a table is missing
/// or damaged.
pub fn simulation(
    info: &RunInfo,
    given: &Given<'_>,
    policies: &[&str],
    run_file: &RunFile<'_>,
    observer: &dyn Observer,
) -> Result<Findings> {
    let mut findings = Findings::default();
    let profiler = given
        .profiler
        .filter(|_| policies.iter().any(|name| is_lucid(name)));
    let profiled = match profiler {
        Some(profiler) => profile::check(info, given, profiler, &mut findings)?,
        None => None,
    };
    if profiler.is_some() && profiled.is_none() {
        // The invalid profiler tables have already been reported. Without them, nothing else can be computed.
        return Ok(findings);
    }
    let rows = policies.iter().map(|name| {
        check_stop(observer)?;
        job_rows(info, name)
    });
    let rows: Vec<Vec<JobRow>> = rows.collect::<Result<_>>()?;
    let mut checked = Vec::new();
    let summary: Value = info.json(SUMMARY)?;
    for (index, (&name, rows)) in policies.iter().zip(&rows).enumerate() {
        check_stop(observer)?;
        observer.progress(index, policies.len());
        let figures = summary
            .get("policies")
            .and_then(|policies| policies.get(name));
        let policy = (name, figures.unwrap_or(&Value::Null));
        let profiled = profiled.as_ref();
        checked.extend(policy::check(
            info,
            policy,
            rows,
            profiled,
            given,
            &mut findings,
        )?);
    }
    if checked.len() < policies.len() {
        // The jobs of at least one policy do not match the trace.
        return Ok(findings);
    }
    check_stop(observer)?;
    let seq_step_s = summary
        .get("seq_step_s")
        .and_then(Value::as_i64)
        .unwrap_or(0)
        .max(60);
    states_of_all(
        info,
        given,
        &checked,
        profiled.as_ref(),
        seq_step_s,
        &mut findings,
    )?;
    span(&summary, given, &mut findings);
    estimates::check(info, &summary, given, &checked, &mut findings)?;
    let compared: Vec<(&str, &[JobRow])> = checked.iter().map(|p| (p.name, p.jobs)).collect();
    let placer = given.placer.original_name();
    figures::compare_tables(info, &compared, placer, given.cluster, &mut findings)?;
    logs::check(info, given, &checked, seq_step_s, &mut findings)?;
    forms(info, &checked, profiled.is_some(), given, &mut findings);
    run_file.check(given, &checked, &mut findings);
    Ok(findings)
}

/// Checks that the run wrote CSV tables and logs if, and only if, its arguments request them (`--csv`, `--logs`).
fn forms(
    info: &RunInfo,
    checked: &[Policy<'_>],
    is_profiled: bool,
    given: &Given<'_>,
    findings: &mut Findings,
) {
    let asks = |name: &str| info.arguments.get(name).and_then(Value::as_bool) == Some(true);
    let kinds = ["jobs", "runs", "seq"];
    let of_policy = |policy: &Policy<'_>| kinds.map(|kind| format!("{}_{kind}", policy.name));
    let mut names: Vec<String> = checked.iter().flat_map(of_policy).collect();
    if is_profiled {
        names.extend(["jobs", "seq", "scaling"].map(|kind| format!("profiler_{kind}")));
    }
    for table in &names {
        findings.holds(info.has_csv(table) == asks("csv"), || {
            format!("{RUN_FILE}: arguments: csv contradicts the files of {table}")
        });
    }
    let stems = checked
        .iter()
        .map(|policy| logs::stem(policy.name, logs::ALL, given));
    for stem in stems {
        findings.holds(info.has(&format!("{stem}_log.csv")) == asks("logs"), || {
            format!("{RUN_FILE}: arguments: logs contradicts the files, such as {stem}_log.csv")
        });
    }
    findings.covers(RUN_FILE, ["arguments/csv", "arguments/logs"]);
}

/// Compares the description of the trace in `summary.json`.
fn span(summary: &Value, given: &Given<'_>, findings: &mut Findings) {
    let submits = given.trace.jobs.iter().map(|job| job.submit);
    for (field, expected) in [
        ("first_submission", json!(submits.clone().min())),
        ("last_submission", json!(submits.max())),
        // No built-in policy or placer makes a job's speed depend on its placement.
        ("placement_affects_speed", json!(false)),
    ] {
        if let Some(written) = summary.get(field) {
            findings.holds(*written == expected, || {
                format!("{SUMMARY}: {field} is {written}, but the trace gives {expected}")
            });
            findings.covers(SUMMARY, [field]);
        }
    }
}

/// Compares all tables of states, and the interval between their rows.
fn states_of_all(
    info: &RunInfo,
    given: &Given<'_>,
    checked: &[Policy<'_>],
    profiled: Option<&Profiled>,
    seq_step_s: i64,
    findings: &mut Findings,
) -> Result<()> {
    let swept = checked
        .iter()
        .flat_map(|policy| policy.swept.iter().flatten());
    let swept = swept.chain(profiled.map(|profiled| &profiled.swept));
    let expected = states::interval(states::minutes(swept));
    findings.equal(
        format_args!("{SUMMARY}: seq_step_s"),
        i128::from(seq_step_s),
        expected,
    );
    findings.covers(SUMMARY, ["seq_step_s"]);
    for policy in checked {
        policy::states(info, policy, seq_step_s, given, findings)?;
    }
    if let Some(profiled) = profiled {
        profile::states(info, profiled, seq_step_s, findings)?;
    }
    Ok(())
}
