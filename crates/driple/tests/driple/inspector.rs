//! Tests that files of inspectors are written, read and converted correctly, and that invalid files are rejected.

use std::convert::Infallible;

use gleaner_driple::dataset::{Dataset, Example};
use gleaner_driple::graph::GroupedGraph;
use gleaner_driple::inspector::{
    InferError, Inspector, InspectorError, Stopped, converted, read, write,
};
use gleaner_driple::model::{
    Architecture, Convolution, Depth, Tensor, Weights, WeightsError, weights,
};
use gleaner_driple::train::{Plan, checkpoint, start};
use gleaner_observer::Unobserved;
use gleaner_testing::StopAfter;
use proptest::prelude::*;

fn example(nodes: u32, weight: f32) -> Example {
    let features = (0..nodes).map(|node| [weight * node as f32, 1.0 + node as f32, 0.1]);
    let edges = (1..nodes).map(|node| (node - 1, node)).collect();
    let graph = GroupedGraph {
        features: features.collect(),
        edges,
    };
    Example {
        name: String::new(),
        graph,
        labels: [weight; 12],
    }
}

fn data() -> Dataset {
    let train = vec![
        (0..4)
            .map(|index| example(4 + index % 2, 1.0 + index as f32))
            .collect(),
    ];
    Dataset {
        train,
        ..Dataset::default()
    }
}

fn trained(kind: Convolution) -> Inspector {
    let architecture = Architecture {
        hidden: 8,
        ..Architecture::new(kind)
    };
    let plan = Plan {
        epochs: 2,
        ..Plan::default()
    };
    let start = start::fresh(architecture, &data(), plan, 7).unwrap();
    let mut training = start.training(&data());
    training
        .run(&Unobserved, |_, _| Ok::<_, Infallible>(()))
        .unwrap();
    start.inspector(&training)
}

fn predictions(inspector: &Inspector) -> Vec<Option<[f64; 12]>> {
    let data = data();
    let graphs: Vec<&GroupedGraph> = data.train[0].iter().map(|example| &example.graph).collect();
    inspector.predict(&graphs, &Unobserved).unwrap()
}

#[test]
fn a_written_inspector_predicts_the_same_when_read() {
    for kind in [
        Convolution::Gcn,
        Convolution::Gin,
        Convolution::Gat,
        Convolution::Mpnn,
    ] {
        let inspector = trained(kind);
        let again = read(&write(&inspector).unwrap()).unwrap();
        assert_eq!(again.card, inspector.card);
        assert_eq!(predictions(&again), predictions(&inspector));
    }
}

#[test]
fn graphs_of_any_size_are_predicted_in_order() {
    let inspector = trained(Convolution::Gcn);
    let all = predictions(&inspector);
    for (example, wanted) in data().train[0].iter().zip(&all) {
        let alone = inspector.predict(&[&example.graph], &Unobserved).unwrap()[0];
        assert_eq!(alone, *wanted);
    }
    let empty = inspector.predict(&[&GroupedGraph::default()], &Unobserved);
    assert_eq!(empty.unwrap(), [None]);
}

#[test]
fn predictions_are_stopped_between_graphs() {
    let inspector = trained(Convolution::Gcn);
    let data = data();
    let graphs: Vec<&GroupedGraph> = data.train[0].iter().map(|e| &e.graph).collect();
    // With a single thread, no other graph is being processed when the predictions are stopped.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1);
    pool.build().unwrap().install(|| {
        for reports in 0..graphs.len() {
            let observer = StopAfter::new(reports);
            assert_eq!(inspector.predict(&graphs, &observer), Err(Stopped));
            assert_eq!(observer.progress().len(), reports);
        }
        let observer = StopAfter::new(usize::MAX);
        inspector.predict(&graphs, &observer).unwrap();
        assert_eq!(observer.progress().len(), graphs.len());
    });
}

/// An inspector whose last layer has the biases `bias`, so its predictions are near `bias`.
fn biased(architecture: Architecture, bias: f32) -> Inspector {
    let start = start::fresh(architecture, &data(), Plan::default(), 7).unwrap();
    let mut inspector = start.best(&start.state);
    let parameters = &mut inspector.parameters;
    let last = "graph_read_out.mlp.fully_connected.2.linear.bias";
    let id = parameters.ids().find(|id| parameters.name(*id) == last);
    parameters[id.unwrap()].fill(bias);
    inspector
}

