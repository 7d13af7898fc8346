//! Explanations of trained models and of single predictions.

mod machine;
mod prediction;
mod rule;

pub use machine::{EbmFacts, Importance, Label, LabelledEbm, TermFacts, machines};
pub use prediction::{Part, Prediction, Sum, Way, of_interval, of_job, of_profile};
pub use rule::{EstimatorFacts, Rule};

use gleaner_learn::lucid::workload::EstimatorChoice;
use gleaner_learn::tree::Tree;
use serde::Serialize;

use super::stored::Input;
use super::{Kind, Model, Span, Trained};

/// The explanation of a model.
#[derive(Debug, Clone, Serialize)]
pub struct Explanation {
    /// Kind of the model.
    pub kind: Kind,
    /// The rows that the model was trained on.
    pub trained: Span,
    /// The files that the model was trained on.
    pub inputs: Vec<Input>,
    /// The estimator that is explained and the scores of all estimators; `None` if the model is not
    /// a workload model.
    pub estimator: Option<EstimatorFacts>,
    /// The explainable boosting machines of the model; empty for a tree and for an estimator that
    /// is a rule.
    pub machines: Vec<EbmFacts>,
    /// The tree of the model; `None` if the model is not a tree.
    pub tree: Option<TreeFacts>,
    /// The requested terms.
    pub terms: Vec<TermFacts>,
    /// The requested prediction, if any.
    pub prediction: Option<Prediction>,
}

/// The explanation of a decision tree.
#[derive(Debug, Clone, Serialize)]
pub struct TreeFacts {
    /// One line for each node, below the line of its parent and indented further.
    pub text: String,
    /// Number of nodes, including leaves.
    pub nodes: usize,
    /// Features and their shares of the total decrease in impurity, strongest first.
    pub importances: Vec<Importance>,
}

impl Explanation {
    /// The general explanation of a model, without explanations of single terms or predictions. For
    /// a workload model, the chosen estimator is explained.
    pub fn of(trained: &Trained, choice: EstimatorChoice) -> Self {
        Explanation {
            kind: trained.model.kind(),
            trained: trained.span,
            inputs: trained.inputs.clone(),
            estimator: match &trained.model {
                Model::Workload(model) => Some(EstimatorFacts::of(model, choice)),
                _ => None,
            },
            machines: machines(&trained.model, choice)
                .iter()
                .map(EbmFacts::of)
                .collect(),
            tree: match &trained.model {
                Model::Packing(model) => Some(TreeFacts::of(model.tree())),
                _ => None,
            },
            terms: Vec::new(),
            prediction: None,
        }
    }
}

impl TreeFacts {
    fn of(tree: &Tree) -> Self {
        let importance = |(feature, importance): (&String, f64)| Importance {
            term: feature.clone(),
            importance,
        };
        let features = tree.features().iter().zip(tree.importances());
        TreeFacts {
            text: tree.to_string(),
            nodes: tree.nodes().len(),
            importances: machine::strongest(features.map(importance)),
        }
    }
}
