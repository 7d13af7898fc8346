//! Assigns classes to the nodes of a log, rule by rule.

use std::collections::BTreeMap;

use regex::bytes::RegexBuilder;

use crate::events::classes::at_most;
use crate::hosts::{MAX_NAMES, expand};
use gleaner_domain::NodeClasses;
use gleaner_domain::error::{Error, Fault, Result};
use gleaner_domain::node_classes::ClassNames;
use gleaner_domain::words::counted;
use gleaner_io::Gatherer;
use gleaner_io::fault::{Place, show};
use gleaner_io::source::Source;

/// Maximum length of a pattern in bytes. Parsing a pattern takes about a hundred bytes of memory for each byte of the
/// pattern.
const MAX_PATTERN: usize = 10_000;

/// Maximum size of a compiled pattern in bytes. Repetitions such as `(a{100}){100}` multiply the size.
const PATTERN_LIMIT: usize = 1 << 16;

/// Maximum number of patterns. This limit bounds the run time, because each pattern is compared with all nodes that
/// have no class yet.
const MAX_PATTERNS: usize = 1000;

/// Maximum number of classes that a note names.
const NAMED: usize = 5;

/// The index of a class in an [`Assignment`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Class(u16);

/// The classes assigned to the nodes of a log so far. The first rule that applies to a node wins.
pub(super) struct Assignment<'a> {
    source: &'a Source,
    nodes: &'a [String],
    /// Index of each node by its name.
    index: BTreeMap<&'a str, usize>,
    /// The class of each node.
    of_node: Vec<Option<Class>>,
    /// Names of the classes, in the order of the file.
    names: ClassNames,
    /// Number of names that the remaining lists may contain in total.
    left: usize,
    /// Number of patterns so far.
    patterns: usize,
    faults: Gatherer,
}

impl<'a> Assignment<'a> {
    /// Creates an assignment in which no node has a class yet.
    pub fn new(source: &'a Source, nodes: &'a [String]) -> Self {
        Assignment {
            source,
            nodes,
            index: nodes.iter().map(String::as_str).zip(0..).collect(),
            of_node: vec![None; nodes.len()],
            names: ClassNames::default(),
            left: MAX_NAMES,
            patterns: 0,
            faults: Gatherer::default(),
        }
    }

