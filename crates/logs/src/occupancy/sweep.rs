//! Walks over sorted edges and reports which nodes become idle or busy, and when.
//!
//! The nodes are divided into stretches: runs of consecutive nodes that no edge has separated. The holds on a stretch
//! are stored in the entry of its first node, which is called its head. An edge first cuts the stretches at its two
//! ends. It then changes only whole stretches, and marks them as touched. At the end of each second, the touched
//! stretches get their new states. The event of that second lists the nodes that became idle or busy. After an edge
//! over many stretches, neighbours with equal holds are joined again. The time to process an edge therefore depends on
//! the number of stretches, not on the number of nodes.
//!
//! For example, on a machine with nodes 0-7, a job holds nodes 2-5 from second 10 to 30, and an outage holds nodes 4-7
//! from second 20 to 40. At second 10, the stretches become 0-1, 2-5 and 6-7, and the event reports that nodes 2-5
//! become busy. At second 20, the stretch 2-5 is cut into 2-3 and 4-5. Both 4-5 and 6-7 get a hold, but the event
//! reports only that nodes 6-7 become busy. At second 30, the job ends on 2-3 and 4-5, and the event reports that nodes
//! 2-3 become idle: the outage still holds 4-5.

use gleaner_domain::Change;

use super::edge::{Edge, Hold};
use super::heads::Heads;
use super::ranges::NodeRange;

/// The time span of the events, in seconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// First second. The first event shows the states at the end of this second.
    pub from: i64,
    /// Last second. There is always an event for this second, even if nothing changes.
    pub to: i64,
}

impl Window {
    /// A window without limits.
    pub const ALL: Window = Window {
        from: i64::MIN,
        to: i64::MAX,
    };
}

/// Idle node-seconds in the window, and held node-seconds by kind of hold.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Shares {
    /// Node-seconds of nodes that nothing held.
    pub idle: f64,
    /// Node-seconds by kind of hold, in the order of [`Hold::ALL`]. A node with several holds is counted under the kind
    /// that comes first in that order.
    pub held: [f64; IDLE],
}

impl Shares {
    /// Total of the idle and held node-seconds.
    pub fn total(&self) -> f64 {
        self.idle + self.held.iter().sum::<f64>()
    }
}

/// Job starts on nodes on which another job was running.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Overlaps {
    /// Number of such starts, counted per node.
    pub count: u64,
    /// Second and node of the first such start.
    pub example: Option<(i64, u32)>,
}

/// Totals of a sweep.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct OccupancySummary {
    /// Number of events, including the first and the last.
    pub events: u64,
    /// Number of changes in all events.
    pub changes: u64,
    /// Idle node-seconds, and held node-seconds by kind of hold.
    pub shares: Shares,
    /// Job starts on nodes on which another job was running.
    pub overlaps: Overlaps,
}

/// The nodes that become idle or busy during one second.
#[derive(Debug, Clone, Copy)]
pub struct Event<'a> {
    /// Time of the event, in seconds since 1970.
    pub second: i64,
    /// The changes, in ascending order of rank.
    pub changes: &'a [Change],
    /// For each job that took idle nodes, the total number of nodes that it started on.
    pub jobs: &'a [u32],
    /// For each change, the job that took the node: 0 if no job did, else the job's index in `jobs` plus 1.
    pub takers: &'a [u32],
}

/// The holds and the state of a stretch: consecutive nodes that no edge has separated.
#[derive(Debug, Clone, Default)]
struct Node {
    held: [u32; IDLE],
    /// The last job that started on the stretch.
    job: u32,
    /// The state of the stretch when it was last settled: [`IDLE`], or the index of the kind of hold under which it is
    /// counted.
    state: usize,
    touched: bool,
}

const IDLE: usize = Hold::ALL.len();

/// If an edge changes more stretches than this, neighbouring stretches with equal holds are joined. The next edge then
/// has fewer stretches to visit. For an edge that changes fewer stretches, the search for equal neighbours is not worth
/// its cost.
const SCATTERED: usize = 64;

impl Node {
    fn state(&self) -> usize {
        self.held.iter().position(|n| *n > 0).unwrap_or(IDLE)
    }
}

