//! Searches the tree of all ladders, depth first.

use std::time::Instant;

use gleaner_observer::Observer;

use super::super::Fragments;
use super::bound::Bounds;
use super::candidates::Candidates;
use super::rests::{Rests, Source};

/// Number of progress steps reported for each choice of the first length.
const STEPS: usize = 1000;

/// A depth-first search for the best ladder of at most `count` lengths.
pub(super) struct Search<'a> {
    fragments: &'a Fragments,
    candidates: Candidates,
    count: usize,
    /// Time at which the search ends; `None` if there is no limit.
    deadline: Option<Instant>,
    observer: &'a dyn Observer,
    /// The lengths chosen so far, as multiples of the grid in descending order.
    chosen: Vec<usize>,
    /// The remaining lengths of the fragments once pilots of the first 1, 2, … chosen lengths are placed.
    rests: Vec<Rests>,
    /// Buffer for the remaining lengths that a candidate would leave.
    examined: Rests,
    bounds: Bounds,
    /// The best ladder found, as multiples of the grid in descending order.
    pub best: Vec<usize>,
    /// Ready time of the best ladder found.
    pub ready: u64,
    /// The greatest bound of all nodes that were skipped because the search ended; 0 if there are none.
    pub open: u64,
}

/// A candidate for the next length.
#[derive(Debug, Clone, Copy)]
struct Child {
    /// An upper bound on the ready time of the ladders that continue with this length.
    bound: u64,
    multiple: usize,
}

impl<'a> Search<'a> {
    pub fn new(
        fragments: &'a Fragments,
        candidates: Candidates,
        count: usize,
        deadline: Option<Instant>,
        observer: &'a dyn Observer,
    ) -> Self {
        Search {
            fragments,
            candidates,
            count,
            deadline,
            observer,
            chosen: Vec::with_capacity(count),
            rests: vec![Rests::default(); count],
            examined: Rests::default(),
            bounds: Bounds::default(),
            best: Vec::new(),
            ready: 0,
            open: 0,
        }
    }

    /// Searches the tree until all ladders have been considered or the search is stopped.
    pub fn run(&mut self) {
        self.visit(0, self.fragments.total());
    }

    /// Visits all ladders that begin with the chosen lengths. `ready` is the total time during which pilots of the
    /// chosen lengths are ready. None of these ladders is ready for longer than `bound`.
    fn visit(&mut self, ready: u64, bound: u64) {
        let depth = self.chosen.len();
        let Some(children) = self.children(ready) else {
            self.open = self.open.max(bound);
            return;
        };
        for (visited, &child) in children.iter().enumerate() {
            // The children are sorted by descending bound, so the remaining children cannot beat the best ladder
            // either.
            if child.bound <= self.ready {
                break;
            }
            if self.is_over() {
                self.open = self.open.max(child.bound);
                break;
            }
            self.report(visited, children.len());
            let mut left = std::mem::take(&mut self.rests[depth]);
            let pilots = self
                .source()
                .fill(&self.candidates, child.multiple, &mut left);
            self.rests[depth] = left;
            self.chosen.push(child.multiple);
            let ready = ready + pilots * self.candidates.ready(child.multiple);
            if ready > self.ready {
                self.ready = ready;
                self.best.clone_from(&self.chosen);
            }
            if depth + 1 < self.count {
                self.visit(ready, child.bound);
            }
            self.chosen.pop();
        }
    }

    /// The candidates for the next length that can lead to a better ladder, by descending bound. `None` if the search
    /// has ended.
    fn children(&mut self, ready: u64) -> Option<Vec<Child>> {
        // The lengths are in descending order, so each ladder is visited once.
        let below = self
            .chosen
            .last()
            .copied()
            .unwrap_or(self.candidates.highest + 1);
        let further = self.count - self.chosen.len() - 1;
        let mut children = Vec::new();
        let mut left = std::mem::take(&mut self.examined);
        for multiple in self.candidates.lowest..below {
            if self.is_over() {
                return None;
            }
            let pilots = self.source().fill(&self.candidates, multiple, &mut left);
            let ready = ready + pilots * self.candidates.ready(multiple);
            let bound = ready + self.bounds.of(&left, &self.candidates, further);
            if bound > self.ready {
                children.push(Child { bound, multiple });
            }
        }
        self.examined = left;
        children.sort_unstable_by_key(|child| (std::cmp::Reverse(child.bound), child.multiple));
        Some(children)
    }

    /// The fragments, or their remaining lengths once pilots of the chosen lengths are placed.
    fn source(&self) -> Source<'_> {
        match self.chosen.len() {
            0 => Source::Fragments(self.fragments),
            depth => Source::Rests(&self.rests[depth - 1]),
        }
    }

    fn is_over(&self) -> bool {
        let is_late = self
            .deadline
            .is_some_and(|deadline| Instant::now() >= deadline);
        is_late || self.observer.is_stopped()
    }

    /// Reports the number of first lengths whose ladders have all been searched.
    fn report(&self, visited: usize, children: usize) {
        if self.chosen.is_empty() {
            self.observer.progress(visited * STEPS, children * STEPS);
        }
    }
}
