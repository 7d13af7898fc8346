//! Readers of the inputs of Driple's inspectors: computational graphs, measurements, data sets and models.

pub mod data;
pub mod graph;
pub mod model;
pub mod table;

use std::fmt;
use std::path::Path;

use gleaner_driple::content::Content;

use gleaner_domain::error::{Fault, Result};
use gleaner_io::Loaded;
use gleaner_io::source::Source;

/// Reads a tensor file. `parse` receives the detected kind of the content and the file's bytes.
fn tensors<T, E: fmt::Display>(
    path: &Path,
    parse: impl FnOnce(Content, &[u8]) -> Result<T, E>,
) -> Result<Loaded<T>> {
    let source = Source::open_tensors(path)?;
    let bytes = source.read_all()?;
    let content = Content::of(&bytes).map_err(|error| Fault::told(path, error))?;
    let value = parse(content, &bytes).map_err(|error| Fault::told(path, error))?;
    Ok(loaded(&source, value))
}

fn loaded<T>(source: &Source, value: T) -> Loaded<T> {
    Loaded {
        value,
        sources: vec![source.id().clone()],
        notes: Vec::new(),
    }
}
