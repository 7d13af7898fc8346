//! The core search: all plans whose total loss is small.
//!
//! At given prices, the loss of an item is the greatest profit of its task less the profit of the item. The bound D
//! exceeds the value of a plan by its **total loss**: the losses of its items, and the price of the nodes that stay
//! unused. The best plan is therefore the plan with the least total loss (Sinha and Zoltners 1979; Pisinger 1995 for
//! the core).
//!
//! The search starts from the plan in which every task takes its best item, and changes one task at a time. A **state**
//! is the slack of each class: its nodes less those used so far. Slack may be negative. Of the plans with the same
//! state, only the plan with the least loss is kept. Tasks are ordered by the loss of their second-best item. A plan
//! with a total loss of at most L leaves a task at its best item if the task's second-best item loses more than L. Most
//! tasks therefore never change.
//!
//! For example, a class has 3 nodes at a price of 5 each. Task A loses 0 with 2 nodes and 1 with 1 node. Task B loses 0
//! with 2 nodes and 4 without nodes. The slack is -1 at first. If A takes 1 node, the slack is 0 and the loss is 1:
//! this is the best plan. If B takes no nodes, the slack is 1 and the loss is 4 + 5.
//!
//! Tasks of the same kind are changed in succession. Once one of them adds no state, the remaining tasks of this kind
//! are skipped. If several items of a task are best, the task starts from the item that it holds in the best mix of
//! plans. Most of a thousand equal tasks therefore start from the item that they keep.
//!
//! A state is dropped if a lower bound on its total loss exceeds L. Each node of slack costs at least the smaller of
//! two amounts: the price of the node, or the least loss per node at which a later task would use it. Each missing node
//! costs at least the least loss per node at which a later task gives one back. A task uses more nodes of at most one
//! class, and gives back nodes of at most one class. Therefore, the losses of all classes with slack add up, and so do
//! the losses of all classes with missing nodes. A single change may reduce both, so the bound is the larger of the two
//! sums.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::Range;

use crate::reduced::{Item, Items, Reduced};

/// All slacks packed into one number. A change of a task is then a single addition, which keeps the states sorted.
type Packed = u128;

/// A change of a task from the item from which it starts to another item.
#[derive(Debug, Clone, Copy)]
struct Change {
    item: Item,
    /// The number that the change adds to the packed slacks, modulo 2^128.
    delta: Packed,
    loss: f64,
}

/// A task that may change.
#[derive(Debug)]
struct CoreTask {
    /// Index of the task.
    task: usize,
    /// Index of the task's changes in [`Core::kinds`].
    kind: usize,
}

/// The changes of tasks that have the same items and start from the same item.
#[derive(Debug)]
struct Kind {
    /// The item from which the tasks start.
    base: Item,
    /// The changes, in ascending order of loss.
    changes: Vec<Change>,
    /// The least loss of a change, rounded down so that nearly equal losses become equal; infinite if there is no
    /// change.
    least: f64,
}

impl Kind {
    /// The changes from `base`, whose own loss is at most a rounding error and is not counted. A change whose loss
    /// would be even smaller has a loss of 0. Therefore, no sum of losses exceeds the total loss of its plan, and no
    /// plan is dropped wrongly.
    ///
    /// Losses count as equal if they round down to the same multiple of `equal`.
    fn of(items: &Items, base: Item, prices: &[f64], equal: f64) -> Self {
        let profit = base.profit(prices);
        let others = items.all.iter().filter(|item| **item != base);
        let mut changes: Vec<Change> = others
            .map(|item| Change {
                item: *item,
                delta: 0,
                loss: (profit - item.profit(prices)).max(0.0),
            })
            .collect();
        changes.sort_by(|a, b| a.loss.total_cmp(&b.loss));
        let least = changes.first().map_or(f64::INFINITY, |first| first.loss);
        Kind {
            base,
            changes,
            least: (least / equal).floor() * equal,
        }
    }

    /// The number of nodes by which the first change differs from `base`; `None` if there is no change.
    fn first_size(&self) -> Option<u32> {
        let first = self.changes.first();
        first.map(|change| change.item.count.abs_diff(self.base.count))
    }

    /// For each class, the least and the greatest number of nodes that a task gives back. A task that does not change
    /// gives back 0.
    fn moves(&self, classes: usize) -> Vec<(i64, i64)> {
        let of = |class| {
            let changes = self.changes.iter();
            let freed = changes.map(|change| freed(self.base, change.item, class));
            freed.fold((0, 0), |(least, most), freed| {
                (least.min(freed), most.max(freed))
            })
        };
        (0..classes).map(of).collect()
    }

