//! Architectures of networks: kinds of convolution, depths and designs.

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
    /// Graph attention network (Veličković et al. 2018) with four heads.
    Gat,
    /// Message passing in four towers, with sums over neighbours (Corso et al. 2020).
    Mpnn,
}

/// The number of convolutions that are applied to a graph of `N` nodes. At least one is always
/// applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Depth {
    /// `N / 2`, rounded down, as the original recommends.
    Half,
    /// `N`.
    Nodes,
    /// The square root of `N`, rounded down.
    Root,
    /// The binary logarithm of `N`, rounded down.
    Logarithm,
    /// A fixed number, regardless of `N`.
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

/// The designs of networks, which differ in the way the layers are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Design {
    /// The design of the original, to be used with its published weights. The recurrent unit takes a node's state as
    /// its input and the result of the convolution as its memory. Within a few layers, the states
    /// of neighbours therefore displace a node's own state. The initial weights of the readout are
    /// near zero. Attention scores are computed from the wrong pairs of nodes, because a buffer is
    /// concatenated along the wrong axis.
    Original,
    /// A design that can be trained at any depth. The recurrent unit takes a node's state as its
    /// memory and the result of the convolution as its input. At the start of training, the unit
    /// keeps most of its memory. Features are standardised, and the degree of a node is one of
    /// them. The readout also receives the mean and the highest value of each column of the states,
    /// and the number of nodes. Its last layer is linear.
    Deep,
}

/// The architecture of a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Architecture {
    /// The design, which determines how the layers are combined.
    pub design: Design,
    /// The kind of graph convolution.
    pub convolution: Convolution,
    /// The width of a node's state. It must be a multiple of 4, because some convolutions divide it
    /// into four heads or towers.
    pub hidden: usize,
    /// The number of linear layers at the end of the readout.
    pub readout_layers: usize,
    /// The number of convolutions.
    pub depth: Depth,
}

/// The reason why an architecture is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ArchitectureError {
    /// The width of a state is not a multiple of 4 or is out of range.
    #[error("the hidden width {0} is invalid: expected a multiple of 4 from 4 to {MOST_HIDDEN}")]
    Hidden(usize),
    /// The number of linear layers in the readout is out of range.
    #[error(
        "the number of linear layers in the readout, {0}, is invalid: expected 1 to {MOST_LAYERS}"
    )]
    Readout(usize),
    /// The number of convolutions is out of range.
    #[error("the number of convolutions, {0}, is invalid: expected 1 to {MOST_LAYERS}")]
    Depth(usize),
}

/// The maximum width of a state.
const MOST_HIDDEN: usize = 4096;

/// The maximum number of convolutions, and of linear layers in the readout.
const MOST_LAYERS: usize = 1000;

impl Architecture {
    /// Checks that the hidden width, the number of convolutions and the number of linear layers are
    /// in range.
    ///
    /// # Errors
    /// If the hidden width or a number of layers is invalid.
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

    /// The number of network inputs per node.
    #[must_use]
    pub fn inputs(&self) -> usize {
        match self.design {
            Design::Original => FEATURES,
            // The features and the degree.
            Design::Deep => FEATURES + 1,
        }
    }

    /// The recommended architecture, which can be trained at any depth. Networks with three
    /// convolutions predict as well as deeper networks, but train in a fraction of the time.
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

    /// The original's architecture, with the depth that its authors recommend.
    #[must_use]
    pub fn original(convolution: Convolution) -> Self {
        Self {
            design: Design::Original,
            depth: Depth::Half,
            ..Self::new(convolution)
        }
    }
}
