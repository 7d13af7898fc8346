//! `gleaner report`: pages and pictures about runs.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;

use crate::error::{Error, Result};
use crate::ingest::runs;
use crate::report::{Figure, Report, html, still};

/// Draw runs: one HTML file that opens in any browser without a network, and the same
/// figures as SVG or PNG for papers.
///
/// Takes run directories of `gleaner replay` and `gleaner simulate`; several are shown
/// side by side, with their changes against the first.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:\n  \
    gleaner report run -o report.html\n  \
    gleaner report run-10 run-100 -o compared.html\n  \
    gleaner report run --svg figures --png figures")]
pub struct Args {
    /// Run directories.
    #[arg(value_name = "RUN", required = true)]
    runs: Vec<PathBuf>,
    /// The page to write.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write every figure as DIR/NAME.svg.
    #[arg(long, value_name = "DIR")]
    svg: Option<PathBuf>,
    /// Write every figure as DIR/NAME.png.
    #[arg(long, value_name = "DIR")]
    png: Option<PathBuf>,
}

/// Runs the subcommand.
///
/// # Errors
/// Nothing to write, directories that hold no sound run, or a file that cannot be written.
pub fn run(args: &Args) -> Result<()> {
    if args.output.is_none() && args.svg.is_none() && args.png.is_none() {
        return Err(Error::Usage(
            "nothing to write: name a page with --output FILE, or a directory for pictures \
             with --svg DIR or --png DIR"
                .into(),
        ));
    }
    let runs = args.runs.iter().map(|run| runs::read(run));
    let report = Report::new(&runs.collect::<Result<Vec<_>>>()?);
    if let Some(path) = &args.output {
        let page = html::page(&report)?;
        fs::write(path, page).map_err(|e| Error::io("write", path, e))?;
    }
    if let Some(folder) = &args.svg {
        draw(folder, "svg", &report, |figure| {
            Ok(still::svg(figure)?.into_bytes())
        })?;
    }
    if let Some(folder) = &args.png {
        draw(folder, "png", &report, still::png)?;
    }
    Ok(())
}

fn draw(
    folder: &Path,
    extension: &str,
    report: &Report,
    render: impl Fn(&Figure) -> Result<Vec<u8>>,
) -> Result<()> {
    fs::create_dir_all(folder).map_err(|e| Error::io("create", folder, e))?;
    for figure in report.figures() {
        let path = folder.join(format!("{}.{extension}", figure.id));
        fs::write(&path, render(figure)?).map_err(|e| Error::io("write", path, e))?;
    }
    Ok(())
}
