//! Selects the pairs of workloads to measure.

use std::collections::BTreeSet;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Deserialize;
use toml::{Spanned, Value};

use super::check::Checker;
use super::{Config, Workload};

/// Describes the valid values of `pairs` in messages.
const EXPECTED: &str = "\"all\", \"none\", a list such as [[\"a\", \"b:64:0\"]], or \
                        { sample = 100, seed = 0 }";

/// The setting `pairs` of a plan.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Pairs {
    All,
    None,
    /// Pairs of workloads, each given by its name or as NAME:BATCH:AMP.
    List(Vec<[String; 2]>),
    Sample(Sample),
}

/// A random sample of all pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Sample {
    sample: usize,
    #[serde(default)]
    seed: u64,
}

impl Pairs {
    /// Reads the setting. By default, all pairs are measured.
    pub fn read(checker: &mut Checker<'_>, value: Option<&Spanned<Value>>) -> Self {
        let Some(value) = value else {
            return Pairs::All;
        };
        Self::parse(value.get_ref()).unwrap_or_else(|| {
            let found = value.get_ref().to_string();
            checker.add(value.span().start, "pairs", found, EXPECTED);
            Pairs::None
        })
    }

    fn parse(value: &Value) -> Option<Self> {
        match value {
            Value::String(word) if word == "all" => Some(Pairs::All),
            Value::String(word) if word == "none" => Some(Pairs::None),
            Value::Array(_) => value.clone().try_into().ok().map(Pairs::List),
            Value::Table(_) => value.clone().try_into().ok().map(Pairs::Sample),
            _ => None,
        }
    }
}

/// Converts the setting to a sorted list of pairs of config indices, without duplicates. The lower index of a pair
/// comes first.
pub(super) fn expand(
    checker: &mut Checker<'_>,
    value: Option<&Spanned<Value>>,
    pairs: Pairs,
    workloads: &[Workload],
    configs: &[Config],
) -> Vec<(usize, usize)> {
    let at = value.map_or(0, |value| value.span().start);
    match pairs {
        Pairs::None => Vec::new(),
        Pairs::All => all(configs.len()),
        Pairs::List(list) => {
            let mut found = BTreeSet::new();
            for names in &list {
                let [first, second] = names.each_ref().map(|name| named(name, workloads, configs));
                for (name, matches) in names.iter().zip([&first, &second]) {
                    if matches.is_empty() {
                        let expected =
                            "a workload, or NAME:BATCH:AMP with one of its batch sizes and amps";
                        checker.add(at, "pairs", format!("{name:?}"), expected);
                    }
                }
                let both = first
                    .iter()
                    .flat_map(|&a| second.iter().map(move |&b| (a, b)));
                found.extend(both.map(|(a, b)| (a.min(b), a.max(b))));
            }
            found.into_iter().collect()
        }
        Pairs::Sample(Sample { sample, seed }) => {
            let all = all(configs.len());
            if sample == 0 || sample > all.len() {
                let expected = format!("a sample of 1 to {} pairs (all pairs)", all.len());
                checker.add(at, "pairs", format!("sample = {sample}"), &expected);
                return Vec::new();
            }
            drawn(all, sample, seed)
        }
    }
}

/// All unordered pairs, including the pair of each config with itself.
fn all(configs: usize) -> Vec<(usize, usize)> {
    (0..configs)
        .flat_map(|first| (first..configs).map(move |second| (first, second)))
        .collect()
}

/// All configs of a workload, or the config that NAME:BATCH:AMP identifies.
fn named(name: &str, workloads: &[Workload], configs: &[Config]) -> Vec<usize> {
    let is_named = |config: &Config| {
        let workload = &workloads[config.workload].name;
        let whole = format!("{workload}:{}:{}", config.batch_size, u32::from(config.amp));
        workload == name || whole == name
    };
    let matches = configs.iter().enumerate();
    matches
        .filter(|(_, config)| is_named(config))
        .map(|(index, _)| index)
        .collect()
}

/// Draws a random sample of the pairs, and returns it in the original order.
fn drawn(mut all: Vec<(usize, usize)>, count: usize, seed: u64) -> Vec<(usize, usize)> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    // A Fisher–Yates shuffle that stops after `count` steps. The first `count` pairs are then a
    // uniform sample.
    for place in 0..count {
        let other = random.random_range(place..all.len());
        all.swap(place, other);
    }
    all.truncate(count);
    all.sort_unstable();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_unordered_and_include_each_with_itself() {
        assert_eq!(all(2), [(0, 0), (0, 1), (1, 1)]);
        assert_eq!(all(66).len(), 2211);
    }

    #[test]
    fn a_sample_depends_on_its_seed_alone() {
        let first = drawn(all(20), 30, 1);
        assert_eq!(first, drawn(all(20), 30, 1));
        assert_ne!(first, drawn(all(20), 30, 2));
        let distinct: BTreeSet<_> = first.iter().collect();
        assert_eq!((first.len(), distinct.len()), (30, 30));
        assert_eq!(drawn(all(4), 10, 7), all(4));
    }
}
