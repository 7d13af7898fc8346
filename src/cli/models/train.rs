//! `gleaner train`: learn models from data.

use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Instant;

use clap::{Args as ClapArgs, ValueEnum};
use gleaner_models::ebm::FitError;
use gleaner_models::isotonic::Direction;
use gleaner_models::lucid::throughput::{self, Series, ThroughputModel};
use gleaner_models::lucid::workload::{Options, WorkloadModel};
use jiff::civil::DateTime;

use super::data::{DataArgs, Jobs};
use crate::cli::print;
use crate::domain::{Time, Workload};
use crate::error::{Error, Result};
use crate::ingest::SourceId;
use crate::lucid::inputs::Profile;
use crate::models::stored::Input;
use crate::models::{Kind, Model, Span, Trained, known_jobs, learn_scores};
use crate::output::{model, training};

/// Train the models that Lucid schedules by, and save them.
///
/// Each goes to its own file in the directory of --out: throughput.json (what will be
/// submitted), packing.json (who shares a GPU well), workload.json (how long jobs run).
/// `gleaner predict` and `gleaner simulate --models` take them, `gleaner explain` shows them.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:\n  \
    gleaner synth jobs -o trace\n  \
    gleaner train all --data trace --out models\n  \
    gleaner train throughput --series cluster_throughput.csv --until 2020-09-01\n  \
    gleaner train workload --trace jobs.csv --cluster vc_config.csv --no-profile")]
pub struct Args {
    /// Which models.
    #[arg(value_enum, required = true, value_name = "MODEL")]
    what: Vec<What>,
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    learning: LearningArgs,
    /// Make what a feature adds monotone, such as gpu_num=increasing (throughput and
    /// workload; isotonic regression).
    #[arg(long, value_name = "FEATURE=increasing|decreasing")]
    monotone: Vec<Monotone>,
    /// Directory for the models.
    #[arg(short, long, value_name = "DIR", default_value = "models")]
    out: PathBuf,
}

/// How models learn.
#[derive(Debug, Clone, Copy, ClapArgs, serde::Serialize)]
#[command(next_help_heading = "Learning")]
pub struct LearningArgs {
    /// Learn only from what was submitted before this time.
    #[arg(long, value_name = "TIME")]
    #[serde(serialize_with = "crate::cli::inputs::as_text")]
    pub until: Option<Time>,
    /// Workload: leave the job's profile out. In published traces profiles were made up
    /// from durations, and give them away.
    #[arg(long)]
    pub no_profile: bool,
    /// Workload: learn seconds, as published, not their logarithm.
    #[arg(long)]
    pub seconds: bool,
    /// Seed; the same seed gives the same models.
    #[arg(long, default_value_t = 0, value_name = "NUMBER")]
    pub seed: u64,
}

impl LearningArgs {
    /// What the workload model learns from.
    pub fn options(&self) -> Options {
        Options {
            profile: !self.no_profile,
            logarithm: !self.seconds,
        }
    }

    fn until(&self) -> DateTime {
        self.until.and_then(Time::civil).unwrap_or(DateTime::MAX)
    }
}

/// A model, or all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum What {
    /// Forecast of what is submitted.
    Throughput,
    /// Sharing scores of workloads.
    Packing,
    /// Durations of jobs.
    Workload,
    /// All three.
    All,
}

/// Runs the subcommand.
///
/// # Errors
/// Missing or faulty data, or files that cannot be written.
pub fn run(args: &Args) -> Result<()> {
    fs::create_dir_all(&args.out).map_err(|error| Error::io("create", &args.out, error))?;
    for kind in Kind::ALL.into_iter().filter(|kind| args.asks_for(*kind)) {
        let mut sources = Vec::new();
        let data = Data::read(kind, &args.data, &mut sources)?;
        let clock = Instant::now();
        let (mut model, span) = data.train(&args.learning)?;
        args.smooth(&mut model)?;
        let seconds = clock.elapsed().as_secs_f64();
        let inputs = sources.iter().map(input).collect();
        let trained = Trained {
            model,
            span,
            inputs,
        };
        let path = args.out.join(kind.file_name());
        model::write(&trained, &path)?;
        print(&training::summary(&trained, seconds, &path))?;
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

    /// Makes curves monotone as asked for; a packing model has none.
    fn smooth(&self, model: &mut Model) -> Result<()> {
        if model.kind() == Kind::Packing {
            return Ok(());
        }
        for Monotone { feature, direction } in &self.monotone {
            if !model.smooth(feature, *direction) {
                return Err(Error::Usage(format!(
                    "--monotone {feature}: the {} model has no number of that name; its features \
                     are {}",
                    model.kind(),
                    model.features().join(", ")
                )));
            }
        }
        Ok(())
    }
}

/// A feature that is to add ever more, or ever less.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Monotone {
    feature: String,
    direction: Direction,
}

impl FromStr for Monotone {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (feature, way) = text.rsplit_once('=').unwrap_or((text, ""));
        let direction = match way {
            "increasing" => Direction::Increasing,
            "decreasing" => Direction::Decreasing,
            _ => return Err("expected FEATURE=increasing or FEATURE=decreasing".to_owned()),
        };
        Ok(Monotone {
            feature: feature.to_owned(),
            direction,
        })
    }
}

fn input(source: &SourceId) -> Input {
    Input {
        path: source.path.display().to_string(),
        sha256: source.sha256.to_string(),
    }
}

/// What one model is trained from.
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

    fn train(&self, learning: &LearningArgs) -> Result<(Model, Span)> {
        match self {
            Data::Throughput(series) => train_throughput(series, learning),
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
            Data::Workload(jobs) => train_workload(jobs, learning),
        }
    }
}

fn train_throughput(series: &Series, learning: &LearningArgs) -> Result<(Model, Span)> {
    let steps = 0..series.steps_before(learning.until());
    let settings = throughput::settings(learning.seed);
    let model = ThroughputModel::fit(series, steps.clone(), &settings).map_err(no_rows)?;
    let span = span(steps, |step| series.time(step));
    Ok((Model::Throughput(model), span))
}

fn train_workload(jobs: &Jobs, learning: &LearningArgs) -> Result<(Model, Span)> {
    let Jobs {
        trace,
        cluster,
        calendar,
    } = jobs;
    let until = calendar.second(learning.until());
    let rows = 0..trace.jobs.partition_point(|job| job.submit < until);
    let known = known_jobs(trace, cluster, *calendar);
    let seconds = trace.jobs[rows.clone()]
        .iter()
        .map(|job| job.duration as f64);
    let seconds: Vec<f64> = seconds.collect();
    let options = learning.options();
    let settings = options.settings(learning.seed);
    let model =
        WorkloadModel::fit(&known[rows.clone()], &seconds, options, &settings).map_err(no_rows)?;
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
        FitError::NoRows => Error::Usage("nothing was submitted before --until".into()),
        other => Error::Run(other.to_string()),
    }
}
