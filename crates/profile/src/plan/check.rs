//! Validates plans, and reports all faults of a plan before any workload runs.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use gleaner_domain::error::{Faults, Result};
use gleaner_io::source::Source;
use gleaner_io::toml_text::line;
use gleaner_process::find_program;
use toml::Spanned;

use super::file::{PlanFile, WorkloadFile};
use super::inputs;
use super::pairs::{Pairs, expand};
use super::placeholders::{AMP, BATCH};
use super::{Config, MAX_CONFIGS, MAX_MEASUREMENTS, Plan, SamplerKind, Settings, Workload};
use crate::cores;

/// Maximum length of the name of a workload, model or data set, in bytes.
const LONGEST_NAME: usize = 200;

/// Maximum number of words of a command.
const MOST_WORDS: usize = 1000;

/// Default length of the window, in seconds.
const SECONDS: f64 = 30.0;
/// Default time within which a workload must report that it is warm, in seconds.
const WARM_SECONDS: f64 = 120.0;
/// Default time for which the idle machine is measured, in seconds.
const IDLE_SECONDS: f64 = 5.0;
/// Default maximum number of processes of a scaling curve.
const PROCESSES: u32 = 8;

/// Collects the faults of a plan.
pub(super) struct Checker<'a> {
    source: &'a Source,
    text: &'a str,
    faults: Faults,
}

impl Checker<'_> {
    /// Adds a fault at byte `at` of the text.
    pub fn add(&mut self, at: usize, field: &str, found: impl Into<String>, expected: &str) {
        self.add_with(at, field, found, expected, "");
    }

    /// Like [`Checker::add`], but with a remedy.
    pub fn add_with(
        &mut self,
        at: usize,
        field: &str,
        found: impl Into<String>,
        expected: &str,
        remedy: &str,
    ) {
        let place = format!("line {}", line(self.text, at));
        let fault = self.source.fault(found, expected).field(field).at(place);
        self.faults.push(fault.remedy(remedy));
    }

    /// Returns the number, or its default if it is omitted. Adds a fault if it is outside the
    /// range.
    fn number<T: PartialOrd + Copy + Debug>(
        &mut self,
        field: &str,
        value: &Option<Spanned<T>>,
        default: T,
        range: RangeInclusive<T>,
    ) -> T {
        let Some(value) = value else {
            return default;
        };
        let number = *value.get_ref();
        if !range.contains(&number) {
            let expected = format!("from {:?} to {:?}", range.start(), range.end());
            self.add(value.span().start, field, format!("{number:?}"), &expected);
        }
        number
    }
}

/// Validates the content of a file and converts it to a plan.
///
/// # Errors
/// The content has faults. The error contains all of them.
pub(super) fn check(source: &Source, text: &str, file: PlanFile, folder: &Path) -> Result<Plan> {
    let faults = Faults::default();
    let mut checker = Checker {
        source,
        text,
        faults,
    };
    let settings = settings(&mut checker, &file);
    let most_processes = checker.number("processes", &file.processes, PROCESSES, 1..=4096);
    let inputs = inputs::read(&mut checker, file.inputs.as_ref(), folder);
    let (workloads, configs) = workloads(&mut checker, &file, folder);
    if configs.len() > MAX_CONFIGS {
        let found = format!(
            "{} combinations of workload, batch size and amp",
            configs.len()
        );
        checker.add(0, "workload", found, &format!("at most {MAX_CONFIGS}"));
        checker.faults.clone().into_result(())?;
    }
    let pairs = Pairs::read(&mut checker, file.pairs.as_ref());
    let pairs = expand(
        &mut checker,
        file.pairs.as_ref(),
        pairs,
        &workloads,
        &configs,
    );
    let repeats = settings.repeats as usize;
    let measurements = (configs.len() + pairs.len()).saturating_mul(repeats);
    if measurements > MAX_MEASUREMENTS {
        let expected = format!("at most {MAX_MEASUREMENTS}");
        let remedy = "measure a sample of the pairs: pairs = { sample = 100, seed = 0 }";
        let found = format!("{measurements} measurements");
        checker.add_with(0, "workload", found, &expected, remedy);
    }
    checker.faults.into_result(())?;
    Ok(Plan {
        folder: folder.to_owned(),
        workloads,
        configs,
        pairs,
        inputs,
        settings,
        most_processes,
    })
}

fn settings(checker: &mut Checker<'_>, file: &PlanFile) -> Settings {
    let sampler = sampler(checker, file);
    Settings {
        sampler,
        cores: pinned(checker, file),
        devices: devices(checker, file, sampler),
        seconds: checker.number("seconds", &file.seconds, SECONDS, 0.5..=86_400.0),
        warm_seconds: checker.number(
            "warm_seconds",
            &file.warm_seconds,
            WARM_SECONDS,
            0.1..=86_400.0,
        ),
        idle_seconds: checker.number(
            "idle_seconds",
            &file.idle_seconds,
            IDLE_SECONDS,
            0.5..=600.0,
        ),
        repeats: checker.number("repeats", &file.repeats, 1, 1..=1000),
    }
}