/// Sweeps over sorted edges and passes every event to `event`. In the events, a node that only [`Hold::Unknown`] holds
/// is idle if `is_unknown_idle` is set, and busy otherwise.
///
/// Edges come in pairs of a start and a later end. A hold that starts and ends in the same second has no edges. `rank`
/// contains the index of each node in the log. Edges of nodes beyond `rank` are ignored. All changes in one second form
/// one event, and a change that is undone within the second is left out. The first event lists the nodes that are idle
/// at the start of the window. The window must start before it ends.
///
/// # Errors
/// `edges` contains an error, or `event` fails.
pub fn sweep<E>(
    edges: impl IntoIterator<Item = Result<Edge, E>>,
    rank: &[u32],
    window: Window,
    is_unknown_idle: bool,
    mut event: impl FnMut(Event<'_>) -> Result<(), E>,
) -> Result<OccupancySummary, E> {
    let mut sweep = Sweep::new(rank, window);
    sweep.is_unknown_idle = is_unknown_idle;
    let mut second = window.from;
    // Edges up to the start of the window change the states without an event. The first event is reported for the start
    // of the window, as soon as the loop reaches an edge after that start.
    for edge in edges {
        let edge = edge?;
        if edge.second() > window.to {
            break;
        }
        if edge.second() > second {
            sweep.end_second(second, false, &mut event)?;
            second = edge.second();
        }
        sweep.apply(edge);
        if second > window.from && edge.starts() && edge.hold() == Hold::Running {
            sweep.started.push((edge.job(), edge.run()));
        }
    }
    if second < window.to {
        sweep.end_second(second, false, &mut event)?;
    }
    sweep.end_second(window.to, true, &mut event)?;
    let mut swept = sweep.swept;
    if is_unknown_idle {
        swept.shares.idle += std::mem::take(&mut swept.shares.held[Hold::Unknown.index()]);
    }
    Ok(swept)
}

struct Sweep<'a> {
    rank: &'a [u32],
    /// The first nodes of all stretches.
    heads: Heads,
    /// The state of each stretch, at the index of its head. Other entries are not used.
    nodes: Vec<Node>,
    /// Heads of the stretches that edges have changed in this second.
    touched: Vec<u32>,
    /// First node and end (exclusive) of each edge that changed more than [`SCATTERED`] stretches.
    scattered: Vec<(usize, usize)>,
    is_unknown_idle: bool,
    /// The job and the nodes of each edge at which a job started in this second.
    started: Vec<(u32, NodeRange)>,
    /// The changes of this second, each with the job that took the node, if any.
    found: Vec<(Change, Option<u32>)>,
    /// The jobs that took nodes in this second.
    taking: Vec<u32>,
    changes: Vec<Change>,
    jobs: Vec<u32>,
    takers: Vec<u32>,
    /// Number of nodes by state.
    counts: [u64; IDLE + 1],
    /// The second up to which [`OccupancySummary::shares`] are counted.
    counted: i64,
    swept: OccupancySummary,
}

impl<'a> Sweep<'a> {
    fn new(rank: &'a [u32], window: Window) -> Self {
        let mut counts = [0; IDLE + 1];
        counts[Hold::Running.index()] = rank.len() as u64;
        let mut heads = Heads::new(rank.len());
        let first = (!rank.is_empty()).then_some(0);
        first.iter().for_each(|head| heads.insert(*head as usize));
        Sweep {
            rank,
            heads,
            // Before the first event, every node counts as busy, and the first event can change any
            // node.
            nodes: vec![Node::touched(); rank.len()],
            touched: first.into_iter().collect(),
            scattered: Vec::new(),
            is_unknown_idle: false,
            started: Vec::new(),
            found: Vec::new(),
            taking: Vec::new(),
            changes: Vec::new(),
            jobs: Vec::new(),
            takers: Vec::new(),
            counts,
            counted: window.from,
            swept: OccupancySummary::default(),
        }
    }

