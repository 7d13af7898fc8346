//! Aggregates a sweep over seeds, ranks its settings, and lays out a figure over two of them.
//!
//! ```text
//! gleaner sweep dataset/sweep.toml --out swept
//! cargo run -p gleaner-frames --example seeds -- swept [FIGURE]
//! ```

use std::path::PathBuf;
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
    match show(&PathBuf::from(dir), figure) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn show(dir: &std::path::Path, figure: Option<String>) -> Result<()> {
    let sweep = open(dir)?.into_sweep()?;
    let figure = figure.unwrap_or_else(|| sweep.by.name.to_owned());
    println!("{figure}, mean over seeds with its 95 % interval:");
    println!("{}", settings_first(&sweep, &sweep.aggregate(&figure)?)?);
    println!("The same, the best first:");
    println!("{}", settings_first(&sweep, &sweep.rank(&figure)?)?);
    if let [rows, columns, ..] = sweep.varied()?[..] {
        println!("Means by {rows} (down) and {columns} (across):");
        println!("{}", sweep.pivot(&figure, rows, columns)?);
    }
    Ok(())
}

/// The settings that differ between runs, and what was computed.
fn settings_first(sweep: &Sweep, frame: &DataFrame) -> Result<DataFrame> {
    let computed = ["rank", "runs", "mean", "standard_error", "low", "high"];
    let computed = computed
        .into_iter()
        .filter(|name| frame.column(name).is_ok());
    Ok(frame.select(sweep.varied()?.into_iter().chain(computed))?)
}
