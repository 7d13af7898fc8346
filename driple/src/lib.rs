//! Resource consumption of deep-learning training jobs from their computational graphs, as in Yang
//! et al., *Prediction of the Resource Consumption of Distributed Deep Learning Systems*,
//! SIGMETRICS 2022: graphs are read, cut to their operations on GPUs, grouped, and given to a graph
//! neural network.

pub mod dataset;
pub mod features;
pub mod graph;
pub mod group;
mod lines;
pub mod random;
pub mod torch;