    /// For each class, the nodes that one task of this kind can give back, and the least losses per node.
    fn reach(&self, classes: usize) -> Vec<Reach> {
        let of = |class| {
            let mut reach = Reach {
                back: 0,
                back_loss: f64::INFINITY,
                slack_loss: f64::INFINITY,
            };
            for change in &self.changes {
                let freed = freed(self.base, change.item, class);
                let each = change.loss / freed.unsigned_abs() as f64;
                reach.back = reach.back.max(freed);
                match freed {
                    0 => {}
                    1.. => reach.back_loss = reach.back_loss.min(each),
                    _ => reach.slack_loss = reach.slack_loss.min(each),
                }
            }
            reach
        };
        (0..classes).map(of).collect()
    }
}

/// The number of nodes of a class that the tasks from a given index onwards can give back, and the least losses per
/// node.
#[derive(Debug, Clone, Copy)]
struct Reach {
    /// Number of nodes that these tasks can give back.
    back: i64,
    /// Least loss per node that these tasks give back.
    back_loss: f64,
    /// Least loss per node of slack: the price if the node stays unused, or the loss if a task uses it.
    slack_loss: f64,
}

/// A problem at some prices, ready to be searched.
#[derive(Debug)]
pub(crate) struct Core {
    /// The item from which each task starts: its best item, or one that is equally good up to a rounding error.
    base: Vec<Item>,
    /// The distinct lists of changes.
    kinds: Vec<Kind>,
    /// The tasks that may change, in ascending order of the loss of their second-best item.
    tasks: Vec<CoreTask>,
    prices: Vec<f64>,
    /// The slack of each class before any change.
    slack: Vec<i64>,
    /// The bits that hold the slack of each class in a packed number.
    fields: Vec<Field>,
    /// `reach[i * classes + k]` describes class k and the tasks from index `i` onwards.
    reach: Vec<Reach>,
}

#[derive(Debug, Clone, Copy)]
struct Field {
    /// Position of the field's lowest bit in the packed number.
    shift: u32,
    /// Mask of the field's bits, shifted down to bit 0.
    mask: Packed,
    /// The least slack, which is stored as 0.
    offset: i64,
}

impl Field {
    /// The slack of the class.
    fn slack(&self, packed: Packed) -> i64 {
        ((packed >> self.shift) & self.mask) as i64 + self.offset
    }
}

/// A state: the slacks, the least loss with which changes lead to them, and the last of these changes.
#[derive(Debug, Clone, Copy)]
struct State {
    slack: Packed,
    loss: f64,
    /// Index of the state before the last task, and the change of that task; [`STAY`] if the task does not change.
    from: u32,
    change: u32,
}

const STAY: u32 = u32::MAX;

/// Losses are nearly equal if they differ by no more than this, relative to the greatest gain.
const EQUAL: f64 = 1e-9;

/// The result of a search.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// The best plan whose total loss is below the limit; `None` if there is no such plan or the search did not find
    /// it.
    pub found: Option<Vec<Item>>,
    /// Whether the search was exhaustive. If so, `found` is optimal; `None` then means that no plan has a total loss
    /// below the limit.
    pub is_complete: bool,
}

/// Limits on the effort of a search.
pub(crate) struct Effort<'a> {
    /// Maximum number of states kept after each task. States beyond this number are dropped, which makes the search
    /// incomplete.
    pub width: usize,
    /// Maximum number of states in total. At this limit, the search ends and is incomplete.
    pub states: u64,
    /// Returns whether the search must stop before it is complete.
    pub is_over: &'a dyn Fn() -> bool,
}

