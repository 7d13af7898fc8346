//! `gleaner sweep`: executes a run for every combination of the settings of a plan.

mod collect;
mod follow;
mod part;
mod report;
mod slurm;
mod status;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;
use serde::Serialize;

use super::terminal::Terminal;
use super::{print, print_json, remark};
use crate::sweep::opened::Opened;
use crate::sweep::tables::Swept;
use crate::sweep::{SweepWay, owner, whole};
use crate::threads;
use gleaner_domain::error::{Error, Result};
use gleaner_domain::words::counted;
use gleaner_runs::sweep::listing;
use gleaner_store::Store;
use gleaner_sweep::cluster::Share;

/// Run all combinations of settings, and find the best.
///
/// The plan is a TOML file with a table [replay] or [simulate]. Each setting in this table is a value or a list of
/// values; dataset/README.md describes the settings. The result of each run is saved as soon as the run finishes. A
/// sweep that is restarted executes only the missing runs. If the plan has changed, results that still apply are
/// reused. docs/CLUSTER.md describes sweeps on several machines.
#[allow(
    rustdoc::broken_intra_doc_links,
    reason = "[replay] and [simulate] are TOML tables in the help, not links"
)]
#[derive(Debug, ClapArgs, Serialize)]
#[command(before_help = "Examples:\n  \
    gleaner sweep dataset/sweep.toml --dry-run\n  \
    gleaner sweep dataset/sweep.toml --out swept\n  \
    gleaner sweep dataset/sweep.toml --best fairness_jain --jobs 4 --out swept\n  \
    gleaner sweep dataset/sweep.toml --windows 5 --out swept\n  \
    gleaner sweep dataset/sweep.toml --out swept --part 2/8\n  \
    gleaner sweep dataset/sweep.toml --out swept --slurm --partition cpu --time 2:00:00 --cpus 8")]
pub struct Args {
    /// The plan.
    #[arg(value_name = "PLAN")]
    plan: PathBuf,
    /// Directory for the table, the best settings, and the results of single runs.
    #[arg(long, value_name = "DIR", required_unless_present = "dry_run")]
    out: Option<PathBuf>,
    #[command(flatten)]
    #[serde(flatten)]
    way: SweepWay,
    /// Read and check all inputs, and list the runs without executing them.
    #[arg(long, group = "way")]
    dry_run: bool,
    /// Execute only the runs of part I of N, and write no tables. Parts can run at the same time on
    /// machines that share DIR.
    #[arg(long, value_name = "I/N", group = "way")]
    part: Option<Share>,
    /// Assign the missing runs to N parts, based on the run times of finished runs. --part I/N then uses this
    /// assignment.
    #[arg(long, value_name = "N", group = "way")]
    deal: Option<NonZeroUsize>,
    /// Report which runs are done, which have failed, and which jobs are in Slurm's queue.
    #[arg(long, group = "way")]
    status: bool,
    /// Write the tables if all runs are done; otherwise report the missing runs.
    #[arg(long, group = "way")]
    collect: bool,
    /// With --collect: write the tables of the runs finished so far, marked as unfinished.
    #[arg(long, requires = "collect")]
    partial: bool,
    /// Submit the missing runs to Slurm as job arrays, follow them, and write the tables.
    #[arg(long, group = "way")]
    slurm: bool,
    #[command(flatten)]
    #[serde(flatten)]
    batch: slurm::SlurmArgs,
    /// Exit with 1 if a solver program gave an invalid answer, timed out or crashed in any run. Faults are always
    /// reported.
    #[arg(long)]
    strict: bool,
    /// Print the summary as JSON.
    #[arg(long)]
    json: bool,
    /// Show no progress bar.
    #[arg(long)]
    quiet: bool,
}

/// Runs the subcommand.
///
/// # Errors
/// The usage is wrong, an input is invalid, a run fails, the command is interrupted or, with `--strict`, a solver
/// program has faults. Interrupts and faults are reported after all results have been saved.
pub fn run(args: &Args) -> Result<()> {
    threads::with(args.way.jobs, || run_a_way(args))
}

/// Performs the action that the arguments select.
fn run_a_way(args: &Args) -> Result<()> {
    if let Some(share) = args.part {
        return part::run(args, out(args)?, share);
    }
    let terminal = Terminal::new(args.quiet);
    let opened = Opened::read(&args.plan, &args.way, &terminal)?;
    if args.dry_run {
        return list(&opened, args.out.as_deref());
    }
    let out = out(args)?;
    owner::check(&opened, out)?;
    if let Some(parts) = args.deal {
        part::deal(&opened, args, out, parts.get())
    } else if args.status {
        status::run(&opened, out)
    } else if args.collect {
        collect::run(&opened, args, out)
    } else if args.slurm {
        follow::run(&opened, args, out)
    } else {
        show(&whole::run(&opened, args, out)?, args)
    }
}

/// Prints the best settings, and reports the faults of solver programs.
fn show(written: &Swept, args: &Args) -> Result<()> {
    if args.json {
        print_json(&written.json)?;
    } else {
        print(&written.text)?;
    }
    written.report_faults(args.strict, &Terminal::default())
}

/// The directory of the sweep.
fn out(args: &Args) -> Result<&Path> {
    let missing =
        || Error::Usage("--out is missing: name the directory of the sweep with --out DIR".into());
    args.out.as_deref().ok_or_else(missing)
}

/// Lists the runs, and marks those that are finished in `out` as done.
fn list(opened: &Opened<'_>, out: Option<&Path>) -> Result<()> {
    let done = match out {
        None => Default::default(),
        Some(out) => opened.glance(&Store::at(out))?.results,
    };
    let prepared = opened.prepared.as_ref();
    remark(&[counted(prepared.count(), "run")]);
    let is_done = |run| done.contains_key(&prepared.key(run));
    let run = |run| gleaner_sweep::sweep_run(prepared, run);
    print(&listing(
        prepared.count(),
        &run,
        opened.mode.settings(),
        &is_done,
    )?)
}
