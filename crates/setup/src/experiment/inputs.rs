//! The input files of an experiment, and their content.

use std::fmt;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use gleaner_learn::lucid::workload::EstimatorChoice;
use serde::{Deserialize, Serialize};

use super::ExperimentArgs;
use super::Use;
use super::choice::Choice;
use super::estimated::{Estimated, EstimatesUsed};
use super::files::ExperimentFiles;
use super::learned::ModelArgs;
use super::profiles::{Profiles, listed};
use crate::settings;
use crate::settings::value::{by_text, named_values};
use crate::settings::{Settings, Spec};
use gleaner_domain::Observer;
use gleaner_domain::cluster::GPU_MEMORY;
use gleaner_domain::cluster::MAX_GPUS_PER_NODE;
use gleaner_domain::error::{Error, Faults, Result};
use gleaner_domain::inputs::{
    Estimates, Forecast, LONGEST_ESTIMATE, Oracle, Packing, PackingTable,
};
use gleaner_domain::stamp::{as_text, from_text};
use gleaner_domain::{Cluster, Stamp, Trace};
use gleaner_inputs::jobs;
use gleaner_inputs::jobs::trace;
use gleaner_io::{Loaded, SourceId};
use gleaner_predict::{Calendar, Weekly, score_workloads};
use gleaner_simulate::Request;
use gleaner_simulate::policies::Needs;

/// Default number of GPUs per node.
const GPUS_PER_NODE: u32 = 8;

settings! {
    /// The input files of a simulation.
    #[derive(Debug, Clone, Serialize, Deserialize)]
    pub struct FileArgs under "Input" {
        /// Directory that holds all files under their usual names: jobs.csv, vc_config.csv,
        /// single_data.csv, colocate_info.csv, throughput_pred.csv, duration_estimate.csv. Options
        /// that name a single file take precedence.
        pub data: Option<PathBuf> = None => Spec::of("DIR");
        /// Jobs: CSV or Parquet with the columns job_id, vc, gpu_num, submit_time and duration, like
        /// the logs in the artifacts of Lucid, Helios and Philly.
        pub trace: Option<PathBuf> = None => Spec::of("FILE");
        /// Nodes of each virtual cluster: CSV or Parquet with a column of names and the column num.
        pub cluster: Option<PathBuf> = None => Spec::of("FILE");
        /// Number of GPUs per node.
        pub gpus_per_node: u32 = GPUS_PER_NODE => Spec::of("COUNT")
            .hidden_alias("num_gpus_per_node")
            .within(format!("1 to {MAX_GPUS_PER_NODE}"), |gpus| (1..=MAX_GPUS_PER_NODE).contains(gpus));
        /// Estimated durations, for qssf, lucid and easy: a file with the columns job_id and priority (in seconds),
        /// `oracle` (the true durations), one number of seconds for all jobs, or an estimator. The estimators are
        /// `history` (the earlier jobs of the user), `median`, `mean`, `ebm`, `ebm-seconds` and `best`. If --models DIR
        /// is given, the estimator is read from this directory. Otherwise it is learnt during the simulation, as with
        /// --models train. In that case, `best` chooses again each week among all estimators except ebm-seconds.
        pub estimates: Option<Given> = None => Spec::of("FILE|oracle|SECONDS|NAME")
            .used_for(Use::Estimates);
        /// For lucid: profiles of workloads that run alone on their GPUs, with sharing scores. Profiles are measured,
        /// or predicted by `gleaner driple profiles`.
        pub profiles: Option<PathBuf> = None => Spec::of("FILE").used_for(Use::Sharing);
        /// For lucid: measurements of pairs of workloads on the same GPUs.
        pub colocate: Option<PathBuf> = None => Spec::of("FILE").used_for(Use::Sharing);
        /// For lucid: forecast of submissions, a file with the columns time, pred_gpu_job and
        /// pred_gpu_num, or one number for both. Without a forecast, lucid always shares GPUs.
        pub forecast: Option<Given> = None => Spec::of("FILE|NUMBER").used_for(Use::Sharing);
        /// Time of the first submission to simulate, if the trace has dates.
        #[serde(default, serialize_with = "as_text", deserialize_with = "from_text")]
        pub from: Option<Stamp> = None => Spec::of("TIME");
        /// Time of the last submission to simulate, if the trace has dates.
        #[serde(default, serialize_with = "as_text", deserialize_with = "from_text")]
        pub to: Option<Stamp> = None => Spec::of("TIME");
        /// Leave out faulty jobs, and list them in skipped.csv.
        pub skip_invalid: bool = false => Spec::flag();
        /// A published experiment, whose files are in the --data directory.
        pub preset: Option<Preset> = None => Spec::of("NAME")
            .requires("data")
            .conflicts(&["trace", "cluster", "experiment"]);
        /// An experiment of the original, such as Venus_Sept, Venus_July or Philly. Needs -t.
        pub experiment: Option<String> = None => Spec::of("NAME")
            .short('e')
            .hidden_alias("experiment-name")
            .requires("trace_dir")
            .conflicts(&["trace", "cluster", "data"]);
        /// Directory of the experiment's trace, as in the original.
        pub trace_dir: Option<PathBuf> = None => Spec::of("DIR").short('t').requires("experiment");
        /// Simulate the policies that the original's --sweep simulates: fifo, sjf, srtf, qssf and
        /// tiresias.
        pub sweep: bool = false => Spec::flag().conflicts(&["policy"]);
    }
}

