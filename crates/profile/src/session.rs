//! A session makes the measurements of a plan that have not been made before.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Instant;

use gleaner_domain::Observer;
use gleaner_domain::error::{Error, Result};
use gleaner_domain::words::printable;
use gleaner_io::SourceId;
use gleaner_io::source::Source;
use gleaner_process::Cgroups;
use gleaner_store::{RunKey, Store, Writer};
use serde::Serialize;
use serde_json::{Value, json};

use crate::failure::{Failed, Problem};
use crate::measure::{Bench, Measured, Outcome, idle, measure};
use crate::plan::{Config, Plan, SamplerKind, Settings, Workload};
use crate::sampler::{Reading, Sampler};
use crate::samplers::{CpuSampler, NvmlSampler};

/// Version of the measurement method. Measurements that were made with another version are repeated.
const VERSION: u32 = 1;

/// A machine without workloads counts as busy if its utilisation exceeds this percentage.
const BUSY: f64 = 10.0;

/// Maximum size, in bytes, of files whose changes are detected by content. A change to a larger file is detected only
/// if the file's length changes.
const LARGEST: u64 = 16 << 20;

/// Options of a session besides its plan.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Whether to measure even if the devices or cores are in use.
    pub busy_ok: bool,
    /// Path of NVML's library; the system's library if `None`.
    pub nvml_library: Option<PathBuf>,
}

/// The error that is returned if NVML cannot be used.
fn no_driver(why: &str) -> Error {
    let why = printable(why);
    Error::Run(format!(
        "NVML: {why}; on a machine without a GPU, use --sampler cpu"
    ))
}

/// The sampler, and the cgroup directory in which control groups are created.
pub struct Machine {
    sampler: Box<dyn Sampler>,
    cgroups: Option<&'static Cgroups>,
}

impl Machine {
    /// Creates the sampler that a plan needs, and finds the cgroup directory.
    ///
    /// # Errors
    /// [`Error::Run`] if NVML cannot be used, or if one of the plan's devices is missing.
    pub fn open(settings: &Settings, options: &Options) -> Result<Self> {
        let cgroups = Cgroups::find();
        let sampler: Box<dyn Sampler> = match settings.sampler {
            SamplerKind::Cpu => Box::new(CpuSampler::new(&settings.cores, cgroups.is_some())),
            SamplerKind::Nvml => {
                let library = options.nvml_library.as_deref();
                let opened = NvmlSampler::open(&settings.devices, library);
                Box::new(opened.map_err(|why| no_driver(&why))?)
            }
        };
        Ok(Machine { sampler, cgroups })
    }

    /// Creates a CPU sampler without control groups, so that processes are found in /proc.
    #[must_use]
    pub fn without_cgroups(settings: &Settings) -> Self {
        Machine {
            sampler: Box::new(CpuSampler::new(&settings.cores, false)),
            cgroups: None,
        }
    }

    /// Describes the devices or cores, and the method of measurement.
    pub fn describe(&self) -> String {
        self.sampler.describe()
    }

    /// Measures the idle machine, and stores the result. Returns `None` if the observer stops the measurement.
    ///
    /// # Errors
    /// [`Error::Run`] if the device cannot be sampled, or if it is in use and `busy_ok` is false.
    pub fn idle(
        &mut self,
        settings: &Settings,
        busy_ok: bool,
        observer: &dyn Observer,
    ) -> Result<Option<Reading>> {
        let length = std::time::Duration::from_secs_f64(settings.idle_seconds);
        let reading = idle(&mut *self.sampler, length, observer)
            .map_err(|why| Error::Run(format!("{}: {}", self.describe(), printable(&why))))?;
        let Some(reading) = reading else {
            return Ok(None);
        };
        if let Some(util) = reading.util.filter(|&util| util > BUSY && !busy_ok) {
            return Err(Error::Run(format!(
                "{}: {util:.0} % in use before any workload was started, expected at most {BUSY:.0} %; \
                 wait until the machine is idle, or use --busy-ok",
                self.describe()
            )));
        }
        self.sampler.set_idle(&reading);
        Ok(Some(reading))
    }

