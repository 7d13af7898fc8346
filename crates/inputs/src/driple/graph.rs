//! Reads computational graphs from files, and finds graph files in directories.

use std::fs;
use std::path::{Path, PathBuf};

use gleaner_driple::graph::Graph;
use gleaner_driple::read::{self, Format};

use gleaner_domain::error::{Error, Fault, Result};
use gleaner_io::source::Source;

/// Reads a computational graph from a file.
///
/// # Errors
/// The file cannot be read, its extension is unknown, or its content is not a graph in the format that the extension
/// indicates.
pub fn read(path: &Path) -> Result<Graph> {
    let format = format(path).ok_or_else(|| {
        let found = "an unknown extension";
        Fault::of(
            path,
            found,
            "a name that ends in .pbtxt, .pb or .onnx, optionally followed by .gz or .zst",
        )
    })?;
    let bytes = Source::open(path)?.read_all()?.into_owned();
    Ok(read::graph(bytes, format).map_err(|error| Fault::told(path, error))?)
}

/// Expands `paths` to graph files. File paths are returned unchanged. Each directory is replaced with its graph files,
/// which are recognised by their extensions and sorted by name.
///
/// # Errors
/// A directory cannot be read, or contains no graph.
pub fn find(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            files.extend(inside(path)?);
        } else {
            files.push(path.clone());
        }
    }
    Ok(files)
}

/// The name of the job whose graph a file contains: the file's name without its directory and extensions.
pub fn job(path: &Path) -> String {
    let name = bare(path);
    let stem = name.rsplit_once('.').filter(|_| format(path).is_some());
    stem.map_or(name.as_str(), |(stem, _)| stem).to_owned()
}

/// The graph files in a directory, recognised by their extensions and sorted by name. Subdirectories are not searched.
///
/// # Errors
/// The directory cannot be read, or contains no graph.
pub fn inside(directory: &Path) -> Result<Vec<PathBuf>> {
    let failed = |error| Error::io("read", directory, error);
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if format(&path).is_some() && path.is_file() {
            files.push(path);
        }
    }
    if files.is_empty() {
        let fault = Fault::of(
            directory,
            "no graph",
            "files with the extension .pbtxt, .pb or .onnx",
        );
        let remedy = "name the directory that contains them; subdirectories are not searched";
        return Err(fault.remedy(remedy).into());
    }
    files.sort();
    Ok(files)
}

/// The graph format indicated by a file's extension; `None` if the extension is unknown.
fn format(path: &Path) -> Option<Format> {
    Format::of_path(Path::new(&bare(path)))
}

/// The file's name without `.gz` or `.zst` at its end.
fn bare(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let stem = [".gz", ".zst"]
        .iter()
        .find_map(|end| name.strip_suffix(end));
    stem.unwrap_or(&name).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_are_named_after_their_files_without_extension() {
        for (path, name) in [
            ("a/b_c.pbtxt", "b_c"),
            ("b.lr0.1.onnx.gz", "b.lr0.1"),
            ("B.PB.zst", "B"),
            ("b.0.1", "b.0.1"),
        ] {
            assert_eq!(job(Path::new(path)), name);
        }
    }
}
