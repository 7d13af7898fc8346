//! The throughput model: one machine forecasts the number of GPU jobs, and the other the number of GPUs that these jobs
//! request.

use std::ops::Range;

use gleaner_observer::{Observer, Parts};
use serde::{Deserialize, Serialize};

use super::{FEATURES, Series, features};
use crate::ebm::{Ebm, FitError, Settings};
use crate::isotonic::Direction;
use crate::lucid::check_features;

/// A trained model that forecasts the submissions to a cluster in each ten-minute interval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Saved")]
pub struct ThroughputModel {
    jobs: Ebm,
    gpus: Ebm,
}

/// A model as read from a file, before validation.
#[derive(Deserialize)]
struct Saved {
    jobs: Ebm,
    gpus: Ebm,
}

impl TryFrom<Saved> for ThroughputModel {
    type Error = String;

    fn try_from(Saved { jobs, gpus }: Saved) -> Result<Self, String> {
        check_features(&jobs, &FEATURES)?;
        check_features(&gpus, &FEATURES)?;
        Ok(ThroughputModel { jobs, gpus })
    }
}

/// The default settings. With 32 bins and at most 200 rounds, models trained on April to July gave
/// the best forecasts for August. The learning rate of 0.1 and the 10 pairs are the published
/// settings.
pub fn settings(seed: u64) -> Settings {
    Settings {
        learning_rate: 0.1,
        interactions: 10,
        max_bins: 32,
        max_rounds: 200,
        seed,
        ..Settings::default()
    }
}

impl ThroughputModel {
    /// Trains a model on the intervals of `series` with the indices `steps`. The features of these intervals also use
    /// earlier intervals.
    ///
    /// # Errors
    /// `steps` is empty, a setting is out of its range, or the fit is stopped.
    ///
    /// # Panics
    /// `steps` are not intervals of the series.
    pub fn fit(
        series: &Series,
        steps: Range<usize>,
        settings: &Settings,
        observer: &dyn Observer,
    ) -> Result<Self, FitError> {
        let rows: Vec<usize> = steps.clone().collect();
        let table = features(series).take(&rows);
        let work = settings.work(rows.len(), FEATURES.len());
        let parts = Parts::new(observer, work.saturating_mul(2));
        let fit = |labels: &[f64]| {
            let part = parts.part(work);
            let fitted = Ebm::fit_observed(&table, &labels[steps.clone()], settings, &part);
            part.complete();
            fitted
        };
        let (jobs, gpus) = rayon::join(|| fit(series.jobs()), || fit(series.gpus()));
        Ok(ThroughputModel {
            jobs: jobs?,
            gpus: gpus?,
        })
    }

    /// The machine that forecasts the number of GPU jobs.
    pub fn jobs(&self) -> &Ebm {
        &self.jobs
    }

    /// The machine that forecasts the number of GPUs that GPU jobs request.
    pub fn gpus(&self) -> &Ebm {
        &self.gpus
    }

    /// Makes the curve of a feature monotone in both machines (see [`Ebm::smooth`]). Returns
    /// `false` if there is no such feature.
    pub fn smooth(&mut self, feature: &str, direction: Direction) -> bool {
        self.jobs.smooth(feature, direction) && self.gpus.smooth(feature, direction)
    }

    /// For the intervals with the indices `steps`, forecasts the number of GPU jobs, and the number of GPUs that they
    /// request. A forecast uses only values that are at least [`super::LEAD`] intervals earlier. Therefore, up to
    /// [`super::LEAD`] intervals after the end of the series can be forecast. Later intervals are left out.
    pub fn predict(&self, series: &Series, steps: Range<usize>) -> (Vec<f64>, Vec<f64>) {
        let table = super::table(series, steps);
        // Prediction cannot fail, because the machines were either trained on these features or
        // checked when they were read.
        let predict = |machine: &Ebm| machine.predict(&table).unwrap_or_default();
        (predict(&self.jobs), predict(&self.gpus))
    }
}

#[cfg(test)]
mod tests {
    use gleaner_observer::Unobserved;

    use super::*;

    /// A series with 2 to 4 jobs per interval in the first eight hours of each day, and 20 to 22 in the remaining
    /// hours.
    fn series() -> Series {
        let jobs: Vec<f64> = (0..3000)
            .map(|step| if (step / 6) % 24 < 8 { 2.0 } else { 20.0 } + f64::from(step % 3))
            .collect();
        let gpus = jobs.iter().map(|jobs| 4.0 * jobs).collect();
        Series::new("2020-04-01 00:00".parse().unwrap(), jobs, gpus).unwrap()
    }

    #[test]
    fn a_daily_rhythm_is_forecast() {
        let series = series();
        let model = ThroughputModel::fit(&series, 0..2500, &settings(0), &Unobserved).unwrap();
        let (jobs, gpus) = model.predict(&series, 2500..3000);
        let error = crate::metrics::mean_absolute_error(&series.jobs()[2500..], &jobs);
        assert!(error < 0.8, "{error}");
        let error = crate::metrics::mean_absolute_error(&series.gpus()[2500..], &gpus);
        assert!(error < 3.2, "{error}");
        let (beyond, _) = model.predict(&series, 2990..3100);
        assert_eq!(beyond.len(), 10 + super::super::LEAD);
    }

    #[test]
    fn a_saved_model_of_other_features_is_refused() {
        let model = ThroughputModel::fit(&series(), 0..300, &settings(0), &Unobserved).unwrap();
        let text = serde_json::to_string(&model).unwrap();
        assert_eq!(
            serde_json::from_str::<ThroughputModel>(&text).unwrap(),
            model
        );
        let other = text.replacen("\"name\":\"hour\"", "\"name\":\"moon\"", 1);
        let error = serde_json::from_str::<ThroughputModel>(&other).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("feature 3 is moon, expected hour"),
            "{error}"
        );
    }
}
