//! A task's terms by class of nodes: its bounds and its speed in each class.

use std::collections::BTreeMap;
use std::sync::Arc;

use gleaner_classes::Counts;

use super::{ScalingCurve, TrainingTask};

/// Bounds and speed of a task in one class.
#[derive(Debug, Clone, PartialEq)]
pub struct Terms {
    /// Minimum number of nodes on which the task runs (at least 1).
    pub min_nodes: u32,
    /// Maximum number of nodes that the task can use.
    pub max_nodes: u32,
    /// Speed of the task by number of nodes.
    pub curve: ScalingCurve,
}

/// A task's terms on nodes of several classes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ClassTerms {
    /// The terms by class name. The task does not use other classes. If the map is empty, the task's own terms apply in
    /// every class.
    pub by_name: Arc<BTreeMap<String, Terms>>,
    /// Seconds of progress lost when the task moves to another class; `None` for the sum of `rescale_up` and
    /// `rescale_down`.
    pub move_cost: Option<f64>,
    /// The numbers of nodes that the task is allowed to hold.
    pub counts: Counts,
    /// The terms by class index in a log, set by [`TrainingTask::in_classes`].
    pub by_index: Arc<[Option<Terms>]>,
}

/// Reserved names: task files use them as the keys of a curve's lists, so a class cannot have such a name.
pub const CURVE_LISTS: [&str; 3] = ["nodes", "progress", "objective"];

/// Whether a task file can state terms for a class with this name.
pub fn is_class_name(name: &str) -> bool {
    !name.is_empty() && !CURVE_LISTS.contains(&name)
}

impl Terms {
    /// Work per second per node, at the minimum number of nodes.
    fn speed_at_minimum(&self) -> f64 {
        self.curve.progress_at(self.min_nodes) / f64::from(self.min_nodes)
    }
}

/// The terms of the slowest class: the class with the lowest progress per node at its minimum number of nodes. If
/// several classes are equally slow, the class whose name sorts first is used.
fn slowest(by_name: &BTreeMap<String, Terms>) -> Option<&Terms> {
    let by_speed = |a: &&Terms, b: &&Terms| a.speed_at_minimum().total_cmp(&b.speed_at_minimum());
    by_name.values().min_by(by_speed)
}

impl TrainingTask {
    /// The same task with the given terms for each class. Its own terms are replaced with the terms of its slowest
    /// class, so the task is also valid for code that ignores classes. The slowest class has the lowest progress per
    /// node at its minimum number of nodes. In a tie, it is the class whose name sorts first. If there are no classes,
    /// the task is unchanged.
    pub fn with_terms(mut self, by_name: Arc<BTreeMap<String, Terms>>) -> Self {
        if let Some(terms) = slowest(&by_name) {
            (self.min_nodes, self.max_nodes) = (terms.min_nodes, terms.max_nodes);
            self.curve = terms.curve.clone();
            self.classes.by_name = by_name;
        }
        self
    }

    /// The task's own bounds and curve, as [`Terms`].
    pub fn own_terms(&self) -> Terms {
        Terms {
            min_nodes: self.min_nodes,
            max_nodes: self.max_nodes,
            curve: self.curve.clone(),
        }
    }

    /// The same task for a log whose classes have these names, with its terms also stored by class index. If there is
    /// only one class and the task has terms for this class, these terms become the task's own.
    pub fn in_classes(&self, names: &[String]) -> TrainingTask {
        let mut task = self.clone();
        let terms = |name: &String| match &*self.classes.by_name {
            by_name if by_name.is_empty() => Some(self.own_terms()),
            by_name => by_name.get(name).cloned(),
        };
        if let [name] = names
            && let Some(terms) = self.classes.by_name.get(name).cloned()
        {
            (task.min_nodes, task.max_nodes) = (terms.min_nodes, terms.max_nodes);
            task.curve = terms.curve;
            task.classes.by_name = Arc::default();
        }
        task.classes.by_index = names.iter().map(terms).collect();
        task
    }

    /// The task with the terms of one class as its own; `None` if the task does not use the class. The class is an
    /// index into the names given to [`TrainingTask::in_classes`].
    pub fn in_class(&self, class: usize) -> Option<TrainingTask> {
        let terms = self.terms_in(class)?.clone();
        Some(TrainingTask {
            min_nodes: terms.min_nodes,
            max_nodes: terms.max_nodes,
            curve: terms.curve,
            classes: ClassTerms {
                by_name: Arc::default(),
                by_index: Arc::default(),
                ..self.classes.clone()
            },
            ..self.clone()
        })
    }

