//! One allocation decision on nodes of several classes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A set of nodes that are interchangeable for training.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Class {
    /// Name, unique within the problem.
    pub name: String,
    /// Number of idle nodes, or of other units such as GPUs.
    #[serde(alias = "nodes")]
    pub capacity: u32,
}

/// An option of a task: a number of nodes of one class, and its value.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<f64>", into = "(usize, u32, f64)")]
pub struct Choice {
    /// Index of the class.
    pub class: usize,
    /// Number of nodes of the class, at least 1.
    pub count: u32,
    /// The task's contribution to the objective if it takes this option.
    pub value: f64,
}

/// The class and the number of the nodes that a task holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(usize, u32)", into = "(usize, u32)")]
pub struct Held {
    /// Index of the class.
    pub class: usize,
    /// Number of nodes of the class, at least 1.
    pub count: u32,
}

/// A task and its options. Unknown JSON fields are ignored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// Name, unique within the problem.
    pub name: String,
    /// The options of the task.
    pub options: Vec<Choice>,
    /// The task's contribution to the objective if it holds nothing; usually 0 or negative.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub none: f64,
    /// The nodes that the task holds now; `None` if it holds nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current: Option<Held>,
    /// Whether the task must keep the nodes that it holds now, or continue to hold nothing.
    #[serde(default, skip_serializing_if = "is_false")]
    pub fixed: bool,
}

/// A limit on the nodes that several tasks hold together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// Name, unique within the problem.
    pub name: String,
    /// Names of the tasks of the group. A task may be in several groups.
    pub tasks: Vec<String>,
    /// The minimum total number of nodes, over all classes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_total: Option<u32>,
    /// The maximum total number of nodes. Default: no maximum.
    #[serde(default = "PerClass::none", skip_serializing_if = "PerClass::is_none")]
    pub max_total: PerClass,
}

/// Either one number of nodes for all classes, or a number for each class.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum PerClass {
    /// One number that applies in every class; for a group, the total over all classes.
    All(u32),
    /// Numbers by class name.
    Each(BTreeMap<String, u32>),
}

/// One allocation decision: each task takes at most one of its options, and all tasks together take at most the
/// capacity of each class. The objective, which is maximised, is the sum of the values. Unknown JSON fields are
/// ignored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Problem {
    /// Identifier of the problem, which is part of the answer.
    #[serde(default)]
    pub id: String,
    /// The classes of nodes.
    pub classes: Vec<Class>,
    /// The tasks.
    pub tasks: Vec<Task>,
    /// Groups of tasks whose total number of nodes is limited. The exact solver does not support groups.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<Group>,
}

/// A limit of a group, with indices instead of names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupLimit {
    /// Indices of the tasks.
    pub tasks: Vec<usize>,
    /// The class whose nodes are counted; `None` for the nodes of all classes.
    pub class: Option<usize>,
    /// The minimum total number of nodes.
    pub least: u32,
    /// The maximum total number of nodes; `None` if there is none.
    pub most: Option<u32>,
}

/// The largest permitted absolute value of an option. The sum of a thousand such values has a rounding error of about
/// 128.
pub const LARGEST_VALUE: f64 = 1e15;

impl Problem {
    /// Returns a sentence for each fault of the problem; none if the problem is valid.
    pub fn validate(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let names = self.classes.iter().map(|class| class.name.as_str());
        faults.extend(
            repeated(names)
                .map(|name| format!("class {name}: duplicate name, expected unique names")),
        );
        let names = self.tasks.iter().map(|task| task.name.as_str());
        faults.extend(
            repeated(names)
                .map(|name| format!("task {name}: duplicate name, expected unique names")),
        );
        for task in &self.tasks {
            self.check_task(task, &mut faults);
        }
        let names = self.groups.iter().map(|group| group.name.as_str());
        faults.extend(
            repeated(names)
                .map(|name| format!("group {name}: duplicate name, expected unique names")),
        );
        let places = self.places();
        for group in &self.groups {
            self.check_group(group, &places, &mut faults);
        }
        faults
    }

