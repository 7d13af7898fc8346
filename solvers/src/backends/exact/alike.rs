//! Groups the tasks of a problem that are *alike*, which means that they differ only in their names.
//!
//! Such tasks have the same value at every count. Many tasks of a replay are alike, so everything that depends on a
//! single task is computed once for each *group* of alike tasks.
//!
//! From one event of a replay to the next, few tasks change. A *sort* of task is everything that a problem states
//! about a task except its name. A sort keeps its number from one problem to the next. A single comparison detects
//! whether the task at an index is of the same sort as the task at the same index in the previous problem.
//!
//! The stored sorts are valid for any problem: a sort is found by its values, and its number
//! carries no other information. The groups of a problem are numbered in the order of their first
//! tasks, so the numbers do not depend on earlier problems.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::{Problem, Task};

/// Before each problem, all sorts are discarded if there are too many: more than `MOST_SORTS` plus
/// two for each task, or more than `MOST_POINTS` points in their curves (12 MiB). This eventually
/// frees curves that are no longer in use.
const MOST_SORTS: usize = 1 << 12;
const MOST_POINTS: usize = 1 << 20;

/// Everything that a problem states about a task except its name. Curves are identified by their
/// addresses: two equal curves at different addresses count as different, which costs time but changes no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    current: u32,
    min_nodes: u32,
    max_nodes: u32,
    curve_nodes: usize,
    curve_objective: usize,
    /// Bit pattern of the floating-point number, as in the next two fields.
    rescale_up: u64,
    rescale_down: u64,
    weight: u64,
}

impl Key {
    fn of(task: &Task) -> Self {
        Key {
            current: task.current,
            min_nodes: task.min_nodes,
            max_nodes: task.max_nodes,
            curve_nodes: task.curve_nodes.as_ptr().addr(),
            curve_objective: task.curve_objective.as_ptr().addr(),
            rescale_up: task.rescale_up.to_bits(),
            rescale_down: task.rescale_down.to_bits(),
            weight: task.weight.to_bits(),
        }
    }
}

/// A sort of task, and its group in the last problem that had a task of this sort.
#[derive(Debug)]
struct Sort {
    key: Key,
    /// The curve of the key, kept so that no other curve can get its address.
    _curve: (Arc<[u32]>, Arc<[f64]>),
    /// The number of the last problem that had a task of this sort (see [`Alike::problems`]), and the
    /// task's group in that problem.
    problem: u64,
    group: u32,
}

/// A group of alike tasks in a problem.
#[derive(Debug, Clone, Copy)]
struct Group {
    /// Index of the first task of the group.
    first: usize,
    tasks: u32,
}

/// The groups of alike tasks in a problem.
#[derive(Debug, Default)]
pub(super) struct Alike {
    sorts: Vec<Sort>,
    /// Index of each sort in `sorts`.
    known: BTreeMap<Key, u32>,
    /// Total number of points of the sorts' curves.
    points: usize,
    /// For each task index, the sort of the task that most recently had this index.
    sort_at: Vec<u32>,
    /// Group of the task at each index.
    group_of: Vec<u32>,
    groups: Vec<Group>,
    /// Number of problems so far.
    problems: u64,
}

impl Alike {
    /// Finds the groups of the tasks of `problem`.
    pub fn find(&mut self, problem: &Problem) {
        self.problems += 1;
        self.group_of.clear();
        self.groups.clear();
        let tasks = problem.tasks.len();
        if self.sorts.len() > MOST_SORTS + 2 * tasks || self.points > MOST_POINTS {
            self.forget();
        }
        for (place, task) in problem.tasks.iter().enumerate() {
            let sort = self.sort_of(place, task) as usize;
            let sort = &mut self.sorts[sort];
            if sort.problem != self.problems {
                (sort.problem, sort.group) = (self.problems, self.groups.len() as u32);
                let (first, tasks) = (place, 0);
                self.groups.push(Group { first, tasks });
            }
            self.groups[sort.group as usize].tasks += 1;
            self.group_of.push(sort.group);
        }
    }

    /// Returns the index of the sort of `task`, which is at index `place` in the problem.
    fn sort_of(&mut self, place: usize, task: &Task) -> u32 {
        let key = Key::of(task);
        if let Some(&sort) = self.sort_at.get(place)
            && self.sorts[sort as usize].key == key
        {
            return sort;
        }
        let sort = match self.known.get(&key) {
            Some(&sort) => sort,
            None => self.learn(key, task),
        };
        match self.sort_at.get_mut(place) {
            Some(at) => *at = sort,
            None => self.sort_at.push(sort),
        }
        sort
    }

