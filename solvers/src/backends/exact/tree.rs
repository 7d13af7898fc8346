//! Dynamic programming over a tree of nested groups.
//!
//! Here, the *loss* of a count is its negated value. Every branch of the tree is a group, except the root, which is all
//! tasks together. Each branch gets a table: the least loss for each number of nodes that its tasks may hold. The
//! tables are computed in four steps:
//!
//! 1. [`Tree::set_spans`] computes the *span* of every branch, which bounds its number of nodes: first from its own
//!    limits and the spans of its parts, then from the span of its parent. In a small group, each task often has only a
//!    few counts left.
//! 2. [`Tree::lay_out`] plans the layers. A branch begins with a layer of the single state 0. Each task that lies
//!    directly in the branch adds a layer, as in the search. Each inner branch that lies directly in the branch adds a
//!    layer as well, with its states in place of counts. The last layer, cut to the span, is the table of the branch.
//!    Layers omit states from which the branch cannot reach its span.
//! 3. [`Tree::fill`] computes the layers. Inner branches come first, so that the tables that a branch needs already
//!    exist.
//! 4. [`Tree::walk_back`] starts at the best state of the root. It finds the counts of tasks and the states of inner
//!    branches that lead to this state, and then continues in each inner branch. The layers hold only losses, so each
//!    count is recomputed from the preceding layer.
//!
//! A layer has at most one state for each number of nodes that its branch may hold. Adding a task takes O(states ×
//! pieces) time, and adding an inner branch O(states × states of its table).
//!
//! Take the example from the overview of the exact solver, and let tasks b and c form a group of at most 2 nodes. The
//! table of the group contains the losses 0, −8 and −18 for 0, 1 and 2 nodes. The root adds task a, whose loss on 3
//! nodes is −30. The root's best state is 4 nodes with the loss −38: 3 nodes for task a, and 1 node for the group,
//! which task b gets.

use std::time::Instant;

use super::layers::{Layer, SlidingMinimum, Window, best_count, relax};
use super::pieces::{Piece, all_pieces};
use super::shape::Shapes;
use crate::nest::{Branch, Nest};

/// The maximum number of values kept at a time. This many values take 1 GiB.
const MOST_NUMBERS: u64 = 1 << 27;

/// After this many pairs of states, a merge of two tables checks the clock again.
const PAIRS_UNWATCHED: usize = 1 << 20;

/// The input of the recursion.
#[derive(Debug, Clone, Copy)]
pub(super) struct Case<'a> {
    /// The value of every task at every count.
    pub shapes: &'a Shapes,
    pub nest: &'a Nest,
    /// Time at which to give up; `None` for no limit.
    pub deadline: Option<Instant>,
}

impl Case<'_> {
    fn is_late(&self) -> bool {
        self.deadline.is_some_and(|at| Instant::now() >= at)
    }
}

/// The outcome of the recursion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    WithPlan,
    /// No plan respects all limits.
    WithoutPlan,
    /// The recursion would take too much time or memory.
    GaveUp,
}

/// A member of a branch: a task, or an inner branch that lies directly in it.
#[derive(Debug, Clone, Copy)]
enum Part {
    Task(usize),
    Branch(usize),
}

/// A layer, and the part that it adds to the layer before; `None` for the first layer of a branch.
#[derive(Debug, Clone, Copy)]
struct Step {
    part: Option<Part>,
    layer: Layer,
}

/// Finds the best plan within nested groups; keeps its buffers between problems.
#[derive(Debug, Default)]
pub(super) struct Tree {
    pieces: Vec<Piece>,
    /// The pieces of each group of alike tasks are `pieces[starts[g]..starts[g + 1]]`.
    starts: Vec<usize>,
    /// The numbers of nodes that each branch may hold.
    spans: Vec<Window>,
    /// The layers of all branches, with the layers of the innermost branches first.
    steps: Vec<Step>,
    /// The index in `steps` of the last layer of each branch.
    tables: Vec<usize>,
    /// The losses of all layers.
    losses: Vec<f64>,
    /// For each group of alike tasks, the minimum and maximum number of nodes that a task of the group may hold.
    ranges: Vec<Window>,
    sliding: SlidingMinimum,
    /// The sum, over all tasks, of the largest absolute value that each task added to a loss.
    size: f64,
}

