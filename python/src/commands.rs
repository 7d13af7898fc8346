//! Commands that work on files: `inspect`, `pilots`, `ingest`, `sweep`.

use std::path::PathBuf;

use gleaner::Sweep;
use gleaner::ingest::{FORMATS, IngestFormat, Made};
use gleaner::inspection::{Inspected, InspectionSettings};
use gleaner::pilots::{PilotsOfLog, PilotsSettings};
use gleaner::sweep::SweepSettings;
use gleaner_domain::error::Error;
use gleaner_runs::inspect::json;
use pyo3::prelude::*;

use crate::errors::exception;
use crate::host::{Host, Remark};
use crate::options::{Pairs, read};
use crate::page::Page;

/// Inspects a log. Returns the findings as JSON and as text, the page about them, and remarks.
#[pyfunction]
pub fn inspect_log(
    py: Python<'_>,
    log: PathBuf,
    options: Pairs,
) -> PyResult<(String, String, Page, Vec<Remark>)> {
    let settings: InspectionSettings = read(py, &options)?;
    let host = Host::default();
    let inspected = host.on_a_thread(py, || Inspected::of(&log, &settings, &host))?;
    host.proceed(py)?;
    let json = json(&inspected.inspection).map_err(|error| exception(py, error))?;
    let info = inspected.info(&settings);
    let info = info.map_err(|error| exception(py, error))?;
    let page = Page::new(gleaner_report::of_inspection(
        &inspected.inspection,
        inspected.costs,
        &info,
    ));
    Ok((json, inspected.text(), page, host.remarks()))
}

/// Simulates pilot jobs on a log. Returns the results as JSON and as text, a page that shows them, and remarks.
#[pyfunction]
pub fn pilots_of_log(
    py: Python<'_>,
    log: PathBuf,
    options: Pairs,
) -> PyResult<(String, String, Page, Vec<Remark>)> {
    let settings: PilotsSettings = read(py, &options)?;
    let host = Host::default();
    let found = host.on_a_thread(py, || PilotsOfLog::of(&log, &settings, &host))?;
    host.proceed(py)?;
    let json = gleaner_runs::pilots::json(&found.pilots, &found.fragments);
    let json = json.map_err(|error| exception(py, error))?;
    let info = found.info(&settings);
    let info = info.map_err(|error| exception(py, error))?;
    let page = gleaner_report::of_pilots(&found.pilots, &found.fragments, &info);
    Ok((json, found.text(), Page::new(page), host.remarks()))
}

/// For each format that `ingest_logs` reads, returns its name, whether it is a format of GPU-cluster traces, and the
/// default number of GPUs per node. The number is `None` for formats that are never converted to a table of jobs.
#[pyfunction]
pub fn log_formats() -> Vec<(&'static str, bool, Option<u32>)> {
    let all = FORMATS.iter();
    let of = |format: &IngestFormat| {
        let is_trace = matches!(format.made, Made::Jobs(_));
        (format.name, is_trace, format.gpus_per_node())
    };
    all.map(of).collect()
}

/// Converts logs to an event log or a table of jobs. Returns remarks.
#[pyfunction]
pub fn ingest_logs(
    py: Python<'_>,
    format: &str,
    files: Vec<PathBuf>,
    options: Pairs,
) -> PyResult<Vec<Remark>> {
    let known = IngestFormat::named(format);
    let known = known.ok_or_else(|| Error::Usage(format!("unknown format {format:?}")));
    let source = known.and_then(|known| (known.read)(&options));
    let source = source.map_err(|error| exception(py, error))?;
    let host = Host::default();
    host.on_a_thread(py, || source.ingest(&files, &host))?;
    host.proceed(py)?;
    Ok(host.remarks())
}

/// Executes the missing runs of a plan, writes the tables and returns the remarks. After Ctrl-C, the directory contains
/// the finished runs.
#[pyfunction]
pub fn sweep_plan(
    py: Python<'_>,
    plan: PathBuf,
    out: PathBuf,
    options: Pairs,
) -> PyResult<Vec<Remark>> {
    let settings: SweepSettings = read(py, &options)?;
    let host = Host::default();
    host.on_a_thread(py, || {
        Sweep::with(&plan, settings)
            .observer(&host)
            .run(&out)
            .map(drop)
    })?;
    host.proceed(py)?;
    Ok(host.remarks())
}