fn sampler(checker: &mut Checker<'_>, file: &PlanFile) -> SamplerKind {
    let Some(name) = &file.sampler else {
        return SamplerKind::Cpu;
    };
    match name.get_ref().as_str() {
        "cpu" => SamplerKind::Cpu,
        "nvml" => SamplerKind::Nvml,
        other => {
            checker.add(
                name.span().start,
                "sampler",
                format!("{other:?}"),
                "cpu or nvml",
            );
            SamplerKind::Cpu
        }
    }
}

/// The cores that the plan names, or by default all cores that this process may use.
fn pinned(checker: &mut Checker<'_>, file: &PlanFile) -> Vec<usize> {
    let allowed = cores::allowed();
    let Some(text) = &file.cores else {
        return allowed;
    };
    let at = text.span().start;
    let Some(found) = cores::parse(text.get_ref()) else {
        let expected = "core numbers and ranges, such as 0-3,8";
        checker.add(at, "cores", format!("{:?}", text.get_ref()), expected);
        return allowed;
    };
    if let Some(core) = found.iter().find(|core| !allowed.contains(core)) {
        let expected = format!("one of the cores {}", cores::text(&allowed));
        checker.add(at, "cores", format!("core {core}"), &expected);
    }
    found
}

fn devices(checker: &mut Checker<'_>, file: &PlanFile, sampler: SamplerKind) -> Vec<u32> {
    let Some(devices) = &file.devices else {
        return match sampler {
            SamplerKind::Cpu => Vec::new(),
            SamplerKind::Nvml => vec![0],
        };
    };
    let (at, list) = (devices.span().start, devices.get_ref());
    let distinct: BTreeSet<&u32> = list.iter().collect();
    if sampler == SamplerKind::Cpu {
        let remedy = "set sampler = \"nvml\", or omit devices";
        checker.add_with(at, "devices", "GPUs", "none with sampler = \"cpu\"", remedy);
    } else if list.is_empty() || distinct.len() < list.len() || list.len() > 64 {
        let expected = "1 to 64 distinct GPU indices";
        checker.add(at, "devices", format!("{list:?}"), expected);
    }
    list.clone()
}

/// The workloads and their configs.
fn workloads(
    checker: &mut Checker<'_>,
    file: &PlanFile,
    folder: &Path,
) -> (Vec<Workload>, Vec<Config>) {
    if file.workload.is_empty() {
        checker.add(0, "workload", "none", "at least one [[workload]]");
    }
    let (mut workloads, mut configs) = (Vec::<Workload>::new(), Vec::<Config>::new());
    for entry in &file.workload {
        let found = Found {
            checker: &mut *checker,
            at: entry.span().start,
            file: entry.get_ref(),
        };
        let (workload, own) = found.check(workloads.len(), folder);
        refuse_twins(checker, entry, &workload, &own, (&workloads, &configs));
        configs.extend(own);
        workloads.push(workload);
    }
    (workloads, configs)
}

/// Reports workloads with the same name, and configs that would appear twice in the tables.
fn refuse_twins(
    checker: &mut Checker<'_>,
    entry: &Spanned<WorkloadFile>,
    workload: &Workload,
    own: &[Config],
    (workloads, configs): (&[Workload], &[Config]),
) {
    let at = entry.span().start;
    let named = |field: &Option<Spanned<String>>| field.as_ref().map_or(at, |f| f.span().start);
    let file = entry.get_ref();
    if !workload.name.is_empty() && workloads.iter().any(|other| other.name == workload.name) {
        let found = format!("{:?} a second time", workload.name);
        checker.add(named(&file.name), "name", found, "unique names");
    }
    let is_twin = |other: &&Config| {
        let theirs = &workloads[other.workload];
        let same = theirs.model == workload.model && theirs.dataset == workload.dataset;
        let of = |config: &Config| (config.batch_size, config.amp);
        same && own.iter().any(|config| of(config) == of(other))
    };
    if let Some(twin) = configs.iter().find(is_twin) {
        let found = format!(
            "{} on {} with batch size {} and amp {} a second time",
            workload.model,
            workload.dataset,
            twin.batch_size,
            u32::from(twin.amp)
        );
        let remedy =
            "these four values identify a workload in the tables: change the model or the dataset";
        checker.add_with(named(&file.model), "model", found, "each once", remedy);
    }
}

/// A workload of the file, and the checker that collects its faults.
struct Found<'c, 's, 'f> {
    checker: &'c mut Checker<'s>,
    at: usize,
    file: &'f WorkloadFile,
}

