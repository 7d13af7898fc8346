//! Writes data sets to safetensors files.

use safetensors::tensor::{Dtype, TensorView};

use super::name::{FIELDS, MAXIMUM, Name, PARTS};
use super::{DatasetError, Manifest, manifest};
use crate::dataset::{Dataset, Example};
use crate::graph::{FEATURES, GroupedGraph, METRICS};

/// The maximum total size of all adjacency matrices in a file, in bytes.
const MOST_BYTES: usize = 1 << 34;

/// A tensor to write.
struct Tensor {
    name: String,
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

/// Returns the bytes of a safetensors file with a data set and its manifest, in the format that
/// [`super`] describes. [`super::read`] is the inverse.
///
/// # Errors
/// A graph has no nodes, or one of its features or labels is not finite. The edges of a graph are out of order, lead to
/// a missing node, or connect a node to itself. A batch has no graphs, or there are no batches. The data are too large
/// for one file.
pub fn write(data: &Dataset, manifest: &Manifest) -> Result<Vec<u8>, DatasetError> {
    let mut tensors = Vec::new();
    let mut bytes = 0usize;
    let parts = [&data.train, &data.val, &data.test];
    for (part, batches) in parts.into_iter().enumerate() {
        for (batch, examples) in batches.iter().enumerate() {
            check(PARTS[part], batch, examples)?;
            bytes = examples.iter().fold(bytes, |bytes, example| {
                bytes.saturating_add(example.graph.len().saturating_pow(2))
            });
            if bytes > MOST_BYTES {
                let fault = "the adjacency matrices need more than 16 GiB: use fewer groups";
                return Err(DatasetError::Write(fault.to_owned()));
            }
            tensors.extend(batch_tensors(part, batch, examples));
        }
    }
    if tensors.is_empty() {
        return Err(DatasetError::Empty);
    }
    if let Some(largest) = data.largest_labels() {
        tensors.push(Tensor::floats(MAXIMUM.to_owned(), vec![METRICS], largest));
    }
    serialize(&tensors, manifest::to_json(manifest, data)?)
}

fn serialize(tensors: &[Tensor], manifest: String) -> Result<Vec<u8>, DatasetError> {
    let wrong = |error: safetensors::SafeTensorError| DatasetError::Write(error.to_string());
    let mut views = Vec::with_capacity(tensors.len());
    for tensor in tensors {
        let view = TensorView::new(tensor.dtype, tensor.shape.clone(), &tensor.bytes);
        views.push((&tensor.name, view.map_err(wrong)?));
    }
    let metadata = [("gleaner".to_owned(), manifest)].into_iter().collect();
    safetensors::serialize(views, Some(metadata)).map_err(wrong)
}

/// The tensors of a batch. If the batch has several runs, the tensors' names contain the index of
/// the run.
fn batch_tensors(part: usize, batch: usize, examples: &[Example]) -> Vec<Tensor> {
    let runs: Vec<&[Example]> = examples
        .chunk_by(|a, b| a.graph.len() == b.graph.len())
        .collect();
    let numbered = runs.len() > 1;
    let run = |(run, examples): (usize, &&[Example])| {
        let name = Name {
            part,
            batch,
            run,
            field: 0,
        };
        run_tensors(examples, |field| Name { field, ..name }.text(numbered))
    };
    runs.iter().enumerate().flat_map(run).collect()
}

/// The tensors of graphs of equal size. `name` returns the name of a field's tensor.
fn run_tensors(examples: &[Example], name: impl Fn(usize) -> String) -> [Tensor; FIELDS.len()] {
    let graphs = examples.len();
    let nodes = examples.first().map_or(0, |example| example.graph.len());
    let mut adjacency = vec![0; graphs * nodes * nodes];
    for (example, matrix) in examples
        .iter()
        .zip(adjacency.chunks_exact_mut(nodes * nodes))
    {
        for &(a, b) in &example.graph.edges {
            matrix[a as usize * nodes + b as usize] = 1;
            matrix[b as usize * nodes + a as usize] = 1;
        }
    }
    let features = examples.iter().flat_map(|example| &example.graph.features);
    let features = features.flatten().copied();
    let labels = examples.iter().flat_map(|example| example.labels);
    [
        Tensor {
            name: name(0),
            dtype: Dtype::U8,
            shape: vec![graphs, nodes, nodes],
            bytes: adjacency,
        },
        Tensor::floats(name(1), vec![graphs, nodes, FEATURES], features),
        Tensor::floats(name(2), vec![graphs, METRICS], labels),
    ]
}

impl Tensor {
    fn floats(name: String, shape: Vec<usize>, values: impl IntoIterator<Item = f32>) -> Self {
        Tensor {
            name,
            dtype: Dtype::F32,
            shape,
            bytes: values.into_iter().flat_map(f32::to_le_bytes).collect(),
        }
    }
}

/// Checks that the graphs of a batch can be written and read back.
fn check(part: &'static str, batch: usize, examples: &[Example]) -> Result<(), DatasetError> {
    if examples.is_empty() {
        return Err(DatasetError::NoGraphs { part, batch });
    }
    for (graph, example) in examples.iter().enumerate() {
        let finite = example.labels.iter().all(|label| label.is_finite());
        let fault = fault(&example.graph).or((!finite).then_some("a label is not finite"));
        if let Some(fault) = fault {
            return Err(DatasetError::Graph {
                part,
                batch,
                graph,
                fault: fault.to_owned(),
            });
        }
    }
    Ok(())
}

fn fault(graph: &GroupedGraph) -> Option<&'static str> {
    let beyond = |&(a, b): &(u32, u32)| a >= b || b as usize >= graph.len();
    if graph.is_empty() {
        return Some("it has no nodes");
    }
    if graph.edges.iter().any(beyond) {
        return Some("an edge does not lead from a node to a later node");
    }
    if !graph.edges.windows(2).all(|pair| pair[0] < pair[1]) {
        return Some("its edges are not in ascending order");
    }
    let finite = graph
        .features
        .iter()
        .flatten()
        .all(|value| value.is_finite());
    (!finite).then_some("a feature is not finite")
}
