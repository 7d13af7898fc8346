//! Reads training tasks and their scaling curves.
//!
//! # Formats
//!
//! - The original's **pair of pandas pickles**. `*-Jbnd-*.pkl` has a row per task (index: name;
//!   `Tcup`, `Tcdw` seconds lost to growing and shrinking; `Jmin`, `Jmax` nodes; `Pmax` work;
//!   `Tsub` submission). `*-JNPs-*.pkl` has the curve of each task (`Ns` nodes, `Ps` work per
//!   second, `Os` objective per second). Tasks and curves are matched by name.
//! - One **TOML or JSON** file; see [`document`].
//! - One **CSV or Parquet** file; see [`table`].
//!
//! Unknown fields are faults, so misspelt names are reported.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use gleaner_solvers::range::{self, short};

use gleaner_domain::error::{Error, Fault, Faults, Result};
use gleaner_domain::{Clock, TaskGroup, TrainingTask, TrialSearch};
use gleaner_io::source::{Kind, Source};
use gleaner_io::{Gatherer, Loaded, SourceId};

pub mod document;
pub mod table;

mod by_class;
mod curves;
mod entry;
mod fields;
mod given;
mod groups;
mod losses;
mod node;
mod pickle;
mod search;
mod validate;

pub use by_class::{ByClass, COUNTS};
pub use fields::{FIELDS, TaskField};
pub use given::{GivenCurve, GivenTask};

use entry::Parsed;
use fields::{Format, Report};
use groups::GroupDraft;

/// The tasks of a file, and the faults of the tasks that were left out.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskSet {
    /// The tasks without faults, in file order.
    pub tasks: Vec<TrainingTask>,
    /// Faults of the tasks that were left out; empty unless faulty tasks may be skipped.
    pub skipped: Faults,
    /// Groups of tasks with joint limits on their nodes. A group may contain tasks that were left out.
    pub groups: Vec<TaskGroup>,
    /// The search whose trials train the tasks, if there is one.
    pub search: Option<TrialSearch>,
    /// The place of each task in its file, for messages about faults that are found later.
    origins: Vec<Origin>,
    /// The file from which the tasks were read.
    file: PathBuf,
}

/// The place of a task in its file, and the file's format.
#[derive(Debug, Clone, PartialEq)]
struct Origin {
    place: String,
    format: Format,
}

impl From<Vec<TrainingTask>> for TaskSet {
    /// Creates a task set from tasks that were not read from a file. In later faults, each task is identified by its
    /// index and name (see [`GivenTask::check`]).
    fn from(tasks: Vec<TrainingTask>) -> Self {
        let origins = tasks.iter().enumerate().map(|(index, task)| Origin {
            place: format!("task {} ({:?})", index + 1, task.name),
            format: Format::Program,
        });
        TaskSet {
            origins: origins.collect(),
            tasks,
            skipped: Faults::default(),
            groups: Vec::new(),
            search: None,
            file: PathBuf::from("<tasks>"),
        }
    }
}

impl TaskSet {
    /// The maximum number of concurrently active tasks under the limit `max_tasks`.
    pub fn at_once(&self, max_tasks: usize) -> usize {
        let tasks = match &self.search {
            Some(search) => usize::try_from(search.trials()).unwrap_or(usize::MAX),
            None => self.tasks.len(),
        };
        tasks.min(max_tasks)
    }

    /// Keeps the tasks that can be replayed with a forward window of `window` seconds. These are the tasks whose
    /// rescaling costs are at most [`range::LOSS`] windows. For any objective and number of nodes, the numbers in the
    /// allocation problems then stay within [`range`].
    ///
    /// # Errors
    /// Some tasks cannot be replayed. Their faults are reported together. With `skip_invalid`, faults are an error
    /// only if no task remains, or if the file has a search.
    pub fn within_window(self, window: f64, skip_invalid: bool) -> Result<TaskSet> {
        let mut sieve = Sieve::new(&self.file, skip_invalid && self.search.is_none());
        sieve.set.skipped = self.skipped;
        (sieve.set.groups, sieve.set.search) = (self.groups, self.search);
        for (task, origin) in self.tasks.into_iter().zip(self.origins) {
            let mut report = Report::new(&self.file, origin.place, origin.format);
            costs_fit_the_window(&task, window, &mut report);
            sieve.take(Some(task), report)?;
        }
        sieve.finish()
    }
}

/// Checks that a task's rescaling costs are small enough for the window. The cost of moving to another class is checked
/// if it is set.
fn costs_fit_the_window(task: &TrainingTask, window: f64, report: &mut Report<'_>) {
    let costs = [
        ("rescale_up", task.rescale_up),
        ("rescale_down", task.rescale_down),
        ("move", task.classes.move_cost.unwrap_or_default()),
    ];
    for (field, cost) in costs {
        if cost > range::LOSS * window {
            let (most, window) = (short(range::LOSS), short(window));
            let expected = format!("at most {most} times the window (--t-fwd {window})");
            report.add(field, format!("{} s", short(cost)), expected);
        }
    }
}

/// Separates valid tasks from faulty ones.
struct Sieve<'a> {
    set: TaskSet,
    file: &'a Path,
    gatherer: Gatherer,
    skip_invalid: bool,
}

impl<'a> Sieve<'a> {
    fn new(file: &'a Path, skip_invalid: bool) -> Self {
        Sieve {
            set: TaskSet {
                tasks: Vec::new(),
                skipped: Faults::default(),
                groups: Vec::new(),
                search: None,
                origins: Vec::new(),
                file: file.to_owned(),
            },
            file,
            gatherer: Gatherer::default(),
            skip_invalid,
        }
    }

