//! What a network is made of.

use serde::{Deserialize, Serialize};

use crate::graph::FEATURES;

/// The kinds of graph convolution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Convolution {
    /// Graph convolutional network (Kipf and Welling 2017).
    Gcn,
    /// Graph isomorphism network (Xu et al. 2019).
    Gin,
    /// Graph attention network (Veličković et al. 2018), of four heads.
    Gat,
    /// Message passing of four towers with sums (Corso et al. 2020).
    Mpnn,
}

/// How many convolutions a graph goes through, by its number of nodes `N`; at least one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Depth {
    /// `N / 2`, as the original recommends.
    Half,
    /// `N`.
    Nodes,
    /// The square root of `N`.
    Root,
    /// The binary logarithm of `N`.
    Logarithm,
    /// As many, whatever `N` is.
    #[serde(untagged)]
    Fixed(usize),
}

impl Depth {
    /// The number of convolutions for a graph of `nodes` nodes.
    #[must_use]
    pub fn layers(self, nodes: usize) -> usize {
        let layers = match self {
            Self::Half => nodes / 2,
            Self::Nodes => nodes,
            Self::Root => nodes.isqrt(),
            Self::Logarithm => nodes.checked_ilog2().unwrap_or(0) as usize,
            Self::Fixed(layers) => layers,
        };
        layers.max(1)
    }
}

/// How the layers are put together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Design {
    /// The original's, which its published weights are for. The recurrent unit takes a node's state as
    /// its input and the convolution as its memory, so that a node's state is mixed away by the
    /// neighbours' within a few layers; weights of the readout start near zero; the attention of
    /// pairs goes by a buffer joined along the wrong axis.
    Original,
    /// One that learns at any depth: the recurrent unit remembers a node's state and takes the
    /// convolution as its input, at first forgetting little; features are standardised and a node's
    /// degree is one; the readout sees the mean, the highest values and the number of nodes too; its
    /// last layer is linear.
    Deep,
}

/// What a network is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Architecture {
    /// How its layers are put together.
    pub design: Design,
    /// The kind of its convolutions.
    pub convolution: Convolution,
    /// The width of a node's state: a multiple of 4 where there are heads or towers.
    pub hidden: usize,
    /// How many linear layers the readout ends in.
    pub readout_layers: usize,
    /// How many convolutions.
    pub depth: Depth,
}

/// Why there is no such network.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ArchitectureError {
    /// The width of a state.
    #[error("a hidden width of {0} cannot be: expected a multiple of 4 from 4 to {MOST_HIDDEN}")]
    Hidden(usize),
    /// The readout's linear layers.
    #[error("{0} linear layers at the end cannot be: expected 1 to {MOST_LAYERS}")]
    Readout(usize),
    /// The convolutions.
    #[error("{0} convolutions cannot be: expected 1 to {MOST_LAYERS}")]
    Depth(usize),
}

/// The widest state.
const MOST_HIDDEN: usize = 4096;

/// The most layers of a kind.
const MOST_LAYERS: usize = 1000;

impl Architecture {
    /// Whether there is such a network.
    ///
    /// # Errors
    /// Where a width or a number of layers is out of range.
    pub fn check(&self) -> Result<(), ArchitectureError> {
        if !(4..=MOST_HIDDEN).contains(&self.hidden) || !self.hidden.is_multiple_of(4) {
            return Err(ArchitectureError::Hidden(self.hidden));
        }
        if !(1..=MOST_LAYERS).contains(&self.readout_layers) {
            return Err(ArchitectureError::Readout(self.readout_layers));
        }
        match self.depth {
            Depth::Fixed(layers) if !(1..=MOST_LAYERS).contains(&layers) => {
                Err(ArchitectureError::Depth(layers))
            }
            _ => Ok(()),
        }
    }

    /// How many inputs a node has.
    #[must_use]
    pub fn inputs(&self) -> usize {
        match self.design {
            Design::Original => FEATURES,
            // The degree too.
            Design::Deep => FEATURES + 1,
        }
    }

    /// The recommended one. It learns at any depth; three convolutions predict as well as many and
    /// train in a fraction of the time.
    #[must_use]
    pub fn new(convolution: Convolution) -> Self {
        Self {
            design: Design::Deep,
            convolution,
            hidden: 64,
            readout_layers: 3,
            depth: Depth::Fixed(3),
        }
    }

    /// The original's, of the depth that its authors recommend.
    #[must_use]
    pub fn original(convolution: Convolution) -> Self {
        Self {
            design: Design::Original,
            depth: Depth::Half,
            ..Self::new(convolution)
        }
    }
}