    /// Records a fault at `place`.
    pub fn fault(
        &mut self,
        place: Place,
        field: &str,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> Result<()> {
        let fault = self.source.fault(found, expected);
        self.faults.add(fault.at(place).field(field))
    }

    /// Records a fault that the reader of a table found.
    pub fn add(&mut self, fault: Fault) -> Result<()> {
        self.faults.add(fault)
    }

    /// The error for a file that is invalid as a whole.
    pub fn whole_fault(&self, found: &str, expected: &str, remedy: &str) -> Error {
        self.source.fault(found, expected).remedy(remedy).into()
    }

    /// Returns the class with this name, and adds it if it is new. The name must not be empty.
    ///
    /// # Errors
    /// There are too many classes.
    pub fn class(&mut self, name: &str, place: Place) -> Result<Class> {
        let class = self.names.add(name).map(Class);
        class.ok_or_else(|| {
            let fault = self.source.fault("too many classes", at_most());
            fault.at(place).into()
        })
    }

    /// Assigns a class to a node of the log, unless the node already has a class.
    pub fn node(&mut self, class: Class, name: &str) {
        if let Some(&node) = self.index.get(name) {
            self.of_node[node].get_or_insert(class);
        }
    }

    /// Assigns a class to the nodes of a list such as `a[001-040]`. An invalid list is recorded as a fault.
    pub fn list(&mut self, class: Class, list: &str, place: Place, field: &str) -> Result<()> {
        let (index, of_node) = (&self.index, &mut self.of_node);
        let expanded = expand(list, &mut self.left, |name| {
            if let Some(&node) = index.get(name) {
                of_node[node].get_or_insert(class);
            }
        });
        match expanded {
            Ok(()) => Ok(()),
            Err(found) => self.fault(place, field, found, "a list of nodes such as n[001-040]"),
        }
    }

    /// Assigns a class to the nodes whose names match a regular expression. An invalid expression is recorded as a fault.
    pub fn pattern(&mut self, class: Class, text: &str, place: Place, field: &str) -> Result<()> {
        self.patterns += 1;
        if self.patterns > MAX_PATTERNS {
            let fault = self.source.fault(
                "too many patterns",
                format!("at most {MAX_PATTERNS} patterns"),
            );
            return Err(fault.at(place).field(field).into());
        }
        if text.len() > MAX_PATTERN {
            let found = format!("a pattern of {} bytes", text.len());
            let expected = format!("at most {MAX_PATTERN} bytes (a list of nodes can be longer)");
            return self.fault(place, field, found, expected);
        }
        // Node names are normally ASCII, so `\d` and `\w` do not need Unicode tables.
        let built = RegexBuilder::new(text)
            .unicode(false)
            .size_limit(PATTERN_LIMIT)
            .build();
        let regex = match built {
            Ok(regex) => regex,
            Err(error) => {
                let reason = reason(&error);
                let found = format!("{} ({reason})", show(text.as_bytes()));
                let expected = "a regular expression for node names, such as ^g\\d+$";
                return self.fault(place, field, found, expected);
            }
        };
        for (name, assigned) in self.nodes.iter().zip(&mut self.of_node) {
            if assigned.is_none() && regex.is_match(name.as_bytes()) {
                *assigned = Some(class);
            }
        }
        Ok(())
    }

    /// Assigns a class to all nodes without a class.
    pub fn rest(&mut self, class: Class) {
        for assigned in &mut self.of_node {
            assigned.get_or_insert(class);
        }
    }

    /// Returns the classes, ordered by their first nodes, and notes for the user. `remedy` explains how to assign a
    /// class to a node that has no class.
    ///
    /// # Errors
    /// Faults were recorded, or a node has no class.
    pub fn finish(mut self, remedy: &str) -> Result<(NodeClasses, Vec<String>)> {
        // If there are other faults, a node may lack a class only because its rule was not applied.
        if self.faults.is_empty()
            && let Some(fault) = self.without_class(remedy)
        {
            self.faults.add(fault)?;
        }
        let assigned = self.of_node.iter().flatten();
        let names = assigned.map(|class| self.names.of(class.0));
        let classes = NodeClasses::of_names(names);
        let remarks = self.unused().into_iter().collect();
        let classes = self.faults.finish(classes)?;
        // This error cannot occur: there are at most MAX_CLASSES classes, and their names are not empty.
        classes
            .map(|classes| (classes, remarks))
            .ok_or_else(|| self.source.fault("too many classes", at_most()).into())
    }

    /// A fault that reports the nodes without a class; `None` if every node has a class.
    fn without_class(&self, remedy: &str) -> Option<Fault> {
        let mut without = self
            .nodes
            .iter()
            .zip(&self.of_node)
            .filter(|(_, class)| class.is_none());
        let (name, _) = without.next()?;
        let more = match without.count() {
            0 => String::new(),
            others => format!(" and {}", counted(others, "more node")),
        };
        let found = format!("no class for the log's node {name:?}{more}");
        let fault = self
            .source
            .fault(found, "a class for every node of the log");
        Some(fault.remedy(remedy))
    }

    /// A note about the classes to which no node of the log belongs.
    fn unused(&self) -> Option<String> {
        let mut is_used = vec![false; self.names.all().len()];
        for class in self.of_node.iter().flatten() {
            is_used[usize::from(class.0)] = true;
        }
        let unused: Vec<&str> = self
            .names
            .all()
            .iter()
            .zip(is_used)
            .filter(|(_, is_used)| !is_used)
            .map(|(name, _)| name.as_str())
            .collect();
        let shown = unused[..unused.len().min(NAMED)].join(", ");
        let path = self.source.path().display();
        match unused.len() {
            0 => None,
            1 => Some(format!("{path}: the log has no node of class {shown}")),
            2..=NAMED => Some(format!(
                "{path}: the log has no nodes of the classes {shown}"
            )),
            all => Some(format!(
                "{path}: the log has no nodes of the classes {shown} and {} more",
                all - NAMED
            )),
        }
    }
}

/// The reason why an expression is invalid, on one line.
fn reason(error: &regex::Error) -> String {
    match error {
        regex::Error::CompiledTooBig(limit) => {
            format!("it needs more than {} KiB when compiled", limit >> 10)
        }
        // The library's message shows the expression with a mark below the fault. Its last line contains the reason.
        error => {
            let text = error.to_string();
            let last = text.lines().last().unwrap_or_default().trim();
            last.trim_start_matches("error: ").to_owned()
        }
    }
}
