//! Pages and figures about runs.

use std::path::PathBuf;

use gleaner_domain::error::{Error, Result, check_stop};
use gleaner_io::files;
use gleaner_report::{Document, Figure as Drawing, SweepChoice, html, image};
use gleaner_runs::read as runs;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::errors::exception;
use crate::host::Host;

/// A page about runs: a single HTML file that any browser can open offline. Notebooks display the page.
#[pyclass(frozen, module = "gleaner")]
pub struct Page(Document);

impl Page {
    /// Creates the page that shows `document`.
    pub fn new(document: Document) -> Self {
        Page(document)
    }
}

#[pymethods]
impl Page {
    /// The page as HTML.
    fn html(&self, py: Python<'_>) -> PyResult<String> {
        let page = py.detach(|| html::page(&self.0));
        page.map_err(|error| exception(py, error))
    }

    /// The facts and tables of the page, as HTML for notebooks.
    fn tables(&self) -> String {
        html::notebook(&self.0)
    }

    /// Writes the page to a file.
    fn write(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let written = py.detach(|| files::write_bytes(&path, html::page(&self.0)?.as_bytes()));
        written.map_err(|error| exception(py, error))
    }

    /// The figures by name, in the order in which they appear on the page.
    #[getter]
    fn figures<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let figures = PyDict::new(py);
        for figure in self.0.figures() {
            figures.set_item(&figure.id, Py::new(py, Figure(figure.clone()))?)?;
        }
        Ok(figures)
    }

    /// The figures of the page as SVG. Notebooks store their output, so the page itself, which
    /// includes a large library for interactive charts, is not shown.
    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let stills = slf.py().import("gleaner.show")?.getattr("stills")?;
        stills.call1((slf,))
    }
}

/// A figure of a page. Notebooks display the figure.
#[pyclass(frozen, module = "gleaner")]
pub struct Figure(Drawing);

#[pymethods]
impl Figure {
    /// The figure as SVG.
    fn svg(&self, py: Python<'_>) -> PyResult<String> {
        draw(py, || image::svg(&self.0))
    }

    /// The figure as PNG.
    fn png<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let png = draw(py, || image::png(&self.0))?;
        Ok(PyBytes::new(py, &png))
    }

    fn _repr_svg_(&self, py: Python<'_>) -> PyResult<String> {
        self.svg(py)
    }

    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        self.svg(py)
    }
}

fn draw<T: Send>(py: Python<'_>, make: impl FnOnce() -> Result<T> + Send) -> PyResult<T> {
    py.detach(make).map_err(|error| exception(py, error))
}

/// Creates the page about run directories.
#[pyfunction]
#[pyo3(signature = (paths, heat = None, metric = None, against = None))]
pub fn report_runs(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    heat: Option<[String; 2]>,
    metric: Option<String>,
    against: Option<String>,
) -> PyResult<Page> {
    let choice = SweepChoice {
        heat,
        metric,
        against,
    };
    let host = Host::default();
    host.on_a_thread(py, || {
        if paths.is_empty() {
            return Err(Error::Usage(
                "found no runs, expected at least one run or run directory".into(),
            ));
        }
        let read = |path: &PathBuf| {
            check_stop(&host)?;
            runs::read(path)
        };
        let runs = paths.iter().map(read).collect::<Result<Vec<_>>>()?;
        gleaner_report::of_runs(&runs, &choice, &host).map(Page)
    })
}
