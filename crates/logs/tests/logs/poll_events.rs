//! Tests the event logs built from polls by comparing them with a table that has a cell for every second and node.

use std::path::Path;

use gleaner_domain::UnknownNodes;
use gleaner_logs::polls::{Options, PollSummary, StateClass, read_bytes};
use proptest::prelude::*;

/// The node states that occur in the polls, one for each class.
const STATES: [(&str, StateClass); 6] = [
    ("idle", StateClass::Idle),
    ("planned", StateClass::Planned),
    ("pilot", StateClass::Pilot),
    ("idle~", StateClass::PoweredDown),
    ("drained", StateClass::Unavailable),
    ("mixed", StateClass::Busy),
];
const NODES: usize = 4;

/// A poll: its time, and the index of each node's state, or `None` if the poll does not mention the node.
type Poll = (i64, [Option<usize>; NODES]);

/// A random log of polls, and the options for reading it.
#[derive(Debug, Clone)]
struct Case {
    polls: Vec<Poll>,
    is_whisk: bool,
    /// Seconds by which the longest allowed gap exceeds the median interval; `None` for the default gap.
    max_gap: Option<i64>,
    is_unknown_idle: bool,
    is_powered_down_idle: bool,
    /// Start and end of the event log, in sixteenths of the span of the polls.
    window: (i64, i64),
}

prop_compose! {
    fn case()(
        steps in prop::collection::vec(
            (prop_oneof![4 => 1i64..12, 1 => 30i64..90], prop::array::uniform4(prop::option::weighted(0.8, 0usize..6))),
            2..14,
        ),
        is_whisk: bool,
        max_gap in prop::option::of(0i64..40),
        is_unknown_idle: bool,
        is_powered_down_idle: bool,
        window in prop_oneof![Just((0, 16)), (0i64..8, 9i64..17)],
    ) -> Case {
        let mut time = 1000;
        let polls = steps.into_iter().map(|(step, states)| {
            time += step;
            (time, states)
        });
        Case { polls: polls.collect(), is_whisk, max_gap, is_unknown_idle, is_powered_down_idle, window }
    }
}

impl Case {
    /// The content of a file with the polls.
    fn text(&self) -> String {
        let mut text = String::new();
        for (time, states) in &self.polls {
            if self.is_whisk {
                text += &format!("{time}\npilots: {}\n", list(states, |state| state == 2));
            }
            for (state, (word, _)) in STATES.iter().enumerate() {
                let nodes = list(states, |of| of == state);
                match (nodes.is_empty(), self.is_whisk) {
                    (true, _) => {}
                    (false, true) if *word == "pilot" => {}
                    (false, true) => text += &format!("long up 1:00 1 {word} {nodes}\n"),
                    (false, false) => text += &format!("{time} {word} {nodes}\n"),
                }
            }
            if self.is_whisk {
                text += "----\n";
            }
        }
        text
    }

    /// The polls that the file contains: in the recommended format, a poll without nodes has no line.
    fn counted(&self) -> Vec<Poll> {
        let exists = |poll: &&Poll| self.is_whisk || poll.1.iter().any(Option::is_some);
        self.polls.iter().filter(exists).copied().collect()
    }

    fn options(&self, window: (i64, i64), interval: i64) -> Options {
        Options {
            nodes: Some("n[0-3],".into()),
            from: Some(window.0.to_string()),
            to: Some(window.1.to_string()),
            max_gap: self.max_gap.map(|more| interval + more),
            is_unknown_idle: self.is_unknown_idle,
            is_powered_down_idle: self.is_powered_down_idle,
            segment: 3,
            ..Options::default()
        }
    }

    fn is_idle(&self, class: StateClass) -> bool {
        match class {
            StateClass::Idle | StateClass::Planned | StateClass::Pilot => true,
            StateClass::PoweredDown => self.is_powered_down_idle,
            StateClass::Unavailable | StateClass::Busy => false,
        }
    }
}

/// The names of the nodes whose states `is_listed` accepts, separated by commas.
fn list(states: &[Option<usize>; NODES], is_listed: impl Fn(usize) -> bool) -> String {
    let nodes = (0..NODES).filter(|node| states[*node].is_some_and(&is_listed));
    nodes
        .map(|node| format!("n{node}"))
        .collect::<Vec<_>>()
        .join(",")
}

/// The lower median of the intervals between polls.
fn interval(polls: &[Poll]) -> i64 {
    let mut intervals: Vec<_> = polls.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
    intervals.sort_unstable();
    intervals[(intervals.len() - 1) / 2]
}

