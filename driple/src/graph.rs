//! Computational graphs as files have them, and as inspectors see them.

/// A computational graph as its file has it, one node an operation, in the file's order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Graph {
    /// The operations.
    pub nodes: Vec<Node>,
}

/// An operation of a computational graph.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Its name, one in the graph.
    pub name: String,
    /// What it does: `Conv2D`, `MatMul`.
    pub op: String,
    /// Where it runs, as TensorFlow writes it; of forms without devices, `GPU`.
    pub device: String,
    /// Its inputs, in TensorFlow's notation: `name`, `name:1`, or `^name` of a control input.
    pub inputs: Vec<String>,
    /// The shape of its first output.
    pub shape: Shape,
}

/// What is known of the shape of an operation's first output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shape {
    /// There is no output.
    None,
    /// Nothing is known, not even the number of dimensions.
    Unknown,
    /// Its dimensions in elements; `None` where one is not known.
    Dimensions(Vec<Option<u64>>),
}

/// The number of features of a node of a grouped graph.
pub const FEATURES: usize = 3;

/// The number of metrics that an inspector predicts.
pub const METRICS: usize = 12;

/// A graph as inspectors see it: one node a group of operations.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GroupedGraph {
    /// Of each node: the elements of its operations' tensors, the number of its operations, the sum of
    /// their types' frequencies.
    pub features: Vec<[f32; FEATURES]>,
    /// Undirected edges `(a, b)`, `a < b`, ascending, each once.
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
