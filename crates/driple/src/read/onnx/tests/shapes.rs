//! Tests the inference of shapes that hand-made models do not contain.

use super::{info, node, read, tensor, with};
use crate::graph::Shape;
use crate::read::onnx::message::{Graph, Node};

/// The expected shapes follow from the definitions of the operators. The sizes of the inputs are
/// known, partly known or unknown.
#[test]
fn shapes_are_inferred() {
    let constants = [
        tensor("w", &[8, 3, 5, 5], &[]),
        tensor("t", &[3, 4, 2, 2], &[]),
        tensor("m", &[7, 8], &[]),
        tensor("zero_rest", &[3], &[0, -1, 6]),
        tensor("pads", &[8], &[0, 0, 1, 2, 0, 0, 3, -4]),
        tensor("one", &[1], &[1]),
        tensor("three", &[1], &[3]),
        tensor("last", &[1], &[-1]),
        tensor("parts", &[2], &[1, 2]),
    ];
    let cases: Vec<(Node, &[i64])> = vec![
        (node("Conv", "", &["x", "w"], &[""]), &[-1, 8, 28, 20]),
        (
            with(
                node("Conv", "", &["x", "w"], &[""]),
                &[
                    ("strides", &[2, 3]),
                    ("pads", &[1, 0, 1, 2]),
                    ("dilations", &[2, 1]),
                ],
            ),
            // The window takes (32 + 2 - 9) / 2 + 1 and (24 + 2 - 5) / 3 + 1 steps.
            &[-1, 8, 13, 8],
        ),
        (
            with(
                node("ConvTranspose", "", &["x", "t"], &[""]),
                &[("strides", &[2, 2]), ("group", &[2])],
            ),
            &[-1, 8, 64, 48],
        ),
        (
            with(
                node("MaxPool", "", &["x"], &[""]),
                &[
                    ("kernel_shape", &[3, 3]),
                    ("strides", &[2, 2]),
                    ("ceil_mode", &[1]),
                ],
            ),
            &[-1, 3, 16, 12],
        ),
        (node("GlobalAveragePool", "", &["x"], &[""]), &[-1, 3, 1, 1]),
        (node("MatMul", "", &["x", "y"], &[""]), &[-1, 3, 32, 6]),
        (
            with(node("Gemm", "", &["m", "m"], &[""]), &[("transB", &[1])]),
            &[7, 7],
        ),
        (
            node("Reshape", "", &["x", "zero_rest"], &[""]),
            &[-1, -1, 6],
        ),
        (node("Reshape", "", &["w", "zero_rest"], &[""]), &[8, 12, 6]),
        (node("Flatten", "", &["w"], &[""]), &[8, 75]),
        (
            with(node("Flatten", "", &["w"], &[""]), &[("axis", &[-2])]),
            &[24, 25],
        ),
        (
            with(
                node("Transpose", "", &["x"], &[""]),
                &[("perm", &[0, 2, 3, 1])],
            ),
            &[-1, 32, 24, 3],
        ),
        (node("Transpose", "", &["m"], &[""]), &[8, 7]),
        (
            with(node("Concat", "", &["x", "x"], &[""]), &[("axis", &[-3])]),
            &[-1, 6, 32, 24],
        ),
        (node("Unsqueeze", "", &["m", "last"], &[""]), &[7, 8, 1]),
        (
            with(node("Squeeze", "", &["one"], &[""]), &[("axes", &[0])]),
            &[],
        ),
        (
            with(node("Gather", "", &["m", "x"], &[""]), &[("axis", &[1])]),
            &[7, -1, 3, 32, 24],
        ),
        (
            node("Slice", "", &["x", "one", "last", "three"], &[""]),
            &[-1, 3, 32, 22],
        ),
        (node("Pad", "", &["x", "pads"], &[""]), &[-1, 3, 36, 22]),
        (node("Expand", "", &["one", "parts"], &[""]), &[1, 2]),
        (node("ConstantOfShape", "", &["parts"], &[""]), &[1, 2]),
        (node("Shape", "", &["x"], &[""]), &[4]),
        (
            with(node("ReduceMean", "", &["x"], &[""]), &[("axes", &[2, -1])]),
            &[-1, 3, 1, 1],
        ),
        (
            with(
                node("ReduceSum", "", &["x", "last"], &[""]),
                &[("keepdims", &[0])],
            ),
            &[-1, 3, 32],
        ),
        (
            with(node("ArgMax", "", &["x"], &[""]), &[("axis", &[1])]),
            &[-1, 1, 32, 24],
        ),
        (
            with(node("Split", "", &["x", "parts"], &[""]), &[("axis", &[1])]),
            &[-1, 1, 32, 24],
        ),
        (node("Add", "", &["x", "last"], &[""]), &[-1, 3, 32, 24]),
        (node("Relu", "", &["x"], &[""]), &[-1, 3, 32, 24]),
    ];
    let nodes = cases.iter().enumerate().map(|(index, (case, _))| Node {
        output: vec![format!("out{index}")],
        ..case.clone()
    });
    let model = Graph {
        node: nodes.collect(),
        input: vec![
            info("x", &[None, Some(3), Some(32), Some(24)]),
            info("y", &[Some(1), Some(1), Some(24), Some(6)]),
        ],
        initializer: constants.to_vec(),
        ..Graph::default()
    };
    let read = read(model).unwrap();
    let operations = &read.nodes[read.nodes.len() - cases.len()..];
    for (node, (_, expected)) in operations.iter().zip(&cases) {
        let expected = expected
            .iter()
            .map(|size| u64::try_from(*size).ok())
            .collect();
        assert_eq!(node.shape, Shape::Dimensions(expected), "{}", node.name);
    }
}

