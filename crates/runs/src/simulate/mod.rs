//! Writes the results of `gleaner simulate`.

use std::io::Write;
use std::path::{Component, Path};

use gleaner_domain::error::{Error, Result};
use gleaner_domain::inputs::Packing;
use gleaner_domain::results::policy_run::{PolicyRun, ProfilerRun};
use gleaner_domain::{Cluster, Trace};
use gleaner_io::files::{AtomicFile, Hashed};

use crate::run::RunDir;
use gleaner_domain::results::Table;
use gleaner_io::table::WriteTable;

mod compared;
mod estimates;
mod interval;
mod jobs;
mod log;
mod nodes;
mod policies;
mod results;
mod seq;
mod seq_log;

pub use compared::{by_cluster, compared};
pub use estimates::estimates;
pub use interval::Interval;
pub use jobs::{job_rows, profiler_job_rows, run_rows, scaling_rows};
pub use policies::{policies, vcs};
pub use results::{Entry, Figure, PLACEMENT_AFFECTS_SPEED, averages, summary};
pub use seq::{profiler_seq, seq};

/// The input of a simulation, and the options for writing its results.
#[derive(Debug, Clone, Copy)]
pub struct SimulatedTrace<'a> {
    /// The simulated jobs.
    pub trace: &'a Trace,
    /// The whole cluster, with all virtual clusters.
    pub cluster: &'a Cluster,
    /// The placer's name in Lucid's simulator: `consolidate`, `consolidateFirst` or `random`.
    pub placer: &'a str,
    /// Whether the tables of jobs and states are also written as CSV.
    pub csv: bool,
    /// The time between successive rows of the state tables.
    pub interval: Interval,
}

/// Writes a run's tables, `<policy>_jobs`, `<policy>_runs` and `<policy>_seq`.
///
/// # Errors
/// A file cannot be written.
pub fn write_run(dir: &RunDir, simulated: SimulatedTrace<'_>, run: &PolicyRun) -> Result<()> {
    let SimulatedTrace { trace, cluster, .. } = simulated;
    let policy = run.policy;
    let vcs: Vec<&str> = cluster.vcs.iter().map(|vc| vc.name.as_str()).collect();
    write_table(
        dir,
        simulated,
        &Table::of(&format!("{policy}_jobs"), &job_rows(trace, cluster, run)),
    )?;
    write_table(
        dir,
        simulated,
        &Table::of(&format!("{policy}_runs"), &run_rows(trace, cluster, run)),
    )?;
    let name = format!("{policy}_seq");
    write_table(dir, simulated, &seq(&name, run, &vcs, simulated.interval))
}

/// Writes the profiling stage's tables: `profiler_jobs`, `profiler_seq`, `profiler_scaling`.
///
/// # Errors
/// A file cannot be written.
pub fn write_profiler(
    dir: &RunDir,
    simulated: SimulatedTrace<'_>,
    profiler: &ProfilerRun,
) -> Result<()> {
    let (jobs, scaling) = (
        profiler_job_rows(simulated.trace, profiler),
        scaling_rows(profiler),
    );
    write_table(dir, simulated, &Table::of("profiler_jobs", &jobs))?;
    write_table(dir, simulated, &profiler_seq(profiler, simulated.interval))?;
    write_table(dir, simulated, &Table::of("profiler_scaling", &scaling))
}

/// Writes the result tables, `jct_avg.csv`, `que_avg.csv`, `que_p999.csv` and `summary.json`.
///
/// # Errors
/// A file cannot be written.
pub fn write_results(
    dir: &RunDir,
    simulated: SimulatedTrace<'_>,
    entries: &[Entry<'_>],
) -> Result<()> {
    for figure in Figure::ALL {
        let table = averages(figure, simulated.placer, entries)?;
        let name = format!("{}.csv", figure.name());
        dir.write(&name, |out| out.write_all(&table))?;
    }
    dir.write_json(
        "summary.json",
        &summary(simulated.trace, entries, simulated.interval),
    )
}

/// Writes a run's logs as Lucid's simulator does, under `logs/<vc>/` and `logs/all/`. Sharing scores come from
/// `packing`, which is `None` if the policy does not use them.
///
/// # Errors
/// A file cannot be written, or a virtual cluster's name cannot be the name of a folder.
pub fn write_logs(
    dir: &RunDir,
    simulated: SimulatedTrace<'_>,
    run: &PolicyRun,
    packing: Option<&dyn Packing>,
) -> Result<()> {
    let rows = log::rows(simulated.trace, simulated.cluster, run, packing);
    let stem = |vc: &str| format!("logs/{vc}/{}_{}_{vc}", run.policy, simulated.placer);
    for vc in &run.vcs {
        let name = folder_name(&simulated.cluster.vcs[vc.vc].name)?;
        let own: Vec<_> = rows.iter().filter(|row| row.job.vc == vc.vc).collect();
        write_log(dir, &stem(name), &own, |out| {
            seq_log::write_vc(&vc.schedule.samples, simulated.interval, out)
        })?;
    }
    let all: Vec<_> = rows.iter().collect();
    write_log(dir, &stem(results::ALL), &all, |out| {
        seq_log::write_all(run, simulated.interval, out)
    })
}

/// Writes `<stem>_log.csv` and `<stem>_seq.csv`.
fn write_log(
    dir: &RunDir,
    stem: &str,
    rows: &[&log::Row<'_>],
    states: impl FnOnce(&mut Hashed<AtomicFile>) -> std::io::Result<()>,
) -> Result<()> {
    let table = log::table(rows);
    dir.write(&format!("{stem}_log.csv"), |out| table.write_csv(out))?;
    dir.write(&format!("{stem}_seq.csv"), states)
}

fn write_table(dir: &RunDir, simulated: SimulatedTrace<'_>, table: &Table<'_>) -> Result<()> {
    if simulated.csv {
        dir.write_table(table)
    } else {
        dir.write_parquet(table)
    }
}

/// The name of a virtual cluster, if it can be used as the name of a folder next to `logs/all`.
fn folder_name(vc: &str) -> Result<&str> {
    let mut parts = Path::new(vc).components();
    let single =
        matches!((parts.next(), parts.next()), (Some(Component::Normal(part)), None) if part == vc);
    if single && vc != results::ALL {
        Ok(vc)
    } else {
        Err(Error::Run(format!(
            "no logs for the virtual cluster {vc:?}: its name cannot be used for a folder; \
             rename it in the cluster file and in the trace"
        )))
    }
}
