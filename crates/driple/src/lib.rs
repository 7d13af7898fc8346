//! Predicts the resource consumption of deep-learning training jobs from their computational graphs (Yang et al.,
//! *Prediction of the Resource Consumption of Distributed Deep Learning Systems*, SIGMETRICS 2022). In this crate, *the
//! original* is the authors' published code, and *the published builder* is its program that builds data sets from
//! measured jobs.
//!
//! [`read`] parses a graph. [`group`] keeps the graph's operations on GPUs and merges them into
//! groups. A graph neural network ([`model`]) predicts [12 metrics](dataset::METRIC_NAMES) from the
//! groups. [`train`] trains such a network on a data set of measured jobs ([`dataset`]). A trained
//! network is called an [`inspector`].

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
