//! Aggregates a sweep over seeds, ranks its settings, and tabulates a metric by two of the
//! settings.
//!
//! ```text
//! gleaner sweep dataset/sweep.toml --out swept
//! cargo run -p gleaner-frames --example seeds -- swept [FIGURE]
//! ```

use std::path::Path;
use std::process::ExitCode;

use gleaner_frames::polars::prelude::DataFrame;
use gleaner_frames::{Result, Sweep, open};

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let Some(dir) = arguments.next() else {
        eprintln!("usage: seeds DIRECTORY [FIGURE]");
        return ExitCode::from(2);
    };
    let figure = arguments.next().map(|name| name.to_string_lossy().into());
    match show(dir.as_ref(), figure) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn show(dir: &Path, figure: Option<String>) -> Result<()> {
    let sweep = open(dir)?.into_sweep()?;
    let figure = figure.unwrap_or_else(|| sweep.by.name.to_owned());
    let nouns = sweep.over.nouns();
    println!("{figure}, mean over {nouns} with its 95 % interval:");
    let means = sweep.aggregate(&figure)?;
    let columns = ["runs", "mean", "standard_error", "low", "high"];
    println!("{}", beside_settings(&sweep, &means, &columns)?);
    println!("Settings ranked by this mean, best first:");
    let ranked = sweep.rank(&figure)?;
    let columns = ["rank", "mean", "standard_error"];
    println!("{}", beside_settings(&sweep, &ranked, &columns)?);
    if let [rows, columns, ..] = sweep.varied()?[..] {
        println!("Means by {rows} (down) and {columns} (across):");
        println!("{}", sweep.pivot(&figure, rows, columns)?);
    }
    Ok(())
}

/// Selects the columns of the settings that differ between runs, followed by `columns`.
fn beside_settings(sweep: &Sweep, frame: &DataFrame, columns: &[&str]) -> Result<DataFrame> {
    let settings = sweep.varied()?.into_iter();
    Ok(frame.select(settings.chain(columns.iter().copied()))?)
}