    /// Measures one workload alone, or two workloads together.
    pub(crate) fn measure(
        &mut self,
        plan: &Plan,
        configs: &[Config],
        processes: u32,
        observer: &dyn Observer,
    ) -> Outcome {
        let mut bench = Bench {
            plan,
            cgroups: self.cgroups,
            sampler: &mut *self.sampler,
            observer,
        };
        measure(&mut bench, configs, processes)
    }
}

/// A measurement of a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Index, in the plan's configs, of the workload or of the first workload of a pair.
    pub first: usize,
    /// Index of the second workload of a pair; `None` for a single workload.
    pub second: Option<usize>,
    /// Index of the repeat, starting at 0.
    pub repeat: u32,
    /// The key that identifies the result in the store.
    key: RunKey,
    /// Description of the measurement for readers of the store.
    settings: Value,
}

impl Entry {
    fn configs(&self, plan: &Plan) -> Vec<Config> {
        let indices = [Some(self.first), self.second].into_iter().flatten();
        indices.map(|index| plan.configs[index]).collect()
    }
}

/// The measurements of a plan: those of earlier sessions, new measurements and failures.
#[derive(Debug)]
pub struct Session<'a> {
    plan: &'a Plan,
    /// All measurements in the order in which they are made: single workloads first.
    entries: Vec<Entry>,
    made: Vec<Option<Measured>>,
    failed: Vec<(usize, Failed)>,
    sources: Vec<SourceId>,
}

impl<'a> Session<'a> {
    /// Lists the measurements of a plan.
    ///
    /// # Errors
    /// A file that affects the measurements cannot be read.
    pub fn new(plan: &'a Plan) -> Result<Self> {
        let (mut entries, mut sources) = (Vec::new(), Vec::new());
        let mut parts = Vec::new();
        for &config in &plan.configs {
            let files = plan.files(config);
            let files = files.iter().map(|file| Source::identify(file));
            let files: Vec<SourceId> = files.collect::<Result<_>>()?;
            parts.push(Decisive::of(plan, config, &files));
            sources.extend(files);
        }
        let singles = (0..plan.configs.len()).map(|first| (first, None));
        let pairs = plan
            .pairs
            .iter()
            .map(|&(first, second)| (first, Some(second)));
        for set in [singles.collect::<Vec<_>>(), pairs.collect()] {
            for repeat in 0..plan.settings.repeats {
                for &(first, second) in &set {
                    entries.push(Entry {
                        first,
                        second,
                        repeat,
                        key: key(plan, &parts, (first, second), repeat)?,
                        settings: settings(plan, (first, second), repeat),
                    });
                }
            }
        }
        let mut seen = BTreeSet::new();
        sources.retain(|source| seen.insert(source.path.clone()));
        Ok(Session {
            plan,
            made: vec![None; entries.len()],
            entries,
            failed: Vec::new(),
            sources,
        })
    }

