//! Sweeps, which run every combination of the settings in a plan.

pub(crate) mod opened;
pub(crate) mod owner;
pub(crate) mod tables;
pub(crate) mod whole;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use gleaner_domain::error::Result;
use gleaner_domain::{Observer, Unobserved};
use gleaner_setup::settings;
use gleaner_setup::settings::Spec;
use gleaner_sweep::plan::ReplicationArgs;
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
    plan: PathBuf,
    settings: SweepSettings,
    observer: &'a dyn Observer,
}

settings! {
    /// All settings of a sweep except its plan.
    #[derive(Debug, Clone, Serialize)]
    pub struct SweepSettings {
        /// The settings for the execution of the sweep and for the choice of the best settings.
        #[serde(flatten)]
        pub way: SweepWay;
        /// Exit with 1 if a solver program gave an invalid answer, timed out or crashed in any run. Faults are always
        /// reported.
        pub strict: bool = false => Spec::flag();
    }
}

settings! {
    /// The settings for the number of parallel runs, the parts of the log, and the choice of the best settings.
    #[derive(Debug, Clone, Serialize)]
    pub struct SweepWay {
        /// Metric whose mean over the seeds or windows determines the best settings [default: total_work; for
        /// simulations avg_jct_s]. Ties are broken by total_work, completion_mean_s and
        /// rescale_loss; for simulations by avg_jct_s, avg_queue_s and checkpoints.
        pub best: Option<String> = None => Spec::of("METRIC");
        /// Number of concurrent runs [default: the number of cores]. The results do not depend on this number.
        pub jobs: Option<NonZeroUsize> = None => Spec::of("COUNT").short('j');
        /// The parts into which the log is cut.
        #[serde(flatten)]
        pub replication: ReplicationArgs;
    }
}

/// The arguments of the sweep, as listed in `run.json`.
#[derive(Serialize)]
struct Arguments<'a> {
    plan: &'a Path,
    #[serde(flatten)]
    settings: &'a SweepSettings,
}

impl<'a> Sweep<'a> {
    /// Creates a sweep from the TOML file of its plan.
    pub fn of(plan: impl Into<PathBuf>) -> Self {
        Self::with(plan, SweepSettings::default())
    }

    /// Creates a sweep with these settings.
    pub fn with(plan: impl Into<PathBuf>, settings: SweepSettings) -> Self {
        Sweep {
            plan: plan.into(),
            settings,
            observer: &Unobserved,
        }
    }

    /// Sets the metric by which the best settings are chosen (default: `total_work`; for simulations, `avg_jct_s`).
    pub fn best(mut self, metric: &str) -> Self {
        self.settings.way.best = Some(metric.to_owned());
        self
    }

    /// Cuts the log into this number of parts of equal duration, and replays each part from its own start. Means and
    /// intervals are then computed over the parts.
    pub fn windows(mut self, count: usize) -> Self {
        self.settings.way.replication.windows = Some(count);
        self
    }

    /// Cuts the log into weeks, or into days if the log is shorter than eight weeks, and replays each of these blocks
    /// from its own start. Intervals are then computed from this number of bootstrap resamples of the blocks.
    pub fn bootstrap(mut self, resamples: usize) -> Self {
        self.settings.way.replication.bootstrap = Some(resamples);
        self
    }

    /// Sets the number of parallel runs (default: the number of cores). The results do not depend on this number.
    pub fn jobs(mut self, count: NonZeroUsize) -> Self {
        self.settings.way.jobs = Some(count);
        self
    }

    /// Treats faults of solver programs as errors.
    pub fn strict(mut self) -> Self {
        self.settings.strict = true;
        self
    }

    /// Sets the observer. It receives remarks and progress, and can stop the sweep.
    pub fn observer(mut self, observer: &'a dyn Observer) -> Self {
        self.observer = observer;
        self
    }

    /// Executes the runs whose results are not yet in `out`, and writes the tables to this directory. Each result is
    /// saved as soon as its run ends, so a stopped sweep can be resumed. Returns the best settings.
    ///
    /// # Errors
    /// A setting or an input is invalid, a run fails, or `out` contains the results of another plan. A stopped sweep
    /// returns [`Error::Interrupted`](gleaner_domain::Error::Interrupted).
    pub fn run(self, out: impl AsRef<Path>) -> Result<Swept> {
        let out = out.as_ref();
        let SweepSettings { way, strict } = &self.settings;
        threads::with(way.jobs, || {
            let opened = Opened::read(&self.plan, way, self.observer)?;
            owner::check(&opened, out)?;
            let arguments = Arguments {
                plan: &self.plan,
                settings: &self.settings,
            };
            let written = whole::run(&opened, &arguments, out)?;
            written.report_faults(*strict, self.observer)?;
            Ok(written)
        })
    }
}