    /// Adds the sort of `task` and returns its index.
    fn learn(&mut self, key: Key, task: &Task) -> u32 {
        let objective = task.curve_objective.list();
        let sort = self.sorts.len() as u32;
        self.points += objective.len();
        self.known.insert(key, sort);
        self.sorts.push(Sort {
            key,
            _curve: (Arc::clone(&task.curve_nodes), Arc::clone(objective)),
            problem: 0,
            group: 0,
        });
        sort
    }

    fn forget(&mut self) {
        self.sorts.clear();
        self.known.clear();
        self.sort_at.clear();
        self.points = 0;
    }

    /// Number of groups.
    pub fn groups(&self) -> usize {
        self.groups.len()
    }

    /// Number of tasks in group `g`, at least 1.
    pub fn tasks_in(&self, g: usize) -> u32 {
        self.groups[g].tasks
    }

    /// The first task of group `g`.
    pub fn sample<'p>(&self, problem: &'p Problem, g: usize) -> &'p Task {
        &problem.tasks[self.groups[g].first]
    }

    /// The group of each task, in task order.
    pub fn group_of_tasks(&self) -> &[u32] {
        &self.group_of
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Goal;

    fn task(curve: &(Arc<[u32]>, Arc<[f64]>), min_nodes: u32, current: u32) -> Task {
        Task {
            name: String::new(),
            min_nodes,
            max_nodes: 8,
            rescale_up: 1.0,
            rescale_down: 1.0,
            curve_nodes: Arc::clone(&curve.0),
            curve_objective: Arc::clone(&curve.1).into(),
            weight: 1.0,
            current,
        }
    }

    fn problem(tasks: Vec<Task>) -> Problem {
        Problem {
            id: String::new(),
            nodes: 8,
            t_fwd: 10.0,
            tasks,
            groups: vec![],
            goal: Goal::Total,
        }
    }

    fn curve(points: u32) -> (Arc<[u32]>, Arc<[f64]>) {
        ((0..points).collect(), (0..points).map(f64::from).collect())
    }

    proptest! {
        #![proptest_config(gleaner_testing::cases(256))]

        // Derived by brute force: every task is compared with every task before it.
        #[test]
        fn groups_hold_the_tasks_that_are_alike(
            problems in prop::collection::vec(
                (prop::collection::vec((0usize..3, 1u32..3, 0u32..3), 0..12), prop::bool::ANY),
                1..8,
            ),
        ) {
            let curves = [curve(3), curve(3), curve(4)];
            let mut alike = Alike::default();
            for (tasks, forget) in problems {
                if forget {
                    alike.forget();
                }
                let made = tasks.iter().map(|&(c, min, current)| task(&curves[c], min, current));
                let problem = problem(made.collect());
                alike.find(&problem);
                let mut firsts: Vec<usize> = Vec::new();
                for (j, task) in tasks.iter().enumerate() {
                    let group = firsts.iter().position(|&first| tasks[first] == *task);
                    let group = group.unwrap_or_else(|| {
                        firsts.push(j);
                        firsts.len() - 1
                    });
                    prop_assert_eq!(alike.group_of_tasks()[j] as usize, group);
                }
                prop_assert_eq!(alike.groups(), firsts.len());
                for (g, &first) in firsts.iter().enumerate() {
                    prop_assert!(std::ptr::eq(alike.sample(&problem, g), &raw const problem.tasks[first]));
                    let alike_first = tasks.iter().filter(|&t| *t == tasks[first]);
                    prop_assert_eq!(alike.tasks_in(g) as usize, alike_first.count());
                }
            }
        }
    }

    #[test]
    fn old_curves_are_freed() {
        let mut alike = Alike::default();
        let first = curve(1000);
        for _ in 0..=MOST_POINTS / 1000 {
            let task = task(&first, 1, 0);
            alike.find(&problem(vec![task]));
        }
        assert_eq!(Arc::strong_count(&first.1), 2);
        for _ in 0..=MOST_POINTS / 1000 {
            alike.find(&problem(vec![task(&curve(1000), 1, 0)]));
        }
        assert_eq!(Arc::strong_count(&first.1), 1);
        assert!(alike.points <= MOST_POINTS + 1000);
    }
}
