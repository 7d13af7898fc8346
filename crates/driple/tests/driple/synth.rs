//! Tests that the graphs of sample jobs can be read back, are connected, and determine the metrics.

use std::collections::{BTreeMap, BTreeSet};

use gleaner_driple::graph::{Graph, METRICS, Node, Shape};
use gleaner_driple::read::{Format, graph};
use gleaner_driple::synth::{MEASUREMENTS, Sample, Setup, samples};

/// The training graph of a sample.
fn training(sample: &Sample) -> Graph {
    graph(sample.graph_def.clone(), Format::GraphDefText).unwrap()
}

/// The node that an input comes from.
fn source(input: &str) -> &str {
    let name = input.split(':').next().unwrap_or_default();
    name.trim_start_matches('^')
}

fn elements(node: &Node) -> f64 {
    match &node.shape {
        Shape::Dimensions(sizes) => sizes.iter().map(|size| size.unwrap_or(0) as f64).product(),
        Shape::None | Shape::Unknown => 0.0,
    }
}

/// The number of nodes on GPUs, and the number of these nodes in the largest connected component.
fn largest_part(graph: &Graph) -> (usize, usize) {
    let on_gpu: Vec<&Node> = graph
        .nodes
        .iter()
        .filter(|node| node.device.contains("GPU"))
        .collect();
    let numbers: BTreeMap<&str, usize> = on_gpu
        .iter()
        .enumerate()
        .map(|(number, node)| (node.name.as_str(), number))
        .collect();
    let mut part: Vec<usize> = (0..on_gpu.len()).collect();
    fn root(part: &mut [usize], mut at: usize) -> usize {
        while part[at] != at {
            part[at] = part[part[at]];
            at = part[at];
        }
        at
    }
    for (number, node) in on_gpu.iter().enumerate() {
        for from in node
            .inputs
            .iter()
            .filter_map(|input| numbers.get(source(input)))
        {
            let (a, b) = (root(&mut part, number), root(&mut part, *from));
            part[a] = b;
        }
    }
    let mut sizes = BTreeMap::<usize, usize>::new();
    for number in 0..on_gpu.len() {
        *sizes.entry(root(&mut part, number)).or_default() += 1;
    }
    (
        on_gpu.len(),
        sizes.values().copied().max().unwrap_or_default(),
    )
}

/// The training graphs of all families can be read back: every node has a known shape, every input
/// exists, and almost all nodes on the GPU are connected.
#[test]
fn training_graphs_are_read_back_complete() {
    for sample in samples(Setup::V100, 7, 60) {
        let graph = training(&sample);
        let (on_gpu, largest) = largest_part(&graph);
        let name = &sample.name;
        assert!(
            (200..=3_000).contains(&graph.nodes.len()),
            "{name}: {}",
            graph.nodes.len()
        );
        assert!(
            largest > 100 && 10 * largest > 9 * on_gpu,
            "{name}: {largest} of {on_gpu}"
        );
        assert!(on_gpu < graph.nodes.len(), "{name}: input on the CPU");
        let names: BTreeSet<&str> = graph.nodes.iter().map(|node| node.name.as_str()).collect();
        for node in &graph.nodes {
            assert!(
                node.shape != Shape::Unknown,
                "{name}: shape of {}",
                node.name
            );
            for input in &node.inputs {
                assert!(
                    names.contains(source(input)),
                    "{name}: {input} of {}",
                    node.name
                );
            }
        }
        let count = |op: &str| graph.nodes.iter().filter(|node| node.op == op).count();
        let updates = count("ApplyAdam") + count("ApplyMomentum") + count("ApplyGradientDescent");
        assert!(updates > 4, "{name}: {updates} updates");
        let further = 2 * count("ApplyAdam") + count("ApplyMomentum");
        let powers = if count("ApplyAdam") > 0 { 2 } else { 0 };
        assert_eq!(count("VariableV2"), updates + further + powers, "{name}");
    }
}

