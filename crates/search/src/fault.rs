//! Faults in settings and tables.

use std::fmt;

/// A fault in the settings or in a table. It names the field, so that code that reads a file can report the position of
/// the fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Name of the field, such as `eta` or `floor.uniform.low`. In a table, `3[2].resource` is the
    /// resource of the third point of trial 3.
    pub field: String,
    /// The value of the field; `nothing` if the field is missing.
    pub found: String,
    /// The expected value.
    pub expected: String,
}

impl Fault {
    pub(crate) fn new(
        field: impl Into<String>,
        found: impl fmt::Display,
        expected: impl Into<String>,
    ) -> Self {
        Fault {
            field: field.into(),
            found: found.to_string(),
            expected: expected.into(),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Fault {
            field,
            found,
            expected,
        } = self;
        write!(f, "{field}: found {found}, expected {expected}")
    }
}
