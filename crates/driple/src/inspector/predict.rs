//! Predictions of inspectors.

use gleaner_observer::{Observer, Parts};
use rayon::prelude::*;

use super::Inspector;
use crate::graph::{GroupedGraph, METRICS};
use crate::model::Design;
use crate::nn::{Real, Tape};

/// The observer stopped the predictions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the predictions were stopped")]
pub struct Stopped;

impl Inspector {
    /// Predicts the metrics of each graph, in the order of [`crate::dataset::METRIC_NAMES`], each in its own unit. If
    /// the card has no scale, the metrics are shares of unknown maxima. The result is `None` for a graph without nodes.
    ///
    /// The prediction for a graph does not depend on the other graphs, not even in the last digit.
    ///
    /// # Errors
    /// [`Stopped`] if the observer stops the predictions.
    pub fn predict(
        &self,
        graphs: &[&GroupedGraph],
        observer: &dyn Observer,
    ) -> Result<Vec<Option<[f64; METRICS]>>, Stopped> {
        let outputs = self.outputs(graphs, observer)?.into_iter();
        Ok(outputs.map(|one| one.map(|o| self.possible(o))).collect())
    }

    /// Like [`Inspector::predict`], but returns the outputs of the network unchanged. These outputs
    /// can be negative, although metrics never are. The unit of progress is one graph.
    ///
    /// # Errors
    /// [`Stopped`] if the observer stops the predictions.
    pub fn outputs(
        &self,
        graphs: &[&GroupedGraph],
        observer: &dyn Observer,
    ) -> Result<Vec<Option<[f64; METRICS]>>, Stopped> {
        let parts = Parts::new(observer, graphs.len());
        let one = |graph: &&GroupedGraph| {
            if observer.is_stopped() {
                return Err(Stopped);
            }
            let output = (!graph.is_empty()).then(|| self.output(graph));
            parts.add(1);
            Ok(output)
        };
        graphs.par_iter().map(one).collect()
    }

    /// Sets negative outputs to zero. Outputs of the original's networks are returned unchanged.
    #[must_use]
    pub fn possible(&self, output: [f64; METRICS]) -> [f64; METRICS] {
        match self.card.architecture.design {
            Design::Original => output,
            // `max` would turn a NaN into 0.
            Design::Deep => output.map(|value| if value <= 0.0 { 0.0 } else { value }),
        }
    }

    fn output(&self, graph: &GroupedGraph) -> [f64; METRICS] {
        let layout = self.network.lay_out([graph], &self.card.inputs);
        let mut tape = Tape::without_gradients(&self.parameters);
        let output = self.network.apply(&mut tape, &layout);
        let row = tape.value(output).row(0);
        let metrics = std::array::from_fn(|metric| row[metric].as_f64());
        self.card
            .scale
            .map_or(metrics, |scale| scale.multiply(metrics))
    }
}
