//! Lucid's throughput model on Venus, trained on April to August and tested on September.

use gleaner_domain::Observer;
use gleaner_domain::error::{Fault, Result};
use gleaner_domain::results::reproduce::{Drawing, NamedCurve};
use gleaner_inputs::jobs;
use gleaner_io::SourceId;
use gleaner_learn::ebm::{Ebm, Settings};
use gleaner_learn::lucid::throughput::{Series, ThroughputModel};
use gleaner_learn::metrics::{mean, mean_absolute_error, median, r_squared};

use crate::cause;
use crate::files::Data;
use crate::filled::Values;

/// Number of steps in a day. A step is ten minutes.
const DAY: f64 = 144.0;
/// Number of steps in an hour.
const HOUR: usize = 6;
/// Minimum number of training intervals: the number of ten-minute intervals in a week.
const LEAST_STEPS: usize = 7 * 24 * HOUR;

/// The first day of the test period.
const SEPTEMBER: jiff::civil::DateTime = jiff::civil::datetime(2020, 9, 1, 0, 0, 0, 0);

/// A label of the model: the quantity that it forecasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Label {
    /// GPU jobs submitted in ten minutes.
    Jobs,
    /// GPUs requested by the jobs that are submitted in ten minutes.
    Gpus,
}

/// The trained model and its forecasts.
pub struct Throughput {
    series: Series,
    model: ThroughputModel,
    /// Number of training intervals.
    train: usize,
    /// Forecasts of the jobs and of the GPUs in the remaining intervals: the intervals of September.
    forecasts: [Vec<f64>; 2],
    /// The published forecasts for the same intervals.
    published: [Vec<f64>; 2],
    /// All files that were read.
    pub sources: Vec<SourceId>,
}

/// Maximum number of rounds. In every round, the cuts are drawn at random.
const ROUNDS: usize = 500;

/// The published settings. As in interpret 0.7.8, training begins with random rounds of trees with two leaves. After
/// these random rounds, interpret continues with rounds on the features that have the largest gain, but our fit stops.
fn settings() -> Settings {
    Settings {
        learning_rate: 0.1,
        max_bins: 256,
        interactions: 10,
        leaves: 2,
        random_rounds: ROUNDS,
        max_rounds: ROUNDS,
        ..Settings::default()
    }
}

impl Throughput {
    /// Reads the series and the published forecast, and trains the model.
    ///
    /// # Errors
    /// A file cannot be read or has faults, or the training fails or is stopped.
    pub fn train(data: Data<'_>, observer: &dyn Observer) -> Result<Self> {
        let file = data.file("lucid/venus_sept/cluster_throughput.csv");
        let read = jobs::throughput::read(&file)?;
        let (series, mut sources) = (read.value, read.sources);
        let train = series.steps_before(SEPTEMBER);
        if train < LEAST_STEPS || train == series.len() {
            let found = format!(
                "{train} of {} intervals before September 2020",
                series.len()
            );
            let expected =
                format!("at least {LEAST_STEPS} intervals before September, and some in September");
            return Err(Fault::of(&file, found, expected).into());
        }
        let file = data.file("lucid/venus_sept/throughput_pred.csv");
        let forecast = jobs::forecast::read(&file, 0)?;
        sources.extend(forecast.sources);
        let (found, expected) = (forecast.value.times.len(), series.len() - train);
        if found != expected {
            let found = format!("{found} intervals");
            let expected =
                format!("{expected} intervals, as in cluster_throughput.csv for September");
            return Err(Fault::of(&file, found, expected).into());
        }
        let fitted = ThroughputModel::fit(&series, 0..train, &settings(), observer.stop());
        let model = fitted.map_err(|error| cause(observer, error))?;
        let (jobs, gpus) = model.predict(&series, train..series.len());
        Ok(Throughput {
            forecasts: [jobs, gpus],
            published: [forecast.value.gpu_jobs, forecast.value.gpus],
            series,
            model,
            train,
            sources,
        })
    }

    fn labels(&self, label: Label) -> &[f64] {
        match label {
            Label::Jobs => self.series.jobs(),
            Label::Gpus => self.series.gpus(),
        }
    }

    fn truth(&self, label: Label) -> &[f64] {
        &self.labels(label)[self.train..]
    }

    /// The machine that forecasts a label.
    pub fn machine(&self, label: Label) -> &Ebm {
        match label {
            Label::Jobs => self.model.jobs(),
            Label::Gpus => self.model.gpus(),
        }
    }

    /// Mean absolute error and R² of our forecast.
    pub fn scores(&self, label: Label) -> [f64; 2] {
        self.scores_of(label, &self.forecasts[label as usize])
    }

    /// Mean absolute error and R² of the published forecast.
    pub fn published_scores(&self, label: Label) -> [f64; 2] {
        self.scores_of(label, &self.published[label as usize])
    }

    /// Mean absolute error and R² of simple rules: the value an hour ago, and the mean and the median of the training
    /// intervals.
    pub fn rules(&self, label: Label) -> [(&'static str, [f64; 2]); 3] {
        let (all, test) = (self.labels(label), self.train..self.series.len());
        let hour_ago: Vec<f64> = all[test.start - HOUR..test.end - HOUR].to_vec();
        let always = |value: f64| vec![value; test.len()];
        let of = |told: &[f64]| self.scores_of(label, told);
        [
            ("value an hour ago", of(&hour_ago)),
            ("training mean", of(&always(mean(&all[..self.train])))),
            ("training median", of(&always(median(&all[..self.train])))),
        ]
    }

    fn scores_of(&self, label: Label, told: &[f64]) -> [f64; 2] {
        let truth = self.truth(label);
        [mean_absolute_error(truth, told), r_squared(truth, told)]
    }

    /// The importance of each of these features to a machine: the mean absolute score of the feature. A feature that
    /// the machine does not use has importance 0.
    pub fn importances(&self, label: Label, features: &[String]) -> Values {
        let (machine, mut ours) = (self.machine(label), Values::default());
        for feature in features {
            let terms = machine.terms().iter();
            let named = terms.filter(|term| machine.name(term) == *feature);
            let importance: f64 = named.map(|term| term.importance()).sum();
            ours.set(feature, "average absolute score", importance);
        }
        ours
    }

    /// A row with the score of each hour of the day, from 0 to 23.
    pub fn shape_of_hours(&self, label: Label) -> Values {
        let mut ours = Values::default();
        for (hour, score) in (0..24).zip(self.hours(label).unwrap_or_default()) {
            ours.set("hour", &hour.to_string(), score);
        }
        ours
    }

    fn hours(&self, label: Label) -> Option<Vec<f64>> {
        let machine = self.machine(label);
        let term = machine
            .terms()
            .iter()
            .find(|term| machine.name(term) == "hour")?;
        // The first bin is for missing values.
        Some(term.scores().iter().skip(1).copied().collect())
    }

    /// Curves of the submissions in September, the published forecast and our forecast, over the days of the month.
    pub fn drawing(&self, label: Label, y: &str) -> Drawing {
        let curve = |name: &str, values: &[f64]| NamedCurve {
            name: name.to_owned(),
            points: (0..)
                .zip(values)
                .map(|(step, &v)| (1.0 + f64::from(step) / DAY, v))
                .collect(),
        };
        Drawing::Series {
            x: "day of September".to_owned(),
            y: y.to_owned(),
            curves: vec![
                curve("submitted", self.truth(label)),
                curve("published forecast", &self.published[label as usize]),
                curve("our forecast", &self.forecasts[label as usize]),
            ],
        }
    }
}