/// The class of a node at the given second; `None` if the class is unknown.
fn class(case: &Case, polls: &[Poll], node: usize, second: i64, step: i64) -> Option<StateClass> {
    let mentions = |poll: &&Poll| case.is_whisk || poll.1[node].is_some();
    let before = polls
        .iter()
        .filter(mentions)
        .rfind(|poll| poll.0 <= second)?;
    let after = polls.iter().filter(mentions).find(|poll| poll.0 > second);
    let end = polls[polls.len() - 1].0;
    let gap = after.map_or(end, |poll| poll.0) - before.0;
    let max_gap = case.max_gap.map_or(5 * step, |more| step + more);
    let is_unknown = gap > max_gap && second >= before.0 + step;
    let listed = before.1[node].map(|state| STATES[state].1);
    (!is_unknown).then_some(listed.unwrap_or(StateClass::Busy))
}

/// The time of each event, with the states of all nodes after the event, and the summary of the polls.
fn events(text: &str, options: &Options) -> (Vec<(i64, [bool; NODES])>, PollSummary) {
    let log = read_bytes(Path::new("polls"), text.as_bytes(), options).unwrap();
    let mut idle = [false; NODES];
    let mut rows = Vec::new();
    let summary = log.sweep(|time, changes| {
        for change in changes {
            assert_ne!(idle[change.node() as usize], change.idle());
            idle[change.node() as usize] = change.idle();
        }
        rows.push((time.second(), idle));
        Ok(())
    });
    (rows, summary.unwrap())
}

proptest! {
    #![proptest_config(gleaner_testing::cases(512))]

    // The oracle is the table with a cell for every second.
    #[test]
    fn events_equal_the_dense_table(case in case()) {
        let polls = case.counted();
        prop_assume!(polls.len() >= 2);
        let (start, end) = (polls[0].0, polls[polls.len() - 1].0);
        let at = |sixteenths: i64| start + (end - start) * sixteenths / 16;
        let window = (at(case.window.0), at(case.window.1).min(end));
        prop_assume!(window.0 < window.1);
        let step = interval(&polls);
        let (rows, summary) = events(&case.text(), &case.options(window, step));

        let mut expected: Vec<(i64, [bool; NODES])> = Vec::new();
        let (mut seconds, mut unknown, mut uncovered, mut idle_lower) = ([0u64; 6], 0, 0, 0);
        for second in window.0..=window.1 {
            let classes: [_; NODES] =
                std::array::from_fn(|node| class(&case, &polls, node, second, step));
            let idle = classes.map(|class| {
                class.map_or(case.is_unknown_idle, |class| case.is_idle(class))
            });
            if second == window.1 || expected.last().is_none_or(|(_, before)| *before != idle) {
                expected.push((second, idle));
            }
            if second < window.1 {
                let known: Vec<_> = classes.iter().flatten().collect();
                known.iter().for_each(|class| seconds[class.index()] += 1);
                idle_lower += known.iter().filter(|class| case.is_idle(***class)).count() as u64;
                match NODES - known.len() {
                    NODES => uncovered += 1,
                    some => unknown += some as u64,
                }
            }
        }
        prop_assert_eq!(rows, expected);
        prop_assert_eq!(summary.seconds, seconds);
        prop_assert_eq!((summary.coverage.unknown, summary.coverage.uncovered), (unknown, uncovered));
        let quality = &summary.quality;
        let shown = if case.is_unknown_idle { UnknownNodes::Idle } else { UnknownNodes::Busy };
        prop_assert_eq!(quality.unknown_nodes, shown);
        prop_assert_eq!(
            (quality.idle_lower, quality.idle_upper, quality.unknown, quality.uncovered),
            (idle_lower, idle_lower + unknown, unknown, uncovered * NODES as u64)
        );
    }

    // With `--times spread`, a change takes place after the last poll with the old state, but not after the first poll
    // with the new state. At a poll that mentions a node, the logs with and without spread changes therefore agree on
    // its state.
    #[test]
    fn spread_changes_lie_between_their_polls(case in case(), seed: u64) {
        let polls = case.counted();
        prop_assume!(polls.len() >= 2);
        let window = (polls[0].0, polls[polls.len() - 1].0);
        let polled = case.options(window, interval(&polls));
        let spread = Options { spread: Some(seed), ..polled.clone() };
        let (polled, _) = events(&case.text(), &polled);
        let (rows, summary) = events(&case.text(), &spread);
        prop_assert_eq!(&events(&case.text(), &spread), &(rows.clone(), summary));
        let state = |rows: &[(i64, [bool; NODES])], second| {
            rows[rows.partition_point(|(time, _)| *time <= second) - 1].1
        };
        for (time, states) in &polls {
            for (node, listed) in states.iter().enumerate() {
                if case.is_whisk || listed.is_some() {
                    prop_assert_eq!(state(&rows, *time)[node], state(&polled, *time)[node]);
                }
            }
        }
        let changes = |rows: &[(i64, [bool; NODES])], node: usize| {
            rows.windows(2).filter(|pair| pair[0].1[node] != pair[1].1[node]).count()
        };
        for node in 0..NODES {
            prop_assert_eq!(changes(&rows, node), changes(&polled, node));
        }
    }
}
