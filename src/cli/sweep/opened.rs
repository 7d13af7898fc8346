//! A plan with everything that its runs need.

use std::collections::BTreeSet;
use std::time::Instant;

use serde::de::{DeserializeOwned, IgnoredAny};

use super::Args;
use crate::cli::caller::Caller;
use gleaner_core::error::{Error, Result};
use gleaner_core::results::sweep::{Metric, Mode};
use gleaner_core::words::counted;
use gleaner_formats::ingest::SourceId;
use gleaner_store::{Found, RunKey, Store};
use gleaner_sweep::{PreparedRuns, plan, prepare};

/// A plan that was read, with its inputs.
pub(super) struct Opened<'c> {
    /// Who hears remarks.
    pub caller: &'c dyn Caller,
    pub mode: Mode,
    /// The figure to choose by.
    pub by: Metric,
    pub prepared: Box<dyn PreparedRuns>,
    /// Every file read.
    pub sources: Vec<SourceId>,
    /// Seconds spent reading.
    pub read: f64,
}

impl<'c> Opened<'c> {
    /// Reads and checks the plan and all that it names.
    ///
    /// # Errors
    /// Their faults; a figure that there is not.
    pub fn read(args: &Args, caller: &'c dyn Caller) -> Result<Self> {
        let clock = Instant::now();
        let plan = plan::read(&args.plan)?;
        let mode = plan.value.mode();
        let by = metric(mode, args.best.as_deref())?;
        let prepared = prepare(plan.value, &|remarks| caller.remark(remarks))?;
        Ok(Opened {
            caller,
            mode,
            by,
            sources: [&plan.sources, prepared.sources()].concat(),
            prepared,
            read: clock.elapsed().as_secs_f64(),
        })
    }

    /// The keys of the plan's runs.
    pub fn keys(&self) -> BTreeSet<RunKey> {
        let runs = 0..self.prepared.count();
        runs.map(|run| self.prepared.key(run)).collect()
    }

    /// What a store holds of the plan's runs.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn find<R: DeserializeOwned>(&self, store: &Store) -> Result<Found<R>> {
        let keys = self.keys();
        let found = store.read(|key| keys.contains(key))?;
        if found.damaged > 0 {
            self.caller.remark(&[format!(
                "{} in runs/ cannot be used; what they held is done again",
                counted(found.damaged, "line")
            )]);
        }
        Ok(found)
    }

    /// As [`Opened::find`], without the results themselves.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn glance(&self, store: &Store) -> Result<Found<IgnoredAny>> {
        self.find(store)
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
