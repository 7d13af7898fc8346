//! Gradients of operations on images: convolutions and batch normalisation.

use super::Backward;
use crate::synth::tensorflow::nodes::Holds;

impl Backward<'_> {
    pub(super) fn convolution(&mut self, op: &str, stride: u64, gradient: &str) -> Vec<String> {
        let (x, kernel) = (self.input(0).to_owned(), self.input(1).to_owned());
        let name = self.name("ShapeN");
        let sizes = self
            .nodes
            .integers(&name, "ShapeN", &[&x, &kernel], &[4, 4]);
        let of_kernel = format!("{sizes}:1");
        let sides = [
            ("BackpropInput", [&sizes, &kernel]),
            ("BackpropFilter", [&x, &of_kernel]),
        ];
        let mut parts = Vec::new();
        for (index, (side, [first, second])) in sides.into_iter().enumerate() {
            if !self.network.is_trained(self.step.inputs[index]) {
                continue;
            }
            let op = format!("{op}{side}");
            let (name, shape) = (self.name(&op), self.shape(index));
            let window = Holds::Window { stride, size: None };
            let inputs = [first.as_str(), second, gradient];
            parts.push((
                index,
                self.nodes.window(&name, &op, &inputs, &shape, window),
            ));
        }
        match <[_; 2]>::try_from(parts) {
            Ok(both) => self.together(&both.map(|(_, part)| part)),
            // This is the first convolution, whose input needs no gradient.
            Err(one) => vec![
                String::new(),
                one.into_iter().map(|(_, part)| part).collect(),
            ],
        }
    }

    /// Adds the gradients of a batch normalisation's input, scale and offset.
    pub(super) fn normalisation(&mut self, gradient: &str) -> Vec<String> {
        let (x, scale) = (self.input(0).to_owned(), self.input(1).to_owned());
        let saved = [3, 4].map(|output| format!("{}:{output}", self.step.name));
        let (name, whole, channels) = (
            self.name("FusedBatchNormGrad"),
            self.shape(0),
            self.shape(1),
        );
        let inputs = [gradient, &x, &scale, &saved[0], &saved[1]];
        let shapes = [whole.as_slice(), &channels, &channels, &[0], &[0]];
        let all = self
            .nodes
            .floats(&name, "FusedBatchNormGrad", &inputs, &shapes);
        let wait = self.name("tuple/group_deps");
        let wait = format!(
            "^{}",
            self.nodes.effect(&wait, "NoOp", &[&format!("^{all}")])
        );
        let mut part = |index: usize, input: &str| {
            let name = format!("tuple/control_dependency_{index}");
            self.like(index, &name, "Identity", &[input, &wait])
        };
        vec![
            part(0, &all),
            part(1, &format!("{all}:1")),
            part(2, &format!("{all}:2")),
        ]
    }
}
