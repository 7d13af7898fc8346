//! The best course of each task when nodes have prices.

use gleaner_domain::Observer;

use super::{Course, Kind, Stay};

/// Maximum number of entries, of two bytes each, of the table of numbers of nodes of one task.
const MOST_ENTRIES: usize = 1 << 26;

/// The demand of all tasks at given prices.
pub(super) struct Demand {
    /// Work of all tasks, less costs and the price of nodes.
    pub value: f64,
    /// Nodes that all tasks together have in each interval; `None` if finding them takes too much
    /// memory.
    pub nodes: Option<Vec<f64>>,
}

/// Finds the best courses.
pub(super) struct Best<'a> {
    course: &'a Course,
    /// The distinct stays, and how often each occurs.
    stays: Vec<(Stay, f64)>,
    /// Best values of the current task by its number of nodes, before and after an event.
    before: Vec<f64>,
    after: Vec<f64>,
    /// For each interval of the stay and each number of nodes: the best number in the interval
    /// before. Empty if the table of any stay would be too large.
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

    /// The demand of all tasks at these prices of a node per second, one for each interval; `None` if it
    /// was stopped.
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

    /// The number of nodes of a task in the last interval of its best course, and the value of this course. The task
    /// begins without nodes.
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

    /// Calls `have` with each interval of the stay and the number of nodes in it, the last first.
    fn backward(&self, stay: Stay, last: u16, mut have: impl FnMut(usize, u16)) {
        let width = self.course.kinds[stay.kind as usize].rates.len();
        let mut held = last;
        for interval in (stay.from as usize..stay.to as usize).rev() {
            have(interval, held);
            held = self.former[(interval - stay.from as usize) * width + usize::from(held)];
        }
    }
}

/// Computes the best value of each number of nodes after an event from those before it. Unless
/// `former` is empty, it receives the best number before the event for each number after it.
///
/// The cost of a change depends on the number before and the direction, not on the number after. So
/// one pass in each direction is enough: it keeps the best value so far, less its cost.
fn rescale(kind: &Kind, before: &[f64], after: &mut [f64], former: &mut [u16]) {
    let mut set = |n: usize, from: usize| {
        if let Some(former) = former.get_mut(n) {
            *former = from as u16;
        }
    };
    // From fewer nodes. A task may lose its nodes and get others at one event, which can be cheaper
    // than only getting more.
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
    // From more nodes.
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
