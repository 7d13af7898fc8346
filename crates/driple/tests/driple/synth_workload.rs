//! Tests that the sample jobs of a workload belong to the model's family and have the requested
//! batch size and utilisation.

use gleaner_driple::dataset::average_utilisation;
use gleaner_driple::dataset::job::JobName;
use gleaner_driple::graph::{Graph, Shape};
use gleaner_driple::read::{Format, graph};
use gleaner_driple::synth::{Sample, Setup, Workload, samples, workload};

fn made(model: &str, batch: u32, utilisation: Option<f64>) -> Sample {
    let wanted = Workload {
        model,
        data: "ImageNet",
        batch,
        utilisation,
    };
    workload(&Setup::V100, 3, 5, &wanted)
}

fn training(sample: &Sample) -> Graph {
    graph(sample.graph_def.clone(), Format::GraphDefText).unwrap()
}

/// The average GPU utilisation of a sample, in percent.
fn utilisation(sample: &Sample) -> f64 {
    let [idle, active, peak] = [3, 4, 5].map(|at: usize| f64::from(sample.measured[at]));
    average_utilisation([idle, active, peak])
}

/// A sample's graph contains the operations of the family that the model's name indicates.
#[test]
fn a_models_name_gives_its_family() {
    let has = |model: &str, op: &str| {
        let graph = training(&made(model, 64, None));
        graph.nodes.iter().any(|node| node.op == op)
    };
    let families = [
        ("ResNet50", [true, false, false]),
        ("MobileNetV3", [true, true, false]),
        ("VGG", [true, false, false]),
        ("GlyphNet", [true, false, false]),
        ("BERT", [false, false, true]),
        ("a GPT", [false, false, true]),
    ];
    for (model, expected) in families {
        let found = ["Conv2D", "DepthwiseConv2dNative", "Gather"].map(|op| has(model, op));
        assert_eq!(found, expected, "{model}");
    }
}

#[test]
fn graphs_have_the_requested_batch_size() {
    for model in ["ResNet18", "BERT"] {
        for batch in [1, 48, 128] {
            let graph = training(&made(model, batch, None));
            let batched = graph.nodes.iter().any(|node| match &node.shape {
                Shape::Dimensions(sizes) => sizes.first() == Some(&Some(u64::from(batch))),
                Shape::None | Shape::Unknown => false,
            });
            assert!(batched, "{model} of {batch}");
        }
    }
}

/// A sample's utilisation is close to the requested utilisation, if networks of the family can
/// reach it.
#[test]
fn utilisations_are_close_to_the_requested_ones() {
    for (model, batch, wanted) in [
        ("VGG", 64, 30.0),
        ("VGG", 128, 70.0),
        ("ResNet50", 64, 20.0),
        ("ResNet50", 128, 65.0),
        ("EfficientNet", 64, 40.0),
        ("BERT", 64, 30.0),
        ("Transformer", 64, 40.0),
    ] {
        let found = utilisation(&made(model, batch, Some(wanted)));
        // The noise in three metrics changes the utilisation by up to a tenth.
        assert!((found - wanted).abs() < 0.2 * wanted, "{model}: {found}");
    }
    let most = [1.0, 25.0, 50.0, 75.0].map(|wanted| utilisation(&made("VGG", 64, Some(wanted))));
    assert!(most.is_sorted(), "{most:?}");
}

#[test]
fn any_workload_name_gives_a_valid_job_name() {
    let wanted = Workload {
        model: "../my_net, v2",
        data: "",
        batch: 0,
        utilisation: Some(f64::NAN),
    };
    let sample = workload(&Setup::TITAN, 0, 12, &wanted);
    let name = JobName::parse(&sample.name).unwrap();
    let [gpu, data, model, sync, hyper, job] = name.fields();
    assert_eq!(
        [gpu, data, model, sync, job],
        ["TitanRTX", "-", "..-my-net--v2", "Async", "job0012"]
    );
    assert!(hyper.starts_with("b1-"), "{hyper}");
    graph(sample.onnx, Format::Onnx).unwrap();
}

#[test]
fn the_same_seed_makes_the_same_job_and_leaves_other_samples_alone() {
    assert_eq!(made("VGG", 64, Some(40.0)), made("VGG", 64, Some(40.0)));
    let sample = samples(Setup::V100, 1, 1).next().unwrap();
    // Golden value: the name that this sample had before the module `workload` was added.
    assert_eq!(sample.name, "V100_ImageNet_VGG11_Async_b16-adam_job0000");
}
