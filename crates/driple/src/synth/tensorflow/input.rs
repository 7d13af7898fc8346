//! Writes the input: samples are prepared on the CPU and passed to the GPU.

use super::nodes::{Kind, Nodes};

/// Adds the operations that load the input `tensors` of a network. Returns the name of each tensor
/// on the GPU.
pub(super) fn write(tensors: &[(&str, Kind, &[u64])], nodes: &mut Nodes) -> Vec<String> {
    let shapes: Vec<&[u64]> = tensors.iter().map(|(_, _, shape)| *shape).collect();
    let files = nodes.host("input/filenames", "Const", &[], &[&[64]]);
    let seed = nodes.host("input/seed", "Const", &[], &[&[]]);
    let size = nodes.host("input/buffer_size", "Const", &[], &[&[]]);
    let lines = nodes.host(
        "input/TextLineDataset",
        "TextLineDataset",
        &[&files],
        &[&[]],
    );
    let shuffled = nodes.host(
        "input/ShuffleDataset",
        "ShuffleDataset",
        &[&lines, &size, &seed],
        &[&[]],
    );
    let mapped = nodes.host(
        "input/ParallelMapDataset",
        "ParallelMapDataset",
        &[&shuffled],
        &[&[]],
    );
    let repeated = nodes.host("input/RepeatDataset", "RepeatDataset", &[&mapped], &[&[]]);
    let ahead = nodes.host(
        "input/PrefetchDataset",
        "PrefetchDataset",
        &[&repeated, &size],
        &[&[]],
    );
    let iterator = nodes.host("input/Iterator", "Iterator", &[], &[&[]]);
    nodes.host(
        "input/MakeIterator",
        "MakeIterator",
        &[&ahead, &iterator],
        &[],
    );
    let next = nodes.host(
        "input/IteratorGetNext",
        "IteratorGetNext",
        &[&iterator],
        &shapes,
    );
    let mut names = Vec::with_capacity(tensors.len());
    for (index, (name, kind, shape)) in tensors.iter().enumerate() {
        let input = if index == 0 {
            next.clone()
        } else {
            format!("{next}:{index}")
        };
        let here = nodes.float(&format!("tower_0/{name}"), "Identity", &[&input], shape);
        if let Some(operation) = nodes.operations.last_mut() {
            operation.kind = *kind;
        }
        names.push(here);
    }
    names
}
