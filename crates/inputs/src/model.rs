//! Reads trained models from JSON files.

use std::path::Path;

use gleaner_learn::lucid::packing::Features;
use serde::de::DeserializeOwned;

use gleaner_domain::error::{Fault, Result};
use gleaner_io::Loaded;
use gleaner_io::fault::of_json;
use gleaner_io::source::{Source, TEXT_LIMIT};
use gleaner_predict::stored::{FORMAT, Head, Stored, VERSION};
use gleaner_predict::{Kind, Model, Trained};

/// Reads a model of any kind.
///
/// # Errors
/// The file cannot be read, or it is not a model that this program can use. For example, its format, version or
/// features are not supported, or its numbers are invalid.
pub fn read(path: &Path) -> Result<Loaded<Trained>> {
    let source = Source::open(path)?;
    let bytes = source.read_up_to(TEXT_LIMIT)?;
    let head: Head = serde_json::from_slice(&bytes).map_err(|error| no_model(&source, &error))?;
    if head.format != FORMAT || head.version != VERSION {
        let found = format!("{} of version {}", head.format, head.version);
        let fault = source.fault(found, format!("a {FORMAT} of version {VERSION}"));
        return Err(fault
            .remedy("train the model again with gleaner train")
            .into());
    }
    let value = match head.kind {
        Kind::Throughput => parse(&source, &bytes, Model::Throughput)?,
        Kind::Workload => parse(&source, &bytes, Model::Workload)?,
        Kind::Packing => parse(&source, &bytes, Model::Packing)?,
    };
    Ok(Loaded {
        value: usable(&source, value)?,
        sources: vec![source.id().clone()],
        notes: Vec::new(),
    })
}

/// Reads a model of one kind.
///
/// # Errors
/// The file cannot be read, it is not a model that this program can use, or the model is of another kind.
pub fn read_kind(path: &Path, kind: Kind) -> Result<Loaded<Trained>> {
    let loaded = read(path)?;
    let found = loaded.value.model.kind();
    if found == kind {
        return Ok(loaded);
    }
    Err(Fault::of(path, format!("a {found} model"), format!("a {kind} model")).into())
}

/// The fault of a file that does not contain a model.
fn no_model(source: &Source, error: &serde_json::Error) -> Fault {
    let fault = source.fault(error.to_string(), "a model written by gleaner train");
    fault.at(of_json(error))
}

/// Parses the whole file as a model of one kind.
fn parse<M: DeserializeOwned>(
    source: &Source,
    bytes: &[u8],
    model: fn(M) -> Model,
) -> Result<Trained> {
    let stored: Stored<M> =
        serde_json::from_slice(bytes).map_err(|error| no_model(source, &error))?;
    Ok(Trained {
        model: model(stored.model),
        span: stored.trained,
        inputs: stored.inputs,
    })
}

/// Rejects packing models that need measured pairs, because this program scores jobs only by their profiles.
fn usable(source: &Source, trained: Trained) -> Result<Trained> {
    match &trained.model {
        Model::Packing(model) if model.features() != Features::Profile => {
            let found = "a packing model that uses measured pairs";
            Err(source
                .fault(found, "a packing model that uses only profiles")
                .into())
        }
        _ => Ok(trained),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::testing::{Input, assert_has, fault};

    fn read_text(text: &str) -> Result<Loaded<Trained>> {
        read(Input::new("json", text).path())
    }

    #[test]
    fn a_file_that_is_not_a_model_is_refused() {
        let message = fault(read_text("{}"));
        assert_has(&message, &["missing field `format`", "gleaner train"]);
        let head = r#"{"format":"gleaner-model","version":9,"kind":"packing"}"#;
        assert_has(
            &fault(read_text(head)),
            &["of version 9", "of version 2", "train the model again"],
        );
        let head = head.replace('9', "2");
        assert_has(&fault(read_text(&head)), &["missing field `program`"]);
        let head = r#"{"format":"gleaner-model","version":2,"kind":"driple"}"#;
        assert_has(
            &fault(read_text(head)),
            &["unknown variant `driple`", "line 1"],
        );
    }
}
