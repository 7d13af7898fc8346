//! Expressions that are a product of one variable and a factor.

use crate::Expression;
use crate::node::{Node, Operator};

/// A variable times a factor that does not depend on the variable.
#[derive(Debug, Clone)]
pub struct Scaled {
    /// Index of the variable.
    pub variable: usize,
    times: Vec<Node>,
    over: Vec<Node>,
}

impl Scaled {
    /// The factor's value. `values` are the values of the variables, in the order of their names. The value of
    /// [`Scaled::variable`] is ignored.
    pub fn factor(&self, values: &[f64]) -> f64 {
        let product = |nodes: &[Node]| nodes.iter().map(|node| node.value(values)).product::<f64>();
        let times = product(&self.times);
        if self.over.is_empty() {
            times
        } else {
            times / product(&self.over)
        }
    }
}

impl Expression {
    /// Writes the expression as a variable for which `is_wanted` holds, times a factor that uses no
    /// such variable. Returns `None` if the expression does not have this form.
    ///
    /// Only products and quotients are taken apart: `a * rate / left` is `rate` times `a / left`,
    /// but `rate + rate` is not recognised.
    pub fn scaled(&self, is_wanted: impl Fn(usize) -> bool) -> Option<Scaled> {
        let mut parts = Parts::default();
        parts.take(&self.node, false);
        let uses = |node: &Node| node.any_variable(&is_wanted);
        if parts.over.iter().any(|node| uses(node)) {
            return None;
        }
        let (wanted, times): (Vec<&Node>, Vec<&Node>) =
            parts.times.into_iter().partition(|node| uses(node));
        match wanted[..] {
            [Node::Variable(variable)] => Some(Scaled {
                variable: *variable,
                times: times.into_iter().cloned().collect(),
                over: parts.over.into_iter().cloned().collect(),
            }),
            _ => None,
        }
    }
}

/// The factors and the divisors of a product.
#[derive(Default)]
struct Parts<'a> {
    times: Vec<&'a Node>,
    over: Vec<&'a Node>,
}

impl<'a> Parts<'a> {
    fn take(&mut self, node: &'a Node, divides: bool) {
        match node {
            Node::Arithmetic(Operator::Multiply, sides) => {
                self.take(&sides[0], divides);
                self.take(&sides[1], divides);
            }
            Node::Arithmetic(Operator::Divide, sides) => {
                self.take(&sides[0], divides);
                self.take(&sides[1], !divides);
            }
            _ if divides => self.over.push(node),
            _ => self.times.push(node),
        }
    }
}
