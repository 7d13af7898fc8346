//! Classes of nodes.
//!
//! The allocator gets the classes of all nodes when it is created. However, the core learns the class of a node only
//! when the node's first pilot connects. Therefore, a range of `max_nodes` indices is reserved for each class. The
//! nodes of a class get these indices in the order in which they first connect. For example, let the classes be a100
//! and v100, and let `max_nodes` be 4,096. The first a100 node has the index 0, and the first v100 node has the index
//! 4,096.

use std::ops::Range;

use gleaner_classes::LARGEST_VALUE;
use gleaner_domain::class_terms::is_class_name;
use gleaner_domain::error::{Error, Result};
use gleaner_domain::{NodeClasses, Objective, TrainingTask};
use gleaner_solvers::range::RESCALE;

use super::learn::LONGEST_S;
use super::{Core, Settings, SubmittedTerms};

/// Maximum number of classes. Each class needs memory for `max_nodes` nodes.
const MOST_CLASSES: usize = 16;

/// Description of the class names that [`are_classes`] accepts, for messages.
pub(crate) const EXPECTED: &str =
    "at most 16 different names, without commas, quotes or control characters";

/// Whether classes can have these names, which are written to tables and environment variables.
pub(crate) fn are_classes(names: &[String]) -> bool {
    let is_safe = |c: char| !c.is_control() && !",\"".contains(c);
    let is_name = |name: &String| is_class_name(name) && name.chars().all(is_safe);
    names.len() <= MOST_CLASSES
        && names.iter().all(is_name)
        && NodeClasses::new(names.to_vec(), Vec::new()).is_some()
}

/// Advice for messages about a node whose class is missing or wrong.
const REMEDY: &str = "Correct the command `class` in harvest.toml, or --class of the pilot";

impl Core {
    /// Returns the index of the node `name`, whose pilot reports the class `class`. A new node gets the next free index
    /// of its class.
    ///
    /// # Errors
    /// The class is missing or unknown, the node had another class before, or there are too many nodes. The text states
    /// the fault and the remedy.
    pub(super) fn node_index(&mut self, name: &str, class: Option<&str>) -> Result<u32, String> {
        let settings = &self.settings;
        let index = settings.class_index(class)?;
        if let Some(node) = self.pilots.find(name) {
            if settings.class_of(node) == index {
                return Ok(node);
            }
            let found = class.unwrap_or_default();
            let before = settings.class_name(node).unwrap_or_default();
            return Err(format!(
                "its pilot reports the class {found}, but an earlier pilot reported {before}. {REMEDY}"
            ));
        }
        let range = settings.nodes_of(index);
        let node = range.and_then(|range| self.pilots.add(name, range));
        let most = settings.max_nodes;
        node.ok_or_else(|| {
            format!("there are already {most} nodes. Begin a new journal with a larger `max_nodes`")
        })
    }
}

impl Settings {
    /// Checks the names of the classes.
    ///
    /// # Errors
    /// [`are_classes`] rejects the names.
    pub(super) fn check_classes(&self) -> Result<()> {
        let names = &self.classes;
        if are_classes(names) {
            return Ok(());
        }
        let text = format!("classes: found {names:?}, expected {EXPECTED}");
        Err(Error::Usage(text))
    }

    /// The class of each node index if `nodes` indices are reserved for each class; `None` if all nodes are
    /// interchangeable.
    pub(super) fn node_classes(&self, nodes: usize) -> Option<NodeClasses> {
        if self.classes.is_empty() {
            return None;
        }
        let classes = (0_u16..).zip(&self.classes);
        let of_node = classes.flat_map(|(class, _)| std::iter::repeat_n(class, nodes));
        NodeClasses::new(self.classes.clone(), of_node.collect())
    }

    /// The index of the class with this name, which a pilot reported; 0 if all nodes are interchangeable.
    ///
    /// # Errors
    /// The class is missing or unknown. The text states what was found, what was expected, and the remedy.
    pub(super) fn class_index(&self, name: Option<&str>) -> Result<usize, String> {
        if self.classes.is_empty() {
            return Ok(0);
        }
        let found = match name {
            Some(name) => match self.classes.iter().position(|class| class == name) {
                Some(class) => return Ok(class),
                None => format!("reports the class {name:?}"),
            },
            None => "reports no class".to_owned(),
        };
        let expected = self.classes.join(", ");
        Err(format!(
            "its pilot {found}, expected one of {expected}. {REMEDY}"
        ))
    }

    /// The index of a node's class; 0 if all nodes are interchangeable.
    pub(super) fn class_of(&self, node: u32) -> usize {
        node as usize / self.max_nodes.max(1)
    }

    /// The name of a node's class; `None` if all nodes are interchangeable.
    pub(crate) fn class_name(&self, node: u32) -> Option<&str> {
        let name = self.classes.get(self.class_of(node))?;
        Some(name)
    }