/// Each gradient has the shape of its parameter.
#[test]
fn gradients_have_the_shapes_of_their_parameters() {
    for sample in samples(Setup::V100, 3, 15) {
        let graph = training(&sample);
        let nodes: BTreeMap<&str, &Node> = graph
            .nodes
            .iter()
            .map(|node| (node.name.as_str(), node))
            .collect();
        for node in graph
            .nodes
            .iter()
            .filter(|node| node.op.starts_with("Apply"))
        {
            let gradient = match node.op.as_str() {
                "ApplyMomentum" => &node.inputs[3],
                _ => &node.inputs[node.inputs.len() - 1],
            };
            assert_eq!(
                nodes[node.inputs[0].as_str()].shape,
                node.shape,
                "{}",
                node.name
            );
            assert_eq!(
                nodes[source(gradient)].shape,
                node.shape,
                "{gradient} of {}",
                node.name
            );
        }
    }
}

/// The ONNX model declares only the shapes of its inputs and its scores. The reader infers the
/// other shapes, which must equal those of the training graph. The axes of images are in a
/// different order, so sizes are sorted before they are compared.
#[test]
fn inferred_shapes_are_those_of_training() {
    for sample in samples(Setup::V100, 5, 30) {
        let trained = training(&sample);
        let trained: BTreeMap<&str, &Node> = trained
            .nodes
            .iter()
            .map(|node| (node.name.as_str(), node))
            .collect();
        let forward = graph(sample.onnx.clone(), Format::Onnx).unwrap();
        assert!(forward.nodes.len() > 30, "{}", sample.name);
        let mut compared = 0;
        for node in &forward.nodes {
            assert_eq!(node.device, "GPU");
            let Shape::Dimensions(mut sizes) = node.shape.clone() else {
                panic!(
                    "{}: {} of {} has {:?}",
                    sample.name, node.op, node.name, node.shape
                );
            };
            assert!(
                sizes.iter().all(Option::is_some),
                "{}: {}",
                sample.name,
                node.name
            );
            let Some(Shape::Dimensions(expected)) =
                trained.get(node.name.as_str()).map(|node| &node.shape)
            else {
                continue;
            };
            let mut expected = expected.clone();
            let elements = node.op != "Const";
            if elements {
                sizes.sort_unstable();
                expected.sort_unstable();
                assert_eq!(sizes, expected, "{}: {}", sample.name, node.name);
                compared += 1;
            }
        }
        assert!(compared > 15, "{}: {compared}", sample.name);
    }
}

/// The same seed always gives the same jobs, regardless of how many are requested. A different seed
/// gives different jobs.
#[test]
fn a_seed_makes_the_same_jobs() {
    let first: Vec<Sample> = samples(Setup::V100, 11, 6).collect();
    assert_eq!(
        first,
        samples(Setup::V100, 11, 9).take(6).collect::<Vec<_>>()
    );
    assert_ne!(first, samples(Setup::V100, 12, 6).collect::<Vec<_>>());
}

/// The file of measurements has the columns that the published builder reads.
#[test]
fn measurements_have_the_builders_columns() {
    let columns: Vec<&str> = MEASUREMENTS.trim_end().split(',').collect();
    let expected = [
        "GPU",
        "Data Set",
        "Model",
        "Sync/Async",
        "Hyper-Parameter",
        "Job Name",
        "Resource",
        "avg Idle time",
        "avg Active time",
        "avg Peak consumption",
    ];
    assert_eq!(columns, expected);
    let resources = ["GPU MEM util", "GPU util", "Network_rx", "Network_tx"];
    for sample in samples(Setup::RTX2080TI, 1, 10) {
        let fields: Vec<&str> = sample.name.split('_').collect();
        let text = sample.measurements();
        assert_eq!(text.lines().count(), 4);
        for (index, line) in text.lines().enumerate() {
            let cells: Vec<&str> = line.split(',').collect();
            assert_eq!(cells[..6], fields);
            assert_eq!(cells[6], resources[index]);
            let figures: Vec<f32> = cells[7..]
                .iter()
                .map(|cell| cell.parse().unwrap())
                .collect();
            assert_eq!(figures, sample.measured[3 * index..3 * index + 3]);
        }
    }
}

