//! `gleaner sweep`: a run for every combination of settings of a plan.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use clap::Args as ClapArgs;
use serde::Serialize;

use super::progress::Progress;
use super::{interrupt, print, print_json, remark, threads};
use gleaner_core::error::{Error, Result};
use gleaner_core::results::programs;
use gleaner_core::results::run::Seconds;
use gleaner_core::results::sweep::{Field, Metric, Mode, RunOutcome};
use gleaner_core::words::counted;
use gleaner_formats::ingest::SourceId;
use gleaner_formats::output::run::{End, RunDir};
use gleaner_formats::output::sweep::{self as tables, Store, Sweep};
use gleaner_sweep::{PreparedRuns, plan, prepare, run_missing};

/// Run every combination of the settings that a plan lists, and find the best.
///
/// The plan is a TOML file with a table [replay] or [simulate]. Each of its settings is a value
/// or a list of values; dataset/README.md describes them. The result of each run is kept when it
/// finishes. A sweep that is started again runs only what is missing; results that fit a changed
/// plan are used again.
#[derive(Debug, ClapArgs, Serialize)]
#[command(after_help = "Examples:\n  \
    gleaner sweep dataset/sweep.toml --dry-run\n  \
    gleaner sweep dataset/sweep.toml --out swept\n  \
    gleaner sweep dataset/sweep.toml --best fairness_jain --jobs 4 --out swept")]
pub struct Args {
    /// The plan.
    #[arg(value_name = "PLAN")]
    plan: PathBuf,
    /// Directory for the table, the best settings, and a file for each run.
    #[arg(long, value_name = "DIR", required_unless_present = "dry_run")]
    out: Option<PathBuf>,
    /// Figure by which the best settings are chosen: its mean over their seeds [default:
    /// total_work; for simulations avg_jct_s]. Ties are broken by total_work, completion_mean_s
    /// and rescale_loss; for simulations by avg_jct_s, avg_queue_s and checkpoints.
    #[arg(long, value_name = "METRIC")]
    best: Option<String>,
    /// Number of runs at once [default: the number of cores]. The results do not depend on it.
    #[arg(short = 'j', long, value_name = "COUNT")]
    jobs: Option<NonZeroUsize>,
    /// Read and check all inputs and list the runs, but run none.
    #[arg(long)]
    dry_run: bool,
    /// Exit with 1 if a solver that is a program was wrong, late or died in any run. Its faults are
    /// told anyway.
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
/// Wrong usage, invalid input, a run that fails, an interrupt after what there is is kept, or with
/// `--strict` the faults of a program after all is written.
pub fn run(args: &Args) -> Result<()> {
    if let Some(count) = args.jobs {
        threads::use_threads(count)?;
    }
    let clock = Instant::now();
    let plan = plan::read(&args.plan)?;
    let mode = plan.value.mode();
    let by = metric(mode, args.best.as_deref())?;
    let prepared = prepare(plan.value, &remark)?;
    let read = clock.elapsed().as_secs_f64();
    match &args.out {
        Some(out) if !args.dry_run => {
            let directory = RunDir::open(out, "sweep", args)?;
            let sources = [&plan.sources, prepared.sources()].concat();
            let session = Session {
                args,
                mode,
                by,
                prepared: prepared.as_ref(),
                store: Store::open(&directory)?,
                directory,
                sources,
                read,
            };
            session.run(interrupt::flag())
        }
        out => list(prepared.as_ref(), mode.settings(), out.as_deref()),
    }
}

/// The figure to choose by.
fn metric(mode: Mode, best: Option<&str>) -> Result<Metric> {
    let name = best.unwrap_or(mode.default_metric());
    let ranked = || mode.metrics().iter().filter(|metric| metric.best.is_some());
    let by = ranked().find(|metric| metric.name == name);
    by.copied().ok_or_else(|| {
        let names: Vec<&str> = ranked().map(|metric| metric.name).collect();
        Error::Usage(format!(
            "--best is {name:?}, expected one of {}",
            names.join(", ")
        ))
    })
}

/// Lists the runs, with those in `out` as done.
fn list(prepared: &dyn PreparedRuns, settings: &[Field], out: Option<&Path>) -> Result<()> {
    let store = out.map(Store::at);
    let runs = prepared.runs();
    let is_done = |run| {
        store
            .as_ref()
            .is_some_and(|store| store.load::<RunOutcome>(run).is_some())
    };
    let done: Vec<bool> = runs.iter().map(is_done).collect();
    remark(&[counted(runs.len(), "run")]);
    print(&tables::listing(runs, settings, &done))
}

/// Tells the faults of programs over all runs, those that were done before included; fails if that is
/// wanted and there are any.
fn tell_faults(results: &[RunOutcome], strict: bool) -> Result<()> {
    let told = programs::remarks(results.iter().filter_map(|result| result.program.as_ref()));
    match strict && !told.is_empty() {
        true => Err(Error::Run(told.join("; "))),
        false => {
            remark(&told);
            Ok(())
        }
    }
}

/// A sweep under way.
struct Session<'a> {
    args: &'a Args,
    mode: Mode,
    by: Metric,
    prepared: &'a dyn PreparedRuns,
    store: Store,
    directory: RunDir,
    sources: Vec<SourceId>,
    /// Seconds spent reading.
    read: f64,
}

