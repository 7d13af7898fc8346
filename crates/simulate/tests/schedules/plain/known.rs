//! Random policy inputs other than the jobs.

use std::collections::BTreeMap;

use gleaner_domain::inputs::{PackingTable, Pair};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::cases::WORKLOADS;
use super::{Profiler, Switches};

pub fn packing() -> impl Strategy<Value = PackingTable> {
    let score = prop_oneof![3 => Just(0u8), 2 => Just(1), 1 => Just(2)];
    let speed = || select(vec![0.5, 0.75, 0.983, 1.0, 1.034]);
    let pair = (speed(), speed(), 1..100u8, 1000..24_000u32);
    let unmeasured = prop_oneof![3 => Just(false), 1 => Just(true)];
    (
        vec(score, WORKLOADS),
        vec(pair, WORKLOADS * WORKLOADS),
        vec(unmeasured, WORKLOADS),
    )
        .prop_map(|(scores, drafts, unmeasured)| PackingTable {
            scores: scores.into_iter().map(Some).collect(),
            pairs: pairs(&drafts),
            unmeasured,
        })
}

/// Builds each pair in both orders. The second order has the same values with the speeds swapped.
fn pairs(drafts: &[(f64, f64, u8, u32)]) -> BTreeMap<(usize, usize), Pair> {
    let mut pairs = BTreeMap::new();
    for a in 0..WORKLOADS {
        for b in a..WORKLOADS {
            let (first, second, util, gmem) = drafts[a * WORKLOADS + b];
            let pair = |speeds| Pair {
                speeds,
                gpu_util: util.into(),
                gmem: gmem.into(),
            };
            pairs.insert((b, a), pair((second, first)));
            pairs.insert((a, b), pair((first, second)));
        }
    }
    pairs
}

/// Forecasts of jobs and GPUs, interval by interval. They are sometimes below and sometimes above the thresholds: 2
/// jobs, and 5 times the GPUs of the largest profiled job. The values are chosen so that their means are exact in
/// floats.
pub fn forecast() -> impl Strategy<Value = Vec<(f64, f64)>> {
    let jobs = select(vec![0.0, 2.0, 2.5, 7.0]);
    let gpus = prop_oneof![2 => select(vec![0.0, 5.0]), 1 => select(vec![20.0, 40.0, 200.0])];
    let spell = (jobs, gpus, 1..12usize);
    let flat = |(jobs, gpus, intervals)| vec![(jobs, gpus); intervals];
    vec(spell, 1..10).prop_map(move |spells| spells.into_iter().flat_map(flat).collect())
}

pub fn switches() -> impl Strategy<Value = Switches> {
    let rarely = || prop_oneof![3 => Just(false), 1 => Just(true)];
    let gaps = prop_oneof![1 => Just(Vec::new()), 1 => vec((1..30i64, 1..30i64), 1..5)];
    (rarely(), rarely(), rarely(), any::<bool>(), gaps).prop_map(
        |(without_packing, without_throughput, without_estimates, corrected, gaps)| {
            let mut second = 0;
            let mut echo = Vec::new();
            for (lent, back) in gaps {
                for (gap, step) in [(lent, 1), (back, -1)] {
                    second += 10 * gap;
                    echo.push((second, step));
                }
            }
            Switches {
                without_packing,
                without_throughput,
                without_estimates,
                corrected,
                echo,
            }
        },
    )
}

pub fn profiler() -> impl Strategy<Value = Profiler> {
    let limit = prop_oneof![Just(10i64), Just(100), 1..200i64];
    let most = prop_oneof![3 => Just(16), 1 => 1..17u32];
    (1..3u32, limit, most, any::<bool>()).prop_map(|(nodes, limit, most_gpus, elastic)| Profiler {
        nodes,
        limit,
        most_gpus,
        elastic,
    })
}
