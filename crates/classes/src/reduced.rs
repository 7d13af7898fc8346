//! The part of a problem that is left to decide: tasks that are not fixed, with the options that an optimal plan may
//! need.

use std::rc::Rc;

use crate::problem::{Held, Problem, Task};

/// No class: the task holds nothing.
pub(crate) const NO_CLASS: u32 = u32::MAX;

/// What a task may hold, with what this adds to the objective beyond holding nothing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Item {
    /// Index of the class, or [`NO_CLASS`].
    pub class: u32,
    /// Number of nodes; 0 without a class.
    pub count: u32,
    /// The value less that of holding nothing.
    pub gain: f64,
}

impl Item {
    /// Holding nothing.
    pub const NONE: Item = Item {
        class: NO_CLASS,
        count: 0,
        gain: 0.0,
    };

    /// What the task holds.
    pub fn held(&self) -> Option<Held> {
        (self.class != NO_CLASS).then_some(Held {
            class: self.class as usize,
            count: self.count,
        })
    }

    /// The gain less the price of the nodes.
    pub fn profit(&self, prices: &[f64]) -> f64 {
        if self.class == NO_CLASS {
            self.gain
        } else {
            self.gain - prices[self.class as usize] * f64::from(self.count)
        }
    }
}

/// The items of a task.
#[derive(Debug, Clone)]
pub(crate) struct Items {
    /// All items, by class and count. An item that costs at least as much in its class as another one, and gains no
    /// more, is left out.
    pub all: Vec<Item>,
    /// Those that have the greatest profit at some prices: for each class, the vertices of the concave envelope of the
    /// gains, and holding nothing if it is allowed.
    pub hull: Vec<Item>,
}

/// A problem of tasks that share the capacities of classes.
#[derive(Debug, Clone)]
pub(crate) struct Reduced {
    /// Number of nodes that each class has left.
    pub capacity: Vec<u32>,
    pub tasks: Vec<Rc<Items>>,
    /// The index of each task in the problem.
    pub index: Vec<usize>,
}

impl Reduced {
    /// Takes the nodes of fixed tasks out of the capacities, and the items that no optimal plan needs out of the
    /// others. `None` if the fixed tasks hold more than a class has.
    pub fn of(problem: &Problem) -> Option<Self> {
        let mut capacity: Vec<u32> = problem.classes.iter().map(|class| class.capacity).collect();
        for held in problem.tasks.iter().filter_map(fixed).flatten() {
            capacity[held.class] = capacity[held.class].checked_sub(held.count)?;
        }
        let mut reduced = Reduced {
            capacity,
            tasks: Vec::new(),
            index: Vec::new(),
        };
        for (index, task) in problem.tasks.iter().enumerate() {
            if fixed(task).is_none() {
                reduced.tasks.push(Rc::new(items(task, &reduced.capacity)));
                reduced.index.push(index);
            }
        }
        Some(reduced)
    }

    /// The parts that share no class, each with its tasks. Tasks that can only hold nothing are in no part.
    pub fn parts(&self) -> Vec<Reduced> {
        let classes = self.capacity.len();
        let mut part: Vec<usize> = (0..classes).collect();
        let uses = |items: &Items| -> Vec<usize> {
            let mut classes: Vec<usize> = items
                .all
                .iter()
                .filter_map(|item| item.held())
                .map(|held| held.class)
                .collect();
            classes.dedup();
            classes
        };
        // A class is merged into the part of the first class of each task that uses both.
        for task in &self.tasks {
            let classes = uses(task);
            for other in classes.iter().skip(1) {
                let (from, to) = (part[*other], part[classes[0]]);
                part.iter_mut()
                    .filter(|part| **part == from)
                    .for_each(|part| *part = to);
            }
        }
        let mut parts: Vec<Option<Reduced>> = (0..classes).map(|_| None).collect();
        for (task, index) in self.tasks.iter().zip(&self.index) {
            if let Some(first) = uses(task).first() {
                let reduced = parts[part[*first]].get_or_insert_with(|| Reduced {
                    capacity: self.capacity.clone(),
                    tasks: Vec::new(),
                    index: Vec::new(),
                });
                reduced.tasks.push(Rc::clone(task));
                reduced.index.push(*index);
            }
        }
        parts.into_iter().flatten().collect()
    }
}

/// What a task must hold if it is fixed: `Some(None)` if it must hold nothing.
pub(crate) fn fixed(task: &Task) -> Option<Option<Held>> {
    task.fixed.then_some(task.current)
}

/// The items of a task that an optimal plan may need.
fn items(task: &Task, capacity: &[u32]) -> Items {
    let mut all: Vec<Item> = task
        .options
        .iter()
        .filter(|option| option.count <= capacity[option.class])
        .map(|option| Item {
            class: option.class as u32,
            count: option.count,
            gain: option.value - task.none,
        })
        .collect();
    all.sort_unstable_by_key(|item| (item.class, item.count));
    // More nodes of a class are only worth having if they gain more than fewer of them, and than nothing.
    let mut best = (NO_CLASS, 0.0);
    all.retain(|item| {
        let least = if best.0 == item.class { best.1 } else { 0.0 };
        let is_better = item.gain > least;
        if is_better {
            best = (item.class, item.gain);
        }
        is_better
    });
    all.push(Item::NONE);
    Items::new(all)
}

impl Items {
    /// Items that are sorted by class and count, with [`Item::NONE`], if it is allowed, at the end.
    pub fn new(all: Vec<Item>) -> Self {
        let mut hull: Vec<Item> = Vec::new();
        for class in all.chunk_by(|a, b| a.class == b.class) {
            let start = hull.len();
            // Nothing may hold no nodes of the class, but the slope from there on decides which vertices count.
            let is_none_allowed = all.last() == Some(&Item::NONE);
            for item in class {
                while let Some(last) = hull.get(start..).and_then(|hull| hull.last()) {
                    let before = match hull.len() - start {
                        1 if is_none_allowed => Item::NONE,
                        1 => break,
                        length => hull[start + length - 2],
                    };
                    if slope(before, *last) > slope(*last, *item) {
                        break;
                    }
                    hull.pop();
                }
                hull.push(*item);
            }
        }
        Items { all, hull }
    }

    /// The item with the greatest profit at some prices, and the profit. Among equal ones the first.
    pub fn best(&self, prices: &[f64]) -> (Item, f64) {
        let mut best = (Item::NONE, f64::NEG_INFINITY);
        for item in &self.hull {
            let profit = item.profit(prices);
            if profit > best.1 {
                best = (*item, profit);
            }
        }
        best
    }

    /// The items that a condition keeps.
    pub fn only(&self, keep: impl Fn(&Item) -> bool) -> Self {
        Items::new(self.all.iter().filter(|item| keep(item)).copied().collect())
    }
}

fn slope(from: Item, to: Item) -> f64 {
    (to.gain - from.gain) / f64::from(to.count - from.count)
}