impl Tree {
    /// Upper bound on the absolute value of the numbers that the last [`Tree::solve`] added up.
    pub fn size(&self) -> f64 {
        self.size
    }

    /// Computes, for each group of alike tasks, the minimum and maximum number of nodes that a task of the group can
    /// hold within the limits. A task holds its minimum if the other tasks hold as many nodes as they can, and its
    /// maximum if they hold as few as they can. `None` if there is no plan.
    pub fn ranges(&mut self, shapes: &Shapes, nest: &Nest) -> Option<&[Window]> {
        if !self.set_spans(shapes, nest) {
            return None;
        }
        let none = Window {
            low: i64::MAX,
            high: 0,
        };
        self.ranges.clear();
        self.ranges.resize(shapes.groups(), none);
        for (branch, span) in nest.branches().iter().zip(&self.spans) {
            let all = self.sum(shapes, branch);
            for &task in &branch.tasks {
                let own = task_span(shapes, task);
                let low = own.low.max(span.low - (all.high - own.high));
                let high = own.high.min(span.high - (all.low - own.low));
                let g = shapes.group_of_tasks()[task] as usize;
                let range = &mut self.ranges[g];
                range.low = range.low.min(low);
                range.high = range.high.max(high);
            }
        }
        Some(&self.ranges)
    }

    /// Writes the best plan to `counts`, unless the recursion gives up or there is no plan.
    pub fn solve(&mut self, case: &Case<'_>, counts: &mut [u32]) -> Ended {
        if !self.set_spans(case.shapes, case.nest) {
            return Ended::WithoutPlan;
        }
        self.lay_out(case);
        let states = self.states();
        if states.saturating_add(self.most_scratch()) > MOST_NUMBERS {
            return Ended::GaveUp;
        }
        self.list_pieces(case.shapes);
        self.losses.clear();
        self.losses.reserve_exact(states as usize);
        self.size = 0.0;
        for i in 0..self.steps.len() {
            if case.is_late() || !self.fill(case, i) {
                return Ended::GaveUp;
            }
        }
        let root = self.steps[self.tables[0]].layer;
        let states = (root.window.low..).zip(root.slice(&self.losses));
        let finite = states.filter(|(_, loss)| loss.is_finite());
        let Some((best, _)) = finite.min_by(|a, b| a.1.total_cmp(b.1)) else {
            return Ended::WithoutPlan;
        };
        self.walk_back(case, best, counts);
        Ended::WithPlan
    }

    /// Sets the span of each branch, which bounds its number of nodes. Returns `false` if there is no plan.
    fn set_spans(&mut self, shapes: &Shapes, nest: &Nest) -> bool {
        let branches = nest.branches();
        self.spans.clear();
        self.spans
            .resize(branches.len(), Window { low: 0, high: 0 });
        for (b, branch) in branches.iter().enumerate().rev() {
            let all = self.sum(shapes, branch);
            let span = Window {
                low: all.low.max(i64::from(branch.least)),
                high: all.high.min(i64::from(branch.most)),
            };
            if span.low > span.high {
                return false;
            }
            self.spans[b] = span;
        }
        for (b, branch) in branches.iter().enumerate() {
            let (around, all) = (self.spans[b], self.sum(shapes, branch));
            for &inner in &branch.branches {
                let span = &mut self.spans[inner];
                let (low, high) = (span.low, span.high);
                span.low = low.max(around.low - (all.high - high));
                span.high = high.min(around.high - (all.low - low));
            }
        }
        true
    }

    /// The minimum and maximum number of nodes that the parts of a branch can hold together, regardless of the branch's
    /// own limits.
    fn sum(&self, shapes: &Shapes, branch: &Branch) -> Window {
        let mut all = Window { low: 0, high: 0 };
        for part in parts(branch) {
            let span = self.span(shapes, part);
            all.low += span.low;
            all.high += span.high;
        }
        all
    }

