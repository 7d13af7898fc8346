//! Reproduces the tables and figures of published systems, and compares our values with the published values.
//!
//! The published values are stored as data in `published.toml`, each with its source. Each system is a module that
//! computes our values and joins them with the published values. All values are compared by the same rule
//! ([`verdict`]):
//!
//! ```
//! use gleaner_domain::results::reproduce::{Rounding, Verdict};
//! use gleaner_reproduce::verdict::{Given, compare};
//!
//! let published = Given { value: 1.5, decimals: 1, rounding: Rounding::Nearest, scale: 1.5 };
//! assert_eq!(compare(&published, 1.54).1, Verdict::Equal);
//! assert_eq!(compare(&published, 1.56).1, Verdict::Within5);
//! ```

use std::fmt::Display;
use std::path::Path;

use rayon::prelude::*;

use gleaner_domain::Observer;
use gleaner_domain::error::{Error, Result, check_stop};
use gleaner_domain::observer::Parts;
use gleaner_domain::results::reproduce::{Artifact, System};
use gleaner_io::{Loaded, SourceId};
use gleaner_solvers::SolverKind;

mod bftrainer;
mod driple;
mod files;
mod filled;
mod hpcwhisk;
mod lucid;
mod published;
mod sia;
mod sysu;
mod throughput;
mod venus;
pub mod verdict;

pub use files::{NeededFile, changed_files, check_files, needed_by, needed_files};
pub use sia::SolverTimes;

/// The reproduced tables and figures, and the files that were read to compute them.
#[derive(Debug, Default)]
pub struct Reproduction {
    /// The tables and figures, by system.
    pub artifacts: Vec<Artifact>,
    /// The answers and times of solvers on Sia's rounds.
    pub times: Vec<SolverTimes>,
    /// All files that were read.
    pub sources: Vec<SourceId>,
    /// Whether all systems are included; false if the reproduction was stopped.
    pub complete: bool,
}

/// The error of a computation that ended without a result: it was stopped, or it failed with `error`.
fn cause(observer: &dyn Observer, error: impl Display) -> Error {
    let stopped = check_stop(observer).err();
    stopped.unwrap_or_else(|| failed(error))
}

/// The error of a computation that failed.
fn failed(error: impl Display) -> Error {
    Error::Run(error.to_string())
}

/// Total number of tables and figures of these systems.
fn artifacts_of(systems: &[System]) -> Result<usize> {
    let all = published::all()?;
    Ok(all.iter().filter(|a| systems.contains(&a.system)).count())
}

/// Generates random scheduling rounds like those of Sia, and solves them with the exact solver. Also times `solvers` on
/// these rounds. Reads no files.
///
/// # Errors
/// This build lacks a solver, or a library fails. A stop by the observer is not an error: the result is then empty.
pub fn reproduce_drawn(solvers: &[SolverKind], observer: &dyn Observer) -> Result<Reproduction> {
    let mut all = Reproduction::default();
    match sia::reproduce(None, solvers, observer) {
        Err(Error::Stopped) => {}
        part => {
            all.take(part?);
            all.complete = true;
        }
    }
    Ok(all)
}

/// Reproduces the tables and figures of `systems` from the files in `data`. Reports progress to the observer, counted
/// in tables and figures. `solvers` are timed on the rounds of Sia.
///
/// # Errors
/// Files are missing or faulty, this build lacks a solver, or a computation fails. A stop by the observer is not an
/// error: the result then contains the systems finished so far.
pub fn reproduce(
    data: &Path,
    systems: &[System],
    solvers: &[SolverKind],
    observer: &dyn Observer,
) -> Result<Reproduction> {
    check_files(data, systems)?;
    let data = files::Data(data);
    let mut all = Reproduction {
        complete: true,
        ..Reproduction::default()
    };
    let venus = match Shared::of(data, systems, observer) {
        Err(Error::Stopped) => return Ok(Reproduction::default()),
        venus => venus?,
    };
    let whole = Parts::new(observer, artifacts_of(systems)?);
    let observed = systems
        .iter()
        .map(|system| Ok((system, whole.part(artifacts_of(&[*system])?))));
    let observed = observed.collect::<Result<Vec<_>>>()?;
    let parts = observed
        .par_iter()
        .map(|(system, observer)| match (system, &venus) {
            (System::Lucid, Some(venus)) => lucid::reproduce(data, venus, observer),
            (System::Sysu, Some(venus)) => sysu::reproduce(venus, observer),
            (System::Driple, _) => driple::reproduce(data, observer),
            (System::Hpcwhisk, _) => hpcwhisk::reproduce(data, observer),
            (System::Sia, _) => sia::reproduce(Some(data), solvers, observer),
            _ => bftrainer::reproduce(data, observer),
        });
    for part in parts.collect::<Vec<_>>() {
        match part {
            Err(Error::Stopped) => all.complete = false,
            part => all.take(part?),
        }
    }
    Ok(all)
}

