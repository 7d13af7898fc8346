//! What workloads use of devices or cores, measured in a window.

use serde::Serialize;

use crate::running::Running;

/// A way to measure. It is polled several times a second while a window is open.
pub trait Sampler: Send {
    /// What it measures by, in words.
    fn describe(&self) -> String;

    /// Begins a window. Without workloads, everything that runs is measured: for the idle baseline.
    ///
    /// # Errors
    /// The device cannot be sampled, with the reason.
    fn open(&mut self, workloads: &[Watched<'_>]) -> Result<(), String>;

    /// Takes what is there by now.
    ///
    /// # Errors
    /// The device cannot be sampled, with the reason.
    fn poll(&mut self, workloads: &[Watched<'_>]) -> Result<(), String>;

    /// Ends the window.
    ///
    /// # Errors
    /// The device cannot be sampled, with the reason.
    fn close(&mut self, workloads: &[Watched<'_>]) -> Result<Reading, String>;

    /// Keeps the idle baseline, which is taken before the first workload.
    fn set_idle(&mut self, _idle: &Reading) {}
}

/// A workload whose usage is measured.
#[derive(Clone, Copy)]
pub struct Watched<'a>(pub(crate) &'a Running);

/// What was used in a window.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Reading {
    /// Utilisation of the devices or cores, in percent; `None` if the device does not tell.
    pub util: Option<f64>,
    /// GPUs: share of the time in which memory was read or written. Cores: resident memory as a
    /// share of the machine's. In percent; `None` if the device does not tell.
    pub memory_util: Option<f64>,
    /// Most memory held at a time, in MiB.
    pub memory: f64,
    /// What each workload used of the utilisation, in percent, in their order; `None` if it is not
    /// known.
    pub parts: Vec<Option<f64>>,
    /// What is to be known about these figures.
    pub notes: Vec<String>,
}
