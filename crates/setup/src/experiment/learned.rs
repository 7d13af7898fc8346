//! Models that replace input files. They are trained beforehand, or learnt from the trace and the other input files.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use gleaner_learn::ebm::FitError;
use gleaner_learn::lucid::packing::PackingModel;
use gleaner_learn::lucid::throughput::Series;
use gleaner_learn::lucid::workload::{EstimatorChoice, Learning};
use serde::{Deserialize, Serialize};

use super::Use;
use super::estimated::{Estimated, EstimatesUsed};
use super::files::ExperimentFiles;
use super::inputs::Reader;
use crate::settings;
use crate::settings::Spec;
use crate::settings::value::by_text;
use gleaner_domain::Observer;
use gleaner_domain::error::{Error, Result};
use gleaner_domain::inputs::{ForecastTable, Profile};
use gleaner_domain::stamp::{as_text, parsed};
use gleaner_domain::{Cluster, Local, Trace, Workload};
use gleaner_inputs::{jobs, model};
use gleaner_predict::{
    Calendar, Kind, Model, Trained, Weekly, estimates_by, forecast_by, forecast_trained,
    learn_scores, submissions,
};

settings! {
    /// Models that policies use.
    #[derive(Debug, Clone, Serialize, Deserialize)]
    pub struct ModelArgs under "Models" {
        /// Models that provide estimates, the forecast and sharing scores in place of files. Options that name a single
        /// file take precedence. DIR contains models written by `gleaner train`. Estimates come from the estimator that
        /// ranked held-out jobs best, unless --estimates names another estimator. With `train`, the models are trained
        /// on the experiment's own inputs (trace, submission counts, profiles). Predictions never use submissions or
        /// jobs from later than the time of the prediction. The forecast is learnt from the submissions before the
        /// start of the simulation. If these submissions cover less than a week, the forecast is learnt again each
        /// week. The estimates are learnt again each week from the jobs that have ended by then.
        pub models: Option<Learned> = None => Spec::of("DIR|train").used_for(Use::Models);
        /// Submission counts: a file with the number of submissions per ten-minute interval, before and during the
        /// trace [default: cluster_throughput.csv in --data if present, otherwise counts from the trace].
        pub series: Option<PathBuf> = None => Spec::of("FILE")
            .requires("models")
            .used_for(Use::Forecasts);
        /// Date of second 0 of the trace, such as 2020-04-01 [default: the date of the trace, the date of the
        /// experiment, or 1970-01-01]. It sets the dates in the --idle-events log, and the hours and weekdays from
        /// which models learn.
        #[serde(default, serialize_with = "as_text", deserialize_with = "parsed")]
        pub epoch: Option<Local> = None => Spec::of("TIME")
            .heading("Input")
            .used_for(Use::Calendar);
        /// Learn estimates without the profiles of jobs. In published traces, profiles were derived from
        /// the durations and so reveal them.
        pub no_profile: bool = false => Spec::flag().used_for(Use::LearntEstimates);
        /// Estimate for every job of the first week, if estimates are learnt.
        pub first_estimate: f64 = 3600.0 => Spec::of("SECONDS")
            .within("a finite number of seconds, at least 0", |seconds: &f64| seconds.is_finite() && *seconds >= 0.0)
            .used_for(Use::LearntEstimates);
        /// Seed of the models that are learnt.
        pub model_seed: u64 = 0 => Spec::of("NUMBER").used_for(Use::Learning);
    }
}

/// The source of the models.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Learned {
    /// Models that are learnt from the data itself.
    Train,
    /// A directory of trained models.
    Directory(PathBuf),
}

by_text!(Learned: Any seen by Learned::seen_from);

impl Learned {
    /// Resolves the path of a directory against `folder`. Returns `train` unchanged.
    fn seen_from(self, folder: &Path) -> Self {
        match self {
            Learned::Directory(path) => Learned::Directory(folder.join(path)),
            Learned::Train => Learned::Train,
        }
    }
}

impl fmt::Display for Learned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Learned::Train => f.write_str("train"),
            Learned::Directory(path) => write!(f, "{}", path.display()),
        }
    }
}

impl FromStr for Learned {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(match text {
            "train" => Learned::Train,
            path => Learned::Directory(path.into()),
        })
    }
}

impl ModelArgs {
    /// Whether models replace files.
    pub(super) fn given(&self) -> bool {
        self.models.is_some()
    }

    /// The calendar of the trace, if the estimator `choice` or any model of `--models` needs it.
    pub(super) fn calendar(
        &self,
        choice: Option<EstimatorChoice>,
        experiment: &ExperimentFiles,
        trace: &Trace,
        observer: &dyn Observer,
    ) -> Option<Calendar> {
        let needed = choice.is_some_and(EstimatorChoice::needs_calendar) || self.given();
        needed.then(|| Calendar::of(self.epoch.or(experiment.epoch), trace, observer))
    }