    /// The index of each task by its name.
    fn places(&self) -> BTreeMap<&str, usize> {
        let names = self.tasks.iter().map(|task| task.name.as_str());
        names.zip(0..).collect()
    }

    fn check_group(&self, group: &Group, places: &BTreeMap<&str, usize>, faults: &mut Vec<String>) {
        let name = &group.name;
        let is_unknown = |task: &&String| !places.contains_key(task.as_str());
        for task in group.tasks.iter().filter(is_unknown) {
            faults.push(format!("group {name}: unknown task {task}"));
        }
        let tasks = group.tasks.iter().map(String::as_str);
        faults.extend(
            repeated(tasks).map(|task| format!("group {name}: task {task} is listed twice")),
        );
        if let (Some(min), PerClass::All(max)) = (group.min_total, &group.max_total)
            && min > *max
        {
            faults.push(format!(
                "group {name}: min_total {min} is above max_total {max}"
            ));
        }
        for class in group.max_total.classes() {
            if !self.classes.iter().any(|own| own.name == *class) {
                faults.push(format!("group {name}: unknown class {class}"));
            }
        }
    }

    /// The limits of all groups of a valid problem.
    pub fn limits(&self) -> Vec<GroupLimit> {
        let places = self.places();
        let mut limits = Vec::new();
        for group in &self.groups {
            let tasks = group.tasks.iter();
            let tasks = tasks.filter_map(|task| places.get(task.as_str()).copied());
            let mut tasks: Vec<usize> = tasks.collect();
            tasks.sort_unstable();
            let limit = |class, least, most| GroupLimit {
                tasks: tasks.clone(),
                class,
                least,
                most,
            };
            let least = group.min_total.unwrap_or(0);
            let total = match group.max_total {
                PerClass::All(most) => Some(most),
                PerClass::Each(_) => None,
            };
            if least > 0 || total.is_some() {
                limits.push(limit(None, least, total));
            }
            if let PerClass::Each(each) = &group.max_total {
                let classes = self.classes.iter().enumerate();
                limits.extend(classes.filter_map(|(index, class)| {
                    Some(limit(Some(index), 0, Some(*each.get(&class.name)?)))
                }));
            }
        }
        limits
    }

    fn check_task(&self, task: &Task, faults: &mut Vec<String>) {
        let name = &task.name;
        let is_value = |value: f64| value.abs() <= LARGEST_VALUE;
        if !is_value(task.none) {
            let none = task.none;
            faults.push(format!(
                "task {name}: \"none\" (the value of holding nothing) is {none:e}, expected -1e15 to 1e15"
            ));
        }
        let classes = self.classes.len();
        for (index, option) in task.options.iter().enumerate() {
            let number = index + 1;
            let Choice {
                class,
                count,
                value,
            } = *option;
            if class >= classes {
                faults.push(format!(
                    "task {name}: option {number} names class {class}, expected 0 to {}",
                    classes.saturating_sub(1)
                ));
            }
            if count == 0 {
                faults.push(format!(
                    "task {name}: option {number} has 0 nodes, expected at least 1"
                ));
            }
            if !is_value(value) {
                faults.push(format!(
                    "task {name}: option {number} is worth {value:e}, expected -1e15 to 1e15"
                ));
            }
        }
        let kinds = task
            .options
            .iter()
            .map(|option| (option.class, option.count));
        faults.extend(repeated(kinds).map(|(class, count)| {
            format!("task {name}: duplicate option with count {count} in class {class}")
        }));
        if task.fixed
            && task
                .current
                .is_some_and(|held| task.option_of(held).is_none())
        {
            faults.push(format!(
                "task {name}: the task is fixed, but its current nodes are not among its options"
            ));
        }
    }

    /// The objective of a plan, which lists the nodes of each task, in task order. `None` if the number of entries
    /// differs from the number of tasks, or if a task holds nodes that are not among its options.
    pub fn objective(&self, plan: &[Option<Held>]) -> Option<f64> {
        if plan.len() != self.tasks.len() {
            return None;
        }
        let tasks = self.tasks.iter().zip(plan);
        tasks.map(|(task, held)| task.value_of(*held)).sum()
    }
}

