//! Reads plans, in TOML.

use std::path::Path;

use gleaner_core::error::{Error, Result};
use gleaner_formats::ingest::Loaded;
use gleaner_formats::ingest::source::{Source, TOML_LIMIT};

use super::check::check;
use super::file::PlanFile;
use super::{Plan, SamplerKind};

/// Reads a plan. Workloads run beside it.
///
/// # Errors
/// The file cannot be read, is not TOML, or has faults, which are reported together.
pub fn read(path: &Path) -> Result<Loaded<Plan>> {
    read_for(path, None)
}

/// Reads a plan for a sampler, which takes the place of the plan's own.
///
/// # Errors
/// As [`read`].
pub fn read_for(path: &Path, sampler: Option<SamplerKind>) -> Result<Loaded<Plan>> {
    let source = Source::open(path)?;
    let text = String::from_utf8(source.read_up_to(TOML_LIMIT)?.into_owned());
    let text = text.map_err(|_| source.fault("bytes that are not UTF-8", "text"))?;
    let mut file: PlanFile =
        toml::from_str(&text).map_err(|error| malformed(&source, &text, &error))?;
    file.override_sampler(sampler);
    let folder = path.parent().unwrap_or(Path::new(""));
    Ok(Loaded {
        value: check(&source, &text, file, folder)?,
        sources: vec![source.id().clone()],
        notes: Vec::new(),
    })
}

/// The line that holds the byte at offset `at`, counted from 1.
pub(super) fn line(text: &str, at: usize) -> usize {
    1 + text.bytes().take(at).filter(|byte| *byte == b'\n').count()
}

/// The fault of a text that is not TOML or not a plan.
fn malformed(source: &Source, text: &str, error: &toml::de::Error) -> Error {
    let number = line(text, error.span().map_or(0, |span| span.start));
    let shown = text.lines().nth(number - 1).unwrap_or_default().trim();
    let found = format!("`{shown}` ({})", plain(error.message().trim()));
    let fault = source.fault(found, "a plan as in docs/PROFILING.md");
    fault.at(format!("line {number}")).into()
}

/// The message with words for users in place of the names of Rust types.
fn plain(message: &str) -> String {
    let names = [
        ("f64", "a number"),
        ("u32", "a whole number"),
        ("u8", "0 or 1"),
    ];
    names.iter().fold(message.to_owned(), |text, (from, to)| {
        text.replace(&format!("expected {from}"), &format!("expected {to}"))
    })
}