// Negative predictions become zero, except for networks with the original's architecture. All other
// predictions stay the same.
#[test]
fn predictions_below_zero_are_zero() {
    let small = |architecture| Architecture {
        hidden: 8,
        ..architecture
    };
    let data = data();
    let graphs: Vec<&GroupedGraph> = data.train[0].iter().map(|e| &e.graph).collect();
    let all = |rows: Result<Vec<Option<[f64; 12]>>, Stopped>| -> Vec<f64> {
        rows.unwrap().into_iter().flat_map(Option::unwrap).collect()
    };
    let (mut below, mut above) = (0, 0);
    for bias in [-10.0, 0.0, 10.0] {
        let deep = biased(small(Architecture::new(Convolution::Gcn)), bias);
        for (output, predicted) in all(deep.outputs(&graphs, &Unobserved))
            .into_iter()
            .zip(all(deep.predict(&graphs, &Unobserved)))
        {
            assert_eq!(predicted, if output > 0.0 { output } else { 0.0 });
            assert!(predicted.is_sign_positive());
            below += usize::from(output < 0.0);
            above += usize::from(output > 0.0);
        }
        let original = biased(small(Architecture::original(Convolution::Gcn)), bias);
        assert_eq!(
            original.predict(&graphs, &Unobserved),
            original.outputs(&graphs, &Unobserved)
        );
    }
    assert!(below >= 48 && above >= 48, "{below} {above}");
    let original = biased(small(Architecture::original(Convolution::Gcn)), -10.0);
    assert!(
        all(original.predict(&graphs, &Unobserved))
            .iter()
            .all(|&v| v < 0.0)
    );
    // A NaN stays a NaN.
    let broken = biased(small(Architecture::new(Convolution::Gcn)), f32::NAN);
    assert!(
        all(broken.predict(&graphs, &Unobserved))
            .iter()
            .all(|v| v.is_nan())
    );
}

/// Weights as in the original: three inputs, and a readout with only Set2Set before its linear
/// layers.
fn original() -> Weights {
    let architecture = Architecture {
        hidden: 8,
        ..Architecture::original(Convolution::Gcn)
    };
    let start = start::fresh(architecture, &data(), Plan::default(), 1).unwrap();
    weights(&start.state.parameters)
}

#[test]
fn original_weights_are_converted_without_unused_tensors() {
    let mut weights = original();
    let unused = Tensor {
        shape: vec![8, 8],
        values: vec![0.5; 64],
    };
    weights.insert("conv_layers.2.W".to_owned(), unused);
    let (inspector, left_out) = converted(weights, Depth::Half).unwrap();
    assert_eq!(left_out, ["conv_layers.2.W"]);
    assert_eq!(inspector.card.architecture.hidden, 8);
    assert!(inspector.card.scale.is_none());
    assert!(predictions(&inspector).iter().all(Option::is_some));
}

fn fault(change: impl FnOnce(&mut Weights)) -> InferError {
    let mut weights = original();
    change(&mut weights);
    converted(weights, Depth::Half).unwrap_err()
}

#[test]
fn invalid_weights_are_named() {
    let missing = fault(|weights| drop(weights.remove("conv_layers.1.b")));
    assert!(
        missing
            .to_string()
            .contains("\"conv_layers.1.b\" is missing"),
        "{missing}"
    );
    let shape = fault(|weights| weights.get_mut("conv_layers.0.W").unwrap().shape = vec![8, 3]);
    assert!(
        shape.to_string().contains("[8, 3]") && shape.to_string().contains("[3, 8]"),
        "{shape}"
    );
    let unknown = fault(|weights| {
        let tensor = weights["conv_layers.0.b"].clone();
        weights.insert("extra".to_owned(), tensor);
    });
    assert!(unknown.to_string().contains("\"extra\""), "{unknown}");
    let none = converted(Weights::new(), Depth::Half).unwrap_err();
    assert!(none.to_string().contains("no tensors"), "{none}");
    // A shape that does not match its values must be rejected before memory is allocated for it.
    let lying = fault(|weights| {
        weights.get_mut("gru.gru.weight_hh_l0").unwrap().shape = vec![3 << 40, 1 << 40];
    });
    assert!(matches!(lying, InferError::Inspector(_)), "{lying}");
}

#[test]
fn a_file_of_another_kind_is_not_read_as_an_inspector() {
    let inspector = trained(Convolution::Gcn);
    assert!(matches!(
        read(b"not one").unwrap_err(),
        InspectorError::Weights(WeightsError::Format(_))
    ));
    let start = start::fresh(inspector.card.architecture, &data(), Plan::default(), 1).unwrap();
    let bytes = checkpoint::write(&start.card, &start.state).unwrap();
    assert!(matches!(read(&bytes).unwrap_err(), InspectorError::NoCard));
    let bytes = write(&inspector).unwrap();
    assert!(checkpoint::read(&bytes).is_err());
}

proptest! {
    #![proptest_config(gleaner_testing::cases(256))]

    #[test]
    fn damage_is_detected_or_harmless(place in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let inspector = trained(Convolution::Gcn);
        let mut bytes = write(&inspector).unwrap();
        let place = place.index(bytes.len());
        bytes[place] = byte;
        if let Ok(changed) = read(&bytes) {
            prop_assert_eq!(predictions(&changed).len(), 4);
        }
        prop_assert!(read(&bytes[..place]).is_err());
    }
}
