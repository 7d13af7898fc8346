//! Commands that work on files: `inspect`, `ingest`, `sweep`.

use std::path::PathBuf;

use gleaner::Sweep;
use gleaner::ingest::{
    BatsimSettings, CobaltSettings, DjcSettings, GavelSettings, HeliosSettings, Ingest,
    PaiSettings, PbsSettings, PhillySettings, SlurmSettings, SwfSettings,
};
use gleaner::inspection::{Inspected, InspectionSettings};
use gleaner::sweep::SweepSettings;
use gleaner_domain::error::Error;
use gleaner_runs::inspect::json;
use pyo3::prelude::*;

use crate::errors::exception;
use crate::host::{Host, Remark};
use crate::options::{Pairs, read};
use crate::page::Page;

/// Inspects a log: the findings as JSON and as text, the page about them, and remarks.
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

/// Makes an event log or a table of jobs of the logs of others; returns remarks.
#[pyfunction]
pub fn ingest_logs(
    py: Python<'_>,
    format: &str,
    files: Vec<PathBuf>,
    options: Pairs,
) -> PyResult<Vec<Remark>> {
    let source: Box<dyn Ingest> = match format {
        "slurm" => Box::new(read::<SlurmSettings>(py, &options)?),
        "pbs" => Box::new(read::<PbsSettings>(py, &options)?),
        "cobalt" => Box::new(read::<CobaltSettings>(py, &options)?),
        "djc" => Box::new(read::<DjcSettings>(py, &options)?),
        "swf" => Box::new(read::<SwfSettings>(py, &options)?),
        "philly" => Box::new(read::<PhillySettings>(py, &options)?),
        "pai" => Box::new(read::<PaiSettings>(py, &options)?),
        "batsim" => Box::new(read::<BatsimSettings>(py, &options)?),
        "helios" => Box::new(read::<HeliosSettings>(py, &options)?),
        "gavel" => Box::new(read::<GavelSettings>(py, &options)?),
        _ => {
            let error = Error::Usage(format!("there is no format {format:?}"));
            return Err(exception(py, error));
        }
    };
    let host = Host::default();
    host.on_a_thread(py, || source.ingest(&files, &host))?;
    host.proceed(py)?;
    Ok(host.remarks())
}

/// Does the missing runs of a plan, writes the tables and returns the remarks. After Ctrl-C, the
/// directory has the finished runs.
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
