//! Estimates how soon an idle node will be taken, based on its distance from the nearer end of the list of idle nodes, in the fixed
//! order of nodes (see [`super::blocks`]).

/// Number of classes of distances. Class c contains the distances from 2^c − 1 to 2^(c+1) − 2.
const CLASSES: usize = 32;

/// Factor applied to all counts at each event at which nodes leave. It gives half of the total weight to the last 1,400
/// or so of these events.
const KEPT: f64 = 0.9995;

/// Weight, in nodes, of the prior, which is the mean over all distances. The prior matters mainly for classes with few
/// observations.
const PRIOR: f64 = 10.0;

/// Learns, for each distance from the nearer end of the order, what share of the idle nodes at this distance an event
/// takes.
///
/// Many schedulers take the first or the last free nodes of a list, so nodes near an end leave soon.
/// On Summit, half of the nodes that leave are in the first tenth of the idle nodes, and a quarter
/// are in the last tenth.
///
/// Example: each event takes the first two of ten idle nodes. At the beginning of the order, class 0 contains only rank
/// 0, so its share tends to 1. Class 1 contains ranks 1 and 2, of which one leaves, so its share tends to 1/2. The
/// other classes tend to 0.
#[derive(Debug, Default)]
pub(super) struct EndHazard {
    /// The classes of distances from the beginning and from the end of the order.
    ends: [End; 2],
    all: Seen,
}

/// Sums over the events at which nodes left: the number of nodes that left, and the number that were idle before the
/// event.
#[derive(Debug, Default, Clone, Copy)]
struct Seen {
    left: f64,
    idle: f64,
}

type End = [Seen; CLASSES];

/// The end of the order that is nearer to a rank, and the class of the rank's distance to this end.
/// `idle` is the number of idle nodes.
fn class(rank: u32, idle: u32) -> (usize, usize) {
    let to_last = idle.saturating_sub(1).saturating_sub(rank);
    let (end, distance) = if rank <= to_last {
        (0, rank)
    } else {
        (1, to_last)
    };
    (end, (distance + 1).ilog2() as usize)
}

impl EndHazard {
    /// Learns from an event at which the nodes of ranks `leaving` leave, out of `idle` idle nodes.
    pub fn learn(&mut self, idle: u32, leaving: &[u32]) {
        if leaving.is_empty() {
            return;
        }
        let halves = [idle.div_ceil(2), idle / 2];
        for (end, half) in self.ends.iter_mut().zip(halves) {
            for (class, seen) in end.iter_mut().enumerate() {
                let bound = |class: usize| ((1u64 << class) - 1).min(half.into()) as u32;
                seen.keep();
                seen.idle += f64::from(bound(class + 1) - bound(class));
            }
        }
        self.all.keep();
        self.all.idle += f64::from(idle);
        self.all.left += leaving.len() as f64;
        for &rank in leaving {
            let (end, class) = class(rank, idle);
            self.ends[end][class].left += 1.0;
        }
    }

    /// Estimates the probability that the node of this rank among `idle` nodes leaves at the next event at which any
    /// node leaves.
    pub fn at(&self, rank: u32, idle: u32) -> f64 {
        let (end, class) = class(rank, idle);
        let seen = self.ends[end][class];
        let mean = (self.all.left + 1.0) / (self.all.idle + 2.0 * PRIOR);
        (seen.left + PRIOR * mean) / (seen.idle + PRIOR)
    }
}

impl Seen {
    fn keep(&mut self) {
        self.left *= KEPT;
        self.idle *= KEPT;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Small fixed example: there are ten idle nodes, and each event takes the first two.
    #[test]
    fn nodes_that_are_always_taken_are_expected_to_leave() {
        let mut hazard = EndHazard::default();
        let before = hazard.at(0, 10);
        assert_eq!(before, hazard.at(5, 10));
        for _ in 0..2000 {
            hazard.learn(10, &[0, 1]);
        }
        assert!(hazard.at(0, 10) > 0.99);
        // Ranks 1 and 2 form one class, and half of its nodes leave.
        assert!((hazard.at(1, 10) - 0.5).abs() < 0.01);
        for rank in 3..10 {
            assert!(hazard.at(rank, 10) < 0.01, "{rank}");
        }
    }

    // Every node is in exactly one class, and every rank has a share between 0 and 1.
    #[test]
    fn every_rank_has_a_class() {
        let mut hazard = EndHazard::default();
        for idle in [1, 2, 3, 7, 8, 100, u32::MAX] {
            hazard.learn(idle, &[idle - 1]);
            let classes = hazard.ends.iter().flatten().map(|seen| seen.idle);
            assert!((classes.sum::<f64>() - hazard.all.idle).abs() <= 1e-9 * hazard.all.idle);
            for rank in [0, idle / 2, idle - 1] {
                assert!(
                    (0.0..=1.0).contains(&hazard.at(rank, idle)),
                    "{rank} of {idle}"
                );
            }
        }
    }
}