impl Problem {
    /// The objective if every task keeps its current nodes. Nodes that are not among their task's options count as 0.
    pub fn value_of_keeping(&self) -> f64 {
        let value = |task: &Task| match task.current {
            Some(held) => task.option_of(held).map_or(0.0, |option| option.value),
            None => task.none,
        };
        self.tasks.iter().map(value).sum()
    }
}

impl Task {
    /// The option with these nodes.
    pub fn option_of(&self, held: Held) -> Option<&Choice> {
        self.options
            .iter()
            .find(|option| (option.class, option.count) == (held.class, held.count))
    }

    /// The task's contribution to the objective if it holds these nodes; `None` if they match none of its options.
    pub fn value_of(&self, held: Option<Held>) -> Option<f64> {
        match held {
            None => Some(self.none),
            Some(held) => self.option_of(held).map(|option| option.value),
        }
    }
}

impl GroupLimit {
    /// The number of nodes in `plan` that count towards this limit.
    pub fn used(&self, plan: &[Option<Held>]) -> u64 {
        let held = self
            .tasks
            .iter()
            .filter_map(|task| plan.get(*task).copied().flatten());
        held.filter(|held| self.class.is_none_or(|class| class == held.class))
            .map(|held| u64::from(held.count))
            .sum()
    }
}

impl PerClass {
    /// Returns a value that has no number for any class.
    pub fn none() -> Self {
        PerClass::Each(BTreeMap::new())
    }

    fn is_none(&self) -> bool {
        *self == PerClass::none()
    }

    /// The number for a class; `None` if it is missing.
    pub(crate) fn of(&self, class: &str) -> Option<u32> {
        match self {
            PerClass::All(count) => Some(*count),
            PerClass::Each(counts) => counts.get(class).copied(),
        }
    }

    /// Names of the classes that have a number of their own.
    pub(crate) fn classes(&self) -> impl Iterator<Item = &String> {
        match self {
            PerClass::All(_) => None,
            PerClass::Each(counts) => Some(counts.keys()),
        }
        .into_iter()
        .flatten()
    }
}

impl Choice {
    /// The nodes of the option, without its value.
    pub fn held(&self) -> Held {
        Held {
            class: self.class,
            count: self.count,
        }
    }
}

/// An option as `[class, count, value, …]`; further numbers are ignored.
impl TryFrom<Vec<f64>> for Choice {
    type Error = String;

    fn try_from(numbers: Vec<f64>) -> Result<Self, String> {
        let whole = |number: f64| {
            let is_whole = number.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&number);
            is_whole.then_some(number as u32)
        };
        let option = match numbers.as_slice() {
            [class, count, value, ..] => whole(*class)
                .zip(whole(*count))
                .map(|found| (found, *value)),
            _ => None,
        };
        let Some(((class, count), value)) = option else {
            return Err(format!(
                "option {numbers:?}: expected [class, count, value], where class is an index and count a whole number"
            ));
        };
        Ok(Choice {
            class: class as usize,
            count,
            value,
        })
    }
}

impl From<Choice> for (usize, u32, f64) {
    fn from(option: Choice) -> Self {
        (option.class, option.count, option.value)
    }
}

impl From<(usize, u32)> for Held {
    fn from((class, count): (usize, u32)) -> Self {
        Held { class, count }
    }
}

impl From<Held> for (usize, u32) {
    fn from(held: Held) -> Self {
        (held.class, held.count)
    }
}

/// The repeated values in ascending order: a value that occurs n times is returned n - 1 times.
fn repeated<T: Ord + Copy>(values: impl Iterator<Item = T>) -> impl Iterator<Item = T> {
    let mut values: Vec<T> = values.collect();
    values.sort_unstable();
    let pairs: Vec<T> = values
        .windows(2)
        .filter(|pair| pair[0] == pair[1])
        .map(|pair| pair[0])
        .collect();
    pairs.into_iter()
}

fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

fn is_false(value: &bool) -> bool {
    !*value
}
