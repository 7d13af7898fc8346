//! Reads classes written as TOML.
//!
//! ```toml
//! default = "cpu"               # the class of all other nodes
//! [[class]]
//! name = "a100"
//! nodes = "a[001-040]"          # a list of nodes, or
//! [[class]]
//! name = "v100"
//! pattern = "^g\\d+$"           # a regular expression
//! ```

use serde::Deserialize;
use toml::Spanned;

use super::assignment::Assignment;
use gleaner_domain::error::Result;
use gleaner_io::fault::Place;
use gleaner_io::source::Source;
use gleaner_io::toml_text;

/// A description of a valid file, for messages.
const EXPECTED: &str = "[[class]] with a name and nodes or pattern, and optionally a default";

/// The remedy for nodes without a class.
const REMEDY: &str =
    "add a [[class]] for each node without a class, or set default to the class of all other nodes";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ClassFile {
    default: Option<Spanned<String>>,
    #[serde(default)]
    class: Vec<Spanned<Entry>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: Spanned<String>,
    nodes: Option<Spanned<String>>,
    pattern: Option<Spanned<String>>,
}

/// Reads the rules. Returns the remedy that a message about nodes without a class suggests.
pub(super) fn read(source: &Source, assignment: &mut Assignment<'_>) -> Result<String> {
    let text = toml_text::read(source)?;
    let file: ClassFile = toml_text::parse(source, &text, EXPECTED, &[])?;
    let mut lines = Lines::new(&text);
    if file.class.is_empty() && file.default.is_none() {
        return Err(source.fault("no [[class]] and no default", EXPECTED).into());
    }
    for entry in &file.class {
        let place = lines.place(entry.span().start);
        take(entry.get_ref(), place, &mut lines, assignment)?;
    }
    if let Some(default) = &file.default {
        let place = lines.place(default.span().start);
        match default.get_ref().as_str() {
            "" => assignment.fault(place, "default", "nothing", "the name of a class")?,
            name => {
                let class = assignment.class(name, place)?;
                assignment.rest(class);
            }
        }
    }
    Ok(REMEDY.to_owned())
}

/// Applies the rule of a `[[class]]`.
fn take(
    entry: &Entry,
    place: Place,
    lines: &mut Lines<'_>,
    assignment: &mut Assignment<'_>,
) -> Result<()> {
    let name = entry.name.get_ref().as_str();
    if name.is_empty() {
        return assignment.fault(place, "name", "nothing", "the name of a class");
    }
    let class = assignment.class(name, place)?;
    match (&entry.nodes, &entry.pattern) {
        (Some(nodes), None) => {
            let place = lines.place(nodes.span().start);
            assignment.list(class, nodes.get_ref(), place, "nodes")
        }
        (None, Some(pattern)) => {
            let place = lines.place(pattern.span().start);
            assignment.pattern(class, pattern.get_ref(), place, "pattern")
        }
        (nodes, _) => {
            let found = match nodes {
                Some(_) => "both nodes and pattern",
                None => "neither nodes nor pattern",
            };
            let expected = "exactly one of them (several [[class]] entries may have the same name)";
            assignment.fault(place, "", found, expected)
        }
    }
}

/// Finds the line of a position in the text. Positions mostly increase, so the text is usually scanned only once.
struct Lines<'t> {
    text: &'t str,
    /// The previous position and its line.
    last: (usize, u64),
}

impl<'t> Lines<'t> {
    fn new(text: &'t str) -> Self {
        Lines { text, last: (0, 1) }
    }

    /// The line of the byte at offset `at`.
    fn place(&mut self, at: usize) -> Place {
        if at < self.last.0 {
            self.last = (0, 1);
        }
        let (from, line) = self.last;
        let passed = self.text.as_bytes().get(from..at).unwrap_or_default();
        let breaks = passed.iter().filter(|byte| **byte == b'\n').count();
        self.last = (at, line + breaks as u64);
        Place::Line(self.last.1)
    }
}
