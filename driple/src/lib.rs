//! Resource consumption of deep-learning training jobs from their computational graphs, as in Yang
//! et al., *Prediction of the Resource Consumption of Distributed Deep Learning Systems*,
//! SIGMETRICS 2022: graphs are read, cut to their operations on GPUs, grouped, and given to a graph
//! neural network.

pub mod content;
pub mod dataset;
pub mod features;
pub mod graph;
pub mod group;
pub mod inspector;
mod lines;
pub mod model;
pub mod nn;
pub mod random;
pub mod read;
pub mod synth;
pub mod torch;
pub mod train;