/// A published experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    /// Venus in September 2020, from the evaluation of Lucid.
    VenusSept,
}

named_values!(Preset:
    Preset::VenusSept => "Venus in September 2020, from the evaluation of Lucid",
);

/// A file, a named value or a number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Given {
    /// The true durations.
    Oracle,
    /// The same number for all jobs.
    Number(f64),
    /// An estimator.
    Estimator(EstimatorChoice),
    /// A file.
    File(PathBuf),
}

by_text!(Given: Any seen by Given::seen_from);

impl Given {
    /// Resolves the path of a file against `folder`. Returns other values unchanged.
    fn seen_from(self, folder: &Path) -> Self {
        match self {
            Given::File(path) => Given::File(folder.join(path)),
            other => other,
        }
    }
}

impl fmt::Display for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Given::Oracle => f.write_str("oracle"),
            Given::Number(number) => write!(f, "{number}"),
            Given::Estimator(choice) => write!(f, "{choice}"),
            Given::File(path) => write!(f, "{}", path.display()),
        }
    }
}

impl FromStr for Given {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match text.parse() {
            Ok(number) => Given::Number(number),
            Err(_) if text == "oracle" => Given::Oracle,
            Err(_) => match text.parse() {
                Ok(choice) => Given::Estimator(choice),
                Err(_) => Given::File(text.into()),
            },
        })
    }
}

/// The inputs of simulations, read from the files.
pub struct Inputs {
    /// The jobs.
    pub trace: Trace,
    /// Path of the file with the jobs.
    pub trace_path: PathBuf,
    /// The nodes.
    pub cluster: Cluster,
    /// The second of the trace at which simulations start.
    pub start: i64,
    /// Estimates of durations that are known before the simulation.
    pub estimates: Option<Box<dyn Estimates>>,
    /// Settings for estimates that are learnt during the simulation.
    pub weekly: Option<Weekly>,
    /// The source of the estimates; `None` if no policy uses them.
    pub estimates_used: Option<EstimatesUsed>,
    /// Forecast of submissions.
    pub forecast: Option<Box<dyn Forecast>>,
    /// Sharing scores and measured pairs.
    pub packing: Option<Box<dyn Packing>>,
    /// The experiment's name, if the original's flag -e specifies one.
    pub experiment: Option<String>,
    /// Whether faulty jobs are skipped.
    pub skip_invalid: bool,
    /// Faults in the skipped jobs.
    pub skipped: Faults,
    /// Every file that was read.
    pub sources: Vec<SourceId>,
}

