//! Arithmetic expressions over named numbers.
//!
//! ```
//! use gleaner_expression::Expression;
//!
//! let names = ["rate", "left"];
//! let expression = Expression::parse("if left > 0 { rate / left } else { 0 }", &names)?;
//! assert_eq!(expression.value(&[6.0, 3.0]), 2.0);
//!
//! let fault = Expression::parse("rate + lft", &names).unwrap_err();
//! assert_eq!(fault.column, 8);
//! # Ok::<(), gleaner_expression::Fault>(())
//! ```
//!
//! # Grammar
//!
//! The grammar is a subset of Rust's expression syntax: numbers, names, `+ - * / %`, parentheses,
//! calls of functions, and `if condition { a } else { b }`. Conditions are comparisons
//! (`< <= > >= == !=`), combined with `&&`, `||` and `!`. All numbers are 64-bit floats, so `1 / 2`
//! is 0.5. `inf` is infinity. [`FUNCTIONS`] lists the functions.
//!
//! The crate `syn` parses the text. Its result is checked here before anything is evaluated. Names
//! must be known, functions must have the right number of arguments, and conditions may occur only
//! where a condition is expected. An expression has at most [`MAX_LENGTH`] characters and
//! [`MAX_DEPTH`] nested brackets, so that no expression takes long to parse or to evaluate.

mod convert;
mod function;
mod node;
mod scan;
mod split;

use std::fmt;

use node::Node;

pub use function::FUNCTIONS;
pub use split::Scaled;

/// Maximum number of characters in an expression.
pub const MAX_LENGTH: usize = 1000;

/// Maximum number of nested brackets.
pub const MAX_DEPTH: usize = 32;

/// An expression whose value is a number.
#[derive(Debug, Clone)]
pub struct Expression {
    text: String,
    node: Node,
}

/// A fault in the text of an expression.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("column {column}: found {found}, expected {expected}")]
pub struct Fault {
    /// Position in the text: 1 for the first character, and at most one past the last character.
    pub column: usize,
    /// The text that was found there.
    pub found: String,
    /// A description of the expected text.
    pub expected: String,
}

impl Expression {
    /// Parses an expression. `variables` are the names that the text can use.
    ///
    /// # Errors
    /// The text is not a valid expression. Returns its first [`Fault`].
    pub fn parse(text: &str, variables: &[&str]) -> Result<Self, Fault> {
        scan::check(text)?;
        let node = convert::parse(text, variables);
        // Frees memory: otherwise, the parser keeps every text that this thread has parsed.
        proc_macro2::extra::invalidate_current_thread_spans();
        Ok(Expression {
            text: text.trim().to_owned(),
            node: node?,
        })
    }

    /// The text, without surrounding white space.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The expression's value. `values` are the values of the variables, in the order of the names
    /// given to [`Expression::parse`].
    ///
    /// Arithmetic follows the rules of floating-point numbers, so the value may be infinite or NaN.
    /// `min` and `max` of a NaN are NaN, and the only comparison with a NaN that holds is `!=`.
    ///
    /// # Panics
    /// There are fewer values than names given to [`Expression::parse`].
    pub fn value(&self, values: &[f64]) -> f64 {
        self.node.value(values)
    }

    /// Whether the expression uses the variable with this index.
    pub fn uses(&self, variable: usize) -> bool {
        self.node.any_variable(&|used| used == variable)
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
