//! Reads the classes of a log's nodes. The source is a list of classes (TOML, CSV or Parquet), or the output of a Slurm
//! or PBS command that describes nodes.
//!
//! In every format, a file is a sequence of rules. Each rule assigns a class to some nodes, and the first rule that
//! applies to a node wins. Nodes that are not in the log are ignored, because a file may describe a larger machine than
//! the log.

mod assignment;
mod pbs;
mod slurm;
mod table;
mod toml;

use std::borrow::Cow;
use std::path::Path;

use crate::rows::InputColumn;
use assignment::Assignment;
use gleaner_domain::NodeClasses;
use gleaner_domain::error::Result;
use gleaner_io::Loaded;
use gleaner_io::fault::show;
use gleaner_io::source::{Kind, Source, TEXT_LIMIT};

/// The expected contents of the file, for messages.
const EXPECTED: &str = "classes of nodes: TOML with [[class]], a table with the columns node and class, or the output of \
     `scontrol show nodes`, `sinfo -N -o \"%N %G %f\"` or `pbsnodes -av`";

/// The node properties that serve as classes if the file is the output of a Slurm or PBS command.
#[derive(Debug, Clone, Copy, Default)]
pub struct Choice<'a> {
    /// Slurm features that serve as classes. They apply to nodes without GPUs, and to nodes whose GPUs have no type. If
    /// a node has several of these features, its class is the first of them in this list.
    pub features: &'a [String],
    /// The name of the PBS resource whose value is the class, with or without `resources_available.`
    pub resource: Option<&'a str>,
}

/// The columns of a table of classes.
pub fn columns() -> Vec<InputColumn> {
    table::columns()
}

/// Reads the classes of `nodes`, which are the nodes of a log. The classes are ordered by their first nodes. The result
/// contains notes for the user.
///
/// # Errors
/// The file cannot be read or is faulty, or a node has no class. Faults are reported together.
pub fn read(path: &Path, choice: &Choice<'_>, nodes: &[String]) -> Result<Loaded<NodeClasses>> {
    let source = Source::open(path)?;
    let mut assignment = Assignment::new(&source, nodes);
    let form = Form::of(&source)?;
    let remedy = match &form {
        Form::Toml => toml::read(&source, &mut assignment)?,
        Form::Table => table::read(&source, &mut assignment)?,
        Form::Scontrol(text) => slurm::read_scontrol(text, choice, &mut assignment)?,
        Form::Sinfo(text) => slurm::read_sinfo(text, choice, &mut assignment)?,
        Form::Pbs(text) => pbs::read(text, choice, &mut assignment)?,
    };
    let (classes, mut notes) = assignment.finish(&remedy)?;
    notes.extend(form.without_effect(choice));
    Ok(Loaded {
        notes,
        ..source.loaded(classes)
    })
}

/// The format of a file, with the whole text if the file is the output of a command.
enum Form {
    Toml,
    Table,
    Scontrol(String),
    Sinfo(String),
    Pbs(String),
}

impl Form {
    /// Detects the format from the kind of the file and its first two lines.
    fn of(source: &Source) -> Result<Self> {
        let is_toml = match source.kind() {
            Kind::Parquet => return Ok(Form::Table),
            Kind::Toml => true,
            Kind::Csv => false,
            Kind::Pickle | Kind::Gev | Kind::Json => {
                return Err(source.fault("a file in another format", EXPECTED).into());
            }
        };
        let text = match source.read_up_to(TEXT_LIMIT)? {
            Cow::Borrowed(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            Cow::Owned(bytes) => String::from_utf8(bytes)
                .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()),
        };
        let mut lines = text.lines().filter(|line| !is_remark(line));
        let first = lines.next().unwrap_or_default();
        let second = lines.next().unwrap_or_default();
        if slurm::is_scontrol(first) {
            return Ok(Form::Scontrol(text));
        }
        if is_toml {
            return Ok(Form::Toml);
        }
        if slurm::is_sinfo(first) {
            return Ok(Form::Sinfo(text));
        }
        if pbs::is_node(first) && pbs::attribute(second).is_some() {
            return Ok(Form::Pbs(text));
        }
        if table::is_header(first) {
            return Ok(Form::Table);
        }
        Err(source.fault(show(first.as_bytes()), EXPECTED).into())
    }

    /// Notes about options in `choice` that have no effect, because they apply to other formats.
    fn without_effect(&self, choice: &Choice<'_>) -> Vec<String> {
        let is_slurm = matches!(self, Form::Scontrol(_) | Form::Sinfo(_));
        let remark = |option: &str, of: &str| {
            format!("{option} has no effect: the file of classes is not a list of {of} nodes")
        };
        let mut remarks = Vec::new();
        if !choice.features.is_empty() && !is_slurm {
            remarks.push(remark("--class-feature", "Slurm"));
        }
        if choice.resource.is_some() && !matches!(self, Form::Pbs(_)) {
            remarks.push(remark("--class-resource", "PBS"));
        }
        remarks
    }
}

/// Whether a line is empty or a comment.
fn is_remark(line: &str) -> bool {
    let line = line.trim_start();
    line.is_empty() || line.starts_with('#')
}

/// The lines that are neither empty nor comments, each with its number.
fn numbered(text: &str) -> impl Iterator<Item = (u64, &str)> {
    let lines = (1..).zip(text.lines());
    lines.filter(|(_, line)| !is_remark(line))
}