    fn apply(&mut self, edge: Edge) {
        let run = edge.run();
        let hold = edge.hold().index();
        let first = run.first as usize;
        let last = first
            .saturating_add(run.count as usize)
            .min(self.nodes.len());
        if first >= last {
            return;
        }
        // After the cuts, the edge covers whole stretches.
        self.cut(first);
        self.cut(last);
        let (mut head, mut stretches) = (first, 0);
        while head < last {
            stretches += 1;
            let end = self.end(head);
            let node = &mut self.nodes[head];
            if edge.starts() {
                if hold == Hold::Running.index() && node.held[hold] > 0 {
                    self.swept.overlaps.count += (end - head) as u64;
                    let example = (edge.second(), head as u32);
                    self.swept.overlaps.example.get_or_insert(example);
                }
                node.held[hold] += 1;
                if hold == Hold::Running.index() {
                    node.job = edge.job();
                }
            } else {
                node.held[hold] = node.held[hold].saturating_sub(1);
            }
            if !node.touched {
                node.touched = true;
                self.touched.push(head as u32);
            }
            head = end;
        }
        if stretches > SCATTERED {
            self.scattered.push((first, last));
        }
    }

    /// The end (exclusive) of the stretch that starts at `head`.
    fn end(&self, head: usize) -> usize {
        self.heads.next(head + 1).unwrap_or(self.nodes.len())
    }

    /// Cuts the stretch that contains a node, so that the node becomes the head of a stretch.
    fn cut(&mut self, at: usize) {
        if at >= self.nodes.len() || self.heads.contains(at) {
            return;
        }
        let head = self.heads.previous(at).unwrap_or(0);
        self.nodes[at] = self.nodes[head].clone();
        self.heads.insert(at);
        if self.nodes[at].touched {
            self.touched.push(at as u32);
        }
    }

    /// Joins neighbouring stretches with equal holds, from the head `first` up to the node `last` (exclusive). The
    /// stretches are settled, so equal holds mean an equal state. An earlier join may already have removed the head
    /// `first`. In that case, the entry of `first` still contains the holds of the stretch that it headed, so the
    /// comparison is still correct.
    fn join(&mut self, first: usize, last: usize) {
        let mut head = first;
        while let Some(next) = self.heads.next(head + 1).filter(|next| *next < last) {
            if self.nodes[next].held == self.nodes[head].held {
                self.heads.remove(next);
            } else {
                head = next;
            }
        }
    }