impl Core {
    /// Prepares a search. A task starts from its item in `shared`, unless another item is better at these prices by
    /// more than a rounding error. In that case, the task starts from its best item. Returns `None` if the slacks do
    /// not fit into a packed number.
    pub fn new(problem: &Reduced, prices: &[f64], shared: &[Item]) -> Option<Self> {
        let items = problem.kinds.iter().flat_map(|kind| &kind.all);
        let most = items.map(|item| item.gain.abs()).fold(0.0, f64::max);
        let equal = (EQUAL * most).max(f64::MIN_POSITIVE);
        let best: Vec<(Item, f64)> = problem.kinds.iter().map(|kind| kind.best(prices)).collect();
        let mut kinds = Vec::new();
        let mut known: BTreeMap<(usize, u32, u32), usize> = BTreeMap::new();
        let mut base = Vec::with_capacity(problem.len());
        let mut slack: Vec<i64> = problem
            .capacity
            .iter()
            .map(|nodes| i64::from(*nodes))
            .collect();
        let mut tasks = Vec::new();
        for (task, kind) in problem.kind.iter().enumerate() {
            let (first, most) = best[*kind];
            let wished = shared
                .get(task)
                .filter(|item| most - item.profit(prices) <= equal);
            let own = wished.copied().unwrap_or(first);
            base.push(own);
            if let Some(held) = own.held() {
                slack[held.class] -= i64::from(held.count);
            }
            let kind = *known
                .entry((*kind, own.class, own.count))
                .or_insert_with(|| {
                    kinds.push(Kind::of(&problem.kinds[*kind], own, prices, equal));
                    kinds.len() - 1
                });
            if !kinds[kind].changes.is_empty() {
                tasks.push(CoreTask { task, kind });
            }
        }
        // Among tasks with nearly equal losses, those with the greatest changes come first, so that the smallest
        // changes can use the remaining nodes. Tasks with the same changes are adjacent.
        tasks.sort_by(|a: &CoreTask, b: &CoreTask| {
            let (first, second) = (&kinds[a.kind], &kinds[b.kind]);
            let by_loss = first.least.total_cmp(&second.least);
            let by_size = second.first_size().cmp(&first.first_size());
            by_loss.then(by_size).then(a.kind.cmp(&b.kind))
        });
        let mut core = Core {
            base,
            kinds,
            tasks,
            prices: prices.to_vec(),
            slack,
            fields: Vec::new(),
            reach: Vec::new(),
        };
        core.pack()?;
        core.look_ahead();
        Some(core)
    }

    /// The loss of the second-best item of the task at this place in the order; infinite beyond the last task.
    pub fn second(&self, place: usize) -> f64 {
        self.tasks
            .get(place)
            .map_or(f64::INFINITY, |task| self.kinds[task.kind].least)
    }

    /// Determines the bits of each class, and the deltas of all changes.
    fn pack(&mut self) -> Option<()> {
        let classes = self.slack.len();
        let mut range = vec![(0i64, 0i64); classes];
        let moves: Vec<Vec<(i64, i64)>> =
            self.kinds.iter().map(|kind| kind.moves(classes)).collect();
        for task in &self.tasks {
            for ((down, up), (least, most)) in range.iter_mut().zip(&moves[task.kind]) {
                *down += least;
                *up += most;
            }
        }
        let mut shift = 0;
        for (class, (down, up)) in range.iter().enumerate() {
            let width = u64::try_from(up - down).ok()?;
            let bits = 64 - width.leading_zeros() + 1;
            if shift + bits > Packed::BITS {
                return None;
            }
            // Slacks are stored with the least one at 0, so that no field borrows from the next.
            self.fields.push(Field {
                shift,
                mask: (1 << bits) - 1,
                offset: self.slack[class] + down,
            });
            shift += bits;
        }
        let fields = &self.fields;
        for kind in &mut self.kinds {
            for change in &mut kind.changes {
                for (class, field) in fields.iter().enumerate() {
                    let freed = freed(kind.base, change.item, class);
                    // A negative number wraps around, and so does the sum with the packed slacks. For example, class a
                    // has bits 0 to 3, and class b has bits 4 to 7. The stored slacks 5 and 1 form the number 0x15. A
                    // change that frees 2 of b and takes 3 of a is 2 * 16 - 3 = 29, and 0x15 + 29 = 0x32. No stored
                    // slack falls below 0, so the sum never borrows.
                    let moved = (freed as Packed).wrapping_shl(field.shift);
                    change.delta = change.delta.wrapping_add(moved);
                }
            }
        }
        Some(())
    }

