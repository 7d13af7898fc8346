//! The explainable boosting machines of a model, and their terms.

use gleaner_learn::ebm::{Cell, Ebm, Term};
use gleaner_learn::lucid::workload::{DurationEbm, EstimatorChoice};
use serde::Serialize;

use crate::Model;

/// The quantity that a machine predicts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Label {
    /// Number of GPU jobs submitted in ten minutes.
    Jobs,
    /// Number of GPUs that these jobs request.
    Gpus,
    /// Duration of a job.
    #[cfg_attr(feature = "cli", value(skip))]
    Duration,
}

/// One of a model's explainable boosting machines, with the quantity that it predicts.
#[derive(Debug, Clone, Copy)]
pub struct LabelledEbm<'m> {
    /// The predicted quantity.
    pub label: Label,
    /// Unit of the predicted quantity.
    pub unit: &'static str,
    /// Whether predictions are logarithms, ln(1 + seconds).
    pub logarithm: bool,
    /// The machine.
    pub ebm: &'m Ebm,
}

/// The explanation of a machine: its intercept and the importance of its terms.
#[derive(Debug, Clone, Serialize)]
pub struct EbmFacts {
    /// The predicted quantity.
    pub label: Label,
    /// Unit of the predicted quantity.
    pub unit: &'static str,
    /// Number of training rows.
    pub rows: usize,
    /// Mean prediction over the training rows.
    pub intercept: f64,
    /// The terms of the machine and their importances, strongest first.
    pub importances: Vec<Importance>,
}

/// The importance of a term: how strongly it influences predictions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Importance {
    /// Name of the term: its feature, or `a & b` for a pair.
    pub term: String,
    /// In a machine, the mean absolute score over the training rows. In a tree, the term's share of the total decrease
    /// in impurity.
    pub importance: f64,
}

/// The shape function of a term.
#[derive(Debug, Clone, Serialize)]
pub struct TermFacts {
    /// The predicted quantity.
    pub label: Label,
    /// Name of the term: its feature, or `a & b` for a pair.
    pub term: String,
    /// Mean absolute score over the training rows.
    pub importance: f64,
    /// Unit of the scores.
    pub unit: &'static str,
    /// Names of the term's features: one, or two for a pair.
    pub features: Vec<String>,
    /// The cells of the term. For a pair, the second feature varies fastest.
    pub cells: Vec<Cell>,
}

/// The machines of a model. For a workload model, this is only the machine of the chosen estimator. The
/// result is empty if that estimator is a rule, or if the model is a tree.
pub fn machines(model: &Model, choice: EstimatorChoice) -> Vec<LabelledEbm<'_>> {
    let machine = |label, unit, ebm| LabelledEbm {
        label,
        unit,
        logarithm: false,
        ebm,
    };
    match model {
        Model::Throughput(model) => vec![
            machine(Label::Jobs, "GPU jobs in ten minutes", model.jobs()),
            machine(Label::Gpus, "GPUs in ten minutes", model.gpus()),
        ],
        Model::Workload(model) => {
            let (_, fitted) = model.pick(choice);
            fitted.ebm().map(of_durations).into_iter().collect()
        }
        Model::Packing(_) => Vec::new(),
    }
}

fn of_durations(ebm: &DurationEbm) -> LabelledEbm<'_> {
    let logarithm = ebm.options().logarithm;
    LabelledEbm {
        label: Label::Duration,
        unit: if logarithm {
            "ln(1 + seconds)"
        } else {
            "seconds"
        },
        logarithm,
        ebm: ebm.machine(),
    }
}

impl<'m> LabelledEbm<'m> {
    /// The terms of the machine with their names and importances, strongest first.
    pub fn strongest(&self) -> Vec<(Importance, &'m Term)> {
        let named = |term: &'m Term| {
            let importance = Importance {
                term: self.ebm.name(term),
                importance: term.importance(),
            };
            (importance, term)
        };
        let mut terms: Vec<_> = self.ebm.terms().iter().map(named).collect();
        terms.sort_by(|a, b| b.0.importance.total_cmp(&a.0.importance));
        terms
    }

    /// The term with this name; `None` if there is no such term.
    pub fn term(&self, name: &str) -> Option<&'m Term> {
        let mut terms = self.ebm.terms().iter();
        terms.find(|term| self.ebm.name(term) == name)
    }

    /// Names of a term's features.
    pub fn features(&self, term: &Term) -> Vec<String> {
        let name = |feature: usize| self.ebm.features()[feature].name.clone();
        term.axes()
            .iter()
            .map(|axis| name(axis.feature()))
            .collect()
    }

    /// The shape function of a term, for reports.
    pub fn facts(&self, term: &Term) -> TermFacts {
        TermFacts {
            label: self.label,
            term: self.ebm.name(term),
            importance: term.importance(),
            unit: self.unit,
            features: self.features(term),
            cells: self.ebm.cells(term),
        }
    }
}

impl Label {
    /// Name of the machine that predicts this label.
    pub fn name(self) -> &'static str {
        match self {
            Label::Jobs => "jobs",
            Label::Gpus => "gpus",
            Label::Duration => "duration",
        }
    }
}

impl EbmFacts {
    pub(super) fn of(machine: &LabelledEbm<'_>) -> Self {
        let terms = machine.strongest().into_iter();
        EbmFacts {
            label: machine.label,
            unit: machine.unit,
            rows: machine.ebm.rows(),
            intercept: machine.ebm.intercept(),
            importances: terms.map(|(importance, _)| importance).collect(),
        }
    }
}

/// Sorts terms, strongest first. Terms of equal importance keep their order.
pub(super) fn strongest(terms: impl Iterator<Item = Importance>) -> Vec<Importance> {
    let mut terms: Vec<Importance> = terms.collect();
    terms.sort_by(|a, b| b.importance.total_cmp(&a.importance));
    terms
}
