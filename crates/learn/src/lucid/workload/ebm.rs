//! An explainable boosting machine (EBM) that estimates durations.

use gleaner_observer::Observer;
use serde::{Deserialize, Serialize};

use super::{Job, features, from_log, to_log};
use crate::ebm::{Binning, Ebm, FitError, Settings};
use crate::isotonic::Direction;
use crate::lucid::check_features;

/// Options for the features and the labels that an EBM learns from.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// Whether the job's profile is among the features.
    pub profile: bool,
    /// Whether the EBM learns ln(1 + seconds) instead of seconds.
    pub logarithm: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            profile: true,
            logarithm: true,
        }
    }
}

impl Options {
    /// Settings of the EBM. In trials on the first days of September in the Venus trace, the settings for logarithms
    /// gave the best estimates for the days after the training data. They use few rounds, because users change their
    /// habits faster than the EBM can learn them. The settings for seconds are the published settings (learning rate
    /// 0.01, bins of equal width, 20 pairs), but with at most 1,000 rounds.
    pub fn settings(self, seed: u64) -> Settings {
        let settings = Settings {
            interactions: 20,
            bags: 8,
            seed,
            ..Settings::default()
        };
        if self.logarithm {
            return Settings {
                learning_rate: 0.05,
                max_rounds: 100,
                ..settings
            };
        }
        Settings {
            learning_rate: 0.01,
            max_rounds: 1000,
            binning: Binning::Uniform,
            max_bins: 256,
            ..settings
        }
    }
}

/// A trained EBM that estimates how long a job runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Saved")]
pub struct DurationEbm {
    options: Options,
    machine: Ebm,
}

/// A model as read from a file, before validation.
#[derive(Deserialize)]
struct Saved {
    options: Options,
    machine: Ebm,
}

impl TryFrom<Saved> for DurationEbm {
    type Error = String;

    fn try_from(Saved { options, machine }: Saved) -> Result<Self, String> {
        check_features(&machine, features(&[], options.profile).names())?;
        Ok(DurationEbm { options, machine })
    }
}

impl DurationEbm {
    /// Trains an EBM on jobs and their durations in seconds.
    ///
    /// # Errors
    /// There is no job, or the numbers of durations and jobs differ. A duration is not finite or is
    /// too large. The fit is stopped.
    pub fn fit(
        jobs: &[Job<'_>],
        seconds: &[f64],
        options: Options,
        settings: &Settings,
        observer: &dyn Observer,
    ) -> Result<Self, FitError> {
        let table = features(jobs, options.profile);
        let labels: Vec<f64> = if options.logarithm {
            seconds.iter().map(|&seconds| to_log(seconds)).collect()
        } else {
            seconds.to_vec()
        };
        let machine = Ebm::fit_observed(&table, &labels, settings, observer)?;
        Ok(DurationEbm { options, machine })
    }

    /// The options for the features and the labels that the EBM learnt from.
    pub fn options(&self) -> Options {
        self.options
    }

    /// The boosting machine. Its scores are in seconds or, if it learnt logarithms, on the scale of
    /// ln(1 + seconds).
    pub fn machine(&self) -> &Ebm {
        &self.machine
    }

    /// Makes the curve of a feature monotone (see [`Ebm::smooth`]). Returns `false` if there is no
    /// such feature.
    pub fn smooth(&mut self, feature: &str, direction: Direction) -> bool {
        self.machine.smooth(feature, direction)
    }

    /// Estimates how long jobs will run, in seconds. If the EBM learnt seconds, an estimate can be negative.
    pub fn predict(&self, jobs: &[Job<'_>]) -> Vec<f64> {
        // Prediction cannot fail, because the machine was either trained on these features or
        // checked when it was read.
        let table = features(jobs, self.options.profile);
        let labels = self.machine.predict(&table).unwrap_or_default();
        if self.options.logarithm {
            labels.into_iter().map(from_log).collect()
        } else {
            labels
        }
    }
}

#[cfg(test)]
mod tests {
    use gleaner_observer::Unobserved;

    use super::*;
    use crate::lucid::Usage;
    use jiff::ToSpan;
    use jiff::civil::date;

    /// Ann's jobs run for a minute and Bob's for an hour. On eight GPUs, they run ten times as
    /// long.
    fn jobs() -> (Vec<Job<'static>>, Vec<f64>) {
        let job = |k: i32| Job {
            user: if k % 2 == 0 { "ann" } else { "bob" },
            name: "",
            vc: "vc",
            gpus: if k % 3 == 0 { 8 } else { 1 },
            cpus: 1.0,
            submitted: date(2020, 9, 1).at(0, 0, 0, 0).saturating_add(k.minutes()),
            amp: None,
            usage: Usage {
                gpu_util: f64::NAN,
                gmem_util: f64::NAN,
                gmem: f64::NAN,
            },
        };
        let jobs: Vec<Job<'_>> = (0..600).map(job).collect();
        let seconds = |job: &Job<'_>| {
            let base = if job.user == "ann" { 60.0 } else { 3600.0 };
            if job.gpus == 8 { 10.0 * base } else { base }
        };
        let seconds = jobs.iter().map(seconds).collect();
        (jobs, seconds)
    }

    #[test]
    fn durations_are_learnt_from_users_and_gpus() {
        let (jobs, seconds) = jobs();
        for logarithm in [true, false] {
            let options = Options {
                profile: false,
                logarithm,
            };
            let settings = Settings {
                learning_rate: 0.05,
                max_rounds: 300,
                ..options.settings(0)
            };
            let model = DurationEbm::fit(&jobs, &seconds, options, &settings, &Unobserved).unwrap();
            let predicted = model.predict(&jobs);
            let off = crate::metrics::mean_absolute_error(&seconds, &predicted);
            assert!(off < 1500.0, "{off} s; the median's error is 9,000 s");
        }
    }

    #[test]
    fn a_saved_model_keeps_its_options() {
        let (jobs, seconds) = jobs();
        let options = Options::default();
        let model =
            DurationEbm::fit(&jobs, &seconds, options, &options.settings(0), &Unobserved).unwrap();
        let text = serde_json::to_string(&model).unwrap();
        assert_eq!(serde_json::from_str::<DurationEbm>(&text).unwrap(), model);
        let other = text.replacen("\"profile\":true", "\"profile\":false", 1);
        let error = serde_json::from_str::<DurationEbm>(&other)
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("trained on 12 features, expected 8"),
            "{error}"
        );
    }
}
