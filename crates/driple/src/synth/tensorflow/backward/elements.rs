//! Gradients of element-wise operations, means over axes, and transpositions.

use super::Backward;
use crate::synth::network::Op;

impl Backward<'_> {
    /// Adds the gradient of a mean's input: each element gets an equal share of the mean's gradient.
    pub(super) fn mean(&mut self, gradient: &str) -> Vec<String> {
        let whole = self.shape(0);
        let kept: Vec<u64> = match &self.step.op {
            Op::Mean { axes, .. } => {
                let size = |(axis, size)| if axes.contains(&axis) { 1 } else { size };
                whole.iter().copied().enumerate().map(size).collect()
            }
            _ => whole.clone(),
        };
        let sizes = self.sizes(0, "Shape");
        let (name, rank) = (self.name("DynamicStitch"), whole.len() as u64);
        let stitched = self
            .nodes
            .integers(&name, "DynamicStitch", &[&sizes], &[rank]);
        let name = self.name("floordiv");
        let times = self
            .nodes
            .integers(&name, "FloorDiv", &[&sizes, &stitched], &[rank]);
        let name = self.name("Reshape");
        let narrow = self
            .nodes
            .float(&name, "Reshape", &[gradient, &stitched], &kept);
        let wide = self.like(0, "Tile", "Tile", &[&narrow, &times]);
        let count: u64 = whole.iter().product::<u64>() / kept.iter().product::<u64>().max(1);
        let name = self.name("Const");
        let count = self.nodes.constant(&name, &[], count as f32);
        vec![self.like(0, "truediv", "RealDiv", &[&wide, &count])]
    }

    pub(super) fn bias(&mut self, gradient: &str) -> Vec<String> {
        let bias = self.like(1, "BiasAddGrad", "BiasAddGrad", &[gradient]);
        self.together(&[gradient.to_owned(), bias])
    }

    /// Adds the gradients of two broadcast tensors. Each gradient is summed over the axes along
    /// which its tensor was repeated.
    pub(super) fn broadcast(&mut self, gradient: &str) -> Vec<String> {
        let sizes = [self.sizes(0, "Shape"), self.sizes(1, "Shape_1")];
        let (name, rank) = (
            self.name("BroadcastGradientArgs"),
            self.step.shape.len() as u64,
        );
        let inputs = [sizes[0].as_str(), &sizes[1]];
        let axes = self
            .nodes
            .integers(&name, "BroadcastGradientArgs", &inputs, &[rank, rank]);
        let axes = [axes.clone(), format!("{axes}:1")];
        let mut parts = Vec::new();
        for (index, suffix) in ["", "_1"].into_iter().enumerate() {
            let whole = self.step.shape.clone();
            let factor = match self.step.op {
                Op::Mul => {
                    let (name, other) = (
                        self.name(&format!("Mul{suffix}")),
                        self.input(1 - index).to_owned(),
                    );
                    self.nodes.float(&name, "Mul", &[gradient, &other], &whole)
                }
                _ => gradient.to_owned(),
            };
            let sum = self.like(
                index,
                &format!("Sum{suffix}"),
                "Sum",
                &[&factor, &axes[index]],
            );
            let sum = match (&self.step.op, index) {
                (Op::Sub, 1) => self.like(1, "Neg", "Neg", &[&sum]),
                _ => sum,
            };
            let part = format!("Reshape{suffix}");
            parts.push(self.like(index, &part, "Reshape", &[&sum, &sizes[index]]));
        }
        self.together(&parts)
    }

    pub(super) fn transpose(&mut self, gradient: &str, rank: usize) -> Vec<String> {
        let (name, order) = (
            self.name("InvertPermutation"),
            format!("{}/perm", self.step.name),
        );
        let back = self
            .nodes
            .integers(&name, "InvertPermutation", &[&order], &[rank as u64]);
        vec![self.like(0, "transpose", "Transpose", &[gradient, &back])]
    }

    pub(super) fn softmax(&mut self, gradient: &str, y: &str) -> Vec<String> {
        let mut summed = self.shape(0);
        if let Some(last) = summed.last_mut() {
            *last = 1;
        }
        let product = self.like(0, "mul", "Mul", &[gradient, y]);
        let name = self.name("Sum/reduction_indices");
        let axes = self.nodes.sizes(&name, &[summed.len() as u64 - 1]);
        let name = self.name("Sum");
        let sum = self.nodes.float(&name, "Sum", &[&product, &axes], &summed);
        let centred = self.like(0, "sub", "Sub", &[gradient, &sum]);
        vec![self.like(0, "mul_1", "Mul", &[&centred, y])]
    }
}
