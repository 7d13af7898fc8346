//! Trained models as JSON files.

use std::io::Write;
use std::path::Path;

use serde::Serialize;

use gleaner_domain::error::Result;
use gleaner_io::files;
use gleaner_predict::stored::{FORMAT, Stored, VERSION};
use gleaner_predict::{Model, Trained};

/// Writes a model. An existing file is replaced atomically: if writing fails, the file stays
/// unchanged.
///
/// # Errors
/// The file cannot be written.
pub fn write(trained: &Trained, path: &Path) -> Result<()> {
    match &trained.model {
        Model::Throughput(model) => write_as(trained, model, path),
        Model::Packing(model) => write_as(trained, model, path),
        Model::Workload(model) => write_as(trained, model, path),
    }
}

fn write_as(trained: &Trained, model: impl Serialize, path: &Path) -> Result<()> {
    let stored = Stored {
        format: FORMAT.to_owned(),
        version: VERSION,
        kind: trained.model.kind(),
        program: env!("CARGO_PKG_VERSION").to_owned(),
        features: trained.model.features(),
        trained: trained.span,
        inputs: trained.inputs.clone(),
        model,
    };
    files::write(path, |out| {
        serde_json::to_writer(&mut *out, &stored)?;
        out.write_all(b"\n")
    })
}
