//! Explains single predictions.

use gleaner_learn::Table;
use gleaner_learn::ebm::{Contribution, Mismatch};
use gleaner_learn::lucid::packing::PackingModel;
use gleaner_learn::lucid::throughput::{Series, table};
use gleaner_learn::lucid::workload::{Fitted, Job, features, from_log};
use serde::Serialize;

use super::{Label, LabelledEbm, Rule};
use crate::packing_row;
use gleaner_domain::inputs::Profile;
use gleaner_domain::{Local, Workload};

/// The explanation of a prediction.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum Prediction {
    /// The prediction of a machine, as a sum of scores.
    Sum(Sum),
    /// The prediction of a tree, as a path of decisions.
    Way(Way),
    /// An estimate by a rule for durations.
    Rule(Rule),
}

/// A prediction of a machine, explained as the sum of an intercept and scores.
#[derive(Debug, Clone, Serialize)]
pub struct Sum {
    /// The job or interval that the prediction is about, such as `job 17`.
    pub subject: String,
    /// The predicted quantity.
    pub label: Label,
    /// Unit of the prediction and of the scores.
    pub unit: &'static str,
    /// Mean prediction over the training rows.
    pub intercept: f64,
    /// The scores of the terms, in descending order of their absolute values.
    pub contributions: Vec<Part>,
    /// The prediction: the sum of the intercept and the scores.
    pub prediction: f64,
    /// The predicted duration in seconds; `None` if something else is predicted.
    pub seconds: Option<f64>,
}

/// The contribution of one term to a prediction.
#[derive(Debug, Clone, Serialize)]
pub struct Part {
    /// The term, its bins and its score.
    #[serde(flatten)]
    pub contribution: Contribution,
    /// Factor by which the term multiplies 1 + seconds; `None` if the prediction is not a
    /// logarithm.
    pub factor: Option<f64>,
}

/// A prediction of a tree, explained as a path of decisions.
#[derive(Debug, Clone, Serialize)]
pub struct Way {
    /// The workload whose sharing score is predicted.
    pub subject: String,
    /// The decisions, starting at the root.
    pub steps: Vec<String>,
    /// Number of training rows at the leaf, by class.
    pub rows: Vec<usize>,
    /// The predicted sharing score.
    pub score: u8,
}

/// Explains the forecast of an interval of a series.
///
/// # Errors
/// Returns an error if the features do not match those of the machine, which does not occur in practice.
pub fn of_interval(
    machine: &LabelledEbm<'_>,
    series: &Series,
    step: usize,
) -> Result<Prediction, Mismatch> {
    let time = Local::from(series.time(step));
    let subject = format!("the ten minutes from {time}");
    sum(machine, subject, &table(series, step..step + 1))
}

/// Explains an estimator's estimate of a job's duration. `machine` is the estimator's machine, if it has one.
///
/// # Errors
/// Returns an error if the features do not match those of the machine, which does not occur in practice.
pub fn of_job(
    machine: Option<&LabelledEbm<'_>>,
    fitted: &Fitted,
    id: &str,
    job: &Job<'_>,
) -> Result<Prediction, Mismatch> {
    let subject = format!("job {id}");
    let (Some(machine), Some(ebm)) = (machine, fitted.ebm()) else {
        return Ok(Prediction::Rule(Rule::of(fitted, subject, job)));
    };
    let table = features(std::slice::from_ref(job), ebm.options().profile);
    sum(machine, subject, &table)
}

/// Explains the sharing score of a profile.
pub fn of_profile(model: &PackingModel, workload: &Workload, profile: &Profile) -> Prediction {
    let tree = model.tree();
    let row = packing_row(model, workload, profile);
    let path = tree.path(&row);
    let leaf = &tree.nodes()[path.last().map_or(0, |step| step.next)];
    Prediction::Way(Way {
        subject: workload.to_string(),
        steps: path.iter().map(|step| tree.describe(step)).collect(),
        rows: leaf.counts.clone(),
        score: tree.class(&row),
    })
}

fn sum(machine: &LabelledEbm<'_>, subject: String, table: &Table) -> Result<Prediction, Mismatch> {
    let told = machine.ebm.explain(table, 0)?;
    let part = |contribution: Contribution| Part {
        factor: machine.logarithm.then(|| contribution.score.exp()),
        contribution,
    };
    let mut contributions: Vec<Part> = told.contributions.into_iter().map(part).collect();
    let size = |part: &Part| part.contribution.score.abs();
    contributions.sort_by(|a, b| size(b).total_cmp(&size(a)));
    Ok(Prediction::Sum(Sum {
        subject,
        label: machine.label,
        unit: machine.unit,
        intercept: told.intercept,
        contributions,
        prediction: told.prediction,
        seconds: match (machine.label, machine.logarithm) {
            (Label::Duration, true) => Some(from_log(told.prediction)),
            (Label::Duration, false) => Some(told.prediction),
            _ => None,
        },
    }))
}