impl Found<'_, '_, '_> {
    fn check(mut self, index: usize, folder: &Path) -> (Workload, Vec<Config>) {
        let file = self.file;
        let directory = self.directory(folder);
        let workload = Workload {
            name: self.name("name", &file.name),
            model: self.name("model", &file.model),
            dataset: self.name("dataset", &file.dataset),
            command: self.command(folder, &directory),
            environment: self.environment(),
            directory,
        };
        let sizes = self.list("batch_sizes", &file.batch_sizes, 1, |&size| size > 0);
        let amps = self.list("amp", &file.amp, 0, |&amp| amp <= 1);
        self.placeholder(&workload, BATCH, "batch_sizes", sizes.len());
        self.placeholder(&workload, AMP, "amp", amps.len());
        let with_amps = |&batch_size: &u32| {
            amps.iter().map(move |&amp| Config {
                workload: index,
                batch_size,
                amp: amp == 1,
            })
        };
        let configs = sizes.iter().flat_map(with_amps).collect();
        (workload, configs)
    }

    fn name(&mut self, field: &str, value: &Option<Spanned<String>>) -> String {
        let Some(value) = value else {
            self.checker.add(self.at, field, "nothing", "a name");
            return String::new();
        };
        let name = value.get_ref();
        let is_plain = !name.chars().any(char::is_control) && name.trim() == name;
        // Colons are not allowed in names, because a colon ends the name in NAME:BATCH:AMP.
        let is_whole = field != "name" || !name.contains(':');
        if name.is_empty() || name.len() > LONGEST_NAME || !is_plain || !is_whole {
            let expected = match field {
                "name" => "a name of up to 200 bytes on one line, without a colon",
                _ => "a name of up to 200 bytes on one line",
            };
            let at = value.span().start;
            self.checker.add(at, field, format!("{name:?}"), expected);
        }
        name.clone()
    }

    fn directory(&mut self, folder: &Path) -> PathBuf {
        let Some(directory) = &self.file.directory else {
            return PathBuf::new();
        };
        let path = PathBuf::from(directory.get_ref());
        if !folder.join(&path).is_dir() {
            let found = format!("{:?}", directory.get_ref());
            let at = directory.span().start;
            let expected = "an existing directory, relative to the plan";
            self.checker.add(at, "directory", found, expected);
        }
        path
    }

    fn command(&mut self, folder: &Path, directory: &Path) -> Vec<String> {
        let Some(command) = &self.file.command else {
            let expected = "a list of words: the program and its arguments";
            self.checker.add(self.at, "command", "nothing", expected);
            return Vec::new();
        };
        let (at, words) = (command.span().start, command.get_ref());
        let Some(program) = words.first().filter(|word| !word.is_empty()) else {
            let expected = "at least the name of a program";
            self.checker.add(at, "command", "no program", expected);
            return Vec::new();
        };
        let is_there = || find_program(program, &folder.join(directory)).is_some();
        if words.len() > MOST_WORDS || words.iter().any(|word| word.contains('\0')) {
            let expected = "at most 1000 words without NUL bytes";
            self.checker
                .add(at, "command", "too many words, or a NUL byte", expected);
        } else if !program.contains('{') && !is_there() {
            let found = format!("{program:?}");
            let expected = "a program that can be found";
            let remedy =
                "a name is looked up in PATH; a path is relative to the workload's directory";
            self.checker
                .add_with(at, "command", found, expected, remedy);
        }
        words.clone()
    }

    fn environment(&mut self) -> BTreeMap<String, String> {
        let is_bad = |(name, value): (&String, &String)| {
            name.is_empty() || name.contains(['=', '\0']) || value.contains('\0')
        };
        if self.file.environment.iter().any(is_bad) {
            let expected = "names without = or NUL bytes, and values without NUL bytes";
            self.checker.add(
                self.at,
                "environment",
                "a variable that cannot be set",
                expected,
            );
        }
        self.file.environment.clone()
    }

    /// Returns the list, or only the default if the list is omitted. Adds a fault if the list is
    /// empty, or has duplicates or invalid values.
    fn list<T: Ord + Copy + Debug>(
        &mut self,
        field: &str,
        value: &Option<Spanned<Vec<T>>>,
        default: T,
        is_valid: impl Fn(&T) -> bool,
    ) -> Vec<T> {
        let Some(value) = value else {
            return vec![default];
        };
        let list = value.get_ref();
        let distinct: BTreeSet<&T> = list.iter().collect();
        if list.is_empty() || distinct.len() < list.len() || !list.iter().all(is_valid) {
            let expected = match field {
                "amp" => "[0], [1] or [0, 1]",
                _ => "whole numbers of at least 1, each once",
            };
            let at = value.span().start;
            self.checker.add(at, field, format!("{list:?}"), expected);
        }
        list.clone()
    }

    /// Checks that the command contains the placeholder of a setting if the setting has several values.
    fn placeholder(&mut self, workload: &Workload, placeholder: &str, field: &str, values: usize) {
        let is_used = workload
            .command
            .iter()
            .any(|word| word.contains(placeholder));
        if values > 1 && !is_used && !workload.command.is_empty() {
            let found = format!("{values} values, but no {placeholder} in the command");
            let remedy = "without it, the same command would be measured under several names";
            let expected = format!("{placeholder} in a word of the command");
            self.checker
                .add_with(self.at, field, found, &expected, remedy);
        }
    }
}
