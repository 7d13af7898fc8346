//! Pilot jobs on the idle nodes of an event log.
//!
//! ```
//! use gleaner::Unobserved;
//! use gleaner::pilots::{PilotsOfLog, PilotsSettings};
//!
//! # std::env::set_current_dir(env!("CARGO_MANIFEST_DIR"))?;
//! let settings = PilotsSettings {
//!     lengths: vec![2, 8, 32],
//!     ..PilotsSettings::default()
//! };
//! let found = PilotsOfLog::of("dataset/idle.csv".as_ref(), &settings, &Unobserved)?;
//! let ladder = &found.pilots.ladders[0];
//! assert!(ladder.fits.ready_share < found.pilots.kept.ready_share);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use gleaner_document::text;
use gleaner_domain::error::{Error, Result};
use gleaner_domain::results::pilots::{self as results, MinuteGrid, PlanStep};
use gleaner_domain::{EventLog, Observer, Unobserved, Utc};
use gleaner_io::SourceId;
use gleaner_pilots::{
    Costs, Fault, Fragments, Grid, Ladder, MOST_LENGTHS, best, fits, kept, lost, planned,
};
use gleaner_runs::pilots::printed;
use gleaner_runs::read::RunInfo;
use gleaner_setup::settings;
use gleaner_setup::settings::{Form, Settings, Spec, Value};
use gleaner_setup::{ClassArgs, SliceArgs};
use serde::Serialize;

/// Seconds in a minute. The settings state wall times in minutes.
const MINUTE: u64 = 60;
/// Nanoseconds in a second. The models compute in whole seconds.
const SECOND: u64 = 1_000_000_000;

settings! {
    /// The log, and the pilots to run on it.
    #[derive(Debug, Clone, Serialize)]
    pub struct PilotsSettings {
        /// Wall times of the pilots in minutes, separated by commas, such as 2,4,8,16.
        pub lengths: Vec<u64> = Vec::new() => Spec::of("MINUTES").separated_by(',').conflicts(&["best"])
            .within("whole minutes, at least 1", |minutes| *minutes >= 1);
        /// Find the best wall times under the model `fits`: the best ladders of at most 1, 2, ..., K wall times.
        pub best: Option<usize> = None => Spec::of("K")
            .within(format!("1 to {MOST_LENGTHS}"), |count| (1..=MOST_LENGTHS).contains(count));
        /// Evaluate this plan instead of the best plan. A plan lists the wall times, in minutes, of the pilots that a
        /// node starts one after another. 4x3 means 4,4,4. Usually, the plan is the `plan for lost` that `gleaner
        /// pilots` printed for another log. The model `fits` uses the plan's wall times as a ladder, and the model
        /// `kept` ignores the plan.
        pub plan: Vec<Repeated> = Vec::new() => Spec::of("MINUTES").separated_by(',')
            .conflicts(&["lengths", "best"]);
        /// Seconds from the start of a pilot until it is ready.
        pub startup: u64 = 20 => Spec::of("SECONDS");
        /// Seconds that a node waits for the scheduler to start each pilot.
        pub delay: u64 = 10 => Spec::of("SECONDS");
        /// Choose the best wall times among multiples of this number of minutes.
        pub grid: u64 = 1 => Spec::of("MINUTES").requires("best")
            .within("at least 1", |minutes| *minutes >= 1);
        /// Longest wall time that the search may choose, in minutes.
        pub longest: u64 = 120 => Spec::of("MINUTES").requires("best")
            .within("at least 1", |minutes| *minutes >= 1);
        /// Seconds after which the search for each ladder ends with the best ladder found so far.
        pub time_limit: f64 = 60.0 => Spec::of("SECONDS").requires("best")
            .within("more than 0", |seconds| *seconds > 0.0);
        /// The part of the log that is used.
        #[serde(flatten)]
        pub slice: SliceArgs;
    }
}

/// Consecutive pilots of a plan that have the same wall time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Repeated {
    /// The wall time in minutes, at least 1.
    pub minutes: u64,
    /// The number of pilots, at least 1.
    pub times: usize,
}

impl Value for Repeated {
    const FORM: Form = Form::Any;