impl Reproduction {
    fn take(&mut self, part: Part<'_>) {
        self.artifacts.extend(part.artifacts);
        self.times.extend(part.times);
        for source in part.sources {
            if !self.sources.contains(&source) {
                self.sources.push(source);
            }
        }
    }
}

/// Results that are needed both for Lucid and for its reproduction at Sun Yat-sen University.
struct Shared {
    /// The simulations of Venus.
    simulations: venus::Venus,
    /// The throughput model.
    throughput: throughput::Throughput,
}

impl Shared {
    /// Runs the simulations and trains the model if one of the systems needs them; otherwise returns `None`.
    fn of(
        data: files::Data<'_>,
        systems: &[System],
        observer: &dyn Observer,
    ) -> Result<Option<Self>> {
        if !systems
            .iter()
            .any(|s| matches!(s, System::Lucid | System::Sysu))
        {
            return Ok(None);
        }
        let (simulations, throughput) = rayon::join(
            || venus::Venus::simulate(data, observer),
            || throughput::Throughput::train(data, observer),
        );
        Ok(Some(Shared {
            simulations: simulations?,
            throughput: throughput?,
        }))
    }

    /// All files that were read.
    fn sources(&self) -> impl Iterator<Item = &SourceId> {
        self.simulations
            .sources
            .iter()
            .chain(&self.throughput.sources)
    }
}

/// The tables and figures of one system, added one at a time in the order of `published.toml`.
struct Part<'c> {
    published: Vec<published::PublishedArtifact>,
    artifacts: Vec<Artifact>,
    times: Vec<SolverTimes>,
    sources: Vec<SourceId>,
    observer: &'c dyn Observer,
}

impl<'c> Part<'c> {
    fn new(system: System, observer: &'c dyn Observer) -> Result<Self> {
        Ok(Part {
            published: published::of(system)?,
            artifacts: Vec::new(),
            times: Vec::new(),
            sources: Vec::new(),
            observer,
        })
    }

    /// Returns the value that was read, and records the files that it came from.
    fn take<T>(&mut self, loaded: Loaded<T>) -> T {
        self.sources.extend(loaded.sources);
        loaded.value
    }

    /// Combines the next artifact of the file, which must have this id, with our values.
    ///
    /// # Errors
    /// Data needed to compute a published value are missing. Also returns an error if the artifact has another id or
    /// lacks one of our columns, which is a bug. Returns [`Error::Stopped`] if the observer stops the reproduction.
    fn add(&mut self, id: &str, ours: &filled::Values) -> Result<&mut Artifact> {
        check_stop(self.observer)?;
        let place = self.artifacts.len();
        let published = self
            .published
            .get(place)
            .filter(|published| published.id == id);
        let published =
            published.ok_or_else(|| published::faulty(&format!("artifact {place} is not {id}")))?;
        self.artifacts.push(published.filled(ours)?);
        self.observer.progress(place + 1, self.published.len());
        Ok(&mut self.artifacts[place])
    }

    /// Row names of the next artifact in the file.
    fn next_rows(&self) -> Vec<String> {
        let next = self.published.get(self.artifacts.len()).into_iter();
        next.flat_map(|artifact| artifact.rows.iter().map(|(name, _)| name.clone()))
            .collect()
    }

    /// Ends the part, after checking that all of its artifacts were computed.
    ///
    /// # Errors
    /// An artifact of the file was not computed, which is a bug.
    fn finish(self) -> Result<Self> {
        match self.published.get(self.artifacts.len()) {
            None => Ok(self),
            Some(left) => Err(published::faulty(&format!("{} is not computed", left.id))),
        }
    }
}