const NEEDS: &str = "\
a trace of jobs and the nodes of its virtual clusters are needed:

  --trace FILE     jobs: job_id, vc, gpu_num, submit_time, duration (CSV or Parquet)
  --cluster FILE   virtual clusters: a column of names, and num, the number of nodes

or a directory that holds them as jobs.csv and vc_config.csv: --data DIR

No data yet? Generate some, and simulate it:

  gleaner synth jobs -o trace
  gleaner simulate --data trace --policy fifo,sjf,srtf,qssf,tiresias --out run

`gleaner simulate --help` lists all other options";

impl FileArgs {
    /// Whether a preset or the original's flags select a published experiment.
    pub fn is_published(&self) -> bool {
        self.preset.is_some() || self.experiment.is_some() || self.sweep
    }

    /// The estimator that `--estimates` names.
    fn estimator(&self) -> Option<EstimatorChoice> {
        match self.estimates {
            Some(Given::Estimator(choice)) => Some(choice),
            _ => None,
        }
    }

    /// Finds every input file.
    fn experiment(&self, choice: &Choice) -> Result<ExperimentFiles> {
        let mut experiment = match (&self.preset, &self.data, &self.experiment, &self.trace_dir) {
            (Some(Preset::VenusSept), Some(data), ..) => {
                ExperimentFiles::find("Venus_Sept", data, false)?
            }
            (None, Some(data), ..) => ExperimentFiles::inside(data)?,
            (_, _, Some(name), Some(directory)) => {
                let qssf_alone = choice.single() == Some("qssf") && !self.sweep;
                ExperimentFiles::find(name, directory, qssf_alone)?
            }
            _ => self.named_files()?,
        };
        let given = |file: &Option<PathBuf>, found| file.clone().or(found);
        experiment.trace = self.trace.clone().unwrap_or(experiment.trace);
        experiment.cluster = self.cluster.clone().unwrap_or(experiment.cluster);
        experiment.colocate = given(&self.colocate, experiment.colocate);
        if self.profiles.is_some() {
            experiment.measured = experiment.profiles.take();
            experiment.profiles.clone_from(&self.profiles);
        }
        Ok(experiment)
    }

    fn named_files(&self) -> Result<ExperimentFiles> {
        let (Some(trace), Some(cluster)) = (&self.trace, &self.cluster) else {
            return Err(Error::Usage(NEEDS.into()));
        };
        Ok(ExperimentFiles {
            trace: trace.clone(),
            cluster: cluster.clone(),
            ..ExperimentFiles::default()
        })
    }

    fn trace_options(&self, experiment: &ExperimentFiles) -> trace::Options<'static> {
        let window = experiment.window;
        trace::Options {
            epoch: window.map(|[epoch, ..]| epoch),
            from: self.from.or(window.map(|[_, from, _]| Stamp::Local(from))),
            to: self.to.or(window.map(|[.., to]| Stamp::Local(to))),
            skip_invalid: self.skip_invalid,
            ..trace::Options::default()
        }
    }
}

