//! `gleaner train`: trains models on data.

use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::path::PathBuf;
use std::time::Instant;

use clap::{Args as ClapArgs, ValueEnum};
use gleaner_learn::ebm::FitError;
use gleaner_learn::isotonic::Direction;
use gleaner_learn::lucid::throughput::{self, Series, ThroughputModel};
use gleaner_learn::lucid::workload::{EstimatorChoice, Learning, WorkloadModel};
use jiff::civil::DateTime;

use super::data::{DataArgs, Jobs};
use super::monotone::{self, Monotone};
use super::watch::watched;
use crate::cli::print;
use gleaner_document::text;
use gleaner_domain::error::{Error, Result};
use gleaner_domain::inputs::Profile;
use gleaner_domain::{Local, Workload};
use gleaner_io::SourceId;
use gleaner_predict::stored::Input;
use gleaner_predict::{Kind, Model, Span, Trained, known_jobs, learn_scores, past_jobs};
use gleaner_runs::{model, training};

/// Train the models that the policy Lucid uses, and save them.
///
/// Each model gets its own file in the --out directory. throughput.json forecasts submissions,
/// packing.json scores how well workloads share a GPU, and workload.json estimates the durations of
/// jobs. `gleaner predict` and `gleaner simulate --models` use these files; `gleaner explain` shows
/// their content.
///
/// Durations are estimated in several ways: by explainable boosting machines, from the user's
/// earlier jobs, and by the median or the mean of all jobs. To compare these estimators, the last
/// third of the jobs, in whole weeks, is held out. The file contains all estimators, fitted to all
/// jobs, and the name of the estimator that ranked the held-out jobs best. This estimator is used
/// unless another estimator is named.
#[derive(Debug, ClapArgs)]
#[command(before_help = "Examples:\n  \
    gleaner synth jobs -o trace\n  \
    gleaner train all --data trace --out models\n  \
    gleaner train throughput --series cluster_throughput.csv --until 2020-09-01\n  \
    gleaner train workload --trace jobs.csv --cluster vc_config.csv --no-profile")]
pub struct Args {
    /// Models to train.
    #[arg(value_enum, required = true, value_name = "MODEL")]
    what: Vec<What>,
    /// Directory for the models.
    #[arg(short, long, value_name = "DIR", default_value = "models")]
    out: PathBuf,
    // These fields are last, because their help headings apply to all options after them.
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    learning: LearningArgs,
    /// For throughput and workload: force the contribution of a feature to only increase or only decrease, such as
    /// gpu_num=increasing (isotonic regression).
    #[arg(
        long,
        value_name = "FEATURE=increasing|decreasing",
        help_heading = "Learning"
    )]
    monotone: Vec<Monotone>,
}

/// Options for training.
#[derive(Debug, Clone, Copy, ClapArgs, serde::Serialize)]
#[command(next_help_heading = "Learning")]
pub struct LearningArgs {
    /// Learn only from the jobs submitted before this time.
    #[arg(long, value_name = "TIME")]
    #[serde(serialize_with = "gleaner_domain::stamp::as_text")]
    pub until: Option<Local>,
    /// For workload: learn without the profiles of jobs. In published traces, profiles were derived
    /// from durations and therefore reveal them.
    #[arg(long)]
    pub no_profile: bool,
    /// For workload: the default estimator: best (on held-out jobs), ebm,
    /// ebm-seconds (as published), history, median or mean.
    #[arg(long, value_name = "NAME", default_value_t = EstimatorChoice::Best)]
    pub estimator: EstimatorChoice,
    /// Seed. The same seed gives the same models.
    #[arg(long, default_value_t = 0, value_name = "NUMBER")]
    pub seed: u64,
}

impl LearningArgs {
    fn until(&self) -> DateTime {
        self.until.and_then(Local::civil).unwrap_or(DateTime::MAX)
    }
}

/// A model, or all models.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum What {
    /// Forecasts submissions.
    Throughput,
    /// Scores how well workloads share a GPU.
    Packing,
    /// Estimates the durations of jobs.
    Workload,
    /// All three models.
    All,
}

