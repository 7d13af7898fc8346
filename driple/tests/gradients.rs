//! Gradients of whole networks against differences of the loss: a check that shares no code with
//! them. Derived by formula.

#![expect(clippy::unwrap_used, reason = "tests")]

use gleaner_driple::graph::GroupedGraph;
use gleaner_driple::model::{Architecture, Convolution, Depth, Inputs, Network};
use gleaner_driple::nn::{Gradients, Parameters, Tape};
use ndarray::Array2;
use proptest::prelude::*;
use proptest::sample::Index;

/// A connected graph of `nodes` nodes: a path, and the edges that `chosen` says.
fn graph(nodes: usize, chosen: &[(Index, Index)], features: &[[f32; 3]]) -> GroupedGraph {
    let mut edges: Vec<(u32, u32)> = (1..nodes as u32).map(|b| (b - 1, b)).collect();
    for (a, b) in chosen {
        let (a, b) = (a.index(nodes) as u32, b.index(nodes) as u32);
        if a != b {
            edges.push((a.min(b), a.max(b)));
        }
    }
    edges.sort_unstable();
    edges.dedup();
    GroupedGraph {
        features: features[..nodes].to_vec(),
        edges,
    }
}

fn loss(network: &Network, parameters: &Parameters<f64>, graphs: &[GroupedGraph]) -> f64 {
    let inputs = inputs(network, graphs);
    let layout = network.lay_out(graphs, &inputs);
    let mut tape = Tape::without_gradients(parameters);
    let output = network.apply(&mut tape, &layout);
    (tape.value(output) * &weights(graphs.len())).sum()
}

/// Numbers that tell the outputs apart.
fn weights(graphs: usize) -> Array2<f64> {
    Array2::from_shape_fn((graphs, 12), |(i, j)| ((3 * i + 7 * j) % 5) as f64 - 1.7)
}

fn inputs(network: &Network, graphs: &[GroupedGraph]) -> Inputs {
    if network.architecture().inputs() == 3 {
        Inputs::Raw
    } else {
        Inputs::standard(graphs)
    }
}

fn check(architecture: Architecture, seed: u64, graphs: &[GroupedGraph]) {
    let (network, mut parameters) = Network::new::<f64>(architecture, seed);
    // The original's first readout is so narrow that nothing would be seen of its gradients.
    for id in parameters.ids().collect::<Vec<_>>() {
        parameters[id].mapv_inplace(|value| value * 1.5 + 0.01);
    }
    let inputs = inputs(&network, graphs);
    let layout = network.lay_out(graphs, &inputs);
    let mut tape = Tape::new(&parameters);
    let output = network.apply(&mut tape, &layout);
    let mut gradients = Gradients::zero(&parameters);
    tape.backward(output, weights(graphs.len()), &mut gradients);
    for id in parameters.ids() {
        let len = parameters[id].len();
        for place in [0, len / 2, len - 1] {
            let moved = |by: f64| {
                let mut moved = parameters.clone();
                *moved[id].iter_mut().nth(place).unwrap() += by;
                loss(&network, &moved, graphs)
            };
            let step = 1e-5;
            let wanted = (moved(step) - moved(-step)) / (2.0 * step);
            let found = *gradients[id].iter().nth(place).unwrap();
            // Where a rectifier switches within the step, the quotient is of both sides.
            let half = (moved(step / 2.0) - moved(-step / 2.0)) / step;
            let smooth = (half - wanted).abs() <= 1e-6 * (1.0 + wanted.abs());
            assert!(
                !smooth || (found - wanted).abs() <= 1e-4 * (1e-2 + wanted.abs()),
                "{architecture:?} {} at {place}: {found}, by differences {wanted}",
                parameters.name(id)
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn gradients_are_those_of_differences(
        seed in 0..1000_u64,
        nodes in 2..9_usize,
        chosen in proptest::collection::vec(any::<(Index, Index)>(), 0..12),
        features in proptest::collection::vec(proptest::array::uniform3(0.0..2.0_f32), 18),
    ) {
        let graphs: Vec<GroupedGraph> = (0..2)
            .map(|half| graph(nodes, &chosen[half * chosen.len() / 2..], &features[half * 9..]))
            .collect();
        for kind in [Convolution::Gcn, Convolution::Gin, Convolution::Gat, Convolution::Mpnn] {
            for mut architecture in [Architecture::original(kind), Architecture::new(kind)] {
                architecture.hidden = 8;
                architecture.depth = Depth::Fixed(3);
                check(architecture, seed, &graphs);
            }
        }
    }
}
