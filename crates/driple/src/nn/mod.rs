//! The building blocks of networks: parameters, layers with exact gradients, and the optimiser.
//!
//! A forward pass records its operations on a [`Tape`]. A backward pass along the tape computes the
//! gradients of all parameters. A layer is one operation on the tape, with a hand-written gradient.
//! An operation processes all graphs together, so a pass over many small graphs needs only a few
//! large matrix products. Everything is generic over the number type: networks train in `f32` and
//! are checked in `f64`.

mod adam;
mod block;
mod buffers;
mod kernels;
mod ops;
mod parameters;
mod product;
mod real;
mod tape;

pub use adam::{Adam, AdamState};
pub use block::Block;
pub use buffers::{Buffers, SpareBuffers};
pub use ops::{Activation, Attention, Gru, Layout, Lstm, Weight};
pub use parameters::{Gradients, ParamId, Parameters};
pub use real::Real;
pub use tape::{Tape, Var};
