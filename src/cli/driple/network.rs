//! Options that describe the network.

use std::str::FromStr;

use clap::{Args, ValueEnum};
use gleaner_driple::model::{Architecture, Convolution, Depth, Design};

use super::contrary::Contrary;
use gleaner_domain::error::Result;

/// The structure of the network. A missing option has its default or, if training starts from a model or checkpoint,
/// the value of that file.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Network")]
pub struct NetworkArgs {
    /// Kind of graph convolution [default: gcn].
    #[arg(long, value_enum, value_name = "KIND")]
    network: Option<Network>,
    /// Use the original's network design, which its published weights require, and its constant
    /// learning rate.
    #[arg(long)]
    compat: bool,
    /// Number of convolutions. It is fixed, or computed from the graph's number of nodes: half of that number (half),
    /// the number itself (nodes), its square root (root) or its logarithm (log) [default: 3; with --compat half, as the
    /// authors of the original recommend].
    #[arg(long, value_name = "half|nodes|root|log|NUMBER")]
    depth: Option<LayerCount>,
    /// Width of a node's state, a multiple of 4 [default: 64].
    #[arg(long, value_name = "WIDTH")]
    hidden: Option<usize>,
    /// Number of linear layers in the readout [default: 3].
    #[arg(long, value_name = "COUNT")]
    layers: Option<usize>,
}

/// Kinds of graph convolution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Network {
    /// Graph convolutional network.
    Gcn,
    /// Graph isomorphism network.
    Gin,
    /// Graph attention network.
    Gat,
    /// Message passing neural network.
    Mpnn,
}

/// The number of convolutions, which may depend on the number of nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LayerCount(pub Depth);

impl FromStr for LayerCount {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let depth = match text {
            "half" => Depth::Half,
            "nodes" => Depth::Nodes,
            "root" => Depth::Root,
            "log" => Depth::Logarithm,
            _ => match text.parse() {
                Ok(layers @ 1..=1000) => Depth::Fixed(layers),
                _ => {
                    return Err("expected half, nodes, root, log or a number from 1 to 1000".into());
                }
            },
        };
        Ok(LayerCount(depth))
    }
}

impl NetworkArgs {
    /// The requested network.
    pub fn architecture(&self) -> Architecture {
        let convolution = self.convolution().unwrap_or(Convolution::Gcn);
        let base = if self.compat {
            Architecture::original(convolution)
        } else {
            Architecture::new(convolution)
        };
        Architecture {
            hidden: self.hidden.unwrap_or(base.hidden),
            readout_layers: self.layers.unwrap_or(base.readout_layers),
            depth: self.depth.map_or(base.depth, |depth| depth.0),
            ..base
        }
    }

    fn convolution(&self) -> Option<Convolution> {
        self.network.map(|network| match network {
            Network::Gcn => Convolution::Gcn,
            Network::Gin => Convolution::Gin,
            Network::Gat => Convolution::Gat,
            Network::Mpnn => Convolution::Mpnn,
        })
    }

    /// Whether the original's design was requested.
    pub fn compat(&self) -> bool {
        self.compat
    }

    /// Checks that the options describe the network of `model`, whose weights are the initial
    /// weights of the training run.
    ///
    /// # Errors
    /// [`Error::Usage`] if options describe another network. The message lists these options.
    pub fn check(&self, model: &Architecture, whose: &str) -> Result<()> {
        let mut contrary = Contrary::default();
        contrary.add("--network", self.convolution(), model.convolution);
        contrary.add("--depth", self.depth.map(|depth| depth.0), model.depth);
        contrary.add("--hidden", self.hidden, model.hidden);
        contrary.add("--layers", self.layers, model.readout_layers);
        contrary.add(
            "--compat",
            self.compat.then_some(Design::Original),
            model.design,
        );
        contrary.into_result(whose)
    }
}