    /// Reports the changes up to `second` as an event, if there are any. The first and the `last`
    /// event are reported in any case.
    fn end_second<E>(
        &mut self,
        second: i64,
        last: bool,
        event: &mut impl FnMut(Event<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        // Count the time up to `second` with the old states: the edges at `second` do not affect the time before it.
        self.count_up_to(second);
        self.settle();
        if self.found.is_empty() && self.swept.events > 0 && !last {
            self.started.clear();
            return Ok(());
        }
        self.find_takers();
        self.swept.events += 1;
        self.swept.changes += self.changes.len() as u64;
        event(Event {
            second,
            changes: &self.changes,
            jobs: &self.jobs,
            takers: &self.takers,
        })
    }

    /// Puts the changes in order, finds the jobs that took nodes, and counts the nodes on which each of these jobs
    /// started. For example, job 7 starts on nodes 2 and 3, which were idle, and on node 5, on which another job has
    /// just ended. Nodes 2 and 3 then change, job 7 is their taker, and the count of job 7 is 3 nodes.
    fn find_takers(&mut self) {
        self.found.sort_unstable();
        self.started.sort_unstable_by_key(|(job, _)| *job);
        self.changes.clear();
        self.takers.clear();
        self.jobs.clear();
        self.taking.clear();
        let taking = self.found.iter().filter_map(|(_, job)| *job);
        self.taking.extend(taking);
        self.taking.sort_unstable();
        self.taking.dedup();
        for job in &self.taking {
            let first = self.started.partition_point(|(other, _)| other < job);
            let edges = self.started[first..].iter();
            let edges = edges.take_while(|(other, _)| other == job);
            let nodes = self.rank.len() as u32;
            let inside = |run: &NodeRange| run.count.min(nodes.saturating_sub(run.first));
            let count = edges.fold(0u32, |sum, (_, run)| sum.saturating_add(inside(run)));
            self.jobs.push(count);
        }
        for (change, job) in &self.found {
            let taker = job.and_then(|job| self.taking.binary_search(&job).ok());
            self.changes.push(*change);
            self.takers.push(taker.map_or(0, |index| index as u32 + 1));
        }
        self.started.clear();
    }

    /// Updates the states of the touched stretches, and collects the nodes that become idle or busy.
    fn settle(&mut self) {
        self.found.clear();
        let mut touched = std::mem::take(&mut self.touched);
        let unknown = Hold::Unknown.index();
        let is_unknown_idle = self.is_unknown_idle;
        let is_idle = |state| state == IDLE || state == unknown && is_unknown_idle;
        for head in &touched {
            let (head, end) = (*head as usize, self.end(*head as usize));
            let length = (end - head) as u64;
            let node = &mut self.nodes[head];
            node.touched = false;
            let state = node.state();
            self.counts[node.state] -= length;
            self.counts[state] += length;
            // If a stretch goes from one busy state to another, there is no change to report.
            let idle = is_idle(state);
            if idle != is_idle(node.state) {
                let taker = (state == Hold::Running.index()).then_some(node.job);
                let ranks = self.rank[head..end].iter();
                self.found
                    .extend(ranks.map(|rank| (Change::new(*rank, idle), taker)));
            }
            node.state = state;
        }
        touched.clear();
        self.touched = touched;
        while let Some((first, last)) = self.scattered.pop() {
            self.join(first, last);
        }
    }

    fn count_up_to(&mut self, second: i64) {
        let seconds = second.saturating_sub(self.counted) as f64;
        let shares = &mut self.swept.shares;
        for (held, count) in shares.held.iter_mut().zip(&self.counts) {
            *held += *count as f64 * seconds;
        }
        shares.idle += self.counts[IDLE] as f64 * seconds;
        self.counted = second;
    }
}

impl Node {
    /// A new stretch, marked as touched so that the next event settles its state.
    fn touched() -> Self {
        Node {
            touched: true,
            ..Node::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::convert::Infallible;

    type Interval = (u32, u32, i64, i64, usize);

    fn edges(intervals: &[Interval]) -> Vec<Result<Edge, Infallible>> {
        let mut edges = Vec::new();
        for &(first, count, from, to, hold) in intervals {
            let run = NodeRange { first, count };
            let job = edges.len() as u64;
            edges.push(Edge::new(from, run, Hold::ALL[hold], true, job));
            edges.push(Edge::new(to, run, Hold::ALL[hold], false, job));
        }
        edges.sort_unstable();
        edges.into_iter().map(Ok).collect()
    }

    /// Computes the states after every event from the reported changes.
    fn swept(
        intervals: &[Interval],
        rank: &[u32],
        window: Window,
        is_unknown_idle: bool,
    ) -> (Vec<(i64, Vec<bool>)>, OccupancySummary) {
        let mut idle = vec![false; rank.len()];
        let mut rows = Vec::new();
        let Ok(swept) = sweep(edges(intervals), rank, window, is_unknown_idle, |event| {
            let changes = event.changes;
            check_takers(&event, intervals, rank, window);
            assert!(changes.is_sorted_by_key(|c| c.node()), "{changes:?}");
            for change in changes {
                assert_ne!(idle[change.node() as usize], change.idle(), "no change");
                idle[change.node() as usize] = change.idle();
            }
            rows.push((event.second, idle.clone()));
            Ok(())
        });
        (rows, swept)
    }

    /// Checks that each taker is a job that starts on the node in the event's second. Also checks the number of nodes
    /// that the event states for this job.
    fn check_takers(event: &Event<'_>, intervals: &[Interval], rank: &[u32], window: Window) {
        assert_eq!(event.takers.len(), event.changes.len());
        for (change, taker) in event.changes.iter().zip(event.takers) {
            let node = rank.iter().position(|rank| *rank == change.node()).unwrap() as u32;
            let has = |i: &&Interval| (i.0..i.0 + i.1).contains(&node);
            let starts = |i: &&Interval| i.4 == 0 && i.2 == event.second && has(i);
            let jobs = intervals.iter().filter(starts);
            let counts: Vec<u32> = jobs.map(|i| i.1.min(rank.len() as u32 - i.0)).collect();
            if change.idle() || event.second == window.from || counts.is_empty() {
                assert_eq!(*taker, 0);
            } else {
                assert!(counts.contains(&event.jobs[*taker as usize - 1]));
            }
        }
    }

    /// Computes the states and shares from a table with a cell for every second and node.
    fn dense(
        intervals: &[Interval],
        rank: &[u32],
        window: Window,
        is_unknown_idle: bool,
    ) -> (Vec<(i64, Vec<bool>)>, Shares) {
        let mut rows: Vec<(i64, Vec<bool>)> = Vec::new();
        let mut shares = Shares::default();
        for second in window.from..=window.to {
            let mut idle = vec![true; rank.len()];
            for (node, rank) in (0u32..).zip(rank) {
                let over = |i: &&Interval| {
                    (i.0..i.0 + i.1).contains(&node) && i.2 <= second && second < i.3
                };
                let hold = intervals.iter().filter(over).map(|i| i.4).min();
                let is_unknown = hold == Some(Hold::Unknown.index());
                let hold = hold.filter(|_| !(is_unknown && is_unknown_idle));
                idle[*rank as usize] = hold.is_none();
                if second < window.to {
                    *hold.map_or(&mut shares.idle, |hold| &mut shares.held[hold]) += 1.0;
                }
            }
            let same = rows.last().is_some_and(|row| row.1 == idle);
            if !same || second == window.to {
                rows.push((second, idle));
            }
        }
        (rows, shares)
    }

    prop_compose! {
        fn interval()(
            first in 0u32..6, count in 1u32..9, from in -5i64..30, length in 1i64..12, hold in 0usize..5,
        ) -> Interval {
            (first, count, from, from + length, hold)
        }
    }

    proptest! {
        #![proptest_config(gleaner_testing::cases(256))]

        // The oracle is the table with a cell for every second.
        #[test]
        fn a_sweep_equals_the_dense_table(
            intervals in prop::collection::vec(interval(), 0..12),
            rank in Just(vec![0u32, 1, 2, 3, 4, 5]).prop_shuffle(),
            from in 0i64..10, length in 1i64..25, is_unknown_idle: bool,
        ) {
            let window = Window { from, to: from + length };
            let (rows, found) = swept(&intervals, &rank, window, is_unknown_idle);
            let (expected, shares) = dense(&intervals, &rank, window, is_unknown_idle);
            prop_assert_eq!(&rows, &expected);
            prop_assert_eq!(found.shares, shares);
            prop_assert_eq!(found.events, rows.len() as u64);
        }
    }

    // Tests that an edge visits a stretch of nodes with equal holds only once, however long the stretch is.
    #[test]
    fn nodes_with_the_same_jobs_are_one_stretch() {
        let rank: Vec<u32> = (0..1000).collect();
        let window = Window { from: 0, to: 9 };
        let mut sweep = Sweep::new(&rank, window);
        let mut edge = |first, count, starts| {
            let run = NodeRange { first, count };
            sweep.apply(Edge::new(1, run, Hold::Running, starts, 0));
            sweep.settle();
            let heads = (0..1000).filter(|node| sweep.heads.contains(*node));
            heads.collect::<Vec<_>>()
        };
        assert_eq!(edge(0, 1000, true), [0]);
        assert_eq!(edge(100, 200, true), [0, 100, 300]);
        for node in (300..500).step_by(2) {
            edge(node, 1, true);
        }
        assert_eq!(edge(10, 5, true).len(), 3 + 199 + 2);
        for node in (300..500).step_by(2) {
            edge(node, 1, false);
        }
        // Only an edge over many stretches joins equal neighbours, so they stay separate here.
        assert_eq!(edge(10, 5, false).len(), 3 + 199 + 2);
        assert_eq!(edge(0, 1000, true), [0, 100, 300]);
    }

    // Only the second job starts on a node on which another job is running. The last entry is an outage.
    #[test]
    fn jobs_that_share_a_node_are_counted() {
        let window = Window { from: 0, to: 9 };
        let jobs = [
            (0, 2, 1, 5, 0),
            (1, 1, 3, 8, 0),
            (0, 1, 5, 6, 0),
            (0, 1, 2, 4, 1),
        ];
        let (_, swept) = swept(&jobs, &[0, 1], window, false);
        let expected = Overlaps {
            count: 1,
            example: Some((3, 1)),
        };
        assert_eq!(swept.overlaps, expected);
    }
}
