//! Collects the nodes of a GraphDef.

/// The device that training runs on.
pub(super) const GPU: &str = "/job:worker/replica:0/task:0/device:GPU:0";
/// The device that prepares the input.
pub(super) const CPU: &str = "/job:worker/replica:0/task:0/device:CPU:0";

/// A node of the graph.
pub(super) struct Operation {
    pub(super) name: String,
    pub(super) op: String,
    pub(super) device: &'static str,
    pub(super) inputs: Vec<String>,
    /// The type of the outputs' elements.
    pub(super) kind: Kind,
    /// The dimensions of each output.
    pub(super) outputs: Vec<Vec<u64>>,
    pub(super) value: Holds,
}

/// The type of the elements of a node's outputs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Float,
    Integer,
}

/// The content of a node, other than its inputs.
pub(super) enum Holds {
    /// The node contains nothing but its inputs.
    Nothing,
    /// A constant whose elements all have this value.
    All(f32),
    /// A constant of integers.
    Integers(Vec<u64>),
    /// The node is a variable.
    Variable,
    /// A sliding window: its stride, and its size if no input determines the size. Height and width
    /// have the same stride and size.
    Window { stride: u64, size: Option<u64> },
}

/// The nodes of a graph that is being written.
#[derive(Default)]
pub(super) struct Nodes {
    pub(super) operations: Vec<Operation>,
}

impl Nodes {
    /// Adds an operation on the GPU and returns its name.
    fn add(
        &mut self,
        (name, op): (&str, &str),
        inputs: &[&str],
        kind: Kind,
        outputs: &[&[u64]],
        value: Holds,
    ) -> String {
        self.operations.push(Operation {
            name: name.to_owned(),
            op: op.to_owned(),
            device: GPU,
            inputs: inputs.iter().map(|input| (*input).to_owned()).collect(),
            kind,
            outputs: outputs.iter().map(|shape| shape.to_vec()).collect(),
            value,
        });
        name.to_owned()
    }

    /// Adds an operation with one floating-point output.
    pub(super) fn float(&mut self, name: &str, op: &str, inputs: &[&str], shape: &[u64]) -> String {
        self.add((name, op), inputs, Kind::Float, &[shape], Holds::Nothing)
    }

    /// Adds an operation with several floating-point outputs.
    pub(super) fn floats(
        &mut self,
        name: &str,
        op: &str,
        inputs: &[&str],
        shapes: &[&[u64]],
    ) -> String {
        self.add((name, op), inputs, Kind::Float, shapes, Holds::Nothing)
    }

    /// Adds an operation with a sliding window.
    pub(super) fn window(
        &mut self,
        name: &str,
        op: &str,
        inputs: &[&str],
        shape: &[u64],
        window: Holds,
    ) -> String {
        self.add((name, op), inputs, Kind::Float, &[shape], window)
    }

    /// Adds an operation whose outputs are lists of integers. `sizes` holds the length of each
    /// list.
    pub(super) fn integers(
        &mut self,
        name: &str,
        op: &str,
        inputs: &[&str],
        sizes: &[u64],
    ) -> String {
        let shapes: Vec<[u64; 1]> = sizes.iter().map(|size| [*size]).collect();
        let shapes: Vec<&[u64]> = shapes.iter().map(<[u64; 1]>::as_slice).collect();
        self.add((name, op), inputs, Kind::Integer, &shapes, Holds::Nothing)
    }

    /// Adds an operation without outputs.
    pub(super) fn effect(&mut self, name: &str, op: &str, inputs: &[&str]) -> String {
        self.add((name, op), inputs, Kind::Float, &[], Holds::Nothing)
    }

    /// Adds a constant whose elements all have the same value.
    pub(super) fn constant(&mut self, name: &str, shape: &[u64], value: f32) -> String {
        self.add(
            (name, "Const"),
            &[],
            Kind::Float,
            &[shape],
            Holds::All(value),
        )
    }

    /// Adds a constant list of integers.
    pub(super) fn sizes(&mut self, name: &str, sizes: &[u64]) -> String {
        let shape = [sizes.len() as u64];
        let value = Holds::Integers(sizes.to_vec());
        self.add((name, "Const"), &[], Kind::Integer, &[&shape], value)
    }

    /// Adds a variable.
    pub(super) fn variable(&mut self, name: &str, shape: &[u64]) -> String {
        self.add(
            (name, "VariableV2"),
            &[],
            Kind::Float,
            &[shape],
            Holds::Variable,
        )
    }

    /// Adds an operation on the CPU.
    pub(super) fn host(
        &mut self,
        name: &str,
        op: &str,
        inputs: &[&str],
        shapes: &[&[u64]],
    ) -> String {
        let name = self.floats(name, op, inputs, shapes);
        if let Some(operation) = self.operations.last_mut() {
            operation.device = CPU;
        }
        name
    }
}