/// The model computes a shape from other shapes, as in PyTorch's export of `x.view(x.size(0), -1)`.
#[test]
fn shapes_computed_by_the_model_are_followed() {
    let nodes = vec![
        node("Shape", "", &["x"], &["shape"]),
        node("Gather", "", &["shape", "zero"], &["batch"]),
        node("Slice", "", &["shape", "two", "end"], &["size"]),
        node("Mul", "", &["size", "three"], &["product"]),
        with(
            node("Concat", "", &["batch", "product", "last"], &["target"]),
            &[("axis", &[0])],
        ),
        node("Reshape", "", &["x", "target"], &["y"]),
    ];
    let model = Graph {
        node: nodes,
        input: vec![info("x", &[Some(5), Some(6), Some(2)])],
        initializer: vec![
            tensor("zero", &[1], &[0]),
            tensor("two", &[1], &[2]),
            tensor("end", &[1], &[i64::MAX]),
            tensor("three", &[], &[3]),
            tensor("last", &[1], &[-1]),
        ],
        ..Graph::default()
    };
    let read = read(model).unwrap();
    let expected = Shape::Dimensions(vec![Some(5), Some(6), Some(2)]);
    assert_eq!(read.nodes.last().map(|node| &node.shape), Some(&expected));
}

/// A matrix of sizes is not used as a list of sizes.
#[test]
fn integers_of_more_dimensions_are_not_followed() {
    let nodes = vec![
        node("Unsqueeze", "", &["c", "zero"], &["row"]),
        with(
            node("Concat", "", &["row", "row"], &["rows"]),
            &[("axis", &[0])],
        ),
        with(
            node("Gather", "", &["rows", "one"], &["second"]),
            &[("axis", &[0])],
        ),
        node("ConstantOfShape", "", &["second"], &["y"]),
        with(node("Shape", "", &["x"], &["size"]), &[("start", &[1])]),
        node("ConstantOfShape", "", &["size"], &["z"]),
    ];
    let model = Graph {
        node: nodes,
        input: vec![info("x", &[Some(5), Some(6), Some(2)])],
        initializer: vec![
            tensor("c", &[2], &[3, 4]),
            tensor("zero", &[1], &[0]),
            tensor("one", &[], &[1]),
        ],
        ..Graph::default()
    };
    let read = read(model).unwrap();
    let shapes: Vec<&Shape> = read.nodes.iter().skip(4).map(|node| &node.shape).collect();
    let known = |sizes: &[u64]| Shape::Dimensions(sizes.iter().copied().map(Some).collect());
    let (row, rows, second) = (known(&[1, 2]), known(&[2, 2]), known(&[2]));
    let (size, z) = (known(&[2]), known(&[6, 2]));
    assert_eq!(shapes, [&row, &rows, &second, &Shape::Unknown, &size, &z]);
}

/// Invalid attributes and constants cause no panic and leave shapes unknown.
#[test]
fn impossible_attributes_leave_shapes_unknown() {
    let lists: [&[i64]; 6] = [
        &[],
        &[0, 0],
        &[-1],
        &[i64::MAX, i64::MAX],
        &[i64::MIN; 4],
        &[1; 9],
    ];
    let ops = [
        "Conv",
        "ConvTranspose",
        "MaxPool",
        "Reshape",
        "Flatten",
        "Transpose",
        "Concat",
        "Squeeze",
        "Unsqueeze",
        "Gather",
        "Slice",
        "Pad",
        "Expand",
        "ConstantOfShape",
        "Shape",
        "ReduceSum",
        "ArgMax",
        "Split",
        "Gemm",
        "MatMul",
        "LSTM",
        "Add",
        "Div",
        "Sub",
    ];
    let names = [
        "strides",
        "pads",
        "dilations",
        "kernel_shape",
        "axes",
        "axis",
        "perm",
        "split",
        "group",
        "starts",
        "ends",
        "start",
        "end",
        "hidden_size",
        "output_padding",
    ];
    for shape in [
        &[][..],
        &[Some(0)],
        &[None; 3],
        &[Some(i64::MAX); 4],
        &[Some(-5), Some(1)],
    ] {
        for list in lists {
            let attributes: Vec<(&str, &[i64])> = names.iter().map(|name| (*name, list)).collect();
            let nodes = ops.iter().flat_map(|op| {
                let plain = node(op, "", &["x", "c", "c", "c"], &[]);
                [plain.clone(), with(plain, &attributes)]
            });
            let node = nodes.enumerate().map(|(index, mut node)| {
                node.output = vec![format!("y{index}")];
                node
            });
            let model = Graph {
                node: node.collect(),
                input: vec![info("x", shape)],
                initializer: vec![tensor("c", &[list.len() as i64], list)],
                ..Graph::default()
            };
            assert!(read(model).is_ok());
        }
    }
}
