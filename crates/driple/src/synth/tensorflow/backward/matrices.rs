//! Gradients of matrix products, of rows selected from a table, and of the loss.

use super::Backward;
use crate::synth::network::Op;

impl Backward<'_> {
    pub(super) fn product(&mut self, gradient: &str) -> Vec<String> {
        let op = if self.step.op == Op::MatMul {
            "MatMul"
        } else {
            "BatchMatMul"
        };
        let (a, b) = (self.input(0).to_owned(), self.input(1).to_owned());
        let left = self.like(0, op, op, &[gradient, &b]);
        let right = self.like(1, &format!("{op}_1"), op, &[&a, gradient]);
        self.together(&[left, right])
    }

    /// Adds the gradient of a table, from the gradients of the selected rows.
    pub(super) fn rows(&mut self, gradient: &str) -> Vec<String> {
        let (table, tokens) = (self.shape(0), self.shape(1));
        let count: u64 = tokens.iter().product();
        let flat = self.name("Reshape/shape");
        let flat = self.nodes.sizes(&flat, &[count, table[1]]);
        let name = self.name("Reshape");
        let flat = self
            .nodes
            .float(&name, "Reshape", &[gradient, &flat], &[count, table[1]]);
        let (name, numbers) = (self.name("Reshape_1"), self.input(1).to_owned());
        let numbers = self.nodes.integers(&name, "Reshape", &[&numbers], &[count]);
        vec![self.like(
            0,
            "UnsortedSegmentSum",
            "UnsortedSegmentSum",
            &[&flat, &numbers],
        )]
    }

    /// Adds the gradient of the scores. For each row, the cross entropy operation outputs the gradient of the row's
    /// loss with respect to the scores. By the chain rule, this gradient is then multiplied by the gradient of the mean
    /// loss with respect to the row's loss.
    pub(super) fn loss(&mut self, gradient: &str) -> Vec<String> {
        let rows = self.shape(1);
        let name = self.name("Tile");
        let each = self
            .nodes
            .float(&name, "Tile", &[gradient, "loss/Const"], &rows);
        let name = self.name("ExpandDims");
        let each = self
            .nodes
            .float(&name, "ExpandDims", &[&each], &[rows[0], 1]);
        let scores = format!("{}:1", self.step.name);
        let scores = self.like(0, "PreventGradient", "PreventGradient", &[&scores]);
        vec![self.like(0, "mul", "Mul", &[&each, &scores]), String::new()]
    }
}
