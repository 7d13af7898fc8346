//! Generates logs of idle nodes.

use std::collections::BTreeMap;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, Exp, LogNormal};

use gleaner_domain::Observer;
use gleaner_domain::error::{Error, Result, check_stop};
use gleaner_domain::node_classes::MAX_CLASSES;
use gleaner_domain::{Change, EventLog, EventLogBuilder, NodeClasses, Utc};

/// Distribution of the lengths of idle fragments, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FragmentLength {
    /// Log-normal distribution.
    LogNormal {
        /// Median in seconds.
        median: f64,
        /// Standard deviation of the natural logarithm.
        sigma: f64,
    },
    /// Exponential distribution.
    Exponential {
        /// Mean in seconds.
        mean: f64,
    },
    /// The same length for every fragment.
    Fixed {
        /// Length in seconds.
        seconds: f64,
    },
}

/// Options of a generated log.
#[derive(Debug, Clone, PartialEq)]
pub struct EventOptions {
    /// Number of nodes.
    pub nodes: u32,
    /// Duration of the log in days.
    pub days: f64,
    /// Time of the first row.
    pub start: Utc,
    /// Share of node-time that is idle, above 0 and below 1.
    pub idle_share: f64,
    /// Distribution of the lengths of idle fragments.
    pub fragment: FragmentLength,
    /// Seconds between polls of the nodes. Changes are logged at multiples of this interval.
    pub poll: u32,
    /// Random seed. The same options always produce the same log.
    pub seed: u64,
}

/// Generates a log. Every node alternates, independently of the other nodes, between idle fragments of the given
/// lengths and busy spans. The lengths of busy spans are exponentially distributed, and the idle share
/// determines their mean. Progress is reported to the observer in nodes.
///
/// # Errors
/// [`Error::Usage`] for options outside their ranges. [`Error::Stopped`] if the observer requests
/// a stop.
pub fn generate(options: &EventOptions, observer: &dyn Observer) -> Result<EventLog> {
    let lengths = Lengths::new(options)?;
    super::end(options.start, options.days * 86_400.0, "--start and --days")?;
    let mut rng = ChaCha8Rng::seed_from_u64(options.seed);
    let looks = (options.days * 86_400.0 / f64::from(options.poll)).floor() as u64;
    let mut flips: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
    let mut starts_idle = Vec::new();
    for node in 0..options.nodes {
        check_stop(observer)?;
        observer.progress(node as usize, options.nodes as usize);
        let idle = rng.random_bool(options.idle_share);
        if idle {
            starts_idle.push(Change::new(node, true));
        }
        for look in lengths.flips(idle, looks, &mut rng) {
            flips.entry(look).or_default().push(node);
        }
    }
    Ok(assemble(options, &starts_idle, &flips, looks))
}

/// Assigns classes to blocks of consecutive nodes. Each block is given as the name of its class and its number of
/// nodes.
///
/// # Errors
/// [`Error::Usage`] if there is no block, a block has no name or no nodes, or there are too many classes.
pub fn classes(blocks: &[(String, u32)]) -> Result<NodeClasses> {
    let is_empty = |(name, nodes): &(String, u32)| name.is_empty() || *nodes == 0;
    if blocks.is_empty() || blocks.iter().any(is_empty) {
        let message =
            "--classes needs a name and at least one node for each class, such as v100=60,a100=40";
        return Err(Error::Usage(message.to_owned()));
    }
    let nodes = blocks.iter().flat_map(|(name, nodes)| {
        let nodes = usize::try_from(*nodes).unwrap_or(usize::MAX);
        std::iter::repeat_n(name.as_str(), nodes)
    });
    NodeClasses::of_names(nodes)
        .ok_or_else(|| Error::Usage(format!("--classes: found more than {MAX_CLASSES} classes")))
}

fn assemble(
    options: &EventOptions,
    starts_idle: &[Change],
    flips: &BTreeMap<u64, Vec<u32>>,
    looks: u64,
) -> EventLog {
    let width = options.nodes.saturating_sub(1).max(1).ilog10() as usize + 1;
    let names = (0..options.nodes)
        .map(|n| format!("n{n:0width$}"))
        .collect();
    let at = |look: u64| {
        options
            .start
            .plus_seconds(look as f64 * f64::from(options.poll))
    };
    let mut log = EventLogBuilder::new(names);
    let mut idle = vec![false; options.nodes as usize];
    starts_idle
        .iter()
        .for_each(|c| idle[c.node() as usize] = true);
    log.push_row(at(0), starts_idle.iter().copied());
    for (&look, nodes) in flips {
        log.push_row(
            at(look),
            nodes.iter().map(|&node| {
                let state = &mut idle[node as usize];
                *state = !*state;
                Change::new(node, *state)
            }),
        );
    }
    if flips.keys().next_back().is_none_or(|&last| last < looks) {
        log.push_row(at(looks), []);
    }
    log.finish_trusted()
}

/// Draws the lengths of idle and busy spans, as numbers of polls.
struct Lengths {
    idle: Drawn,
    busy: Exp<f64>,
    poll: f64,
}

enum Drawn {
    LogNormal(LogNormal<f64>),
    Exponential(Exp<f64>),
    Fixed(f64),
}

