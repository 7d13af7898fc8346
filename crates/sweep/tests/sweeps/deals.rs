//! Tests the assignment of runs to parts.

use std::collections::BTreeSet;

use gleaner_domain::Observer;
use gleaner_domain::error::{Error, Result};
use gleaner_domain::results::sweep::{Replication, RunOutcome};
use gleaner_io::SourceId;
use gleaner_store::RunKey;
use gleaner_sweep::cluster::{Costs, Deal};
use gleaner_sweep::{Alike, PreparedRuns};
use proptest::prelude::*;
use serde_json::Value;

/// Runs without settings, each given by its number of steps.
struct Runs(Vec<usize>);

impl PreparedRuns for Runs {
    fn count(&self) -> usize {
        self.0.len()
    }

    fn key(&self, run: usize) -> RunKey {
        RunKey::of(format!("{run} {}", self.0[run]).as_bytes())
    }

    fn settings(&self, _: usize) -> Result<Value> {
        Ok(Value::Null)
    }

    fn sources(&self) -> &[SourceId] {
        &[]
    }

    fn length(&self, run: usize) -> usize {
        self.0[run]
    }

    fn alike(&self, run: usize) -> Alike {
        Alike {
            same_but_seed: run as u64 / 2,
            same_problem: run as u64 / 4,
        }
    }

    fn replication(&self) -> Replication {
        Replication::Seeds
    }

    fn execute(&self, _: usize, _: &dyn Observer) -> Result<Option<RunOutcome>> {
        Err(Error::Run("never executed".into()))
    }
}

/// The total number of steps of each part.
fn loads(runs: &Runs, deal: &Deal) -> Vec<usize> {
    let parts = 1..=deal.parts();
    parts
        .map(|part| deal.part(part).map(|run| runs.length(run)).sum())
        .collect()
}

/// The smallest possible load of the fullest part, found by brute force over all assignments.
fn best(lengths: &[usize], loads: &mut Vec<usize>) -> usize {
    let Some((first, rest)) = lengths.split_first() else {
        return loads.iter().copied().max().unwrap_or(0);
    };
    (0..loads.len())
        .map(|part| {
            loads[part] += first;
            let found = best(rest, loads);
            loads[part] -= first;
            found
        })
        .min()
        .unwrap_or(0)
}

proptest! {
    #![proptest_config(gleaner_testing::cases(128))]

    // Compares the fullest part with the best assignment, found by brute force, and with the bound of Graham
    // (1969) for the longest-processing-time-first rule.
    #[test]
    fn every_run_is_in_one_part_and_the_parts_are_about_even(
        lengths in proptest::collection::vec(1usize..50, 1..9),
        parts in 1usize..4,
    ) {
        let runs = Runs(lengths.clone());
        let all: Vec<usize> = (0..runs.count()).collect();
        let deal = Deal::new(&runs, &all, &Costs::default(), parts);
        let dealt: Vec<usize> = deal.runs().collect();
        let distinct: BTreeSet<usize> = dealt.iter().copied().collect();
        prop_assert_eq!(dealt.len(), all.len());
        prop_assert_eq!(distinct.len(), all.len());
        prop_assert_eq!(deal.parts(), parts.min(lengths.len()));
        let fullest = loads(&runs, &deal).into_iter().max().unwrap();
        let least = best(&lengths, &mut vec![0; parts]);
        let bound = least as f64 * (4.0 / 3.0 - 1.0 / (3.0 * parts as f64));
        prop_assert!(fullest as f64 <= bound + 1e-9, "{} against {}", fullest, least);
        // The runs of a part are ordered from the longest to the shortest.
        for part in 1..=deal.parts() {
            let steps: Vec<usize> = deal.part(part).map(|run| runs.length(run)).collect();
            prop_assert!(steps.is_sorted_by(|a, b| a >= b));
        }
    }
}

// Small fixed example.
#[test]
fn costs_are_those_of_the_runs_most_alike() {
    let runs = Runs(vec![10, 10, 10, 20, 10, 30]);
    let none = Costs::default();
    assert_eq!(none.of_run(&runs, 3), 20.0);
    assert!(!none.are_seconds());
    let costs = Costs::of(&runs, [(0, 5.0), (4, 40.0)]);
    assert!(costs.are_seconds());
    // The estimate for run 1 is the duration of run 0, which differs only in the seed. The estimate for run 3 is based
    // on the seconds per step of run 0, which has the same problem.
    assert_eq!(costs.of_run(&runs, 1), 5.0);
    assert_eq!(costs.of_run(&runs, 3), 10.0);
    assert_eq!(costs.of_run(&runs, 5), 40.0);
    let costs = Costs::of(&runs, [(0, 5.0)]);
    assert_eq!(costs.of_run(&runs, 5), 15.0);
}

#[test]
fn a_deal_is_read_back_for_its_plan_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deal.json");
    let runs = Runs(vec![1, 2, 3]);
    let deal = Deal::new(&runs, &[0, 2], &Costs::default(), 2);
    deal.write(&path).unwrap();
    assert_eq!(Deal::read(&path, &runs).unwrap(), deal);
    assert_eq!((deal.part(0).count(), deal.part(3).count()), (0, 0));
    for other in [vec![1, 2, 4], vec![1, 2]] {
        assert_eq!(Deal::read(&path, &Runs(other)).unwrap_err().exit_code(), 2);
    }
    for text in ["", "{}", "[1]", "{\"plan\": \"x\", \"parts\": [[-1]]}"] {
        std::fs::write(&path, text).unwrap();
        assert_eq!(
            Deal::read(&path, &runs).unwrap_err().exit_code(),
            2,
            "{text:?}"
        );
    }
    let text = serde_json::to_string(&deal).unwrap().replace("[2]", "[3]");
    std::fs::write(&path, text).unwrap();
    assert_eq!(Deal::read(&path, &runs).unwrap_err().exit_code(), 2);
}
