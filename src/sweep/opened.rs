//! Reads a plan and everything that its runs need.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde::de::{DeserializeOwned, IgnoredAny};

use gleaner_domain::Observer;
use gleaner_domain::error::{Error, Result};
use gleaner_domain::results::sweep::{Metric, Mode};
use gleaner_domain::words::counted;
use gleaner_io::SourceId;
use gleaner_store::{Found, RunKey, Store};
use gleaner_sweep::{PreparedRuns, plan, prepare};

use super::SweepWay;

/// A plan, with the inputs of its runs in memory.
pub(crate) struct Opened<'c> {
    /// The plan's file.
    pub file: PathBuf,
    /// Receives remarks.
    pub observer: &'c dyn Observer,
    pub mode: Mode,
    /// The metric by which the best settings are chosen.
    pub by: Metric,
    pub prepared: Box<dyn PreparedRuns>,
    /// All files that were read.
    pub sources: Vec<SourceId>,
    /// Seconds spent reading the inputs.
    pub read: f64,
}

impl<'c> Opened<'c> {
    /// Reads and checks the plan and all files that it names. The options in `way` override settings of the plan.
    ///
    /// # Errors
    /// The plan or an input is faulty, the requested metric is unknown, or the plan's log cannot be cut as requested.
    pub fn read(file: &Path, way: &SweepWay, observer: &'c dyn Observer) -> Result<Self> {
        let clock = Instant::now();
        let plan = plan::read(file)?;
        let mode = plan.value.mode();
        let by = metric(mode, way.best.as_deref())?;
        let prepared = prepare(plan.value.with_cut(&way.replication)?, observer)?;
        Ok(Opened {
            file: file.to_owned(),
            observer,
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

    /// Reads the results of the plan's runs from a store.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn find<R: DeserializeOwned>(&self, store: &Store) -> Result<Found<R>> {
        let keys = self.keys();
        let found = store.read(|key| keys.contains(key))?;
        if found.damaged > 0 {
            self.observer.remark(&[format!(
                "{} in runs/ cannot be used; the affected runs are repeated",
                counted(found.damaged, "line")
            )]);
        }
        Ok(found)
    }

    /// Like [`Opened::find`], but without parsing the contents of the results.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn glance(&self, store: &Store) -> Result<Found<IgnoredAny>> {
        self.find(store)
    }
}

/// The metric by which the best settings are chosen.
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
