//! The best allocation of each task over time when nodes have prices.

use gleaner_domain::Observer;

use super::{Course, Kind, Stay};

/// Maximum number of entries in one task's table of node counts. An entry takes two bytes.
const MOST_ENTRIES: usize = 1 << 26;

/// The demand of all tasks at given prices.
pub(super) struct Demand {
    /// Work of all tasks, minus the costs of changes and the price of the nodes that the tasks hold.
    pub value: f64,
    /// Number of nodes that all tasks together hold in each interval; `None` if computing these numbers would take too
    /// much memory.
    pub nodes: Option<Vec<f64>>,
}

/// Finds the best allocation of each task.
pub(super) struct Best<'a> {
    course: &'a Course,
    /// The distinct stays, each with the number of tasks that share it.
    stays: Vec<(Stay, f64)>,
    /// Best values of the current task by its number of nodes, before and after an event.
    before: Vec<f64>,
    after: Vec<f64>,
    /// For each interval of the current stay and each number of nodes: the best number of nodes in the previous
    /// interval. Empty if the table of any stay would be too large.
    former: Vec<u16>,
}

impl<'a> Best<'a> {
    pub fn new(course: &'a Course) -> Self {
        let lasting = course.stays.iter().filter(|stay| stay.from < stay.to);
        let mut stays: Vec<Stay> = lasting.copied().collect();
        stays.sort_unstable();
        let entries = |stay: &Stay| {
            let widths = course.kinds[stay.kind as usize].rates.len();
            let fits = widths <= usize::from(u16::MAX);
            fits.then(|| widths * (stay.to - stay.from) as usize)
        };
        let most = stays
            .iter()
            .map(entries)
            .try_fold(0, |most, entries| Some(entries?.max(most)));
        let entries = most.filter(|&most| most <= MOST_ENTRIES).unwrap_or(0);
        let equal = stays.chunk_by(|a, b| a == b);
        Best {
            course,
            stays: equal.map(|equal| (equal[0], equal.len() as f64)).collect(),
            before: Vec::new(),
            after: Vec::new(),
            former: vec![0; entries],
        }
    }

    /// Computes the demand of all tasks. `prices` contains the price of a node per second in each interval. Returns
    /// `None` if the computation was stopped.
    pub fn demand(&mut self, prices: &[f64], observer: &dyn Observer) -> Option<Demand> {
        let keeps = !self.former.is_empty() || self.stays.is_empty();
        let mut demand = Demand {
            value: 0.0,
            nodes: keeps.then(|| vec![0.0; self.course.intervals.len()]),
        };
        for at in 0..self.stays.len() {
            if observer.is_stopped() {
                return None;
            }
            let (stay, count) = self.stays[at];
            let (last, value) = self.forward(stay, prices);
            demand.value += count * value;
            if let Some(nodes) = &mut demand.nodes {
                self.backward(stay, last, |interval, held| {
                    nodes[interval] += count * f64::from(held);
                });
            }
        }
        Some(demand)
    }

    /// Finds the best allocation of a task that begins without nodes. Returns the number of nodes in the last interval,
    /// and the value of the allocation.
    fn forward(&mut self, stay: Stay, prices: &[f64]) -> (u16, f64) {
        let kind = &self.course.kinds[stay.kind as usize];
        let width = kind.rates.len();
        let (before, after) = (&mut self.before, &mut self.after);
        before.clear();
        before.resize(width, f64::NEG_INFINITY);
        before[0] = 0.0;
        after.clear();
        after.resize(width, f64::NEG_INFINITY);
        let span = stay.from as usize..stay.to as usize;
        let mut former = self.former.chunks_exact_mut(width);
        for (interval, price) in self.course.intervals[span.clone()]
            .iter()
            .zip(&prices[span])
        {
            let former = former.next().unwrap_or_default();
            rescale(kind, before, after, former);
            // A task cannot use more nodes than are idle. Without this limit, a task whose curve is not
            // concave could be credited with a fraction of a larger allocation.
            let possible = width.min(interval.idle as usize + 1);
            after[possible..].fill(f64::NEG_INFINITY);
            for (n, (value, rate)) in after.iter_mut().zip(&kind.rates).enumerate() {
                *value += interval.seconds * (rate - price * n as f64);
            }
            std::mem::swap(before, after);
        }
        let mut best = (0, before[0]);
        for (n, &value) in before.iter().enumerate() {
            if value > best.1 {
                best = (n as u16, value);
            }
        }
        best
    }

    /// Calls `have` with each interval of the stay, from the last to the first, and the number of nodes that the task
    /// holds in that interval.
    fn backward(&self, stay: Stay, last: u16, mut have: impl FnMut(usize, u16)) {
        let width = self.course.kinds[stay.kind as usize].rates.len();
        let mut held = last;
        for interval in (stay.from as usize..stay.to as usize).rev() {
            have(interval, held);
            held = self.former[(interval - stay.from as usize) * width + usize::from(held)];
        }
    }
}

/// Computes the best value for each number of nodes after an event from the values before the event. For each number
/// after the event, the best number before the event is stored in `former`, unless `former` is empty.
///
/// The cost of a change depends on the number of nodes before it and on its direction, but not on the number after it.
/// So one pass in each direction is enough. Each pass keeps the best value so far, minus the cost of a change.
fn rescale(kind: &Kind, before: &[f64], after: &mut [f64], former: &mut [u16]) {
    let mut set = |n: usize, from: usize| {
        if let Some(former) = former.get_mut(n) {
            *former = from as u16;
        }
    };
    // The first pass covers changes from fewer nodes to more nodes. A task can lose its nodes and get other nodes at
    // the same event, which can cost less than only getting more nodes.
    let grow = kind.rescale_up.min(kind.rescale_down);
    let mut fewer = (f64::NEG_INFINITY, 0);
    for (n, rate) in kind.rates.iter().enumerate() {
        let stays = before[n] >= fewer.0;
        after[n] = if stays { before[n] } else { fewer.0 };
        set(n, if stays { n } else { fewer.1 });
        let value = before[n] - grow * rate;
        if value > fewer.0 {
            fewer = (value, n);
        }
    }
    // The second pass covers changes from more nodes to fewer nodes.
    let mut more = (f64::NEG_INFINITY, 0);
    for (n, rate) in kind.rates.iter().enumerate().rev() {
        if more.0 > after[n] {
            after[n] = more.0;
            set(n, more.1);
        }
        let value = before[n] - kind.rescale_down * rate;
        if value > more.0 {
            more = (value, n);
        }
    }
}
