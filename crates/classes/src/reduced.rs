//! The undecided part of a problem: tasks that are not fixed, with the options that an optimal plan may need.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::problem::{Choice, Held, Problem, Task};

/// The class of an item without nodes.
pub(crate) const NO_CLASS: u32 = u32::MAX;

/// A choice of a task: nodes of one class or nothing, and the gain of this choice.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Item {
    /// Index of the class, or [`NO_CLASS`].
    pub class: u32,
    /// Number of nodes; 0 without a class.
    pub count: u32,
    /// The value of the choice less the value of holding nothing.
    pub gain: f64,
}

impl Item {
    /// Holding nothing.
    pub const NONE: Item = Item {
        class: NO_CLASS,
        count: 0,
        gain: 0.0,
    };

    /// The nodes that a task holds if it chooses this item; `None` for an item without nodes.
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
    /// All items, by class and count. Dominated items are left out. An item is dominated if another item of its class
    /// needs at most as many nodes and gains at least as much.
    pub all: Vec<Item>,
    /// The items that have the greatest profit at some prices: for each class, the vertices of the concave envelope of
    /// the gains, and holding nothing if it is allowed.
    pub hull: Vec<Item>,
}

/// The undecided part of a problem: tasks that compete for the remaining nodes of each class.
#[derive(Debug, Clone)]
pub(crate) struct Reduced {
    /// Number of nodes left in each class.
    pub capacity: Vec<u32>,
    /// The index of each class in the problem.
    pub classes: Vec<usize>,
    /// The distinct lists of items. Tasks that differ only in their names share a list, so that each result is computed
    /// once for all of them.
    pub kinds: Vec<Rc<Items>>,
    /// For each task, the index of its items in `kinds`.
    pub kind: Vec<usize>,
    /// The index of each task in the problem.
    pub index: Vec<usize>,
}

impl Reduced {
    /// Subtracts the nodes of fixed tasks from the capacities. From the other tasks, removes the items that no optimal
    /// plan needs. Returns `None` if the fixed tasks hold more nodes of a class than the class has.
    pub fn of(problem: &Problem) -> Option<Self> {
        let mut capacity: Vec<u32> = problem.classes.iter().map(|class| class.capacity).collect();
        for held in problem.tasks.iter().filter_map(fixed).flatten() {
            capacity[held.class] = capacity[held.class].checked_sub(held.count)?;
        }
        let mut reduced = Reduced {
            classes: (0..capacity.len()).collect(),
            capacity,
            kinds: Vec::new(),
            kind: Vec::new(),
            index: Vec::new(),
        };
        // For each fingerprint, the kinds that have it, each with its first task.
        let mut known: BTreeMap<Fingerprint, Vec<(&Task, usize)>> = BTreeMap::new();
        for (index, task) in problem.tasks.iter().enumerate() {
            if fixed(task).is_some() {
                continue;
            }
            let alike = known.entry(fingerprint(task)).or_default();
            let found = alike.iter().find(|(other, _)| is_alike(other, task));
            let kind = found.map_or(reduced.kinds.len(), |(_, kind)| *kind);
            if kind == reduced.kinds.len() {
                alike.push((task, kind));
                reduced.kinds.push(Rc::new(items(task, &reduced.capacity)));
            }
            reduced.kind.push(kind);
            reduced.index.push(index);
        }
        Some(reduced)
    }

    /// Number of tasks.
    pub fn len(&self) -> usize {
        self.kind.len()
    }

    /// The items of a task.
    pub fn items(&self, task: usize) -> &Items {
        &self.kinds[self.kind[task]]
    }

    /// Replaces the items of a task.
    pub fn set_items(&mut self, task: usize, items: Items) {
        self.kind[task] = self.kinds.len();
        self.kinds.push(Rc::new(items));
    }

    /// Splits the problem into parts that share no class, each with its own tasks. Tasks that cannot hold any node are
    /// omitted.
    pub fn parts(&self) -> Vec<Reduced> {
        let count = self.capacity.len();
        let mut part: Vec<usize> = (0..count).collect();
        // A task connects all the classes that it uses, so merge their parts into the part of its first class.
        for items in &self.kinds {
            let classes = items.classes();
            for other in classes.iter().skip(1) {
                let (from, to) = (part[*other], part[classes[0]]);
                let others = part.iter_mut().filter(|part| **part == from);
                others.for_each(|part| *part = to);
            }
        }
        let owners = (0..count).filter(|class| part[*class] == *class);
        let parts = owners.map(|owner| self.part(|class| part[class] == owner));
        parts.filter(|part| !part.kind.is_empty()).collect()
    }

