//! `gleaner report`: draws pages and pictures of runs.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;
use serde::Serialize;

use crate::cli::remark;
use crate::cli::terminal::Terminal;
use gleaner_domain::Observer;
use gleaner_domain::error::{Error, Result, check_stop};
use gleaner_io::files;
use gleaner_report::{Document, Figure, SweepChoice, html, image};
use gleaner_runs::read as runs;

/// Draw runs as an HTML page, or as SVG and PNG for papers.
///
/// The page is one file that opens in any browser without a network connection. Accepts run directories of `gleaner
/// replay`, `gleaner simulate`, `gleaner sweep` and `gleaner compare`. Several replays or simulations are shown side by
/// side, with their differences from the first.
#[derive(Debug, ClapArgs)]
#[command(before_help = "Examples:\n  \
    gleaner report run -o report.html\n  \
    gleaner report run-10 run-100 -o compared.html\n  \
    gleaner report run --svg figures --png figures\n  \
    gleaner report swept --metric efficiency --heat t_fwd,max_tasks -o swept.html\n  \
    gleaner report compared -o compared.html")]
pub struct Args {
    /// Run directories.
    #[arg(value_name = "RUN", required = true)]
    runs: Vec<PathBuf>,
    #[command(flatten)]
    drawn: Drawn,
    /// For a sweep: the settings on the horizontal and vertical axis of the heat map [default: the two settings that
    /// affect the metric most].
    #[arg(long, value_name = "X,Y", value_parser = pair)]
    heat: Option<[String; 2]>,
    /// For a sweep: the metric by which settings are compared, work_lost or a column of sweep.csv [default: the metric
    /// that the sweep's --best named; if it is the same for all runs, the next metric that differs between runs].
    #[arg(long, value_name = "NAME")]
    metric: Option<String>,
    /// For a sweep: the metric against which --metric is drawn [default: work_lost; for simulations p999_queue_s].
    #[arg(long, value_name = "NAME")]
    against: Option<String>,
}

/// The outputs to write.
#[derive(Debug, ClapArgs, Serialize)]
pub struct Drawn {
    /// Write the page to this file.
    #[arg(short, long, value_name = "FILE", value_parser = page_file)]
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
/// No output is named, a directory contains no valid run, a file cannot be written, or the command is interrupted.
pub fn run(args: &Args) -> Result<()> {
    if args.drawn.is_nothing() {
        return Err(Error::Usage(
            "no output is named: name a page with --output FILE, or a directory for pictures with \
             --svg DIR or --png DIR"
                .into(),
        ));
    }
    let terminal = Terminal::default();
    let read = |run: &PathBuf| {
        check_stop(&terminal)?;
        runs::read(run)
    };
    let runs = args.runs.iter().map(read).collect::<Result<Vec<_>>>()?;
    let choice = SweepChoice {
        heat: args.heat.clone(),
        metric: args.metric.clone(),
        against: args.against.clone(),
    };
    let report = gleaner_report::of_runs(&runs, &choice, &terminal)?;
    args.drawn.write(&report, &terminal)?;
    remark(&args.drawn.written());
    Ok(())
}

fn pair(text: &str) -> std::result::Result<[String; 2], String> {
    match text.split_once(',') {
        Some((x, y)) if !y.contains(',') => Ok([x.to_owned(), y.to_owned()]),
        _ => Err("expected two settings, such as t_fwd,max_tasks".to_owned()),
    }
}

/// Parses the name of a page. Its extension, if any, must be html or htm.
fn page_file(text: &str) -> std::result::Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match path.extension().and_then(|extension| extension.to_str()) {
        None | Some("html" | "htm") => Ok(path),
        Some(other) => Err(format!(
            "a page is HTML: expected a name that ends in .html, found .{other}; for pictures, use --svg DIR or \
             --png DIR"
        )),
    }
}

impl Drawn {
    /// Whether neither a page nor pictures were requested.
    pub fn is_nothing(&self) -> bool {
        self.output.is_none() && self.svg.is_none() && self.png.is_none()
    }

    /// Describes the requested outputs, in one line for each file or directory.
    pub fn written(&self) -> Vec<String> {
        let page = self.output.iter().map(|path| (path, "the page"));
        let svg = self.svg.iter().map(|path| (path, "the figures as SVG"));
        let png = self.png.iter().map(|path| (path, "the figures as PNG"));
        let lines = page.chain(svg).chain(png);
        lines
            .map(|(path, what)| format!("{}: {what}", path.display()))
            .collect()
    }

    /// Writes the requested outputs.
    ///
    /// # Errors
    /// A file cannot be written. [`Error::Stopped`] if the observer stops the writing; files that are already complete
    /// are kept.
    pub fn write(&self, report: &Document, observer: &dyn Observer) -> Result<()> {
        if let Some(path) = &self.output {
            let page = html::page(report)?;
            check_stop(observer)?;
            files::write_bytes(path, page.as_bytes())?;
        }
        if let Some(folder) = &self.svg {
            draw(folder, "svg", report, observer, |figure| {
                Ok(image::svg(figure)?.into_bytes())
            })?;
        }
        if let Some(folder) = &self.png {
            draw(folder, "png", report, observer, image::png)?;
        }
        Ok(())
    }
}

fn draw(
    folder: &Path,
    extension: &str,
    report: &Document,
    observer: &dyn Observer,
    render: impl Fn(&Figure) -> Result<Vec<u8>>,
) -> Result<()> {
    fs::create_dir_all(folder).map_err(|e| Error::io("create", folder, e))?;
    for figure in report.figures() {
        let path = folder.join(format!("{}.{extension}", figure.id));
        let bytes = render(figure)?;
        check_stop(observer)?;
        files::write_bytes(&path, &bytes)?;
    }
    Ok(())
}