impl Session<'_> {
    fn run(self, stop: &AtomicBool) -> Result<()> {
        let clock = Instant::now();
        let runs = self.prepared.runs();
        let mut results: Vec<Option<RunOutcome>> =
            runs.iter().map(|run| self.store.load(run)).collect();
        let found_done = results.iter().flatten().count();
        let mut seconds = Seconds {
            read: self.read,
            ..Seconds::default()
        };
        if found_done < runs.len() {
            self.directory.begin(&self.sources)?;
            self.run_missing(&mut results, stop)?;
        }
        seconds.compute = clock.elapsed().as_secs_f64();
        let complete: Option<Vec<RunOutcome>> = results.into_iter().collect();
        let Some(results) = complete else {
            self.end(false, seconds)?;
            return Err(Error::Interrupted);
        };
        let strict = self.args.strict;
        self.finish(&results, found_done, seconds)?;
        tell_faults(&results, strict)
    }

    fn run_missing(&self, results: &mut [Option<RunOutcome>], stop: &AtomicBool) -> Result<()> {
        let progress = Mutex::new(Progress::new(self.args.quiet));
        let update = |done, total| {
            if let Ok(mut progress) = progress.lock() {
                progress.update(done, total);
            }
        };
        let result = run_missing(self.prepared, &self.store, results, stop, &update);
        if let Ok(progress) = progress.into_inner() {
            progress.finish();
        }
        result
    }

    fn finish(self, results: &[RunOutcome], found_done: usize, mut seconds: Seconds) -> Result<()> {
        let clock = Instant::now();
        let sweep = Sweep::new(self.prepared.runs(), results, self.mode, self.by);
        let summary = tables::summary(&sweep);
        self.directory.write_table(&tables::table(&sweep))?;
        for table in tables::settings(&sweep) {
            self.directory.write_table(&table)?;
        }
        self.directory.write_json("summary.json", &summary)?;
        seconds.write = clock.elapsed().as_secs_f64();
        let text = tables::text(&sweep, found_done);
        let json = self.args.json;
        self.end(true, seconds)?;
        if json {
            let text = serde_json::to_string_pretty(&summary);
            return print_json(&(text.map_err(|e| Error::Run(e.to_string()))? + "\n"));
        }
        print(&text)
    }

    fn end(self, complete: bool, seconds: Seconds) -> Result<()> {
        let written = self.directory.finish(&End {
            sources: &self.sources,
            complete,
            seconds,
        })?;
        remark(&[written]);
        Ok(())
    }
}