    fn read(text: &OsStr) -> Result<Self, String> {
        let text = text.to_str().unwrap_or_default();
        let (minutes, times) = text.split_once('x').unwrap_or((text, "1"));
        let read = minutes.parse().ok().zip(times.parse().ok());
        let found = read.map(|(minutes, times)| Repeated { minutes, times });
        found
            .filter(|found| found.minutes >= 1 && found.times >= 1)
            .ok_or_else(|| {
                "expected whole minutes, at least 1, or MINUTESxTIMES such as 4x3".to_owned()
            })
    }

    fn show(&self) -> String {
        match self.times {
            1 => self.minutes.to_string(),
            times => format!("{}x{times}", self.minutes),
        }
    }
}

impl Serialize for Repeated {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.show())
    }
}

/// The results of a simulation of pilots on a log.
pub struct PilotsOfLog {
    /// The results.
    pub pilots: results::Pilots,
    /// The idle fragments of the log.
    pub fragments: gleaner_inspect::Fragments,
    file: PathBuf,
    sources: Vec<SourceId>,
}

impl PilotsOfLog {
    /// Reads a log and computes how pilots would use its idle node-time.
    ///
    /// If the observer stops the search for the best ladders, the results contain the ladders found so far and are
    /// marked incomplete.
    ///
    /// # Errors
    /// The usage is wrong, or an input is unreadable or invalid. [`Error::Stopped`] if the observer stops the search
    /// before a ladder is found.
    pub fn of(log: &Path, settings: &PilotsSettings, observer: &dyn Observer) -> Result<Self> {
        settings.check()?;
        let has_lengths = !settings.lengths.is_empty() || !settings.plan.is_empty();
        if !has_lengths && settings.best.is_none() {
            let message = "pilots need wall times: name them with --lengths 2,4,8, let --best 6 find them, or evaluate a \
                           plan with --plan 4,4,8";
            return Err(Error::Usage(message.to_owned()));
        }
        // clap does not report that a required option (--best) is missing if a given option (--lengths) conflicts with
        // it.
        let of_best = PilotsSettings::list().into_iter().find(|setting| {
            setting.about.style.requires == Some("best") && setting.is_changed(settings)
        });
        if let Some(setting) = of_best.filter(|_| settings.best.is_none()) {
            let option = setting.about.option();
            return Err(Error::Usage(format!("--{option} also needs --best")));
        }
        let read = settings.slice.read(log, &ClassArgs::default(), observer)?;
        observer.remark(&read.notes);
        let log_read = &read.value;
        let (described, lengths) = gleaner_inspect::fragments(log_read, observer)?;
        let seconds = lengths.iter().map(|length| length / SECOND);
        let fragments = Fragments::new(seconds).map_err(failed)?;
        let work = Work {
            settings,
            fragments: &fragments,
            costs: Costs {
                startup: settings.startup,
                delay: settings.delay,
            },
            observer,
        };
        Ok(PilotsOfLog {
            pilots: work.results(log_read)?,
            fragments: described,
            file: log.to_owned(),
            sources: read.sources,
        })
    }

    /// Information about the inputs and settings, for a report page. `arguments` are the options that the user set.
    ///
    /// # Errors
    /// Does not occur in practice, because the arguments can be serialised.
    pub fn info(&self, arguments: &impl Serialize) -> Result<RunInfo> {
        RunInfo::of_this("pilots", &self.file, arguments, &self.sources)
    }

    /// The results as text.
    pub fn text(&self) -> String {
        text(&printed(&self.pilots, &self.fragments))
    }
}

/// The settings, fragments and costs with which the models of pilots compute their results.
struct Work<'a> {
    settings: &'a PilotsSettings,
    fragments: &'a Fragments,
    costs: Costs,
    observer: &'a dyn Observer,
}