    /// Fills `reach` from the last task to the first. For each class, an entry states the number of nodes that the
    /// remaining tasks can give back, and the least losses per node.
    fn look_ahead(&mut self) {
        let classes = self.slack.len();
        let nothing = |class: usize| Reach {
            back: 0,
            back_loss: f64::INFINITY,
            slack_loss: self.prices[class],
        };
        let mut reach: Vec<Reach> = (0..classes).map(nothing).collect();
        let of_kinds: Vec<Vec<Reach>> = self.kinds.iter().map(|kind| kind.reach(classes)).collect();
        let mut all = vec![reach.clone()];
        for task in self.tasks.iter().rev() {
            for (reach, own) in reach.iter_mut().zip(&of_kinds[task.kind]) {
                reach.back += own.back;
                reach.back_loss = reach.back_loss.min(own.back_loss);
                reach.slack_loss = reach.slack_loss.min(own.slack_loss);
            }
            all.push(reach.clone());
        }
        self.reach = all.into_iter().rev().flatten().collect();
    }

    /// The packed slacks before any change.
    fn start(&self) -> Packed {
        let fields = self.fields.iter().zip(&self.slack);
        fields.fold(0, |packed, (field, slack)| {
            packed | ((slack - field.offset) as Packed) << field.shift
        })
    }

    /// Two values for a state before the task at `place`: a lower bound on its total loss, and its total loss if no
    /// further task changes. Each is infinite if no such plan fits.
    fn totals(&self, place: usize, state: &State) -> (f64, f64) {
        let classes = self.fields.len();
        let reach = &self.reach[place * classes..(place + 1) * classes];
        let (mut with_slack, mut without) = (0.0, 0.0);
        let mut unused = 0.0;
        for (class, field) in self.fields.iter().enumerate() {
            let slack = field.slack(state.slack);
            if slack >= 0 {
                with_slack += slack as f64 * reach[class].slack_loss;
                unused += slack as f64 * self.prices[class];
            } else {
                if -slack > reach[class].back {
                    return (f64::INFINITY, f64::INFINITY);
                }
                without += -slack as f64 * reach[class].back_loss;
                unused = f64::INFINITY;
            }
        }
        (
            state.loss + f64::max(with_slack, without),
            state.loss + unused,
        )
    }

    /// The sum of the absolute values of all slacks.
    fn imbalance(&self, state: &State) -> u64 {
        let slacks = self
            .fields
            .iter()
            .map(|field| field.slack(state.slack).unsigned_abs());
        slacks.sum()
    }

    /// Searches for the plan with the least total loss, provided that this loss is below the end of `limits`. The start
    /// of `limits` must be a lower bound on the total loss of every plan. Adds the number of states to `states`.
    pub fn search(&self, limits: Range<f64>, effort: &Effort<'_>, states: &mut u64) -> Outcome {
        let mut run = Run {
            core: self,
            floor: limits.start,
            limit: limits.end,
            best: None,
            history: Vec::new(),
        };
        let is_complete = run.all(effort, states);
        Outcome {
            found: run.found(),
            is_complete,
        }
    }
}

/// A search in progress.
struct Run<'c> {
    core: &'c Core,
    /// Lower bound on the total loss of every plan.
    floor: f64,
    /// The search looks only for plans with a total loss below this limit.
    limit: f64,
    /// The best plan so far: its total loss, the number of tasks before its last change, the state there, and the
    /// change.
    best: Option<(f64, usize, u32, u32)>,
    /// For each task and each state after it: the index of the state before the task, and the task's change. Empty for a
    /// task that is skipped, because the states before and after it are the same.
    history: Vec<Vec<(u32, u32)>>,
}