    fn span(&self, shapes: &Shapes, part: Part) -> Window {
        match part {
            Part::Task(task) => task_span(shapes, task),
            Part::Branch(branch) => self.spans[branch],
        }
    }

    /// Plans the layers of all branches.
    fn lay_out(&mut self, case: &Case<'_>) {
        let branches = case.nest.branches();
        self.steps.clear();
        self.tables.clear();
        self.tables.resize(branches.len(), 0);
        let mut offset = 0usize;
        for (b, branch) in branches.iter().enumerate().rev() {
            let (span, all) = (self.spans[b], self.sum(case.shapes, branch));
            let mut so_far = Window { low: 0, high: 0 };
            let first = std::iter::once(None);
            for part in first.chain(parts(branch).map(Some)) {
                if let Some(part) = part {
                    let own = self.span(case.shapes, part);
                    so_far.low += own.low;
                    so_far.high += own.high;
                }
                let window = Window {
                    low: so_far.low.max(span.low - (all.high - so_far.high)),
                    high: so_far.high.min(span.high - (all.low - so_far.low)),
                };
                let layer = Layer { offset, window };
                self.steps.push(Step { part, layer });
                offset = offset.saturating_add(window.width());
            }
            self.tables[b] = self.steps.len() - 1;
        }
    }

    /// Number of states in all layers.
    fn states(&self) -> u64 {
        let last = self.steps.last().map(|step| step.layer);
        last.map_or(0, |l| l.offset.saturating_add(l.window.width()) as u64)
    }

    /// An upper bound on the number of values that the sliding minimum stores for a layer. The sliding minimum has
    /// three lists, each as long as the layer before plus twice the counts of a piece. A clipped piece has at most as
    /// many counts as the two layers together have states, so 3 · (1 + 2) values per state are enough.
    fn most_scratch(&self) -> u64 {
        let width = |step: &Step| step.layer.window.width() as u64;
        let both = |pair: &[Step]| width(&pair[0]).saturating_add(width(&pair[1]));
        let widest = self.steps.windows(2).map(both).max().unwrap_or(0);
        widest.saturating_mul(9)
    }

    fn list_pieces(&mut self, shapes: &Shapes) {
        self.pieces.clear();
        self.starts.clear();
        self.starts.push(0);
        for g in 0..shapes.groups() {
            all_pieces(shapes.of(g), &mut self.pieces);
            self.starts.push(self.pieces.len());
        }
    }

    /// Computes a layer. Returns `false` if the deadline passes.
    fn fill(&mut self, case: &Case<'_>, i: usize) -> bool {
        let Step { part, layer } = self.steps[i];
        let end = layer.offset + layer.window.width();
        self.losses.resize(end, f64::INFINITY);
        let (before, after) = self.losses.split_at_mut(layer.offset);
        let Some(part) = part else {
            after.fill(0.0);
            return true;
        };
        let from = self.steps[i - 1].layer;
        let before_part = (from.window, from.slice(before));
        match part {
            Part::Task(task) => {
                let g = case.shapes.group_of_tasks()[task] as usize;
                let pieces = &self.pieces[self.starts[g]..self.starts[g + 1]];
                self.size += size(pieces, from.window, layer.window);
                (self.sliding).add_task(pieces, before_part, (layer.window, after));
                true
            }
            Part::Branch(branch) => {
                let table = self.steps[self.tables[branch]].layer;
                let table = (table.window, table.slice(before));
                merge(case, before_part, table, (layer.window, after))
            }
        }
    }

    /// Finds the counts that lead to the state `best` of the root.
    fn walk_back(&self, case: &Case<'_>, best: i64, counts: &mut [u32]) {
        let mut tables = vec![(self.tables[0], best)];
        while let Some((mut i, mut state)) = tables.pop() {
            while let Some(part) = self.steps[i].part {
                i -= 1;
                let from = self.steps[i].layer;
                let from = (from.window, from.slice(&self.losses));
                state -= match part {
                    Part::Task(task) => {
                        let g = case.shapes.group_of_tasks()[task] as usize;
                        let pieces = &self.pieces[self.starts[g]..self.starts[g + 1]];
                        (_, counts[task]) = best_count(pieces, pieces[0].low, from, state);
                        i64::from(counts[task])
                    }
                    Part::Branch(branch) => {
                        let layer = self.steps[self.tables[branch]].layer;
                        let table = (layer.window, layer.slice(&self.losses));
                        let inner = best_inner(from, table, state);
                        tables.push((self.tables[branch], inner));
                        inner
                    }
                };
            }
        }
    }
}

