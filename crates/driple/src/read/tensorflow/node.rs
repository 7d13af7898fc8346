//! Converts nodes of GraphDefs to nodes of computational graphs.

use super::Read;
use super::message::{AttrValue, NodeDef, TensorShape};
use crate::graph::{Node, Shape};
use crate::read::NodeFault;

/// Converts a node. If the conversion fails, returns the node's name and its fault.
pub(super) fn node(def: NodeDef) -> Read {
    let shape = match check(&def).and_then(|()| output(&def)) {
        Ok(shape) => shape,
        Err(fault) => return Err((def.name, fault)),
    };
    Ok(Node {
        name: def.name,
        op: def.op,
        device: def.device,
        inputs: def.input,
        shape,
    })
}

fn check(def: &NodeDef) -> Result<(), NodeFault> {
    if def.name.is_empty() {
        return Err(NodeFault::Unnamed);
    }
    if def.op.is_empty() {
        return Err(NodeFault::NoOp("`op`"));
    }
    Ok(())
}

/// The shape of a node's first output. It is the inferred shape if the graph contains one.
/// Otherwise, it is the shape in the node's own attributes.
fn output(def: &NodeDef) -> Result<Shape, NodeFault> {
    if let Some(list) = attribute(def, "_output_shapes").and_then(|value| value.list.as_ref()) {
        return list.shape.first().map_or(Ok(Shape::None), shape);
    }
    match def.op.as_str() {
        "Const" => match attribute(def, "value").and_then(|value| value.tensor.as_ref()) {
            Some(tensor) => shape(
                tensor
                    .tensor_shape
                    .as_ref()
                    .unwrap_or(&TensorShape::default()),
            ),
            None => Ok(Shape::Unknown),
        },
        "Placeholder" | "PlaceholderV2" | "PlaceholderWithDefault" | "Variable" | "VariableV2" => {
            let value = attribute(def, "shape");
            value
                .and_then(|value| value.shape.as_ref())
                .map_or(Ok(Shape::Unknown), shape)
        }
        // The output is a handle, which is a scalar. The attribute `shape` is the shape of the
        // variable.
        "VarHandleOp" => Ok(Shape::Dimensions(Vec::new())),
        "NoOp" => Ok(Shape::None),
        _ => Ok(Shape::Unknown),
    }
}

/// The last attribute of this name, which is the one that counts in a protobuf map.
fn attribute<'d>(def: &'d NodeDef, key: &str) -> Option<&'d AttrValue> {
    def.attr
        .iter()
        .rfind(|attr| attr.key == key)?
        .value
        .as_deref()
}

/// Converts a shape. If the rank is unknown, dimensions are ignored.
fn shape(shape: &TensorShape) -> Result<Shape, NodeFault> {
    if shape.unknown_rank {
        return Ok(Shape::Unknown);
    }
    let dimension = |size: i64| match size {
        -1 => Ok(None),
        size => u64::try_from(size)
            .map(Some)
            .map_err(|_| NodeFault::Dimension(size)),
    };
    let dimensions = shape.dim.iter().map(|dim| dimension(dim.size));
    dimensions.collect::<Result<_, _>>().map(Shape::Dimensions)
}
