//! Networks that predict the metrics of a grouped graph.

mod architecture;
mod convolution;
mod declare;
mod inputs;
mod network;
mod readout;
mod weights;

pub use architecture::{Architecture, ArchitectureError, Convolution, Depth, Design};
pub use inputs::Inputs;
pub use network::{Layout, Network, REPEATED};
pub use readout::READOUT_LAYERS;
pub use weights::{Tensor, Weights, WeightsError, read_weights, set_weights, weights};
