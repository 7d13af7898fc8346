//! Compares the best ladders that the search finds with those found by enumerating all ladders.

use std::time::Duration;

use gleaner_observer::Unobserved;
use gleaner_pilots::{Best, Costs, Fragments, Grid, Ladder, best, fits};
use gleaner_testing::{StopAfter, StopAtCheck};
use proptest::prelude::*;

use super::{costs, lengths};

const NO_LIMIT: Duration = Duration::MAX;

/// The greatest ready time of all ladders of at most `count` lengths from `lengths`.
fn enumerated(fragments: &Fragments, lengths: &[u64], costs: Costs, count: usize) -> u64 {
    let ladders = (1u32..1 << lengths.len()).filter(|set| set.count_ones() as usize <= count);
    let ready = |set: u32| {
        let chosen = lengths
            .iter()
            .enumerate()
            .filter(|(place, _)| set >> place & 1 == 1);
        let ladder = Ladder::new(chosen.map(|(_, &length)| length), costs).unwrap();
        fits(fragments, &ladder).ready
    };
    ladders.map(ready).max().unwrap_or(0)
}

/// The lengths of a grid that exceed the start-up.
fn candidates(grid: Grid, costs: Costs) -> Vec<u64> {
    let multiples = (1..).map(|multiple| multiple * grid.step);
    let lengths = multiples.take_while(|&length| length <= grid.longest);
    lengths.filter(|&length| length > costs.startup).collect()
}

/// Random grids and costs. One to seven lengths of each grid exceed the start-up.
fn grids() -> impl Strategy<Value = (Grid, Costs)> {
    // A start-up can be shorter or longer than the grid's step.
    (1u64..9, 1u64..8, costs(12, 7)).prop_map(|(step, further, costs)| {
        let longest = (costs.startup / step + further) * step + step - 1;
        (Grid { step, longest }, costs)
    })
}

fn ready(best: &Best, fragments: &Fragments, costs: Costs) -> u64 {
    match Ladder::new(best.lengths.iter().copied(), costs) {
        Ok(ladder) => fits(fragments, &ladder).ready,
        Err(_) => 0,
    }
}

proptest! {
    #![proptest_config(gleaner_testing::cases(512))]

    #[test]
    fn the_best_ladder_beats_all_others(lengths in lengths(90), (grid, costs) in grids()) {
        let fragments = Fragments::new(lengths).unwrap();
        let candidates = candidates(grid, costs);
        let found = best(&fragments, grid, costs, 4, NO_LIMIT, &Unobserved).unwrap();
        prop_assert_eq!(found.len(), 4);
        for (found, count) in found.iter().zip(1..) {
            prop_assert_eq!(found.ready, enumerated(&fragments, &candidates, costs, count));
            prop_assert_eq!(found.ready, ready(found, &fragments, costs));
            prop_assert!(found.is_proven() && found.lengths.len() <= count);
            prop_assert!(found.lengths.iter().all(|length| candidates.contains(length)));
        }
    }

    // Wherever a search is stopped, its result and its bound still bracket the best ready time.
    #[test]
    fn the_bound_of_a_stopped_search_holds(
        lengths in lengths(90),
        (grid, costs) in grids(),
        at in 1usize..60,
    ) {
        let fragments = Fragments::new(lengths).unwrap();
        let candidates = candidates(grid, costs);
        let found = best(&fragments, grid, costs, 3, NO_LIMIT, &StopAtCheck::new(at)).unwrap();
        for (found, count) in found.iter().zip(1..) {
            let best = enumerated(&fragments, &candidates, costs, count);
            prop_assert!(found.ready <= best && best <= found.bound);
            prop_assert_eq!(found.ready, ready(found, &fragments, costs));
        }
    }
}

#[test]
fn a_search_without_time_returns_a_bound() {
    let fragments = Fragments::new([100, 250]).unwrap();
    let grid = Grid {
        step: 10,
        longest: 100,
    };
    let found = best(
        &fragments,
        grid,
        Costs::default(),
        2,
        Duration::ZERO,
        &Unobserved,
    )
    .unwrap();
    assert_eq!(found.len(), 2);
    assert_eq!((found[1].ready, found[1].bound), (0, 350));
}

#[test]
fn a_stopped_search_keeps_the_ladders_found() {
    let fragments = Fragments::new([100, 250]).unwrap();
    let grid = Grid {
        step: 10,
        longest: 100,
    };
    let costs = Costs {
        startup: 5,
        delay: 0,
    };
    let observer = StopAfter::new(1);
    let found = best(&fragments, grid, costs, 5, NO_LIMIT, &observer).unwrap();
    assert!(found.len() < 5 && !found.is_empty());
    assert!(!observer.progress().is_empty());
}
