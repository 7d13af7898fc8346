//! Executes one part of a sweep, as an array task of a batch system or from any shell.

use std::path::Path;

use super::{Args, print, remark};
use crate::cli::interrupt;
use crate::cli::terminal::Terminal;
use crate::sweep::opened::Opened;
use crate::sweep::owner;
use gleaner_domain::Observer;
use gleaner_domain::error::{Error, Result};
use gleaner_domain::words::counted;
use gleaner_runs::run::RunDir;
use gleaner_store::{Ended, PartName, Store, Writer};
use gleaner_sweep::cluster::{BatchFolder, Costs, Deal, Share, State};
use gleaner_sweep::{Attempt, execute};

/// Executes the missing runs of a part. The outcome of the part is recorded in the store, so that the collection does
/// not depend on a batch system.
pub(super) fn run(args: &Args, out: &Path, share: Share) -> Result<()> {
    RunDir::share(out, "sweep", args)?;
    // This check precedes the creation of a segment, so that nothing is written to the directory if it belongs to
    // another plan.
    if owner::other_plan(&args.plan, out).is_some() {
        owner::check(
            &Opened::read(&args.plan, &args.way, &Terminal::default())?,
            out,
        )?;
    }
    let store = Store::at(out);
    let writer = store.writer(Some(PartName {
        batch: args.batch.batch.clone().unwrap_or_default(),
        part: share.part,
    }));
    let done = attempt(args, out, share, &store, &writer);
    let (code, message) = match &done {
        Ok(message) => (0, message.clone()),
        Err(Error::Interrupted | Error::Stopped) => {
            (interrupt::interrupted(), "interrupted".to_owned())
        }
        Err(error) => (error.exit_code(), error.to_string()),
    };
    writer.end(Ended { code, message })?;
    print(&format!("part {share}: {}\n", done?))
}

/// Executes the missing runs of the part. Returns a line with the number of runs that are done, failed and remaining.
fn attempt(
    args: &Args,
    out: &Path,
    share: Share,
    store: &Store,
    writer: &Writer,
) -> Result<String> {
    let soon = interrupt::soon()?;
    let terminal = Terminal::new(args.quiet);
    let opened = Opened::read(&args.plan, &args.way, &terminal)?;
    let prepared = opened.prepared.as_ref();
    let deal = dealt(&opened, args, out, share.parts)?;
    let found = opened.glance(store)?;
    let (all, mut missing) = (deal.part(share.part).count(), Vec::new());
    missing.extend(
        deal.part(share.part)
            .filter(|&run| !found.results.contains_key(&prepared.key(run))),
    );
    let attempts = execute(prepared, &missing, writer, soon, &terminal)?;
    terminal.clear();
    let count = |of: fn(&Attempt) -> bool| attempts.iter().filter(|attempt| of(attempt)).count();
    let (done, failed) = (
        count(|attempt| matches!(attempt, Attempt::Done(_))),
        count(|attempt| matches!(attempt, Attempt::Failed(_))),
    );
    let left = attempts.len() - done - failed;
    if terminal.is_stopped() {
        return Err(Error::Interrupted);
    }
    let before = all - attempts.len();
    let mut said = format!(
        "{}, {before} of them already done, {done} done now",
        counted(all, "run")
    );
    if left > 0 {
        said += &format!("; {left} remain because the time limit is near");
    }
    match failed {
        0 => Ok(said),
        failed => Err(Error::Run(format!(
            "{said}; {failed} failed: --status lists them"
        ))),
    }
}

/// The assignment of runs to parts. If none has been written, it is computed from nothing but the runs' numbers of
/// steps, so that all parts compute the same assignment.
fn dealt(opened: &Opened<'_>, args: &Args, out: &Path, parts: usize) -> Result<Deal> {
    let prepared = opened.prepared.as_ref();
    if let Some(path) = &args.batch.dealt {
        return Deal::read(path, prepared);
    }
    let path = BatchFolder::at(out).deal_of(parts);
    if path.is_file() {
        return Deal::read(&path, prepared);
    }
    let all: Vec<usize> = (0..prepared.count()).collect();
    Ok(Deal::new(prepared, &all, &Costs::default(), parts))
}

/// Assigns the missing runs to parts.
pub(super) fn deal(opened: &Opened<'_>, args: &Args, out: &Path, parts: usize) -> Result<()> {
    RunDir::share(out, "sweep", args)?;
    let prepared = opened.prepared.as_ref();
    let state = State::of(prepared, &opened.glance(&Store::at(out))?);
    let deal = Deal::new(prepared, &state.missing, &state.costs, parts);
    let path = BatchFolder::at(out).deal_of(parts);
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(|error| Error::io("create", folder, error))?;
    }
    deal.write(&path)?;
    remark(&[format!(
        "{}: {} for {}",
        path.display(),
        counted(state.missing.len(), "run"),
        counted(parts, "part")
    )]);
    Ok(())
}
