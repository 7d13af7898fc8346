//! Compares outputs and gradients of the networks with golden values, which Driple's original code
//! computed in double precision.

use crate::support::reference;
use gleaner_driple::graph::GroupedGraph;
use gleaner_driple::model::{
    Architecture, Convolution, Inputs, Network, Weights, read_weights, set_weights,
};
use gleaner_driple::nn::{Gradients, Parameters, Tape};
use ndarray::Array2;
use serde_json::Value;

fn json(name: &str) -> Option<Value> {
    Some(serde_json::from_slice(&reference(name)?).unwrap())
}

fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(parts) => parts.iter().flat_map(numbers).collect(),
        number => vec![number.as_f64().unwrap()],
    }
}

fn graph(adjacency: &Value, features: &Value) -> GroupedGraph {
    let adjacency = numbers(adjacency);
    let nodes = adjacency.len().isqrt();
    let mut edges = Vec::new();
    for a in 0..nodes {
        for b in a + 1..nodes {
            if adjacency[a * nodes + b] != 0.0 {
                edges.push((a as u32, b as u32));
            }
        }
    }
    let features = numbers(features);
    let features = features
        .as_chunks::<3>()
        .0
        .iter()
        .map(|row| row.map(|v| v as f32))
        .collect();
    GroupedGraph { features, edges }
}

fn network(kind: Convolution, hidden: usize, weights: &Weights) -> (Network, Parameters<f64>) {
    let architecture = Architecture {
        hidden,
        ..Architecture::original(kind)
    };
    let (network, mut parameters) = Network::new(architecture, 0);
    set_weights(&mut parameters, weights).unwrap();
    (network, parameters)
}

/// Compares the outputs for all graphs, in double precision with a tight tolerance. In single
/// precision, the tolerance allows for the original's own loss of precision.
fn check_outputs(kind: Convolution, hidden: usize, weights: &str, outputs: &str) {
    let (Some(weights), Some(outputs), Some(graphs)) =
        (reference(weights), json(outputs), json("gcn_forward.json"))
    else {
        return;
    };
    let (network, parameters) = network(kind, hidden, &read_weights(&weights).unwrap());
    let single: Parameters<f32> = parameters.cast();
    for (reference, drawn) in outputs["outputs"]
        .as_array()
        .unwrap()
        .iter()
        .zip(graphs["graphs"].as_array().unwrap())
    {
        assert_eq!(reference["id"], drawn["id"]);
        let graph = graph(&drawn["adj"], &drawn["x"]);
        let wanted = numbers(&reference["out_f64"]);
        let layout = network.lay_out([&graph], &Inputs::Raw);
        let mut tape = Tape::without_gradients(&parameters);
        let output = network.apply(&mut tape, &layout);
        for (&found, wanted) in tape.value(output).iter().zip(&wanted) {
            let error = (found - wanted).abs() / wanted.abs().max(1e-12);
            assert!(
                error < 1e-8,
                "{kind:?} graph {}: {found} {wanted}",
                drawn["id"]
            );
        }
        // `lost` is the error of the original's outputs in single precision.
        let lost = reference["max_abs_f32_minus_f64"].as_f64().unwrap();
        let layout = network.lay_out([&graph], &Inputs::Raw);
        let mut tape = Tape::without_gradients(&single);
        let output = network.apply(&mut tape, &layout);
        for (&found, wanted) in tape.value(output).iter().zip(&wanted) {
            let error = (f64::from(found) - wanted).abs();
            let allowed = 1e-4 * wanted.abs() + 4.0 * lost;
            assert!(
                error <= allowed,
                "{kind:?} graph {} f32: {found} {wanted}",
                drawn["id"]
            );
        }
    }
}

/// Compares the gradients of the mean squared error of two graphs.
fn check_gradients(kind: Convolution, hidden: usize, weights: &str, checks: &str, grads: &str) {
    let (Some(weights), Some(checks), Some(grads)) =
        (reference(weights), json(checks), reference(grads))
    else {
        return;
    };
    let check = &checks["train_check"];
    let graphs: Vec<GroupedGraph> = (0..2)
        .map(|index| graph(&check["adj"][index], &check["x"][index]))
        .collect();
    let labels = Array2::from_shape_vec((2, 12), numbers(&check["y"])).unwrap();
    let (network, parameters) = network(kind, hidden, &read_weights(&weights).unwrap());
    let layout = network.lay_out(&graphs, &Inputs::Raw);
    let mut tape = Tape::new(&parameters);
    let output = network.apply(&mut tape, &layout);
    let residual = tape.value(output) - &labels;
    let loss = residual.mapv(|v| v * v).sum() / 24.0;
    let wanted = check["mse_before_each_step_then_final"][0]
        .as_f64()
        .unwrap();
    assert!((loss - wanted).abs() < 1e-5 * wanted, "{loss} {wanted}");
    let mut gradients = Gradients::zero(&parameters);
    tape.backward(output, residual * (2.0 / 24.0), &mut gradients);
    let reference = read_weights(&grads).unwrap();
    for id in parameters.ids() {
        let wanted = &reference[parameters.name(id)].values;
        let largest = wanted
            .iter()
            .fold(0.0_f64, |high, &v| high.max(f64::from(v).abs()));
        for (&found, &wanted) in gradients[id].iter().zip(wanted) {
            let error = (found - f64::from(wanted)).abs();
            assert!(
                error <= 1e-3 * largest + 1e-12,
                "{}: {found} {wanted}",
                parameters.name(id)
            );
        }
    }
}

#[test]
fn pretrained_gcn_gives_the_original_outputs_and_gradients() {
    check_outputs(
        Convolution::Gcn,
        64,
        "pretrained_gcn.safetensors",
        "gcn_forward.json",
    );
    check_gradients(
        Convolution::Gcn,
        64,
        "pretrained_gcn.safetensors",
        "gcn_forward.json",
        "pretrained_gcn_grad_step0.safetensors",
    );
}

fn check_rerand(kind: Convolution, name: &str) {
    for variant in ["rerand", "init"] {
        let stem = format!("{name}_{variant}");
        let (weights, outputs) = (
            format!("{stem}.safetensors"),
            format!("{stem}_forward.json"),
        );
        check_outputs(kind, 16, &weights, &outputs);
        check_gradients(
            kind,
            16,
            &weights,
            &outputs,
            &format!("{stem}_grad_step0.safetensors"),
        );
    }
}

#[test]
fn gcn_gives_the_original_outputs_and_gradients() {
    check_rerand(Convolution::Gcn, "gcn16");
}

#[test]
fn gin_gives_the_original_outputs_and_gradients() {
    check_rerand(Convolution::Gin, "gin");
}

#[test]
fn gat_gives_the_original_outputs_and_gradients() {
    check_rerand(Convolution::Gat, "gat");
}

#[test]
fn mpnn_gives_the_original_outputs_and_gradients() {
    check_rerand(Convolution::Mpnn, "mpnn");
}