    /// The part with the classes for which `is_in` is true, and with the tasks that use these classes. For each task,
    /// `is_in` must be true for all of its classes or for none.
    fn part(&self, is_in: impl Fn(usize) -> bool) -> Reduced {
        let of_part: Vec<usize> = (0..self.capacity.len())
            .filter(|class| is_in(*class))
            .collect();
        let is_whole = of_part.len() == self.capacity.len();
        let mut part = Reduced {
            capacity: of_part.iter().map(|class| self.capacity[*class]).collect(),
            classes: of_part.iter().map(|class| self.classes[*class]).collect(),
            kinds: Vec::new(),
            kind: Vec::new(),
            index: Vec::new(),
        };
        // For each kind, its index in the part; `None` if the kind is not in the part.
        let mut places: Vec<Option<usize>> = Vec::with_capacity(self.kinds.len());
        for items in &self.kinds {
            let is_in_part = items.classes().first().is_some_and(|class| is_in(*class));
            places.push(is_in_part.then_some(part.kinds.len()));
            if is_in_part {
                part.kinds.push(if is_whole {
                    Rc::clone(items)
                } else {
                    Rc::new(items.renumbered(&of_part))
                });
            }
        }
        for (kind, index) in self.kind.iter().zip(&self.index) {
            if let Some(kind) = places[*kind] {
                part.kind.push(kind);
                part.index.push(*index);
            }
        }
        part
    }

    /// The nodes of an item, with the index of the class in the whole problem.
    pub fn held(&self, item: &Item) -> Option<Held> {
        item.held().map(|held| Held {
            class: self.classes[held.class],
            ..held
        })
    }
}

/// A cheap key for finding tasks of the same kind: such tasks have equal fingerprints, and other tasks rarely do.
type Fingerprint = (usize, u64, [u64; 2]);

fn fingerprint(task: &Task) -> Fingerprint {
    let value = |choice: Option<&Choice>| choice.map_or(0, |choice| choice.value.to_bits());
    let ends = [task.options.first(), task.options.last()].map(value);
    (task.options.len(), task.none.to_bits(), ends)
}

/// Whether two tasks that are not fixed have the same options and the same value of holding nothing. Their current
/// nodes may differ, because the values of the options already account for them.
fn is_alike(a: &Task, b: &Task) -> bool {
    a.none == b.none && a.options == b.options
}

/// The nodes that a task must hold: `None` if the task is not fixed, and `Some(None)` if it must hold nothing.
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
    // A larger number of nodes of a class is worth keeping only if it gains more than every smaller number and more
    // than holding nothing.
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
    /// Creates the items of a task from `all`, which must be sorted by class and count. [`Item::NONE`], if it is
    /// allowed, must be last.
    pub fn new(all: Vec<Item>) -> Self {
        let mut hull: Vec<Item> = Vec::new();
        for class in all.chunk_by(|a, b| a.class == b.class) {
            let start = hull.len();
            // Holding nothing is the point (0, 0) of every class. This point is not in `class`, but the first slope
            // starts there.
            let is_none_allowed = all.last() == Some(&Item::NONE);
            for item in class {
                while let Some(last) = hull.get(start..).and_then(|hull| hull.last()) {
                    let before = match hull.len() - start {
                        1 if is_none_allowed => Item::NONE,
                        1 => break,
                        length => hull[start + length - 2],
                    };
                    // A vertex is dropped if the slopes do not fall. For example, 1, 2 and 3 nodes gain 4, 5 and 9, with
                    // the slopes 4, 1 and 4. The line from 1 to 3 nodes is at 6.5 for 2 nodes, so no price makes 2
                    // nodes the best item. A plan may still need 2 nodes, so that item stays in `all`.
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

    /// The classes of the items, in ascending order.
    fn classes(&self) -> Vec<usize> {
        let held = self.all.iter().filter_map(Item::held);
        let mut classes: Vec<usize> = held.map(|held| held.class).collect();
        classes.dedup();
        classes
    }

    /// The same items with each class replaced by its position in `classes`, which must be in ascending order.
    fn renumbered(&self, classes: &[usize]) -> Self {
        let renumber = |item: &Item| {
            let position = item
                .held()
                .and_then(|held| classes.binary_search(&held.class).ok());
            Item {
                class: position.map_or(NO_CLASS, |position| position as u32),
                ..*item
            }
        };
        Items {
            all: self.all.iter().map(renumber).collect(),
            hull: self.hull.iter().map(renumber).collect(),
        }
    }

    /// The item with the greatest profit at some prices, and the profit. Ties go to the first item.
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

    /// The items for which `keep` returns true.
    pub fn only(&self, keep: impl Fn(&Item) -> bool) -> Self {
        Items::new(self.all.iter().filter(|item| keep(item)).copied().collect())
    }
}

fn slope(from: Item, to: Item) -> f64 {
    (to.gain - from.gain) / f64::from(to.count - from.count)
}
