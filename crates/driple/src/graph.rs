//! Computational graphs, as read from files and as grouped for inspectors.

/// A computational graph as read from a file. Each node is one operation.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Graph {
    /// The operations, in the file's order.
    pub nodes: Vec<Node>,
}

/// An operation of a computational graph.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// The operation's name, unique in the graph.
    pub name: String,
    /// The type of the operation, such as `Conv2D` or `MatMul`.
    pub op: String,
    /// The device that the operation runs on, in TensorFlow's notation. It is `GPU` for formats
    /// that do not record devices.
    pub device: String,
    /// The inputs in TensorFlow's notation: `name` is the first output of a node, `name:1` its
    /// second output, and `^name` a control input.
    pub inputs: Vec<String>,
    /// The shape of the operation's first output.
    pub shape: Shape,
}

/// The shape of an operation's first output, as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shape {
    /// The operation has no output.
    None,
    /// Nothing is known, not even the number of dimensions.
    Unknown,
    /// The size of each dimension; `None` if it is unknown.
    Dimensions(Vec<Option<u64>>),
}

/// The number of features of a node of a grouped graph.
pub const FEATURES: usize = 3;

/// The number of metrics that an inspector predicts.
pub const METRICS: usize = 12;

/// A graph in the form that inspectors use. Each node is a group of operations.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GroupedGraph {
    /// The features of each node: the number of elements of its operations' outputs, the number of
    /// its operations, and the sum of the frequencies of the operations' types.
    pub features: Vec<[f32; FEATURES]>,
    /// Undirected edges `(a, b)` with `a < b`, without duplicates, in ascending order.
    pub edges: Vec<(u32, u32)>,
}

impl GroupedGraph {
    /// The number of nodes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.features.len()
    }

    /// Whether there are no nodes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.features.is_empty()
    }
}
