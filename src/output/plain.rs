//! Texts of files as they are safe to print on a terminal.

pub use crate::words::printable;