/// Statistics that a graph neural network could compute from a graph: a constant, and logarithms of
/// sums.
fn statistics(graph: &Graph) -> Vec<f64> {
    let sum = |chosen: &dyn Fn(&Node) -> bool, of: &dyn Fn(&Node) -> f64| -> f64 {
        (1.0 + graph
            .nodes
            .iter()
            .filter(|node| chosen(node))
            .map(of)
            .sum::<f64>())
        .ln()
    };
    let is = |op: &'static str| move |node: &Node| node.op == op;
    let mut statistics = vec![
        1.0,
        sum(&|_| true, &|_| 1.0),
        sum(&|_| true, &elements),
        sum(&is("VariableV2"), &elements),
        sum(&is("VariableV2"), &|_| 1.0),
        sum(&|node| node.name.ends_with("/read"), &|_| 1.0),
        sum(&is("Conv2D"), &elements),
        sum(&is("MatMul"), &elements),
        sum(&is("Softmax"), &elements),
        sum(&is("DepthwiseConv2dNative"), &elements),
        sum(&is("RandomUniform"), &elements),
        sum(&is("ApplyAdam"), &|_| 1.0),
        sum(&is("ApplyMomentum"), &|_| 1.0),
    ];
    let squares = [2, 3, 10].map(|index| statistics[index] * statistics[index]);
    statistics.extend(squares);
    statistics
}

/// The weights of a least squares fit with a small penalty, computed by Gaussian elimination.
fn fit(rows: &[Vec<f64>], targets: &[f64]) -> Vec<f64> {
    let width = rows[0].len();
    let mut system = vec![vec![0.0; width + 1]; width];
    for (row, target) in rows.iter().zip(targets) {
        for a in 0..width {
            for b in 0..width {
                system[a][b] += row[a] * row[b];
            }
            system[a][width] += row[a] * target;
        }
    }
    for (at, row) in system.iter_mut().enumerate() {
        row[at] += 1e-3;
    }
    for at in 0..width {
        let pivot = system[at].clone();
        for other in (0..width).filter(|other| *other != at) {
            let factor = system[other][at] / pivot[at];
            for column in 0..=width {
                system[other][column] -= factor * pivot[column];
            }
        }
    }
    (0..width)
        .map(|at| system[at][width] / system[at][at])
        .collect()
}

/// Metrics vary between jobs, and a fit on graph statistics predicts the metrics of unseen graphs.
#[test]
fn figures_of_unseen_graphs_are_predictable() {
    let jobs: Vec<(Vec<f64>, Sample)> = samples(Setup::V100, 42, 200)
        .map(|sample| (statistics(&training(&sample)), sample))
        .collect();
    let (seen, unseen) = jobs.split_at(150);
    let rows: Vec<Vec<f64>> = seen.iter().map(|(row, _)| row.clone()).collect();
    for metric in 0..METRICS {
        let of = |sample: &Sample| f64::from(sample.measured[metric]).max(1e-4).ln();
        let percent = matches!(metric, 2 | 5);
        for (_, sample) in &jobs {
            let figure = sample.measured[metric];
            assert!(
                figure.is_finite() && figure >= 0.0,
                "{}: {metric} is {figure}",
                sample.name
            );
            assert!(
                !percent || figure <= 100.0,
                "{}: {metric} is {figure}",
                sample.name
            );
        }
        let targets: Vec<f64> = seen.iter().map(|(_, sample)| of(sample)).collect();
        let weights = fit(&rows, &targets);
        let mean = targets.iter().sum::<f64>() / targets.len() as f64;
        let (mut error, mut spread) = (0.0, 0.0);
        for (row, sample) in unseen {
            let predicted: f64 = row.iter().zip(&weights).map(|(x, weight)| x * weight).sum();
            error += (of(sample) - predicted).powi(2);
            spread += (of(sample) - mean).powi(2);
        }
        let (least, most) = jobs
            .iter()
            .fold((f32::MAX, 0.0f32), |(least, most), (_, sample)| {
                (
                    least.min(sample.measured[metric]),
                    most.max(sample.measured[metric]),
                )
            });
        println!(
            "{metric}: {least} to {most}, R² {:.3}",
            1.0 - error / spread
        );
        assert!(most > 1.5 * least, "metric {metric}: {least} to {most}");
        assert!(
            error < 0.3 * spread,
            "metric {metric}: R² {:.3}",
            1.0 - error / spread
        );
    }
}
