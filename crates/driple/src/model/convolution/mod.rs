//! Graph convolutions, one kind per file.

mod gat;
mod gcn;
mod gin;
mod mpnn;

use super::architecture::Convolution;
use super::declare::Declare;
use super::network::Layout;
use crate::nn::{Real, Tape, Var};

/// A graph convolution. It computes the new states of all nodes from the states of their neighbours.
#[derive(Debug, Clone)]
pub(super) enum Layer {
    Gcn(gcn::Gcn),
    Gin(gin::Gin),
    Gat(gat::Gat),
    Mpnn(mpnn::Mpnn),
}

/// The widths of a convolution's input and output.
#[derive(Debug, Clone, Copy)]
pub(super) struct Widths {
    pub input: usize,
    pub output: usize,
    /// Whether this is the first convolution of the network.
    pub first: bool,
}

impl Layer {
    /// Declares the parameters of a convolution, with names that begin with `name`.
    pub fn declare<T: Real>(
        kind: Convolution,
        name: &str,
        widths: Widths,
        declare: &mut Declare<T>,
    ) -> Self {
        match kind {
            Convolution::Gcn => Self::Gcn(gcn::Gcn::declare(name, widths, declare)),
            Convolution::Gin => Self::Gin(gin::Gin::declare(name, widths, declare)),
            Convolution::Gat => Self::Gat(gat::Gat::declare(name, widths, declare)),
            Convolution::Mpnn => Self::Mpnn(mpnn::Mpnn::declare(name, widths, declare)),
        }
    }

    /// The states after the convolution.
    pub fn apply<'a, T: Real>(
        &self,
        tape: &mut Tape<'a, T>,
        states: Var,
        layout: &'a Layout<T>,
    ) -> Var {
        match self {
            Self::Gcn(layer) => layer.apply(tape, states, &layout.block),
            Self::Gin(layer) => layer.apply(tape, states, &layout.block),
            Self::Gat(layer) => layer.apply(tape, states, &layout.attention),
            Self::Mpnn(layer) => layer.apply(tape, states, &layout.block),
        }
    }
}
