//! Reads plans in TOML.

use std::path::Path;

use gleaner_domain::error::Result;
use gleaner_io::source::Source;
use gleaner_io::{Loaded, toml_text};

use super::check::check;
use super::file::PlanFile;
use super::{Plan, SamplerKind};

/// Describes a valid file in messages.
const EXPECTED: &str = "a plan as described in docs/PROFILING.md";

/// Descriptions that replace the names of Rust types in messages.
const TYPES: [(&str, &str); 3] = [
    ("f64", "a number"),
    ("u32", "a whole number"),
    ("u8", "0 or 1"),
];

/// Reads a plan. The directories of workloads are relative to the plan's folder.
///
/// # Errors
/// The file cannot be read, is not TOML, or has faults. All faults are reported together.
pub fn read(path: &Path) -> Result<Loaded<Plan>> {
    read_for(path, None)
}

/// Like [`read`], but replaces the sampler of the plan if `sampler` is given.
///
/// # Errors
/// Same as [`read`].
pub fn read_for(path: &Path, sampler: Option<SamplerKind>) -> Result<Loaded<Plan>> {
    let source = Source::open(path)?;
    let text = toml_text::read(&source)?;
    let mut file: PlanFile = toml_text::parse(&source, &text, EXPECTED, &TYPES)?;
    file.override_sampler(sampler);
    let folder = path.parent().unwrap_or(Path::new(""));
    Ok(Loaded {
        value: check(&source, &text, file, folder)?,
        sources: vec![source.id().clone()],
        notes: Vec::new(),
    })
}