    /// Loads the measurements of earlier sessions from a store. Returns the number of loaded measurements.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn load(&mut self, store: &Store) -> Result<usize> {
        let wanted = self.wanted();
        let mut found = store.read(|key| wanted.contains(key))?;
        for (entry, made) in self.entries.iter().zip(&mut self.made) {
            *made = found.results.remove(&entry.key).map(|kept| kept.result);
        }
        Ok(self.made.iter().flatten().count())
    }

    /// Merges the stored records of this plan's measurements into one file.
    ///
    /// # Errors
    /// Same as for [`Store::merge`].
    pub fn merge(&self, store: &Store) -> Result<()> {
        let wanted = self.wanted();
        store.merge(|key| wanted.contains(key))
    }

    /// The keys of all measurements.
    fn wanted(&self) -> BTreeSet<RunKey> {
        self.entries.iter().map(|entry| entry.key).collect()
    }

    /// The plan whose measurements the session makes.
    pub fn plan(&self) -> &'a Plan {
        self.plan
    }

    /// All measurements in order, with their results.
    pub fn measurements(&self) -> impl Iterator<Item = (&Entry, Option<&Measured>)> {
        self.entries
            .iter()
            .zip(self.made.iter().map(Option::as_ref))
    }

    /// The measurements that failed in this session.
    pub fn failures(&self) -> impl Iterator<Item = (&Entry, &Failed)> {
        let entry = |index: &usize| &self.entries[*index];
        self.failed
            .iter()
            .map(move |(index, failed)| (entry(index), failed))
    }

    /// Whether all measurements have been made.
    pub fn is_complete(&self) -> bool {
        self.made.iter().all(Option::is_some)
    }

    /// The files that affect the measurements, except for the plan.
    pub fn sources(&self) -> &[SourceId] {
        &self.sources
    }

    /// Makes the missing measurements, and saves each as soon as it is made. Reports progress to the observer, counted
    /// in measurements. Returns false if the observer stopped the session.
    ///
    /// # Errors
    /// A measurement cannot be saved.
    pub fn run_missing(
        &mut self,
        machine: &mut Machine,
        writer: &Writer,
        observer: &dyn Observer,
    ) -> Result<bool> {
        let total = self.entries.len();
        let mut singles = self.singles();
        for index in 0..total {
            observer.progress(index, total);
            if self.made[index].is_some() {
                continue;
            }
            if observer.is_stopped() {
                return Ok(false);
            }
            if let Some(problem) = self.without_single(index, &singles) {
                self.fail(index, problem);
                continue;
            }
            let entry = &self.entries[index];
            let (configs, clock) = (entry.configs(self.plan), Instant::now());
            writer.begin(entry.key)?;
            match machine.measure(self.plan, &configs, 1, observer) {
                Outcome::Stopped => return Ok(false),
                Outcome::Failed(failed) => self.failed.push((index, failed)),
                Outcome::Measured(measured) => {
                    let seconds = clock.elapsed().as_secs_f64();
                    writer.save(entry.key, &entry.settings, &measured, seconds)?;
                    if entry.second.is_none() {
                        singles.insert(entry.first);
                    }
                    self.made[index] = Some(measured);
                }
            }
        }
        Ok(true)
    }

    /// The indexes of the configs that were measured alone.
    fn singles(&self) -> BTreeSet<usize> {
        let made = self.measurements().filter(|(_, made)| made.is_some());
        let alone = made.filter(|(entry, _)| entry.second.is_none());
        alone.map(|(entry, _)| entry.first).collect()
    }

    /// Returns a problem if the measurement is of a pair, and a workload of the pair was not measured alone.
    fn without_single(&self, index: usize, singles: &BTreeSet<usize>) -> Option<Problem> {
        let Entry { first, second, .. } = self.entries[index];
        let both = [first, second?];
        let lacking = both.into_iter().find(|config| !singles.contains(config))?;
        let name = self.plan.named(self.plan.configs[lacking]).to_string();
        Some(Problem::NoSingle(name))
    }

    fn fail(&mut self, index: usize, problem: Problem) {
        let failed = Failed {
            problem,
            which: None,
            output: String::new(),
        };
        self.failed.push((index, failed));
    }
}

/// Everything that affects the measurements of one config, except for the settings that all measurements share.
#[derive(Debug, Serialize)]
struct Decisive<'a> {
    command: Vec<String>,
    workload: (&'a str, &'a str, u32, bool),
    environment: &'a std::collections::BTreeMap<String, String>,
    directory: &'a std::path::Path,
    /// Length and digest of each file.
    files: Vec<(u64, Option<String>)>,
}

impl<'a> Decisive<'a> {
    fn of(plan: &'a Plan, config: Config, files: &[SourceId]) -> Self {
        let Workload {
            model,
            dataset,
            environment,
            directory,
            ..
        } = plan.workload(config);
        let digest = |file: &SourceId| {
            let digest = (file.length <= LARGEST).then(|| file.sha256.to_string());
            (file.length, digest)
        };
        Decisive {
            command: plan.command(config, 1),
            workload: (model, dataset, config.batch_size, config.amp),
            environment,
            directory,
            files: files.iter().map(digest).collect(),
        }
    }
}

/// The key of a measurement: a digest of everything that affects it.
fn key(
    plan: &Plan,
    parts: &[Decisive<'_>],
    (first, second): (usize, Option<usize>),
    repeat: u32,
) -> Result<RunKey> {
    let other = second.map(|second| &parts[second]);
    RunKey::of_json(&(VERSION, &plan.settings, &parts[first], other, repeat))
}

/// Describes a measurement for readers of the store.
fn settings(plan: &Plan, (first, second): (usize, Option<usize>), repeat: u32) -> Value {
    let named = |index: usize| plan.named(plan.configs[index]).to_string();
    json!({
        "first": named(first),
        "second": second.map(named),
        "repeat": repeat + 1,
    })
}
