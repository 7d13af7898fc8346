//! Samplers measure how much of the devices or cores the workloads use in a window.

use serde::Serialize;

use crate::running::Running;

/// A sampler of devices or cores. The sampler is polled several times per second while a window is open.
pub trait Sampler: Send {
    /// Describes the devices or cores, and the method of measurement.
    fn describe(&self) -> String;

    /// Opens a window. If `workloads` is empty, the window is the idle baseline, which measures everything that runs on
    /// the machine.
    ///
    /// # Errors
    /// The device cannot be sampled. The error states the reason.
    fn open(&mut self, workloads: &[Watched<'_>]) -> Result<(), String>;

    /// Takes new samples.
    ///
    /// # Errors
    /// The device cannot be sampled. The error states the reason.
    fn poll(&mut self, workloads: &[Watched<'_>]) -> Result<(), String>;

    /// Closes the window.
    ///
    /// # Errors
    /// The device cannot be sampled. The error states the reason.
    fn close(&mut self, workloads: &[Watched<'_>]) -> Result<Reading, String>;

    /// Stores the idle baseline, which is measured before the first workload.
    fn set_idle(&mut self, _idle: &Reading) {}
}

/// A workload whose usage is measured.
#[derive(Clone, Copy)]
pub struct Watched<'a>(pub(crate) &'a Running);

/// The usage in a window.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Reading {
    /// Utilisation of the devices or cores, in percent; `None` if the device does not report it.
    pub util: Option<f64>,
    /// GPUs: share of the time during which memory was read or written. Cores: resident memory as a
    /// share of the machine's memory. In percent; `None` if the device does not report it.
    pub memory_util: Option<f64>,
    /// Peak memory, in MiB.
    pub memory: f64,
    /// Each workload's share of the utilisation, in percent, in the order of the workloads; `None` if unknown.
    pub parts: Vec<Option<f64>>,
    /// Notes about the figures.
    pub notes: Vec<String>,
}
