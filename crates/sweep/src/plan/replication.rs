//! Settings that cut the log of a plan into parts, on which all runs are repeated.

use gleaner_domain::error::{Error, Result};
use gleaner_domain::results::sweep::{MIN_WINDOWS, RESAMPLES};
use gleaner_setup::settings;
use gleaner_setup::settings::{Setting, Settings, Spec};
use serde::{Deserialize, Serialize};

settings! {
    /// The parts into which the log is cut. Intervals are then computed over the parts instead of the seeds.
    #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(default)]
    pub struct ReplicationArgs {
        /// Cut the log into COUNT parts of equal duration, and replay each part from its own start. Means and 95 %
        /// intervals are then computed over the parts. Intervals need at least 5 parts. Runs have a setting `window`,
        /// from 1 to COUNT. Overrides windows and bootstrap in the plan.
        pub windows: Option<usize> = None => Spec::of("COUNT").within("at least 2", |count| *count >= 2);
        /// Replay each week of the log from its own start, or each day if the log has fewer than eight weeks. Means are
        /// then computed over these blocks, with 95 % percentile intervals from COUNT bootstrap resamples of the
        /// blocks. Overrides windows and bootstrap in the plan.
        pub bootstrap: Option<usize> = None => Spec::of("COUNT").within(
            format!("from {} to {} resamples", RESAMPLES.start(), RESAMPLES.end()),
            |count| RESAMPLES.contains(count),
        );
    }
}

/// A way to cut the log of a plan into parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Cut {
    /// The log is not cut, so runs replay the whole log.
    #[default]
    Whole,
    /// The log is cut into this number of parts of equal duration.
    Windows(usize),
    /// The log is cut into weeks or days, which are resampled by the bootstrap.
    Blocks {
        /// Number of bootstrap resamples.
        resamples: usize,
    },
}

impl ReplicationArgs {
    /// The parts into which these settings cut the log.
    ///
    /// # Errors
    /// [`Error::Usage`] if both settings are given, or if a value is out of range.
    pub fn cut(&self) -> Result<Cut> {
        self.check()?;
        match (self.windows, self.bootstrap) {
            (None, None) => Ok(Cut::Whole),
            (Some(count), None) => Ok(Cut::Windows(count)),
            (None, Some(resamples)) => Ok(Cut::Blocks { resamples }),
            (Some(_), Some(_)) => Err(Error::Usage(format!(
                "--windows and --bootstrap cut the log in different ways, expected {ONE_OF_THEM}"
            ))),
        }
    }

    /// The settings that the user has given, as command-line arguments.
    pub fn words(&self) -> Vec<String> {
        let list = Self::list();
        let given = list.iter().filter(|setting| setting.is_changed(self));
        let word = |setting: &Setting<Self>| {
            let name = format!("--{}", setting.about.option());
            std::iter::once(name).chain(setting.show(self))
        };
        given.flat_map(word).collect()
    }
}

/// The expected value in messages about a plan or command with both settings.
pub(super) const ONE_OF_THEM: &str = "only one of them: --windows for intervals by Student's t over equal parts, or \
    --bootstrap for intervals by resampling weeks or days";

const _: () = assert!(MIN_WINDOWS == 5, "the help of --windows states the number");