    /// Estimates the jobs' durations with an estimator. The estimator is read from `--models DIR`, or learnt during the
    /// simulation if no directory is given.
    ///
    /// # Errors
    /// A model cannot be read.
    pub(super) fn estimates(
        &self,
        reader: &mut Reader<'_>,
        choice: EstimatorChoice,
        trace: &Trace,
        cluster: &Cluster,
        calendar: Option<Calendar>,
    ) -> Result<Estimated> {
        // The calendar is missing only if no estimator needs it, so the default has no effect.
        let calendar = calendar.unwrap_or_default();
        let Some(Learned::Directory(directory)) = &self.models else {
            let learning = Learning {
                profile: !self.no_profile,
                seed: self.model_seed,
                monotone: Vec::new(),
            };
            return Ok(Estimated {
                weekly: Some(Weekly {
                    choice,
                    learning,
                    calendar,
                    first: self.first_estimate,
                }),
                used: Some(EstimatesUsed::Learnt { estimator: choice }),
                ..Estimated::default()
            });
        };
        let trained = read(reader, directory, Kind::Workload)?;
        let start = trace.jobs.first().map(|job| calendar.civil(job.submit));
        warn_of_future(&trained, start, reader.observer);
        let Model::Workload(model) = &trained.model else {
            return Ok(Estimated::default());
        };
        let (estimator, fitted) = model.pick(choice);
        let table = estimates_by(fitted, trace, cluster, calendar);
        let used = EstimatesUsed::Model { estimator };
        Ok(Estimated::known(used, Box::new(table)))
    }

    /// The forecast for the time from second `start`.
    ///
    /// # Errors
    /// A model or series cannot be read, or there is nothing to learn from.
    pub(super) fn forecast(
        &self,
        reader: &mut Reader<'_>,
        experiment: &ExperimentFiles,
        trace: &Trace,
        start: i64,
        calendar: Calendar,
    ) -> Result<Option<ForecastTable>> {
        let Some(models) = &self.models else {
            return Ok(None);
        };
        let series = self.series(reader, experiment, trace, start, calendar)?;
        let failed = |error: FitError| match error {
            FitError::Stopped => Error::Stopped,
            other => Error::Run(other.to_string()),
        };
        Ok(match models {
            Learned::Train => {
                let (seed, observer) = (self.model_seed, reader.observer);
                let forecast = forecast_trained(&series, start, calendar, seed, observer);
                Some(forecast.map_err(failed)?)
            }
            Learned::Directory(directory) => {
                let trained = read(reader, directory, Kind::Throughput)?;
                warn_of_future(&trained, Some(calendar.civil(start)), reader.observer);
                match &trained.model {
                    Model::Throughput(model) => Some(forecast_by(model, &series, start, calendar)),
                    _ => None,
                }
            }
        })
    }

    fn series(
        &self,
        reader: &mut Reader<'_>,
        experiment: &ExperimentFiles,
        trace: &Trace,
        start: i64,
        calendar: Calendar,
    ) -> Result<Series> {
        match self.series.as_ref().or(experiment.series.as_ref()) {
            Some(path) => Ok(reader.take(jobs::throughput::read(path)?)),
            None => {
                submissions(trace, start, calendar).map_err(|error| Error::Run(error.to_string()))
            }
        }
    }

    /// The model that predicts sharing scores.
    ///
    /// # Errors
    /// A model cannot be read, or nothing can be learnt from the profiles.
    pub(super) fn scores(
        &self,
        reader: &mut Reader<'_>,
        profiles: &BTreeMap<Workload, Profile>,
    ) -> Result<Option<PackingModel>> {
        Ok(match &self.models {
            None => None,
            Some(Learned::Train) => {
                if profiles.values().all(|profile| profile.score.is_none()) {
                    return Err(Error::Usage(NO_SCORES.into()));
                }
                Some(learn_scores(profiles).map_err(|error| Error::Run(error.to_string()))?)
            }
            Some(Learned::Directory(directory)) => {
                match read(reader, directory, Kind::Packing)?.model {
                    Model::Packing(model) => Some(model),
                    _ => None,
                }
            }
        })
    }
}

const NO_SCORES: &str = "\
--models train: no profile has a sharing score to learn from; use --models DIR with a packing.json that \
gleaner train packing learnt from other profiles, or put a single_data.csv with scores into --data";

fn read(reader: &mut Reader<'_>, directory: &Path, kind: Kind) -> Result<Trained> {
    let path = directory.join(kind.file_name());
    if !path.is_file() {
        return Err(Error::Usage(format!(
            "--models {}: there is no {}; gleaner train {kind} --out {} creates it",
            directory.display(),
            kind.file_name(),
            directory.display()
        )));
    }
    Ok(reader.take(model::read_kind(&path, kind)?))
}

/// Warns if a model was trained on data recorded at or after the start of the simulation.
fn warn_of_future(
    trained: &Trained,
    start: Option<jiff::civil::DateTime>,
    observer: &dyn Observer,
) {
    let (Some(to), Some(start)) = (trained.span.to, start) else {
        return;
    };
    if to >= start {
        let kind = trained.model.kind();
        observer.remark(&[format!(
            "the {kind} model was trained on data up to {}, but the simulation starts at {}, so the \
             model has seen data that it must predict",
            Local::from(to),
            Local::from(start)
        )]);
    }
}