fn parts(branch: &Branch) -> impl Iterator<Item = Part> {
    let tasks = branch.tasks.iter().map(|&task| Part::Task(task));
    let branches = branch.branches.iter().map(|&inner| Part::Branch(inner));
    tasks.chain(branches)
}

/// The least and the greatest count of a task.
fn task_span(shapes: &Shapes, task: usize) -> Window {
    let vertices = shapes.of(shapes.group_of_tasks()[task] as usize);
    let count = |i: usize| i64::from(vertices[i].count);
    Window {
        low: count(0),
        high: count(vertices.len() - 1),
    }
}

/// Upper bound on the absolute value of the numbers that a task adds between one layer and the
/// next.
fn size(pieces: &[Piece], from: Window, to: Window) -> f64 {
    let usable = pieces
        .iter()
        .filter_map(|p| p.clipped(to.low - from.high, to.high - from.low));
    let of = |p: Piece| {
        let counts = p.loss.abs().max(p.loss_at(p.high).abs());
        // The sliding minimum subtracts a multiple of the slope that depends on the state.
        let tilt = if p.is_narrow() { 0 } else { from.width() };
        counts + p.slope.abs() * tilt as f64
    };
    usable.map(of).fold(0.0, f64::max)
}

/// Adds an inner branch with the given `table` to the layer `before`: after[a + b] = min(after[a + b], before[a] +
/// table[b]), for all states a and b. Returns `false` if the deadline passes.
fn merge(
    case: &Case<'_>,
    before: (Window, &[f64]),
    table: (Window, &[f64]),
    (window, after): (Window, &mut [f64]),
) -> bool {
    let is_longer = table.1.len() > before.1.len();
    let (long, short) = if is_longer {
        (table, before)
    } else {
        (before, table)
    };
    let mut unwatched = 0;
    for (state, &loss) in (short.0.low..).zip(short.1) {
        if unwatched > PAIRS_UNWATCHED {
            if case.is_late() {
                return false;
            }
            unwatched = 0;
        }
        unwatched += long.1.len();
        if loss.is_finite() {
            relax(long.1, after, window.low - state - long.0.low, loss);
        }
    }
    true
}

/// The state of `table` that leads to `state` at the least loss, together with a state of the layer
/// before. Among equally good states, returns the first.
fn best_inner(
    (from, before): (Window, &[f64]),
    (window, table): (Window, &[f64]),
    state: i64,
) -> i64 {
    let loss_before = |inner: i64| {
        let index = usize::try_from(state - inner - from.low).ok();
        index.and_then(|i| before.get(i)).copied()
    };
    let mut best = (f64::INFINITY, window.low);
    for (inner, loss) in (window.low..).zip(table) {
        let loss = loss + loss_before(inner).unwrap_or(f64::INFINITY);
        if loss < best.0 {
            best = (loss, inner);
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;

    // Derived by formula: the losses of the counts that the layers can use, plus the slope times the
    // width of the layer before.
    #[test]
    fn the_size_of_a_task_bounds_what_is_computed() {
        let piece = |low, high, loss, slope| Piece {
            low,
            high,
            loss,
            slope,
        };
        let state = |low, high| Window { low, high };
        let narrow = [piece(0, 0, 1.0, 0.0), piece(3, 5, 2.0, -10.0)];
        assert_eq!(size(&narrow, state(0, 0), state(0, 9)), 18.0);
        assert_eq!(size(&narrow, state(0, 0), state(0, 4)), 8.0);
        assert_eq!(size(&narrow, state(0, 0), state(0, 2)), 1.0);
        let wide = [piece(1, 101, 7.0, 1.0)];
        assert_eq!(size(&wide, state(0, 49), state(0, 200)), 107.0 + 50.0);
    }
}
