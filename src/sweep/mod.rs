//! Sweeps, which run every combination of the settings in a plan.

pub(crate) mod opened;
pub(crate) mod owner;
pub(crate) mod tables;
pub(crate) mod whole;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use gleaner_core::error::Result;
use gleaner_core::{Observer, Unobserved};
use serde::Serialize;

use crate::threads;
use opened::Opened;
pub use tables::Swept;

/// Configures and runs a sweep over every combination of the settings in a plan (dataset/README.md).
///
/// ```
/// use gleaner::{Open, Run, RunResult, Sweep};
///
/// # std::env::set_current_dir(env!("CARGO_MANIFEST_DIR"))?;
/// # let folder = tempfile::tempdir()?;
/// # let out = folder.path().join("swept");
/// println!("{}", Sweep::of("dataset/sweep.toml").run(&out)?.text);
/// let run = Run::open(&out)?;
/// assert!(matches!(run.result, RunResult::Sweep(_)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "a sweep does nothing until `run` is called"]
pub struct Sweep<'a> {
    pub(crate) settings: SweepSettings,
    pub(crate) strict: bool,
    pub(crate) observer: &'a dyn Observer,
}

/// The settings that `run.json` lists.
#[derive(Debug, Serialize)]
pub(crate) struct SweepSettings {
    pub plan: PathBuf,
    pub best: Option<String>,
    pub jobs: Option<NonZeroUsize>,
}

impl<'a> Sweep<'a> {
    /// Creates a sweep from the TOML file of its plan.
    pub fn of(plan: impl Into<PathBuf>) -> Self {
        Sweep {
            settings: SweepSettings {
                plan: plan.into(),
                best: None,
                jobs: None,
            },
            strict: false,
            observer: &Unobserved,
        }
    }

    /// Sets the figure by which the best settings are chosen (default: `total_work`, for simulations
    /// `avg_jct_s`).
    pub fn best(mut self, metric: &str) -> Self {
        self.settings.best = Some(metric.to_owned());
        self
    }

    /// Sets the number of parallel runs (default: the number of cores). The results do not depend on it.
    pub fn jobs(mut self, count: NonZeroUsize) -> Self {
        self.settings.jobs = Some(count);
        self
    }

    /// Treats faults of solver programs as errors.
    pub fn strict(mut self) -> Self {
        self.strict = true;
        self
    }

    /// Sets the observer, which receives remarks and progress, and can stop the sweep.
    pub fn observer(mut self, observer: &'a dyn Observer) -> Self {
        self.observer = observer;
        self
    }

    /// Executes the runs whose results `out` does not contain yet, and writes the tables there. Each result
    /// is saved as soon as its run ends, so a stopped sweep can be resumed. Returns the best settings.
    ///
    /// # Errors
    /// A setting or an input is invalid, a run fails, or `out` belongs to another plan. A stopped sweep
    /// returns [`Error::Interrupted`](gleaner_core::Error::Interrupted).
    pub fn run(self, out: impl AsRef<Path>) -> Result<Swept> {
        self.run_as(&self.settings, out.as_ref())
    }

    /// Like [`Sweep::run`], but `run.json` lists these arguments.
    pub(crate) fn run_as(&self, arguments: &(impl Serialize + Sync), out: &Path) -> Result<Swept> {
        let settings = &self.settings;
        threads::with(settings.jobs, || {
            let opened = Opened::read(&settings.plan, settings.best.as_deref(), self.observer)?;
            owner::check(&opened, out)?;
            let written = whole::run(&opened, arguments, out)?;
            written.report_faults(self.strict, self.observer)?;
            Ok(written)
        })
    }
}