impl Inputs {
    /// Reads everything that the requested policies need.
    ///
    /// # Errors
    /// A file cannot be read or has faults, which are reported together. Returns [`Error::Usage`] if a required file is
    /// not named.
    pub(super) fn read(
        args: ExperimentArgs<'_>,
        requests: &[Request],
        observer: &dyn Observer,
    ) -> Result<Self> {
        let ExperimentArgs {
            choice,
            files: args,
            models,
            ..
        } = args;
        args.check()?;
        models.check()?;
        let experiment = args.experiment(choice)?;
        let needs = requests.iter().map(|request| request.policy.needs).max();
        let needs = needs.unwrap_or(Needs::Jobs);
        let mut reader = Reader::new(observer);
        let cluster = reader.take(jobs::cluster::read(
            &experiment.cluster,
            args.gpus_per_node,
        )?);
        let packs = needs == Needs::Packing;
        let profiles = match (packs, &experiment.profiles) {
            (true, Some(path)) => Some(Profiles::read(&mut reader, path, &experiment)?),
            (true, None) => {
                let what = "--profiles FILE and --colocate FILE; without these files, choose \
                            other policies, such as --policy fifo,sjf,srtf,tiresias";
                return Err(missing("lucid", what));
            }
            _ => None,
        };
        let usages = profiles.as_ref().map(Profiles::usages);
        let options = trace::Options {
            profiles: usages.as_ref(),
            unprofiled: profiles.as_ref().is_some_and(Profiles::are_predicted),
            ..args.trace_options(&experiment)
        };
        let mut input = reader.take(trace::read(&experiment.trace, &cluster, options)?);
        let origin = models.epoch.or(input.trace.origin).or(experiment.epoch);
        input.trace.origin = origin;
        if let Some(profiles) = &profiles {
            input.trace.known = profiles.known(&input.trace);
        }
        let files = Files {
            args,
            models,
            experiment: &experiment,
            trace: &input.trace,
            cluster: &cluster,
            calendar: match needs {
                Needs::Jobs => None,
                _ => models.calendar(args.estimator(), &experiment, &input.trace, observer),
            },
        };
        let forecast = reader.forecast(files, input.start, packs)?;
        let estimated = reader.estimates(files, requests)?;
        let packing = match profiles {
            Some(profiles) => Some(reader.packing(files, &profiles, choice)?),
            None => None,
        };
        Ok(Inputs {
            trace: input.trace,
            trace_path: experiment.trace,
            cluster,
            start: input.start,
            estimates: estimated.estimates,
            weekly: estimated.weekly,
            estimates_used: estimated.used,
            forecast,
            packing,
            experiment: args.experiment.clone(),
            skip_invalid: args.skip_invalid,
            skipped: input.skipped,
            sources: reader.sources,
        })
    }
}

fn missing(policy: &str, what: &str) -> Error {
    Error::Usage(format!("{policy} needs {what}"))
}

/// The settings and files of an experiment, with the trace and the cluster that were read.
#[derive(Clone, Copy)]
struct Files<'a> {
    args: &'a FileArgs,
    models: &'a ModelArgs,
    experiment: &'a ExperimentFiles,
    trace: &'a Trace,
    cluster: &'a Cluster,
    /// The calendar of the trace; `None` if no model or estimator needs it.
    calendar: Option<Calendar>,
}

/// Records the files that were read, and reports the notes about them.
pub(super) struct Reader<'r> {
    sources: Vec<SourceId>,
    pub(super) observer: &'r dyn Observer,
}

impl<'r> Reader<'r> {
    fn new(observer: &'r dyn Observer) -> Self {
        Reader {
            sources: Vec::new(),
            observer,
        }
    }

    /// Returns a value that was read, records its files and reports the notes about it.
    pub fn take<T>(&mut self, loaded: Loaded<T>) -> T {
        self.observer.remark(&loaded.notes);
        self.sources.extend(loaded.sources);
        loaded.value
    }

    fn forecast(
        &mut self,
        files: Files<'_>,
        start: i64,
        wanted: bool,
    ) -> Result<Option<Box<dyn Forecast>>> {
        let given = files.args.forecast.clone();
        if let (true, None, Some(calendar)) = (wanted, &given, files.calendar) {
            let Files {
                models,
                experiment,
                trace,
                ..
            } = files;
            let forecast = models.forecast(self, experiment, trace, start, calendar)?;
            return Ok(forecast.map(|table| Box::new(table) as Box<dyn Forecast>));
        }
        let found = files.experiment.forecast.clone().map(Given::File);
        Ok(match given.or(found).filter(|_| wanted) {
            None => None,
            Some(Given::Number(number)) if number.is_finite() => Some(Box::new(number)),
            Some(Given::File(path)) => {
                let read = jobs::forecast::read(&path, start);
                let read = read.map_err(|error| {
                    or_misspelt(error, "--forecast", &path, |_| {
                        "expected a file or a number".into()
                    })
                });
                Some(Box::new(self.take(read?)))
            }
            Some(_) => {
                return Err(Error::Usage(
                    "--forecast: expected a file or a number".into(),
                ));
            }
        })
    }