    /// Replaces the curve of a class, which is an index into the names given to [`TrainingTask::in_classes`]. If no
    /// terms were set, the task's own curve counts as the curve of class 0. Returns whether the task uses the class; if
    /// not, nothing changes.
    pub fn set_curve_in(&mut self, class: usize, curve: ScalingCurve) -> bool {
        if self.classes.by_index.is_empty() && class == 0 {
            self.curve = curve;
            return true;
        }
        let mut by_index = self.classes.by_index.to_vec();
        let Some(Some(terms)) = by_index.get_mut(class) else {
            return false;
        };
        terms.curve = curve;
        self.classes.by_index = by_index.into();
        true
    }

    /// The terms of a class, by its index in the names given to [`TrainingTask::in_classes`]. `None` if the task does
    /// not use the class.
    pub fn terms_in(&self, class: usize) -> Option<&Terms> {
        self.classes.by_index.get(class)?.as_ref()
    }

    /// The task's maximum work per second, over all classes and all numbers of nodes that it is allowed to hold.
    pub fn best_rate(&self) -> f64 {
        if self.classes.by_index.is_empty() {
            return self.as_solved().best_rate();
        }
        let classes = self.in_each_class().into_iter();
        let rates = classes.map(|task| task.as_solved().best_rate());
        rates.fold(0.0, f64::max)
    }

    /// The task's minimum number of nodes and curve in a class. Both are the task's own values if
    /// [`TrainingTask::in_classes`] has not set any terms. `None` if the task does not use the class.
    pub fn curve_in(&self, class: usize) -> Option<(u32, &ScalingCurve)> {
        match self.classes.by_index.get(class) {
            Some(terms) => terms.as_ref().map(|terms| (terms.min_nodes, &terms.curve)),
            None => Some((self.min_nodes, &self.curve)),
        }
    }

    /// Minimum number of nodes in a class; `None` if the task does not use the class.
    pub fn min_nodes_in(&self, class: usize) -> Option<u32> {
        self.curve_in(class).map(|(min_nodes, _)| min_nodes)
    }

    /// Work per second on `nodes` nodes of a class, even below the task's minimum; 0 if the task does not use the
    /// class.
    pub fn progress_in(&self, class: usize, nodes: u32) -> f64 {
        self.curve_in(class)
            .map_or(0.0, |(_, curve)| curve.progress_at(nodes))
    }

    /// Work per second on `nodes` nodes of a class; 0 below the task's minimum, or if the task does not use the class.
    pub fn rate_in(&self, class: usize, nodes: u32) -> f64 {
        match self.curve_in(class) {
            Some((min_nodes, curve)) if nodes >= min_nodes => curve.progress_at(nodes),
            _ => 0.0,
        }
    }

    /// Returns a copy of the task for each class that it uses, with the terms of that class. If
    /// [`TrainingTask::in_classes`] has not set any terms, returns only the task itself.
    pub fn in_each_class(&self) -> Vec<TrainingTask> {
        if self.classes.by_index.is_empty() {
            return vec![self.clone()];
        }
        let classes = 0..self.classes.by_index.len();
        classes.filter_map(|class| self.in_class(class)).collect()
    }

    /// Seconds of progress lost when the task moves to another class.
    pub fn move_seconds(&self) -> f64 {
        self.classes
            .move_cost
            .unwrap_or(self.rescale_up + self.rescale_down)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(min_nodes: u32, progress: [f64; 3]) -> Terms {
        Terms {
            min_nodes,
            max_nodes: 4,
            curve: ScalingCurve {
                nodes: [0, 2, 4].into(),
                progress: progress.into(),
                objective: progress.into(),
            },
        }
    }

    #[test]
    fn own_terms_are_those_of_the_slowest_class() {
        // Progress per node at the minimum: fast 10, slow 4, tied 4.
        let classes = [
            ("fast", terms(2, [0.0, 20.0, 30.0])),
            ("slow", terms(4, [0.0, 10.0, 16.0])),
            ("tied", terms(2, [0.0, 8.0, 9.0])),
        ];
        let classes = classes.map(|(name, terms)| (name.to_owned(), terms));
        let by_name: BTreeMap<String, Terms> = classes.into_iter().collect();
        assert_eq!(slowest(&by_name), by_name.get("slow"));
        assert_eq!(slowest(&BTreeMap::new()), None);
    }

    #[test]
    fn lists_of_curves_are_not_names_of_classes() {
        assert!(is_class_name("v100"));
        assert!(!is_class_name(""));
        assert!(CURVE_LISTS.iter().all(|name| !is_class_name(name)));
    }
}