/// Runs the subcommand.
///
/// # Errors
/// Data are missing or faulty, or a file cannot be written.
pub fn run(args: &Args) -> Result<()> {
    fs::create_dir_all(&args.out).map_err(|error| Error::io("create", &args.out, error))?;
    for kind in Kind::ALL.into_iter().filter(|kind| args.asks_for(*kind)) {
        let mut sources = Vec::new();
        let data = Data::read(kind, &args.data, &mut sources)?;
        monotone::check(&args.monotone, kind, !args.learning.no_profile)?;
        let clock = Instant::now();
        let (model, span) = data.train(args)?;
        let seconds = clock.elapsed().as_secs_f64();
        let inputs = sources.iter().map(input).collect();
        let trained = Trained {
            model,
            span,
            inputs,
        };
        let path = args.out.join(kind.file_name());
        model::write(&trained, &path)?;
        print(&text(&training::trained(&trained, seconds, &path)))?;
    }
    Ok(())
}

impl Args {
    fn asks_for(&self, kind: Kind) -> bool {
        let named = match kind {
            Kind::Throughput => What::Throughput,
            Kind::Packing => What::Packing,
            Kind::Workload => What::Workload,
        };
        self.what
            .iter()
            .any(|&what| what == named || what == What::All)
    }

    /// The features that must be monotone, each with its direction.
    fn monotone(&self) -> Vec<(String, Direction)> {
        let curves = self.monotone.iter();
        curves
            .map(|curve| (curve.feature.clone(), curve.direction))
            .collect()
    }
}

fn input(source: &SourceId) -> Input {
    Input {
        path: source.path.display().to_string(),
        sha256: source.sha256.to_string(),
    }
}

/// The training data of one model.
enum Data {
    Throughput(Series),
    Packing(BTreeMap<Workload, Profile>),
    Workload(Jobs),
}

impl Data {
    fn read(kind: Kind, args: &DataArgs, sources: &mut Vec<SourceId>) -> Result<Self> {
        Ok(match kind {
            Kind::Throughput => Data::Throughput(args.series(sources)?),
            Kind::Packing => Data::Packing(args.scored(sources)?),
            Kind::Workload => Data::Workload(args.jobs(sources)?),
        })
    }

    fn train(&self, args: &Args) -> Result<(Model, Span)> {
        match self {
            Data::Throughput(series) => train_throughput(series, args),
            Data::Packing(profiles) => {
                let model = learn_scores(profiles);
                let model = model.map_err(|error| Error::Run(error.to_string()))?;
                let span = Span {
                    rows: profiles.len(),
                    from: None,
                    to: None,
                };
                Ok((Model::Packing(model), span))
            }
            Data::Workload(jobs) => train_workload(jobs, args),
        }
    }
}

fn train_throughput(series: &Series, args: &Args) -> Result<(Model, Span)> {
    let steps = 0..series.steps_before(args.learning.until());
    let settings = throughput::settings(args.learning.seed);
    let mut model = watched(|observer| {
        ThroughputModel::fit(series, steps.clone(), &settings, observer).map_err(no_rows)
    })?;
    for (feature, direction) in args.monotone() {
        model.smooth(&feature, direction);
    }
    let span = span(steps, |step| series.time(step));
    Ok((Model::Throughput(model), span))
}

fn train_workload(jobs: &Jobs, args: &Args) -> Result<(Model, Span)> {
    let Jobs {
        trace,
        cluster,
        calendar,
    } = jobs;
    let until = calendar.second(args.learning.until());
    let rows = 0..trace.jobs.partition_point(|job| job.submit < until);
    let past = past_jobs(trace, &known_jobs(trace, cluster, *calendar), rows.clone());
    let learning = Learning {
        profile: !args.learning.no_profile,
        seed: args.learning.seed,
        monotone: args.monotone(),
    };
    let model = watched(|observer| {
        WorkloadModel::fit(&past, &learning, args.learning.estimator, observer).map_err(no_rows)
    })?;
    let span = span(rows, |row| calendar.civil(trace.jobs[row].submit));
    Ok((Model::Workload(model), span))
}

fn span(rows: Range<usize>, time: impl Fn(usize) -> DateTime) -> Span {
    Span {
        rows: rows.len(),
        from: rows.clone().next().map(&time),
        to: rows.last().map(&time),
    }
}

fn no_rows(error: FitError) -> Error {
    match error {
        FitError::NoRows => Error::Usage("no job was submitted before --until".into()),
        other => Error::Run(other.to_string()),
    }
}
