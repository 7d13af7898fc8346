//! Batches laid out for a network.

use std::collections::BTreeMap;

use ndarray::Array2;
use rayon::prelude::*;

use super::scale::Scale;
use crate::dataset::Example;
use crate::graph::METRICS;
use crate::model::{Inputs, Layout, Network};
use crate::nn::{Gradients, Parameters, Real, SpareBuffers, Tape};

/// The maximum number of graphs in a part of a batch. A part is small enough for its values to fit
/// into a processor's cache, and the parts of a batch are computed in parallel. The size of a part
/// does not depend on the number of threads, so neither do the results.
const PART: usize = 16;

/// A batch, laid out once for all epochs.
pub(super) struct Batch<T> {
    parts: Vec<Part<T>>,
    graphs: usize,
}

/// A part of a batch, in which all graphs have the same number of nodes.
struct Part<T> {
    layout: Layout<T>,
    labels: Array2<T>,
    /// The input of the readout's linear layers, if training updates none of the parameters that
    /// this input depends on.
    embedded: Option<Array2<T>>,
}

impl<T: Real> Batch<T> {
    /// Lays out `examples` in parts. All graphs of a part are of equal size. Labels are divided by
    /// `scale`.
    pub fn new(network: &Network, inputs: &Inputs, scale: &Scale, examples: &[Example]) -> Self {
        let mut by_size: BTreeMap<usize, Vec<&Example>> = BTreeMap::new();
        for example in examples {
            by_size
                .entry(example.graph.len())
                .or_default()
                .push(example);
        }
        let parts = by_size
            .values()
            .flat_map(|equal| equal.chunks(PART))
            .map(|part| Part {
                layout: network.lay_out(part.iter().map(|example| &example.graph), inputs),
                labels: scale.divide(part),
                embedded: None,
            });
        Self {
            parts: parts.collect(),
            graphs: examples.len(),
        }
    }

    /// The number of graphs.
    pub fn graphs(&self) -> usize {
        self.graphs
    }

    /// Computes the input of the readout's linear layers, once for all epochs. Training must not
    /// update any of the `parameters` that this input depends on.
    pub fn embed(&mut self, network: &Network, parameters: &Parameters<T>) {
        self.parts.par_iter_mut().for_each(|part| {
            let mut tape = Tape::without_gradients(parameters);
            let embedded = network.embed(&mut tape, &part.layout);
            part.embedded = Some(tape.value(embedded).clone());
        });
    }

    /// Returns the sum of squared errors, and adds the gradients of the mean squared error to
    /// `gradients`.
    pub fn learn(
        &self,
        network: &Network,
        parameters: &Parameters<T>,
        gradients: &mut Gradients<T>,
        spare: &SpareBuffers<T>,
    ) -> f64 {
        let weight = T::of(2.0 / (self.graphs * METRICS) as f64);
        let one = |part: &Part<T>| {
            let mut gradients = Gradients::zero(parameters);
            let mut tape = Tape::with_buffers(parameters, spare.borrow());
            let output = part.apply(network, &mut tape);
            let errors = tape.value(output) - &part.labels;
            let squares = sum_of_squares(&errors);
            tape.backward(output, errors.mapv(|error| error * weight), &mut gradients);
            spare.give_back(tape.into_buffers());
            (squares, gradients)
        };
        let learnt: Vec<(f64, Gradients<T>)> = self.parts.par_iter().map(one).collect();
        learnt.iter().for_each(|(_, part)| gradients.add(part));
        learnt.iter().map(|(squares, _)| squares).sum()
    }

    /// The squared errors of each metric, summed over the graphs.
    pub fn squares(
        &self,
        network: &Network,
        parameters: &Parameters<T>,
        spare: &SpareBuffers<T>,
    ) -> [f64; METRICS] {
        let one = |part: &Part<T>| {
            let mut tape = Tape::with_buffers(parameters, spare.borrow()).values_only();
            let output = part.apply(network, &mut tape);
            let errors = tape.value(output) - &part.labels;
            let mut squares = [0.0; METRICS];
            for row in errors.rows() {
                squares
                    .iter_mut()
                    .zip(row)
                    .for_each(|(sum, e)| *sum += e.as_f64().powi(2));
            }
            spare.give_back(tape.into_buffers());
            squares
        };
        let parts: Vec<[f64; METRICS]> = self.parts.par_iter().map(one).collect();
        std::array::from_fn(|metric| parts.iter().map(|squares| squares[metric]).sum())
    }
}

impl<T: Real> Part<T> {
    fn apply<'a>(&'a self, network: &Network, tape: &mut Tape<'a, T>) -> crate::nn::Var {
        match &self.embedded {
            Some(embedded) => {
                let embedded = tape.input(embedded.clone());
                network.metrics(tape, embedded)
            }
            None => network.apply(tape, &self.layout),
        }
    }
}

fn sum_of_squares<T: Real>(errors: &Array2<T>) -> f64 {
    errors.iter().map(|error| error.as_f64().powi(2)).sum()
}
