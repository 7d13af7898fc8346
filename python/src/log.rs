//! Event logs and job traces.

use std::path::PathBuf;

use gleaner_core::domain::{Cluster, Trace as JobTrace};
use gleaner_core::results::{Column, Table as ResultTable};
use gleaner_formats::ingest;
use gleaner_formats::ingest::jobs::{cluster, trace};
use gleaner_formats::output::events::{self, Layout};
use gleaner_formats::output::prepared;
use pyo3::prelude::*;

use crate::errors::exception;
use crate::host::Host;
use crate::table::Table;

/// When which nodes are idle.
#[pyclass(frozen, name = "_EventLog", module = "gleaner")]
pub struct EventLog(gleaner_core::domain::EventLog);

#[pymethods]
impl EventLog {
    /// Reads a log: the original's pickle, CSV, Parquet or .gev.
    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf) -> PyResult<EventLog> {
        let host = Host::default();
        let log = host.on_a_thread(py, || ingest::events::read(&path))?;
        Ok(EventLog(log.value))
    }

    /// Names of the nodes.
    fn nodes(&self) -> Vec<String> {
        self.0.nodes().to_vec()
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// Sum over all nodes of the hours in which they were idle.
    fn idle_node_hours(&self) -> f64 {
        self.0.idle_node_seconds() / 3600.0
    }

    /// First and last time of the log.
    fn span(&self) -> Option<(String, String)> {
        let (first, last) = (self.0.times().first()?, self.0.times().last()?);
        Some((first.to_string(), last.to_string()))
    }

    /// A row for each change: time, node, state (1 for idle).
    fn changes(&self, py: Python<'_>) -> PyResult<Table> {
        let changes = || {
            let rows = self.0.rows();
            rows.flat_map(|(time, changes)| changes.iter().map(move |change| (time, *change)))
        };
        let states = changes().map(|(_, change)| i64::from(change.idle()));
        let table = ResultTable {
            name: "events",
            columns: vec![
                (
                    "time",
                    Column::EveryTime(changes().map(|(time, _)| time).collect()),
                ),
                (
                    "node",
                    Column::Names {
                        names: self.0.nodes().iter().map(String::as_str).collect(),
                        indices: changes().map(|(_, change)| change.node()).collect(),
                    },
                ),
                ("state", Column::Whole(states.collect())),
            ],
        };
        Table::of(&table).map_err(|error| exception(py, error))
    }

    /// Writes the log: .gev, .csv or .parquet.
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

    /// The jobs.
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
