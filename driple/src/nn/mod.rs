//! What networks are made of: parameters, layers with exact gradients, and the optimiser.
//!
//! A forward pass writes what it computes on a [`Tape`]; going back along it gives the gradients of
//! all parameters. A layer is an operation of the tape with a gradient written out by hand, so that a
//! pass over many small graphs is a few large matrix products. All is generic in the number type:
//! networks train in `f32` and are checked in `f64`.

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
