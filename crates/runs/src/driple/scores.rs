//! The errors of predictions compared with measurements, as printed tables, as JSON, and as a table for a file.

use gleaner_driple::dataset::METRIC_NAMES;
use serde::Serialize;

use super::predictions::number;
use gleaner_document::{Block, Grid, Head};
use gleaner_domain::error::Result;
use gleaner_domain::results::{Column, Table};
use gleaner_predict::driple::Part;
use gleaner_predict::driple::scores::{Metrics, Scores, mean};

/// The scores of several predictors on a part of a data set.
#[derive(Debug, Clone, Serialize)]
pub struct Evaluation {
    /// The part of the data set.
    pub part: Part,
    /// Number of jobs in the part.
    pub jobs: usize,
    /// Names of the metrics, in the order in which each score lists its values.
    pub metrics: [&'static str; 12],
    /// The scores of the models, followed by the scores of the baselines.
    pub scores: Vec<Scores>,
    /// Number of models among the predictors. The other predictors are baselines.
    pub models: usize,
}

/// Each measure's name, and its values by metric.
fn measures(scores: &Scores) -> [(&'static str, &Metrics); 5] {
    [
        ("mse", &scores.mse),
        ("mae", &scores.mae),
        ("relative", &scores.relative),
        ("r2", &scores.r2),
        ("rank", &scores.rank),
    ]
}

impl Evaluation {
    /// An evaluation on `jobs` jobs of a part. The first `models` entries of `scores` are the scores of models, and the
    /// other entries are the scores of baselines.
    pub fn new(part: Part, jobs: usize, models: usize, scores: Vec<Scores>) -> Self {
        let metrics = METRIC_NAMES;
        Evaluation {
            part,
            jobs,
            metrics,
            scores,
            models,
        }
    }

    /// The evaluation as JSON. Undefined values are null.
    ///
    /// # Errors
    /// Returns an error if serialisation fails, which does not occur in practice.
    pub fn json(&self) -> Result<String> {
        crate::pretty::json(self)
    }

    /// A table with a row for each predictor and metric.
    pub fn table(&self) -> Table<'_> {
        let rows = || {
            self.scores
                .iter()
                .flat_map(|scores| (0..12).map(move |at| (scores, at)))
        };
        let texts = |text: fn(&'_ Scores, usize) -> &'_ str| {
            Column::Texts(rows().map(|(scores, at)| text(scores, at).into()).collect())
        };
        let mut columns = vec![
            ("model", texts(|scores, _| &scores.model)),
            ("metric", texts(|_, at| METRIC_NAMES[at])),
        ];
        for (place, name) in ["mse", "mae", "relative", "r2", "rank"]
            .into_iter()
            .enumerate()
        {
            let value = |(scores, at): (&Scores, usize)| {
                Some(measures(scores)[place].1[at]).filter(|value| value.is_finite())
            };
            columns.push((name, Column::Floats(rows().map(value).collect())));
        }
        let name = "evaluation";
        Table { name, columns }
    }

    /// A table of each predictor's mean scores, then a table of the scores by metric for each model.
    pub fn printed(&self) -> Vec<Block> {
        let (part, jobs) = (part(self.part), self.jobs);
        let title = format!(
            "{jobs} jobs of {part}, means over the metrics (mse: for labels divided by the training part's maximum; \
             relative: mean absolute error divided by the mean measured value)"
        );
        let heads = ["mse", "relative", "R²", "rank corr."].map(Head::number);
        let heads = std::iter::once(Head::text("model")).chain(heads);
        let means = Grid::of(title, heads, &self.scores, |scores| {
            [
                scores.model.clone(),
                decimals(mean(&scores.mse), 5),
                decimals(mean(&scores.relative), 3),
                decimals(mean(&scores.r2), 3),
                decimals(mean(&scores.rank), 3),
            ]
        });
        let (models, baselines) = self.scores.split_at(self.models.min(self.scores.len()));
        let models = models
            .iter()
            .map(|scores| by_metric(scores, baselines.first()));
        let grids = std::iter::once(means).chain(models);
        grids.map(Block::Grid).collect()
    }
}

fn part(part: Part) -> &'static str {
    match part {
        Part::Train => "the training part",
        Part::Val => "the validation part",
        Part::Test => "the test part",
        Part::All => "all parts",
    }
}

/// The scores of a model by metric. The column after the absolute error shows the absolute error of a baseline that
/// always predicts the training mean.
fn by_metric(scores: &Scores, training_mean: Option<&Scores>) -> Grid {
    let heads = ["mse", "mae", "mae of mean", "relative", "R²", "rank corr."];
    let heads = std::iter::once(Head::text("metric")).chain(heads.map(Head::number));
    let metrics = METRIC_NAMES.into_iter().enumerate();
    Grid::of(&scores.model, heads, metrics, |(metric, name)| {
        [
            name.to_owned(),
            decimals(scores.mse[metric], 5),
            number(scores.mae[metric]),
            number(training_mean.map_or(f64::NAN, |mean| mean.mae[metric])),
            decimals(scores.relative[metric], 3),
            decimals(scores.r2[metric], 3),
            decimals(scores.rank[metric], 3),
        ]
    })
}

/// A model's scores on the test part, which has `jobs` jobs, next to the scores of a baseline that always predicts the
/// training mean. The table has a row for each metric and a row for the means over the metrics. The note compares the
/// mean squared errors of the model and the baseline.
pub fn beside_mean(model: &Scores, training_mean: &Scores, jobs: usize) -> [Block; 2] {
    let heads = ["mse", "mse of mean", "mae", "mae of mean", "R²"].map(Head::number);
    let heads = std::iter::once(Head::text("metric")).chain(heads);
    let row = |name: &str, mse: [f64; 2], mae: [String; 2], r2: f64| {
        let [ours, theirs] = mse.map(|value| decimals(value, 5));
        let [mine, means] = mae;
        [name.to_owned(), ours, theirs, mine, means, decimals(r2, 3)]
    };
    let metric = |(at, name): (usize, &str)| {
        let mse = [model.mse[at], training_mean.mse[at]];
        let mae = [number(model.mae[at]), number(training_mean.mae[at])];
        row(name, mse, mae, model.r2[at])
    };
    let blank = [String::new(), String::new()];
    let means = [mean(&model.mse), mean(&training_mean.mse)];
    let last = row("mean", means, blank, mean(&model.r2));
    let rows = METRIC_NAMES.into_iter().enumerate().map(metric);
    let title = format!("Test part, {jobs} jobs");
    let table = Grid::of(title, heads, rows.chain([last]), |row| row);
    let note = format!(
        "The model's mean squared error is {:.0} % of the error of always predicting the training mean.",
        100.0 * model.share_of(training_mean)
    );
    [Block::Grid(table), Block::Note(note)]
}

fn decimals(value: f64, places: usize) -> String {
    if value.is_finite() {
        format!("{value:.places$}")
    } else {
        "-".to_owned()
    }
}
