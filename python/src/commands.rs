//! Commands that work on files: `inspect`, `ingest`, `sweep`.

use std::ffi::OsString;

use gleaner::cli::{ingest, inspect, sweep};
use gleaner_runs::inspect::json;
use pyo3::prelude::*;

use crate::errors::exception;
use crate::host::{Host, Remark};
use crate::options::parse;
use crate::page::Page;

/// Inspects a log: the findings as JSON and as text, the page about them, and remarks.
#[pyfunction]
pub fn inspect_log(
    py: Python<'_>,
    words: Vec<OsString>,
) -> PyResult<(String, String, Page, Vec<Remark>)> {
    let args: inspect::Args = parse(py, &words)?;
    let host = Host::default();
    let inspected = host.on_a_thread(py, || inspect::Inspected::of(&args, &host))?;
    host.proceed(py)?;
    let json = json(&inspected.inspection).map_err(|error| exception(py, error))?;
    let page = Page::new(inspected.report());
    Ok((json, inspected.text(), page, host.remarks()))
}

/// Makes an event log or a table of jobs of the logs of others; returns remarks.
#[pyfunction]
pub fn ingest_logs(py: Python<'_>, words: Vec<OsString>) -> PyResult<Vec<Remark>> {
    let args: ingest::Args = parse(py, &words)?;
    let host = Host::default();
    host.on_a_thread(py, || ingest::ingest(&args, &host))?;
    host.proceed(py)?;
    Ok(host.remarks())
}

/// Does the missing runs of a plan, writes the tables and returns the remarks. After Ctrl-C, the
/// directory has the finished runs.
#[pyfunction]
pub fn sweep_plan(py: Python<'_>, words: Vec<OsString>) -> PyResult<Vec<Remark>> {
    let args: sweep::Args = parse(py, &words)?;
    let host = Host::default();
    host.on_a_thread(py, || sweep::complete(&args, &host))?;
    host.proceed(py)?;
    Ok(host.remarks())
}
