//! Expressions as trees.

use crate::function::Function;

/// An expression whose value is a number.
#[derive(Debug, Clone)]
pub(crate) enum Node {
    Number(f64),
    /// The variable with this index.
    Variable(usize),
    Negative(Box<Node>),
    Arithmetic(Operator, Box<[Node; 2]>),
    Call(Function, Vec<Node>),
    If(Box<Condition>, Box<[Node; 2]>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

/// An expression whose value is true or false.
#[derive(Debug, Clone)]
pub(crate) enum Condition {
    Compare(Comparison, [Node; 2]),
    And(Box<[Condition; 2]>),
    Or(Box<[Condition; 2]>),
    Not(Box<Condition>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comparison {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    NotEqual,
}

impl Node {
    pub fn value(&self, values: &[f64]) -> f64 {
        match self {
            Node::Number(number) => *number,
            Node::Variable(index) => values[*index],
            Node::Negative(of) => -of.value(values),
            Node::Arithmetic(operator, sides) => {
                let (a, b) = (sides[0].value(values), sides[1].value(values));
                match operator {
                    Operator::Add => a + b,
                    Operator::Subtract => a - b,
                    Operator::Multiply => a * b,
                    Operator::Divide => a / b,
                    Operator::Remainder => a % b,
                }
            }
            Node::Call(function, arguments) => {
                function.value(arguments.iter().map(|node| node.value(values)))
            }
            Node::If(condition, branches) => {
                branches[usize::from(!condition.holds(values))].value(values)
            }
        }
    }

    /// Whether `is_wanted` holds for any variable that the expression uses.
    pub fn any_variable(&self, is_wanted: &dyn Fn(usize) -> bool) -> bool {
        let any = |nodes: &[Node]| nodes.iter().any(|node| node.any_variable(is_wanted));
        match self {
            Node::Number(_) => false,
            Node::Variable(index) => is_wanted(*index),
            Node::Negative(of) => of.any_variable(is_wanted),
            Node::Arithmetic(_, sides) => any(&sides[..]),
            Node::Call(_, arguments) => any(arguments),
            Node::If(condition, branches) => {
                condition.any_variable(is_wanted) || any(&branches[..])
            }
        }
    }
}

impl Condition {
    fn holds(&self, values: &[f64]) -> bool {
        match self {
            Condition::Compare(comparison, [a, b]) => {
                let (a, b) = (a.value(values), b.value(values));
                match comparison {
                    Comparison::Less => a < b,
                    Comparison::LessOrEqual => a <= b,
                    Comparison::Greater => a > b,
                    Comparison::GreaterOrEqual => a >= b,
                    Comparison::Equal => a == b,
                    Comparison::NotEqual => a != b,
                }
            }
            Condition::And(sides) => sides[0].holds(values) && sides[1].holds(values),
            Condition::Or(sides) => sides[0].holds(values) || sides[1].holds(values),
            Condition::Not(of) => !of.holds(values),
        }
    }

    fn any_variable(&self, is_wanted: &dyn Fn(usize) -> bool) -> bool {
        match self {
            Condition::Compare(_, sides) => sides.iter().any(|side| side.any_variable(is_wanted)),
            Condition::And(sides) | Condition::Or(sides) => {
                sides.iter().any(|side| side.any_variable(is_wanted))
            }
            Condition::Not(of) => of.any_variable(is_wanted),
        }
    }
}