    /// Estimates that are known before the simulation, or settings for learning them.
    fn estimates(&mut self, files: Files<'_>, requests: &[Request]) -> Result<Estimated> {
        let needing = requests
            .iter()
            .find(|request| request.policy.needs >= Needs::Estimates);
        let Some(needing) = needing else {
            return Ok(Estimated::default());
        };
        let Files {
            models,
            experiment,
            trace,
            cluster,
            ..
        } = files;
        let given = files.args.estimates.clone();
        let best = (given.is_none() && models.given()).then(EstimatorChoice::default);
        if let Some(choice) = files.args.estimator().or(best) {
            return models.estimates(self, choice, trace, cluster, files.calendar);
        }
        let found = experiment.estimates.clone().map(Given::File);
        let Some(named) = given.or(found) else {
            return Err(missing(needing.name, ESTIMATES));
        };
        self.named_estimates(named, trace)
    }

    fn named_estimates(&mut self, named: Given, trace: &Trace) -> Result<Estimated> {
        let known = |used, estimates| Ok(Estimated::known(used, estimates));
        match named {
            Given::Oracle => known(EstimatesUsed::Oracle, Box::new(Oracle)),
            Given::Number(seconds) if seconds.abs() <= LONGEST_ESTIMATE => {
                known(EstimatesUsed::Constant { seconds }, Box::new(seconds))
            }
            Given::Number(number) => Err(Error::Usage(format!(
                "--estimates is {number:?}, expected a number of seconds from -{LONGEST_ESTIMATE:e} \
                 to {LONGEST_ESTIMATE:e}"
            ))),
            Given::File(path) => {
                let read = jobs::estimates::read(&path, trace);
                let read = read.map_err(|error| {
                    or_misspelt(error, "--estimates", &path, |word| {
                        let names = word.parse::<EstimatorChoice>().err().unwrap_or_default();
                        format!("which is not a file, oracle or a number of seconds; {names}")
                    })
                });
                let table = self.take(read?);
                known(EstimatesUsed::File { path }, Box::new(table))
            }
            // If an estimator is given, the estimates come from models, not from this function.
            Given::Estimator(_) => Ok(Estimated::default()),
        }
    }

    fn packing(
        &mut self,
        files: Files<'_>,
        profiles: &Profiles,
        choice: &Choice,
    ) -> Result<Box<dyn Packing>> {
        let trace = files.trace;
        let Some(path) = &files.experiment.colocate else {
            return Err(missing(
                "lucid",
                "--colocate FILE, the pairs measured on the same GPUs",
            ));
        };
        let pairs = self.take(jobs::colocate::read(path)?);
        let mut packing = PackingTable::new(&trace.workloads, &profiles.table, &pairs);
        if let Some(model) = files.models.scores(self, profiles.scored())? {
            packing.scores = score_workloads(&model, trace);
        }
        self.observer
            .remark(&profiles.remarks(trace, &packing.scores));
        let any_score = choice.without().packing;
        let checked = jobs::packing::check(path, trace, &packing, GPU_MEMORY, any_score)?;
        if !checked.is_empty() {
            self.observer.remark(&[format!(
                "these pairs of workloads were never measured on the same GPUs, so they do not share GPUs, although \
                 their predicted profiles would allow it: {}",
                listed(&checked)
            )]);
        }
        Ok(Box::new(packing))
    }
}

/// If `path` is a missing file without an extension, the value of `option` is probably a misspelt name. Then returns an
/// error with the valid values, which `expected` describes; otherwise, returns `error`.
fn or_misspelt(
    error: Error,
    option: &str,
    path: &Path,
    expected: impl Fn(&str) -> String,
) -> Error {
    match &error {
        Error::Io { source, .. }
            if source.kind() == ErrorKind::NotFound && path.extension().is_none() =>
        {
            let word = path.file_name().unwrap_or_default().to_string_lossy();
            Error::Usage(format!("{option}: found {word}, {}", expected(&word)))
        }
        _ => error,
    }
}

const ESTIMATES: &str = "\
estimated durations: --estimates FILE (job_id,priority), `oracle` for the true durations, a \
number of seconds, or an estimator that is learnt during the simulation, such as `history`; or --models train";