impl Lengths {
    fn new(options: &EventOptions) -> Result<Self> {
        let refuse = |what: &str| Err(Error::Usage(what.into()));
        if options.nodes == 0 || options.nodes > 10_000_000 {
            return refuse("--nodes must be between 1 and 10000000");
        }
        if !(options.days > 0.0 && options.days <= 10_000.0) || options.poll == 0 {
            return refuse(
                "--days must be above 0 and at most 10000, and --poll must be at least 1 second",
            );
        }
        if !(options.idle_share > 0.0 && options.idle_share < 1.0) {
            return refuse("--idle-share must be above 0 and below 1");
        }
        let (idle, mean) = match options.fragment {
            FragmentLength::LogNormal { median, sigma } => (
                LogNormal::new(median.ln(), sigma)
                    .ok()
                    .map(Drawn::LogNormal),
                median * (sigma * sigma / 2.0).exp(),
            ),
            FragmentLength::Exponential { mean } => {
                (Exp::new(1.0 / mean).ok().map(Drawn::Exponential), mean)
            }
            FragmentLength::Fixed { seconds } => (Some(Drawn::Fixed(seconds)), seconds),
        };
        let busy = Exp::new(options.idle_share / (1.0 - options.idle_share) / mean);
        match (idle, busy) {
            (Some(idle), Ok(busy)) if mean > 0.0 && mean.is_finite() => Ok(Lengths {
                idle,
                busy,
                poll: f64::from(options.poll),
            }),
            _ => refuse("the lengths of idle fragments must be above 0 seconds"),
        }
    }

    /// Draws the numbers of the polls before `end` at which a node changes its state. `idle` is the node's initial
    /// state.
    fn flips(&self, mut idle: bool, end: u64, rng: &mut ChaCha8Rng) -> Vec<u64> {
        let mut out = Vec::new();
        let mut look = 0u64;
        loop {
            let seconds = match (&self.idle, idle) {
                (_, false) => self.busy.sample(rng),
                (Drawn::LogNormal(d), true) => d.sample(rng),
                (Drawn::Exponential(d), true) => d.sample(rng),
                (Drawn::Fixed(seconds), true) => *seconds,
            };
            look = look.saturating_add(((seconds / self.poll).round() as u64).max(1));
            if look >= end {
                return out;
            }
            out.push(look);
            idle = !idle;
        }
    }
}

#[cfg(test)]
mod tests {
    use gleaner_domain::Unobserved;
    use gleaner_testing::StopAfter;

    use super::*;

    fn options() -> EventOptions {
        EventOptions {
            nodes: 50,
            days: 4.0,
            start: Utc::from_seconds(0),
            idle_share: 0.2,
            fragment: FragmentLength::Exponential { mean: 1800.0 },
            poll: 10,
            seed: 1,
        }
    }

    #[test]
    fn the_log_has_the_requested_idle_share() {
        let log = generate(&options(), &Unobserved).unwrap();
        let share = log.idle_node_seconds() / (50.0 * 4.0 * 86_400.0);
        assert!((share - 0.2).abs() < 0.02, "{share}");
        assert_eq!(log.times()[log.len() - 1], Utc::from_seconds(4 * 86_400));
    }

    #[test]
    fn classes_are_blocks_of_consecutive_nodes() {
        let blocks = |blocks: &[(&str, u32)]| {
            let named = blocks
                .iter()
                .map(|(name, nodes)| ((*name).to_owned(), *nodes));
            classes(&named.collect::<Vec<_>>())
        };
        let found = blocks(&[("v100", 2), ("a100", 1), ("v100", 1)]).unwrap();
        assert_eq!(found.names(), ["v100", "a100"]);
        assert_eq!(found.of_nodes(), [0, 0, 1, 0]);
        for wrong in [&[][..], &[("", 3)], &[("a", 3), ("b", 0)]] {
            assert!(matches!(blocks(wrong), Err(Error::Usage(_))), "{wrong:?}");
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_log() {
        assert_eq!(
            generate(&options(), &Unobserved).unwrap(),
            generate(&options(), &Unobserved).unwrap()
        );
        let other = EventOptions {
            seed: 2,
            ..options()
        };
        assert_ne!(
            generate(&options(), &Unobserved).unwrap(),
            generate(&other, &Unobserved).unwrap()
        );
    }

    #[test]
    fn options_outside_their_ranges_are_refused() {
        for bad in [
            EventOptions {
                nodes: 0,
                ..options()
            },
            EventOptions {
                idle_share: 1.0,
                ..options()
            },
            EventOptions {
                poll: 0,
                ..options()
            },
            EventOptions {
                start: Utc(i64::MAX - 1),
                ..options()
            },
            EventOptions {
                days: f64::NAN,
                ..options()
            },
            EventOptions {
                fragment: FragmentLength::Exponential { mean: -1.0 },
                ..options()
            },
            EventOptions {
                fragment: FragmentLength::Fixed { seconds: 0.0 },
                ..options()
            },
            EventOptions {
                fragment: FragmentLength::LogNormal {
                    median: 1.0,
                    sigma: f64::NAN,
                },
                ..options()
            },
        ] {
            assert!(
                matches!(generate(&bad, &Unobserved), Err(Error::Usage(_))),
                "{bad:?}"
            );
        }
    }

    #[test]
    fn a_stopped_generation_ends_at_the_next_node() {
        for reports in [0, 3] {
            let observer = StopAfter::new(reports);
            let stopped = generate(&options(), &observer);
            assert!(matches!(stopped, Err(Error::Stopped)));
            assert_eq!(observer.progress().len(), reports);
        }
    }
}