    /// Adds a task, or its faults.
    fn take(&mut self, task: Option<TrainingTask>, report: Report<'_>) -> Result<()> {
        match task {
            Some(task) if report.faults.is_empty() => {
                self.set.tasks.push(task);
                self.set.origins.push(Origin {
                    place: report.place,
                    format: report.format,
                });
                Ok(())
            }
            _ if self.skip_invalid => {
                self.set.skipped.0.extend(report.faults);
                Ok(())
            }
            _ => {
                let mut faults = report.faults.into_iter();
                faults.try_for_each(|fault| self.gatherer.add(fault))
            }
        }
    }

    /// Adds the groups, whose tasks must be in the file. Faults in a group are always errors, because the limits of a
    /// group concern many tasks.
    fn take_groups(&mut self, drafts: Vec<GroupDraft<'_>>, tasks: &BTreeSet<String>) -> Result<()> {
        for draft in drafts {
            let (group, faults) = draft.check(tasks);
            faults
                .into_iter()
                .try_for_each(|fault| self.gatherer.add(fault))?;
            self.set.groups.extend(group);
        }
        Ok(())
    }

    /// Returns the valid tasks. It is a fault if no task is valid.
    fn finish(self) -> Result<TaskSet> {
        self.gatherer.finish(())?;
        if self.set.tasks.is_empty() {
            let mut faults = self.set.skipped;
            faults.push(Fault::of(self.file, "no valid task", "at least one task"));
            return Err(faults.into());
        }
        Ok(self.set)
    }
}

/// Like [`read_on`], for a log whose clock is unknown.
///
/// # Errors
/// A file cannot be read or is faulty, or `curves` does not fit `tasks`; see [`read_on`].
pub fn read(tasks: &Path, curves: Option<&Path>, skip_invalid: bool) -> Result<Loaded<TaskSet>> {
    read_on(tasks, curves, skip_invalid, &Clock::UNKNOWN)
}

/// Reads tasks from the original's two pickles. If `curves` is `None`, reads them from one file in a format of this
/// program. Submission times and deadlines are converted to UTC with the clock of a log.
///
/// With `skip_invalid`, tasks with faults are left out, and their faults are returned. Faults of a file as a whole are
/// still errors.
///
/// # Errors
/// A file cannot be read or is faulty. Faults are reported together. [`Error::Usage`] if `curves` is given for a file
/// that contains curves itself, or is missing for a pickle.
pub fn read_on(
    tasks: &Path,
    curves: Option<&Path>,
    skip_invalid: bool,
    clock: &Clock,
) -> Result<Loaded<TaskSet>> {
    let source = Source::open(tasks)?;
    let mut sources = vec![source.id().clone()];
    let mut notes = Vec::new();
    let parsed = match (source.kind(), curves) {
        (Kind::Pickle, Some(path)) => {
            let curves = Source::open(path)?;
            sources.push(curves.id().clone());
            pickle::read(&source, &curves, &mut notes)?
        }
        (Kind::Pickle, None) => return Err(curves_missing(tasks)),
        (_, Some(curves)) => return Err(curves_needless(tasks, curves)),
        (Kind::Toml, None) => document::read_toml(&source)?,
        (Kind::Json, None) => document::read_json(&source)?,
        (Kind::Csv, None) => table::read_csv(&source)?,
        (Kind::Parquet, None) => table::read_parquet(&source)?,
        (Kind::Gev, None) => {
            let fault = source.fault("an event log (.gev)", "a task file");
            return Err(fault.into());
        }
    };
    let value = collect(
        &source,
        parsed,
        skip_invalid,
        clock,
        &mut sources,
        &mut notes,
    )?;
    Ok(Loaded {
        value,
        sources,
        notes,
    })
}

fn curves_missing(tasks: &Path) -> Error {
    Error::Usage(format!(
        "{} is a pickle of tasks: also give the pickle of their scaling curves (-scfn)",
        tasks.display()
    ))
}

fn curves_needless(tasks: &Path, curves: &Path) -> Error {
    Error::Usage(format!(
        "{} contains tasks with their curves: omit the curves file {}",
        tasks.display(),
        curves.display()
    ))
}

/// Collects the valid tasks of a file, or its faults. Adds the other files that were read to `sources`, and notes for
/// the user to `notes`.
fn collect(
    source: &Source,
    parsed: Parsed<'_>,
    skip_invalid: bool,
    clock: &Clock,
    sources: &mut Vec<SourceId>,
    notes: &mut Vec<String>,
) -> Result<TaskSet> {
    let mut sieve = Sieve::new(source.path(), skip_invalid);
    for fault in parsed.fatal {
        sieve.gatherer.add(fault)?;
    }
    let mut names = BTreeSet::new();
    for mut entry in parsed.entries {
        entry.place(clock);
        let mut report = entry.report;
        if let Some(name) = entry.name
            && let Some(name) = names.replace(name)
        {
            let found = format!("{name:?}, the name of an earlier task");
            report.add("name", found, "unique names");
        }
        sieve.take(entry.task, report)?;
    }
    sieve.take_groups(parsed.groups, &names)?;
    if let Some(search) = parsed.search {
        search.check(&mut sieve.set, &mut sieve.gatherer, sources, notes)?;
    }
    sieve.finish()
}