impl Run<'_> {
    /// Changes one task at a time. Returns whether the search is complete.
    fn all(&mut self, effort: &Effort<'_>, states: &mut u64) -> bool {
        let core = self.core;
        let start = State {
            slack: core.start(),
            loss: 0.0,
            from: 0,
            change: STAY,
        };
        let (least, total) = core.totals(0, &start);
        if total < self.limit {
            self.limit = total;
            self.best = Some((total, 0, 0, STAY));
        }
        let mut now = if least < self.limit {
            vec![start]
        } else {
            Vec::new()
        };
        let mut next = Vec::new();
        let mut merged = Vec::new();
        let mut is_complete = true;
        // The kind of which no further task adds a state.
        let mut settled = None;
        for (place, task) in core.tasks.iter().enumerate() {
            let kind = &core.kinds[task.kind];
            // Any further change would reach the limit. The plans without further changes were considered when their
            // states were created.
            if now
                .iter()
                .all(|state| state.loss + kind.least >= self.limit)
            {
                break;
            }
            // If a task adds no state and improves none, neither does the next task with the same changes.
            if settled == Some(task.kind) {
                self.history.push(Vec::new());
                continue;
            }
            next.clear();
            for (index, state) in now.iter().enumerate() {
                let stays = State {
                    from: index as u32,
                    change: STAY,
                    ..*state
                };
                if core.totals(place + 1, &stays).0 < self.limit {
                    next.push(stays);
                }
            }
            for (number, change) in kind.changes.iter().enumerate() {
                if change.loss >= self.limit {
                    break;
                }
                merged.clear();
                let mut kept = 0;
                for (index, state) in now.iter().enumerate() {
                    let loss = state.loss + change.loss;
                    if loss >= self.limit {
                        continue;
                    }
                    let changed = State {
                        slack: state.slack.wrapping_add(change.delta),
                        loss,
                        from: index as u32,
                        change: number as u32,
                    };
                    *states += 1;
                    let (least, total) = core.totals(place + 1, &changed);
                    if total < self.limit {
                        self.limit = total;
                        self.best = Some((total, place, index as u32, number as u32));
                    }
                    if least < self.limit {
                        // Merge by slack: first copy the smaller states of `next`.
                        while let Some(other) = next
                            .get(kept)
                            .filter(|other: &&State| other.slack < changed.slack)
                        {
                            merged.push(*other);
                            kept += 1;
                        }
                        match next.get(kept) {
                            Some(other) if other.slack == changed.slack => {
                                merged.push(if other.loss <= changed.loss {
                                    *other
                                } else {
                                    changed
                                });
                                kept += 1;
                            }
                            _ => merged.push(changed),
                        }
                    }
                }
                merged.extend_from_slice(&next[kept..]);
                std::mem::swap(&mut next, &mut merged);
                if *states > effort.states {
                    return false;
                }
            }
            if next.len() > effort.width {
                self.narrow(place + 1, effort.width, &mut next);
                is_complete = false;
            }
            self.history.push(
                next.iter()
                    .map(|state| (state.from, state.change))
                    .collect(),
            );
            settled = is_same(&now, &next).then_some(task.kind);
            std::mem::swap(&mut now, &mut next);
            if (effort.is_over)() {
                return false;
            }
        }
        is_complete
    }

    /// Keeps the states that can reach the least total losses. Among ties, it keeps the states with the smallest total
    /// imbalance (slack plus missing nodes), which need the fewest further changes.
    fn narrow(&self, place: usize, width: usize, states: &mut Vec<State>) {
        let rank = |state: &State| {
            let least = self.core.totals(place, state).0;
            (least.max(self.floor), self.core.imbalance(state))
        };
        let order = |a: &(f64, u64), b: &(f64, u64)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
        let mut ranks: Vec<(f64, u64)> = states.iter().map(rank).collect();
        let (better, last, _) = ranks.select_nth_unstable_by(width - 1, order);
        let last = *last;
        // States that tie at the last rank fill the remaining places.
        let mut room = width
            - better
                .iter()
                .filter(|rank| order(rank, &last).is_lt())
                .count();
        states.retain(|state| match order(&rank(state), &last) {
            Ordering::Less => true,
            Ordering::Equal if room > 0 => {
                room -= 1;
                true
            }
            _ => false,
        });
    }

    /// The best plan: the base items, with the changes that lead to the plan's state.
    fn found(&self) -> Option<Vec<Item>> {
        let (_, place, mut state, change) = self.best?;
        let core = self.core;
        let mut items = core.base.clone();
        let mut set = |place: usize, change: u32| {
            if change != STAY {
                let task = &core.tasks[place];
                items[task.task] = core.kinds[task.kind].changes[change as usize].item;
            }
        };
        set(place, change);
        for place in (0..place).rev() {
            // A skipped task keeps the item from which it starts.
            let Some((from, change)) = self.history[place].get(state as usize).copied() else {
                continue;
            };
            set(place, change);
            state = from;
        }
        Some(items)
    }
}

/// Whether two lists contain the same slacks with the same losses.
fn is_same(a: &[State], b: &[State]) -> bool {
    let is_equal = |(a, b): (&State, &State)| (a.slack, a.loss) == (b.slack, b.loss);
    a.len() == b.len() && a.iter().zip(b).all(is_equal)
}

/// The number of nodes of a class that a change from `base` to `item` gives back.
fn freed(base: Item, item: Item, class: usize) -> i64 {
    let count = |item: Item| {
        if item.class as usize == class {
            i64::from(item.count)
        } else {
            0
        }
    };
    count(base) - count(item)
}
