//! The operations of a tape, each with its value and its gradient. Related operations share a file.

mod activation;
mod attention;
mod columns;
mod gru;
mod linear;
mod pool;
mod propagate;
mod set2set;

pub use activation::Activation;
pub use attention::Attention;
pub use gru::Gru;
pub use linear::{Layout, Weight};
pub use set2set::Lstm;