    /// Checks the class-specific terms of a submitted task, except for bounds and curves, which [`Settings::faults`]
    /// checks.
    ///
    /// # Errors
    /// The nodes have no classes, the task can use none of them, or a value is out of range.
    pub(super) fn check_terms(&self, terms: &SubmittedTerms) -> Result<(), String> {
        if terms.is_default() {
            return Ok(());
        }
        if self.classes.is_empty() {
            return Err(
                "found `speed`, `move`, `counts` or values by class, but the nodes have no classes. Remove them, or \
                 set `classes` in harvest.toml"
                    .to_owned(),
            );
        }
        let is_known = |name: &String| self.classes.contains(name);
        if !terms.by_name.is_empty() && !terms.by_name.keys().any(is_known) {
            let found: Vec<&str> = terms.by_name.keys().map(String::as_str).collect();
            let (found, expected) = (found.join(", "), self.classes.join(", "));
            return Err(format!(
                "found values for {found}, expected at least one of the classes {expected}"
            ));
        }
        match terms.move_cost {
            Some(seconds) if !RESCALE.contains(&seconds) => {
                let (least, most) = (RESCALE.start(), RESCALE.end());
                Err(format!(
                    "move: found {seconds}, expected from {least} to {most} seconds"
                ))
            }
            _ => Ok(()),
        }
    }

    /// The faults of tasks, one sentence each. In addition to the allocator's checks, this rejects rates that are too
    /// high for the solver that handles classes.
    pub(super) fn faults(&self, tasks: &[TrainingTask]) -> Vec<String> {
        let mut faults = self.allocator(Objective::default()).faults(tasks);
        if self.classes.is_empty() {
            return faults;
        }
        let placed = tasks.iter().map(|task| self.placed(task));
        for task in placed.flat_map(|task| task.in_each_class()) {
            // Each value in the solver's problem is a rate multiplied by the window or by a cost. Measured costs are at
            // most LONGEST_S, and the cost of a move is at most twice that.
            let costs = (task.rescale_up + task.rescale_down).max(task.move_seconds());
            let most = LARGEST_VALUE / costs.max(self.t_fwd_s).max(2.0 * LONGEST_S);
            let rates = task.curve.objective.iter().copied();
            let found = rates.fold(0.0, f64::max);
            if found > most {
                let name = &task.name;
                faults.push(format!(
                    "task {name}: found a rate of {found:e} per second, expected at most {most:.0} with classes \
                     of nodes. Use a larger unit of work"
                ));
            }
        }
        faults
    }

    /// The indices that are reserved for the nodes of a class; `None` if they do not fit into `u32`.
    fn nodes_of(&self, class: usize) -> Option<Range<u32>> {
        let first = class.checked_mul(self.max_nodes)?;
        let end = first.checked_add(self.max_nodes)?;
        Some(u32::try_from(first).ok()?..u32::try_from(end).ok()?)
    }

    /// The task with its terms stored by class index; unchanged if all nodes are interchangeable.
    pub(super) fn placed(&self, task: &TrainingTask) -> TrainingTask {
        if self.classes.is_empty() {
            task.clone()
        } else {
            task.in_classes(&self.classes)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(classes: &[&str]) -> Settings {
        Settings {
            max_nodes: 3,
            classes: classes.iter().map(|&name| name.to_owned()).collect(),
            ..crate::config::Config::example().core
        }
    }

    #[test]
    fn each_class_has_a_range_of_nodes() {
        let settings = settings(&["a100", "v100"]);
        let classes = settings.node_classes(3).unwrap();
        assert_eq!(classes.of_nodes(), [0, 0, 0, 1, 1, 1]);
        for node in 0..6 {
            assert_eq!(settings.class_of(node), classes.of(node));
        }
        assert_eq!(settings.class_name(2), Some("a100"));
        assert_eq!(settings.class_name(3), Some("v100"));
        assert_eq!(settings.class_name(6), None);
    }

    #[test]
    fn nodes_without_a_known_class_cannot_be_used() {
        let two = settings(&["a100", "v100"]);
        assert_eq!(two.class_index(Some("v100")), Ok(1));
        let missing = two.class_index(None).unwrap_err();
        assert!(missing.starts_with("its pilot reports no class, expected one of a100, v100. "));
        let unknown = two.class_index(Some("V100\n")).unwrap_err();
        assert!(unknown.contains(r#"the class "V100\n", expected"#));
        let none = settings(&[]);
        assert_eq!(none.class_index(None), Ok(0));
        assert_eq!(none.class_index(Some("v100")), Ok(0));
        assert_eq!((none.node_classes(3), none.class_name(0)), (None, None));
    }

    #[test]
    fn nodes_are_numbered_within_their_class() {
        let mut core = Core::new(settings(&["a100", "v100"]), 0).unwrap();
        let mut index = |name, class| core.node_index(name, Some(class));
        assert_eq!(index("n1", "v100"), Ok(3));
        assert_eq!(index("n2", "a100"), Ok(0));
        assert_eq!(index("n3", "v100"), Ok(4));
        assert_eq!(index("n1", "v100"), Ok(3));
        let changed = index("n1", "a100").unwrap_err();
        assert!(
            changed.contains("class a100, but an earlier pilot reported v100"),
            "{changed}"
        );
        assert_eq!(index("n4", "v100"), Ok(5));
        let many = index("n5", "v100").unwrap_err();
        assert!(many.contains("already 3 nodes"), "{many}");
        assert_eq!(index("n5", "a100"), Ok(1));
    }

    #[test]
    fn names_of_classes_are_checked() {
        assert!(settings(&["a", "b"]).check_classes().is_ok());
        let many: Vec<String> = (0..17).map(|class| class.to_string()).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert!(settings(&many[1..]).check_classes().is_ok());
        for names in [&["a", "a"][..], &[""], &["nodes"], &["a,b"], &many] {
            let error = settings(names).check_classes().unwrap_err();
            assert!(error.to_string().starts_with("classes: found"), "{error}");
        }
    }
}
