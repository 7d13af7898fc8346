//! Reads the graphs for which predictions are made, from files and directories or from a data set.

use std::path::{Path, PathBuf};

use gleaner_driple::features::Frequencies;
use gleaner_driple::graph::GroupedGraph;
use gleaner_driple::group::{Report, Settings};
use rayon::prelude::*;

use super::super::grouping;
use crate::cli::remark;
use gleaner_domain::Observer;
use gleaner_domain::error::{Error, Fault, Faults, Result, check_stop};
use gleaner_inputs::driple::{data, graph};
use gleaner_predict::driple::Part;

/// A job and its grouped graph.
pub struct Named {
    pub job: String,
    pub graph: GroupedGraph,
    /// The graph file, or the data set that contains the graph.
    pub file: PathBuf,
}

/// The graphs in one part of a data set.
///
/// # Errors
/// The file is not a data set, or the part contains no jobs.
pub fn of_data(path: &Path, part: Part) -> Result<Vec<Named>> {
    let (data, _) = data::read(path)?.value;
    let examples = part.of(&data);
    if examples.is_empty() {
        return Err(Fault::of(
            path,
            "no jobs in this part",
            "at least one job; name another --part",
        )
        .into());
    }
    let named = examples.iter().map(|example| Named {
        job: example.name.clone(),
        graph: example.graph.clone(),
        file: path.to_owned(),
    });
    Ok(named.collect())
}

/// Reads and groups the graphs in `paths`, several at a time. Also returns the faults of graphs in directories that are
/// left out.
///
/// # Errors
/// A graph that is listed in `paths` is faulty, a directory has no graphs, or a file or directory cannot be read.
/// [`Error::Stopped`] if the observer stops the reading.
pub fn of_files(
    paths: &[PathBuf],
    settings: &Settings,
    frequencies: &Frequencies,
    observer: &dyn Observer,
) -> Result<(Vec<Named>, Faults)> {
    let files = files(paths)?;
    let one = |asked: &Asked| {
        check_stop(observer)?;
        let (_, grouping) = grouping::read(&asked.file, settings, frequencies)?;
        let named = Named {
            job: graph::job(&asked.file),
            graph: grouping.graph,
            file: asked.file.clone(),
        };
        Ok((named, grouping.report))
    };
    let read: Vec<Result<(Named, Report)>> = files.par_iter().map(one).collect();
    check_stop(observer)?;
    let (mut graphs, mut left_out) = (Vec::new(), Faults::default());
    let mut refused = Vec::new();
    for (asked, result) in files.iter().zip(read) {
        match result {
            Ok((named, report)) => {
                remark(&unknown(&named.job, &report));
                graphs.push(named);
            }
            Err(error) if asked.in_directory => left_out.0.extend(faults_of(&asked.file, error)),
            Err(error) => refused.push(Err(error)),
        }
    }
    Faults::gather::<()>(refused)?;
    Ok((graphs, left_out))
}

/// The faults of a file, taken from the error with which it was read.
fn faults_of(file: &Path, error: Error) -> Vec<Fault> {
    match error {
        Error::Data(faults) => faults.0,
        Error::Io { source, .. } => {
            vec![Fault::told(file, format!("cannot be read: {source}"))]
        }
        other => vec![Fault::told(file, other)],
    }
}

/// A file to read.
struct Asked {
    file: PathBuf,
    /// Whether the file was found in a directory and is not itself listed in the arguments.
    in_directory: bool,
}

fn files(paths: &[PathBuf]) -> Result<Vec<Asked>> {
    let mut files = Vec::new();
    for path in paths {
        let in_directory = path.is_dir();
        let found = if in_directory {
            graph::inside(path)?
        } else {
            vec![path.clone()]
        };
        files.extend(found.into_iter().map(|file| Asked { file, in_directory }));
    }
    Ok(files)
}

/// Warnings about operations whose types were not in the training data, and about operations of unknown shape.
fn unknown(job: &str, report: &Report) -> Vec<String> {
    let mut notes = Vec::new();
    let types: Vec<&str> = report
        .without_frequency
        .keys()
        .map(String::as_str)
        .collect();
    if !types.is_empty() {
        notes.push(format!(
            "{job}: {} of {} operations have types that were not in the training data of the \
             model: {}",
            report.without_frequency.values().sum::<usize>(),
            report.grouped,
            types.join(", ")
        ));
    }
    if report.unknown_shapes > 0 {
        notes.push(format!(
            "{job}: {} of {} operations have an unknown shape and are treated as empty",
            report.unknown_shapes, report.grouped
        ));
    }
    notes
}