impl Work<'_> {
    fn results(&self, log: &EventLog) -> Result<results::Pilots> {
        let grid = self.settings.best.map(|_| MinuteGrid {
            step_min: self.settings.grid,
            longest_min: self.settings.longest,
        });
        let (ladders, every_length) = match grid {
            None if !self.settings.plan.is_empty() => (vec![self.planned()?], None),
            None => (
                vec![self.ladder(
                    seconds("lengths", &self.settings.lengths)?,
                    None,
                    self.observer,
                )?],
                None,
            ),
            Some(grid) => self.best(grid)?,
        };
        let time = |row: Option<&Utc>| row.map(|time| log.clock().show(*time)).unwrap_or_default();
        let (first, last) = (log.times().first(), log.times().last());
        let span = last
            .zip(first)
            .map_or(0.0, |(last, first)| last.seconds_since(*first));
        let count = self.settings.best.unwrap_or(1);
        Ok(results::Pilots {
            from: time(first),
            to: time(last),
            span_seconds: span,
            nodes: log.nodes().len(),
            is_plan_given: !self.settings.plan.is_empty(),
            idle_node_seconds: self.fragments.total(),
            startup_s: self.costs.startup,
            delay_s: self.costs.delay,
            grid,
            kept: self.kept(),
            complete: ladders.len() == count && (grid.is_none() || every_length.is_some()),
            ladders,
            every_length,
        })
    }

    /// The best ladders, and the ladder of all wall times on the grid. If the observer stops the search, returns the
    /// ladders found so far.
    fn best(&self, grid: MinuteGrid) -> Result<(Vec<results::Ladder>, Option<results::Ladder>)> {
        let in_seconds = Grid {
            step: grid.step_min.saturating_mul(MINUTE),
            longest: grid.longest_min.saturating_mul(MINUTE),
        };
        let limit = Duration::try_from_secs_f64(self.settings.time_limit).unwrap_or(Duration::MAX);
        let count = self.settings.best.unwrap_or(1);
        let found = best(
            self.fragments,
            in_seconds,
            self.costs,
            count,
            limit,
            self.observer,
        );
        let ladders = found
            .map_err(|fault| self.wrong(fault))?
            .into_iter()
            .map(|best| {
                let bound = self.fragments.share(best.bound);
                // The ladders found so far are evaluated even if the observer has stopped the search.
                self.ladder(best.lengths, Some(bound), &Unobserved)
            });
        let ladders = ladders.collect::<Result<Vec<_>>>()?;
        let all = (in_seconds.step..=in_seconds.longest).step_by(in_seconds.step as usize);
        let longer = all.filter(|length| *length > self.costs.startup);
        match self.ladder(longer.collect(), None, self.observer) {
            Err(Error::Stopped) => Ok((ladders, None)),
            every_length => Ok((ladders, Some(every_length?))),
        }
    }

    /// Computes how pilots with the wall times `lengths`, in seconds, use the idle node-time. The list is empty if no
    /// fragment is long enough for a pilot.
    fn ladder(
        &self,
        lengths: Vec<u64>,
        bound_share: Option<f64>,
        observer: &dyn Observer,
    ) -> Result<results::Ladder> {
        if lengths.is_empty() {
            return Ok(results::Ladder {
                bound_share,
                ..results::Ladder::default()
            });
        }
        let ladder = Ladder::new(lengths, self.costs).map_err(|fault| self.wrong(fault))?;
        let minutes = ladder.lengths().iter().map(|length| length / MINUTE);
        Ok(results::Ladder {
            lengths_min: minutes.collect(),
            fits: self.fits(&ladder),
            bound_share,
            lost: self.lost(&ladder, observer)?,
        })
    }

    /// Computes how pilots with the wall times of the plan in the settings use the idle node-time. Only `lost` depends
    /// on the order of the wall times.
    fn planned(&self) -> Result<results::Ladder> {
        let plan = &self.settings.plan;
        let mut minutes: Vec<u64> = plan.iter().map(|pilots| pilots.minutes).collect();
        minutes.sort_unstable();
        minutes.dedup();
        let ladder = Ladder::new(seconds("plan", &minutes)?, self.costs);
        let ladder = ladder.map_err(|fault| self.wrong(fault))?;
        let pilots = plan
            .iter()
            .flat_map(|pilots| std::iter::repeat_n(pilots.minutes * MINUTE, pilots.times));
        let found =
            planned(self.fragments, pilots, self.costs).map_err(|fault| self.wrong(fault))?;
        Ok(results::Ladder {
            lengths_min: minutes,
            fits: self.fits(&ladder),
            bound_share: None,
            lost: self.lost_of(&found),
        })
    }

    fn fits(&self, ladder: &Ladder) -> results::Fits {
        let found = fits(self.fragments, ladder);
        results::Fits {
            ready_s: found.ready,
            ready_share: self.fragments.share(found.ready),
            startup_share: self.fragments.share(found.startup),
            delay_share: self.fragments.share(found.delay),
            unused_share: self.fragments.share(found.unused),
            pilots: found.pilots,
        }
    }

    fn kept(&self) -> results::Kept {
        let found = kept(self.fragments, self.costs);
        results::Kept {
            ready_s: found.ready,
            ready_share: self.fragments.share(found.ready),
            startup_share: self.fragments.share(found.startup),
            delay_share: self.fragments.share(found.delay),
        }
    }

    fn lost(&self, ladder: &Ladder, observer: &dyn Observer) -> Result<results::Lost> {
        let found = lost(self.fragments, ladder, observer);
        Ok(self.lost_of(&found.map_err(|fault| self.wrong(fault))?))
    }

    fn lost_of(&self, found: &gleaner_pilots::Lost) -> results::Lost {
        let startup = found.finished * self.costs.startup;
        let delay = found.finished * self.costs.delay;
        let step = |step: &gleaner_pilots::Step| PlanStep {
            age_s: step.age,
            length_min: step.length / MINUTE,
            started: step.started,
            finished: step.finished,
        };
        results::Lost {
            ready_s: found.ready,
            ready_share: self.fragments.share(found.ready),
            startup_share: self.fragments.share(startup),
            delay_share: self.fragments.share(delay),
            unused_share: self
                .fragments
                .share(self.fragments.total() - found.ready - startup - delay),
            finished: found.finished,
            preempted: found.preempted,
            plan: found.plan.iter().map(step).collect(),
        }
    }

    /// Converts a fault found by the pilot models to an error that names the settings.
    fn wrong(&self, fault: Fault) -> Error {
        let PilotsSettings {
            startup,
            delay,
            grid,
            longest,
            ..
        } = self.settings;
        Error::Usage(match fault {
            Fault::Stopped => return Error::Stopped,
            Fault::TooMuch => return failed(fault),
            Fault::NeverReady { length, .. } => format!(
                "--startup is {startup} s, expected less than the shortest wall time, {} min",
                length / MINUTE
            ),
            Fault::NoLength => format!(
                "no wall time fits: expected a multiple of --grid {grid} min that is longer than --startup \
                 {startup} s, and at most --longest {longest} min"
            ),
            Fault::Twice(length) => format!("--lengths lists {} min twice", length / MINUTE),
            Fault::TooLong(time) => {
                format!(
                    "one of --lengths, --plan, --grid, --longest, --startup and --delay gives a time of {time} s, \
                     which is too long: expected at most {} s",
                    gleaner_pilots::LONGEST
                )
            }
            Fault::TooFine { lengths, .. } => format!(
                "--longest {longest} with --grid {grid} and --delay {delay} gives {lengths} wall times that are too \
                 finely spaced: raise --grid, lower --longest, or set --delay to a multiple of 10"
            ),
            Fault::TooManyAges(_) => format!(
                "the log is too long for --delay {delay}: set --delay to a multiple of 60, or cut the log with \
                 --from and --to"
            ),
            Fault::TooMany(_) => format!("--best: {fault}"),
        })
    }
}

/// Converts the wall times of an option from minutes to seconds.
///
/// # Errors
/// A wall time is too long to be stated in seconds.
fn seconds(option: &str, minutes: &[u64]) -> Result<Vec<u64>> {
    let seconds = |minutes: &u64| {
        let seconds = minutes.checked_mul(MINUTE);
        seconds.ok_or_else(|| Error::Usage(format!("--{option}: {minutes} min is too long")))
    };
    minutes.iter().map(seconds).collect()
}

fn failed(fault: Fault) -> Error {
    Error::Run(fault.to_string())
}
