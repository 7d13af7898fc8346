//! Models in place of files: read, or learnt from the data.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use gleaner_learn::ebm::FitError;
use gleaner_learn::lucid::packing::PackingModel;
use gleaner_learn::lucid::throughput::Series;
use gleaner_learn::lucid::workload::{EstimatorChoice, Learning};
use serde::{Deserialize, Serialize};

use super::estimated::{Estimated, EstimatesUsed};
use super::files::ExperimentFiles;
use super::inputs::Reader;
use gleaner_core::Observer;
use gleaner_core::domain::inputs::{ForecastTable, Profile};
use gleaner_core::domain::stamp::{as_text, parsed};
use gleaner_core::domain::{Cluster, Time, Trace, Workload};
use gleaner_core::error::{Error, Result};
use gleaner_inputs::{jobs, model};
use gleaner_predict::{
    Calendar, Kind, Model, Trained, Weekly, estimates_by, forecast_by, forecast_trained,
    learn_scores, submissions,
};

/// Seconds that every job of the first week is estimated to take where nothing else is said.
const FIRST_ESTIMATE: f64 = 3600.0;

/// Models that policies go by.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[cfg_attr(feature = "cli", command(next_help_heading = "Models"))]
pub struct ModelArgs {
    /// Models that replace the files of estimates, forecast and sharing scores. Options that name a
    /// single file take precedence. DIR holds models of `gleaner train`; estimates come from the
    /// estimator that ranked held-out jobs best, unless --estimates names another. `train` learns
    /// the models from the data itself, and never from the future: the forecast from what was
    /// submitted before the start (or, with less than a week of that, again each week), and the
    /// estimates again each week from the jobs that have ended by then.
    #[cfg_attr(feature = "cli", arg(long, value_name = "DIR|train"))]
    pub models: Option<Learned>,
    /// Submissions in intervals of ten minutes, before the trace and during it [default:
    /// cluster_throughput.csv in --data; without it, what the trace submits].
    #[cfg_attr(feature = "cli", arg(long, value_name = "FILE", requires = "models"))]
    pub series: Option<PathBuf>,
    /// Date of second 0 of the trace, such as 2020-04-01 [default: that of the trace, that of the
    /// experiment, or 1970-01-01]. It sets the dates of --idle-events, and the hours and weekdays
    /// that models learn from.
    #[cfg_attr(
        feature = "cli",
        arg(long, value_name = "TIME", help_heading = "Input")
    )]
    #[serde(default, serialize_with = "as_text", deserialize_with = "parsed")]
    pub epoch: Option<Time>,
    /// Learn estimates without the profiles of jobs. In published traces the profiles were made
    /// up from the durations, and so reveal them.
    #[cfg_attr(feature = "cli", arg(long))]
    pub no_profile: bool,
    /// Estimate for every job of the first week, if estimates are learnt.
    #[cfg_attr(feature = "cli", arg(long, value_name = "SECONDS", default_value_t = FIRST_ESTIMATE, value_parser = seconds))]
    pub first_estimate: f64,
    /// Seed of the models that are learnt.
    #[cfg_attr(feature = "cli", arg(long, value_name = "NUMBER", default_value_t = 0))]
    pub model_seed: u64,
}

impl Default for ModelArgs {
    fn default() -> Self {
        ModelArgs {
            models: None,
            series: None,
            epoch: None,
            no_profile: false,
            first_estimate: FIRST_ESTIMATE,
            model_seed: 0,
        }
    }
}

#[cfg(feature = "cli")]
fn seconds(text: &str) -> Result<f64, String> {
    let seconds: f64 = text
        .parse()
        .map_err(|_| "expected a number of seconds".to_owned())?;
    if seconds.is_finite() && seconds >= 0.0 {
        Ok(seconds)
    } else {
        Err("expected a finite number of seconds, at least 0".to_owned())
    }
}

/// Where models come from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Learned {
    /// They are learnt from the data itself.
    Train,
    /// The directory of trained models.
    Directory(PathBuf),
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
    /// Whether models take the place of files.
    pub(super) fn given(&self) -> bool {
        self.models.is_some()
    }

    /// The calendar of the trace, where models need it: estimates by `choice`, or any of
    /// `--models`.
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

    /// Estimates of the trace's jobs by an estimator: one of `--models DIR`, or else learnt in the
    /// simulation.
    ///
    /// # Errors
    /// A model that cannot be read.
    pub(super) fn estimates(
        &self,
        reader: &mut Reader<'_>,
        choice: EstimatorChoice,
        trace: &Trace,
        cluster: &Cluster,
        calendar: Option<Calendar>,
    ) -> Result<Estimated> {
        // Without one, no estimator asks for it.
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

    /// The forecast from second `start` on.
    ///
    /// # Errors
    /// A model or series that cannot be read, or nothing to learn from.
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

    /// The model of sharing scores.
    ///
    /// # Errors
    /// A model that cannot be read, or profiles that nothing can be learnt from.
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
--models train: no profile has a sharing score to learn from; name the directory of a packing.json \
that gleaner train packing has made from others, or have single_data.csv in --data";

fn read(reader: &mut Reader<'_>, directory: &Path, kind: Kind) -> Result<Trained> {
    let path = directory.join(kind.file_name());
    if !path.is_file() {
        return Err(Error::Usage(format!(
            "--models {}: there is no {}; gleaner train {kind} --out {} makes it",
            directory.display(),
            kind.file_name(),
            directory.display()
        )));
    }
    Ok(reader.take(model::read_kind(&path, kind)?))
}

/// Says so where a model was trained on what is still to come.
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
            "the {kind} model was trained until {}, but the simulation starts at {}: it has seen \
             what it is to predict",
            Time::from(to),
            Time::from(start)
        )]);
    }
}
