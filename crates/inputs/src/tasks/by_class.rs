//! Values of a task that may differ between classes of nodes.

use std::collections::BTreeMap;

use gleaner_classes::Counts;

use super::fields::Fields;
use super::node::Node;
use gleaner_domain::class_terms::{CURVE_LISTS, is_class_name};
use gleaner_domain::node_classes::MAX_CLASSES;

/// One value for all classes of nodes, or a value for each class by its name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum ByClass<T> {
    /// The value in all classes.
    Same(T),
    /// The value by class.
    Each(BTreeMap<String, T>),
}

/// The words that the field `counts` accepts, and their meanings.
pub const COUNTS: [(&str, Counts); 2] = [("all", Counts::All), ("points", Counts::Points)];

impl<T: Copy> ByClass<T> {
    /// The value in all classes, or the value in the first class; `None` if no class is listed.
    pub(super) fn any(&self) -> Option<T> {
        match self {
            ByClass::Same(value) => Some(*value),
            ByClass::Each(values) => values.values().next().copied(),
        }
    }

    /// The value in a class; `None` if the class is not listed.
    pub(super) fn of(&self, class: &str) -> Option<T> {
        match self {
            ByClass::Same(value) => Some(*value),
            ByClass::Each(values) => values.get(class).copied(),
        }
    }
}

impl Fields<'_> {
    /// Reads a table with a value for each class. `read` reads the value with a given name, which consists of the
    /// field's name, a dot and the class's name, such as `min_nodes.v100`. Returns `None` if there is a fault.
    pub fn classes<T>(
        &mut self,
        field: &str,
        values: Vec<(String, Node)>,
        mut read: impl FnMut(&mut Self, &str) -> Option<T>,
    ) -> Option<BTreeMap<String, T>> {
        let values = values.into_iter().filter(|(_, value)| *value != Node::Null);
        let values: Vec<_> = values.collect();
        if !(1..=MAX_CLASSES).contains(&values.len()) {
            let found = format!("{} classes", values.len());
            let expected = format!("from 1 to {MAX_CLASSES} classes");
            self.report.add(field, found, expected);
            return None;
        }
        let before = self.report.faults.len();
        let mut by_class = BTreeMap::new();
        for (class, value) in values {
            let name = format!("{field}.{class}");
            if !is_class_name(&class) {
                let found = format!("{class:?} as the name of a class");
                let lists = CURVE_LISTS.join(", ");
                let expected = format!("a name that is neither empty nor one of {lists}");
                self.report.add(&name, found, expected);
                continue;
            }
            self.extend([(name.as_str(), value)]);
            if let Some(value) = read(self, &name)
                && by_class.insert(class, value).is_some()
            {
                let expected = "each class only once";
                self.report.add(&name, "the class a second time", expected);
            }
        }
        (self.report.faults.len() == before).then_some(by_class)
    }

    /// Reads a value that is the same in all classes, or a table with a value for each class.
    pub fn by_class<T>(
        &mut self,
        field: &str,
        mut read: impl FnMut(&mut Self, &str) -> Option<T>,
    ) -> Option<ByClass<T>> {
        match self.take(field) {
            Some(Node::Table(values)) => self.classes(field, values, read).map(ByClass::Each),
            value => {
                self.extend(value.map(|value| (field, value)));
                read(self, field).map(ByClass::Same)
            }
        }
    }
}
