//! Starts training runs with a new network or with the weights of an inspector.

use super::plan::Plan;
use super::scale::Scale;
use super::state::State;
use super::training::{Stage, Training};
use crate::dataset::{Dataset, Example, mean_labels};
use crate::graph::METRICS;
use crate::inspector::{Card, Inspector, Provenance};
use crate::model::{Architecture, ArchitectureError, Design, Inputs, Network};

/// A training run that is about to begin, or to continue after an interruption.
#[derive(Debug, Clone)]
pub struct Start {
    /// The card of the inspector that is being trained. Its provenance holds the plan.
    pub card: Card,
    /// The layers of the network.
    pub network: Network,
    /// The state of the training run.
    pub state: State<f32>,
}

/// The reason why training cannot start.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StartError {
    /// The training set is empty.
    #[error("the data set has no graphs to train on")]
    NoGraphs,
    /// The architecture is invalid.
    #[error(transparent)]
    Architecture(#[from] ArchitectureError),
}

fn examples(data: &Dataset) -> Result<Vec<&Example>, StartError> {
    let examples: Vec<&Example> = data.train.iter().flatten().collect();
    if examples.is_empty() {
        return Err(StartError::NoGraphs);
    }
    Ok(examples)
}

/// Starts a training run with a new network, whose initial weights are drawn at random with `seed`. The caller must add
/// the grouping settings and the frequencies of operation types to the card.
///
/// # Errors
/// If the architecture is invalid or there are no graphs.
pub fn fresh(
    architecture: Architecture,
    data: &Dataset,
    plan: Plan,
    seed: u64,
) -> Result<Start, StartError> {
    architecture.check()?;
    let examples = examples(data)?;
    let scale = Scale::of(examples.iter().copied());
    let (network, mut parameters) = Network::new(architecture, seed);
    let inputs = match architecture.design {
        Design::Original => Inputs::Raw,
        Design::Deep => {
            let means = mean_labels(&examples);
            let share = |metric: usize| means[metric] / scale.0[metric];
            network.begin_at(
                &mut parameters,
                &std::array::from_fn::<_, METRICS, _>(share),
            );
            Inputs::standard(examples.iter().map(|example| &example.graph))
        }
    };
    let card = Card {
        architecture,
        inputs,
        scale: Some(scale),
        grouping: None,
        frequencies: None,
        provenance: Some(Provenance {
            plan,
            seed,
            ..Provenance::default()
        }),
    };
    let state = State::new(parameters);
    Ok(Start {
        card,
        network,
        state,
    })
}

/// Starts a training run with the weights of `inspector` and a new scale for the labels of `data`.
/// This is transfer learning if the plan trains only some of the weights. The input conversion of
/// `inspector` is kept, because the weights depend on it.
///
/// # Errors
/// If there are no graphs.
pub fn from(inspector: &Inspector, data: &Dataset, plan: Plan) -> Result<Start, StartError> {
    let examples = examples(data)?;
    let mut card = inspector.card.clone();
    card.scale = Some(Scale::of(examples.iter().copied()));
    card.provenance = Some(Provenance {
        plan,
        ..Provenance::default()
    });
    Ok(Start {
        card,
        network: inspector.network.clone(),
        state: State::new(inspector.parameters.clone()),
    })
}

impl Start {
    /// The plan of the training run, or the default plan if the card has no provenance.
    #[must_use]
    pub fn plan(&self) -> Plan {
        self.card
            .provenance
            .as_ref()
            .map_or_else(Plan::default, |origin| origin.plan)
    }

    /// Prepares training on `data`.
    #[must_use]
    pub fn training(&self, data: &Dataset) -> Training<'_, f32> {
        let scale = self.card.scale.unwrap_or(Scale::NONE);
        let state = self.state.clone();
        Training::new(
            &self.network,
            &self.card.inputs,
            &scale,
            self.plan(),
            data,
            state,
        )
    }

    /// The inspector with the weights of the best epoch in `state`. `state` must belong to this
    /// training run.
    #[must_use]
    pub fn best(&self, state: &State<f32>) -> Inspector {
        let mut card = self.card.clone();
        let origin = card.provenance.get_or_insert_default();
        origin.epochs = state.history.len();
        origin.best_epoch = state.best.as_ref().map_or(0, |best| best.epoch);
        Inspector {
            card,
            network: self.network.clone(),
            parameters: state.best_parameters().clone(),
        }
    }

    /// The inspector with the weights of the best epoch of `training`, and with its validation and
    /// test errors on the card.
    #[must_use]
    pub fn inspector(&self, training: &Training<'_, f32>) -> Inspector {
        let mut inspector = self.best(training.state());
        let errors = |stage| training.errors(stage, &inspector.parameters);
        let (val, test) = (errors(Stage::Val), errors(Stage::Test));
        let origin = inspector.card.provenance.get_or_insert_default();
        (origin.val, origin.test) = (val, test);
        inspector
    }
}
