//! Event logs and job traces.

use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, StringArray, TimestampNanosecondArray};
use gleaner_domain::{Change, Cluster, Trace as JobTrace, Utc};
use gleaner_inputs::jobs::{cluster, trace};
use gleaner_inputs::write::events;
use gleaner_inputs::write::events::Layout;
use gleaner_runs::prepared;
use pyo3::prelude::*;

use crate::errors::exception;
use crate::host::Host;
use crate::table::Table;

/// A log of the times at which each node was idle.
#[pyclass(frozen, name = "_EventLog", module = "gleaner")]
pub struct EventLog(gleaner_domain::EventLog);

#[pymethods]
impl EventLog {
    /// Reads a log from a pickle of the original replayer, or from a CSV, Parquet or .gev file.
    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf) -> PyResult<EventLog> {
        let host = Host::default();
        let log = host.on_a_thread(py, || gleaner_inputs::events::read(&path))?;
        Ok(EventLog(log.value))
    }

    /// Names of the nodes.
    fn nodes(&self) -> Vec<String> {
        self.0.nodes().to_vec()
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// Idle time in hours, summed over all nodes.
    fn idle_node_hours(&self) -> f64 {
        self.0.idle_node_seconds() / 3600.0
    }

    /// First and last time of the log; `None` if the log has no rows.
    fn span(&self) -> Option<(String, String)> {
        let (first, last) = (self.0.times().first()?, self.0.times().last()?);
        let shown = |time: &Utc| self.0.clock().steady(*time).to_string();
        Some((shown(first), shown(last)))
    }

    /// Cuts the log into `count` parts of equal duration. A log without rows has no parts.
    fn windows(&self, count: usize) -> Vec<EventLog> {
        let parts = self.0.cut_at(&self.0.equal_parts(count));
        parts.into_iter().map(EventLog).collect()
    }

    /// The rows of the log, as in a CSV file: time, node, state (1 for idle).
    fn changes(&self, py: Python<'_>) -> PyResult<Table> {
        let rows: Vec<_> = events::long_rows(&self.0).collect();
        let times = rows.iter().map(|(time, _)| self.0.clock().steady(*time).0);
        let node = |change: &Change| self.0.nodes().get(change.node() as usize);
        let nodes = rows
            .iter()
            .map(|(_, change)| change.as_ref().and_then(node));
        let states = rows
            .iter()
            .map(|(_, change)| change.map(|change| i64::from(change.idle())));
        let columns: Vec<(&str, ArrayRef)> = vec![
            (
                "time",
                Arc::new(TimestampNanosecondArray::from_iter_values(times)),
            ),
            ("node", Arc::new(nodes.collect::<StringArray>())),
            ("state", Arc::new(states.collect::<Int64Array>())),
        ];
        Table::of_arrays("events", columns).map_err(|error| exception(py, error))
    }

    /// Writes the log to a .gev, .csv or .parquet file.
    fn write(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let written = py.detach(|| events::write(&self.0, &path, Layout::Long, None));
        written.map_err(|error| exception(py, error))
    }
}

/// The jobs of a GPU cluster, and the nodes of its virtual clusters.
#[pyclass(frozen, name = "_Trace", module = "gleaner")]
pub struct Trace {
    trace: JobTrace,
    cluster: Cluster,
}

#[pymethods]
impl Trace {
    /// Reads and checks the jobs and the virtual clusters.
    #[staticmethod]
    fn read(py: Python<'_>, jobs: PathBuf, vcs: PathBuf, gpus_per_node: u32) -> PyResult<Trace> {
        let host = Host::default();
        host.on_a_thread(py, || {
            let cluster = cluster::read(&vcs, gpus_per_node)?.value;
            let read = trace::read(&jobs, &cluster, trace::Options::default())?;
            Ok(Trace {
                trace: read.value.trace,
                cluster,
            })
        })
    }

    fn __len__(&self) -> usize {
        self.trace.jobs.len()
    }

    /// The jobs, in the order of submission.
    fn jobs(&self, py: Python<'_>) -> PyResult<Table> {
        let table = prepared::jobs(&self.trace, &self.cluster);
        Table::of(&table).map_err(|error| exception(py, error))
    }

    /// Name and number of nodes of each virtual cluster.
    fn vcs(&self) -> Vec<(String, u32)> {
        let vcs = self.cluster.vcs.iter();
        vcs.map(|vc| (vc.name.clone(), vc.nodes)).collect()
    }
}
