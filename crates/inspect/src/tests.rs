//! Compares the inspection with a matrix of the state of every node in every second, and tests small examples.

use proptest::prelude::*;

use super::*;
use gleaner_domain::{Change, Error, EventLogBuilder, NodeClasses, Unobserved, Utc};
use gleaner_testing::StopAtCheck;

/// Builds a log from rows, each given as (seconds after the previous row, states).
fn log(rows: &[(i64, Vec<bool>)]) -> EventLog {
    let width = rows.first().map_or(0, |(_, states)| states.len());
    let mut log = EventLogBuilder::new((0..width).map(|n| format!("n{n}")).collect());
    let mut before = vec![false; width];
    let mut time = 1_612_915_732;
    for (gap, row) in rows {
        time += gap;
        let changed = (0..width).filter(|&n| row[n] != before[n]);
        let changes: Vec<_> = changed.map(|n| Change::new(n as u32, row[n])).collect();
        log.push_row(Utc::from_seconds(time), changes);
        before.clone_from(row);
    }
    log.finish_trusted()
}

fn inspected(rows: &[(i64, Vec<bool>)]) -> Inspection {
    inspect(&log(rows), RescaleCosts::typical(10), &Unobserved).unwrap()
}

/// The state of every node in every second of the span.
fn per_second(rows: &[(i64, Vec<bool>)]) -> Vec<Vec<bool>> {
    rows.windows(2)
        .flat_map(|pair| vec![pair[0].1.clone(); pair[1].0 as usize])
        .collect()
}

/// Lengths of the runs of consecutive idle seconds of a node.
fn runs(seconds: &[Vec<bool>], node: usize) -> Vec<usize> {
    seconds
        .chunk_by(|a, b| a[node] == b[node])
        .filter(|run| run[0][node])
        .map(<[_]>::len)
        .collect()
}

/// Generates rows at different times. The last row changes no state, because the matrix ends at this row.
fn rows() -> impl Strategy<Value = Vec<(i64, Vec<bool>)>> {
    (1usize..5).prop_flat_map(|width| {
        let row = (1i64..4000, prop::collection::vec(any::<bool>(), width));
        prop::collection::vec(row, 1..20).prop_map(|mut rows| {
            let last = rows[rows.len() - 1].1.clone();
            rows.push((7, last));
            rows
        })
    })
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0)
}

proptest! {
    #![proptest_config(gleaner_testing::cases(256))]

    #[test]
    fn totals_and_fragments_equal_a_count_by_seconds(rows in rows()) {
        let found = inspected(&rows);
        let seconds = per_second(&rows);
        let idle = |second: &Vec<bool>| second.iter().filter(|&&s| s).count();
        let total: usize = seconds.iter().map(idle).sum();
        prop_assert!(close(found.span_seconds, seconds.len() as f64));
        prop_assert!(close(found.idle_node_seconds, total as f64));
        prop_assert_eq!(found.idle_nodes_max as usize, seconds.iter().map(idle).max().unwrap());
        let mut lengths: Vec<usize> =
            (0..seconds[0].len()).flat_map(|node| runs(&seconds, node)).collect();
        lengths.sort_unstable();
        let d = &found.fragments.lengths;
        prop_assert_eq!(d.count, lengths.len());
        prop_assert!(close(d.sum_s, total as f64));
        prop_assert_eq!(d.max_s, lengths.last().map_or(0.0, |&l| l as f64));
        prop_assert_eq!(&fragment_bins(&log(&rows)), &d.bins);
        for bin in d.bins.iter().chain(&d.fine_bins) {
            let to = bin.to_s.unwrap_or(f64::INFINITY);
            let inside: Vec<_> = lengths.iter().map(|&l| l as f64)
                .filter(|&l| bin.from_s <= l && l < to).collect();
            prop_assert_eq!(bin.count, inside.len());
            prop_assert!(close(bin.sum_s, inside.iter().sum()));
        }
    }

    #[test]
    fn the_calendar_and_the_timeline_equal_a_count_by_seconds(rows in rows()) {
        let found = inspected(&rows);
        let seconds = per_second(&rows);
        let start = 1_612_915_732 + rows[0].0;
        let mut hours = [(0.0, 0.0); 24];
        let step = found.timeline.step_seconds as usize;
        let mut steps = vec![(0.0, 0.0); seconds.len().div_ceil(step)];
        for (i, second) in seconds.iter().enumerate() {
            let idle = second.iter().filter(|&&s| s).count() as f64;
            let hour = ((start + i as i64) / 3600 % 24) as usize;
            for sum in [&mut hours[hour], &mut steps[i / step]] {
                *sum = (sum.0 + 1.0, sum.1 + idle);
            }
        }
        for (slot, (covered, idle)) in found.calendar.hours.iter().zip(hours) {
            prop_assert_eq!(slot.seconds, covered);
            prop_assert_eq!(slot.idle_nodes.is_some(), covered > 0.0);
            prop_assert!(close(slot.idle_nodes.unwrap_or(0.0) * covered, idle));
        }
        prop_assert_eq!(found.timeline.idle_nodes.len(), steps.len());
        for (mean, (covered, idle)) in found.timeline.idle_nodes.iter().zip(steps) {
            prop_assert!(close(mean * covered, idle));
        }
        let week: f64 = found.calendar.week.iter().flatten().map(|s| s.seconds).sum();
        let days: f64 = found.calendar.weekdays.iter().map(|s| s.seconds).sum();
        prop_assert!(close(week, found.span_seconds) && close(days, found.span_seconds));
    }

    #[test]
    fn nodes_that_never_change_equal_a_count_by_seconds(rows in rows()) {
        let found = inspected(&rows);
        let seconds = per_second(&rows);
        let all = |state: bool| -> Vec<String> {
            (0..seconds[0].len())
                .filter(|&node| seconds.iter().all(|s| s[node] == state))
                .map(|node| format!("n{node}"))
                .collect()
        };
        prop_assert_eq!(&found.never_idle.names, &all(false));
        prop_assert_eq!(&found.always_idle.names, &all(true));
    }
}

// Node 0 is idle throughout, and node 1 is idle from 10 s to 70 s.
#[test]
fn fragments_cut_off_by_the_log_count_with_their_visible_length() {
    let found = inspected(&[
        (0, vec![true, false]),
        (10, vec![true, true]),
        (60, vec![true, false]),
        (30, vec![true, false]),
    ]);
    let f = &found.fragments;
    assert_eq!((f.lengths.count, f.cut_at_start, f.cut_at_end), (2, 1, 1));
    assert_eq!((f.lengths.min_s, f.lengths.max_s), (60.0, 100.0));
    assert_eq!(found.events_without_change, 1);
    assert_eq!(found.idle_share, 160.0 / 200.0);
    assert_eq!(found.event_gaps.count, 3);
}

#[test]
fn a_single_row_has_no_span_and_no_window() {
    let found = inspected(&[(0, vec![true, false])]);
    assert_eq!((found.span_seconds, found.idle_share), (0.0, 0.0));
    assert_eq!(found.suggestion.window, None);
    assert_eq!(found.suspicions, []);
    let empty = inspect(&log(&[]), RescaleCosts::typical(10), &Unobserved).unwrap();
    assert_eq!((empty.events, empty.nodes, empty.from.as_str()), (0, 0, ""));
}

#[test]
fn a_stop_ends_the_inspection_at_any_row() {
    let log = log(&[(0, vec![true]), (60, vec![false]), (60, vec![true])]);
    let costs = RescaleCosts::typical(10);
    for at in 1..=3 {
        let inspected = inspect(&log, costs, &StopAtCheck::new(at));
        assert!(matches!(inspected, Err(Error::Stopped)), "{at}");
        let suggested = suggest(&log, costs, &StopAtCheck::new(at));
        assert!(matches!(suggested, Err(Error::Stopped)), "{at}");
    }
    assert!(inspect(&log, costs, &StopAtCheck::new(4)).is_ok());
}

/// Rows of 30 nodes, of which about half are idle and one changes every 10 s. If `odd` returns a gap and a state for a
/// row, the row comes after this gap, and all nodes have this state, which makes the row suspicious.
fn steady(odd: impl Fn(usize) -> Option<(i64, bool)>) -> Vec<(i64, Vec<bool>)> {
    (0..60)
        .map(|i| match odd(i) {
            Some((gap, state)) => (gap, vec![state; 30]),
            None => (10, (0..30).map(|n| n % 2 == 0 || n == i % 30).collect()),
        })
        .collect()
}

fn kinds(found: &Inspection) -> Vec<(SuspicionKind, f64, usize)> {
    found
        .suspicions
        .iter()
        .map(|s| (s.kind, s.seconds, s.rows))
        .collect()
}

#[test]
fn a_steady_log_is_not_suspicious() {
    assert_eq!(inspected(&steady(|_| None)).suspicions, []);
}

#[test]
fn outages_of_the_collector_are_suspicious() {
    let busy = steady(|i| (20..22).contains(&i).then_some((10, false)));
    assert_eq!(
        kinds(&inspected(&busy)),
        [(SuspicionKind::AllBusy, 20.0, 3)]
    );
    let idle = steady(|i| (i == 20).then_some((10, true)));
    assert_eq!(
        kinds(&inspected(&idle)),
        [(SuspicionKind::AllIdle, 10.0, 2)]
    );
}

#[test]
fn gaps_far_beyond_the_usual_and_repeated_times_are_suspicious() {
    let mut rows = steady(|_| None);
    rows[30].0 = 101;
    assert_eq!(
        kinds(&inspected(&rows)),
        [(SuspicionKind::LogGap, 101.0, 2)]
    );
    rows[30].0 = 100;
    rows[40].0 = 0;
    rows[41].0 = 0;
    assert_eq!(
        kinds(&inspected(&rows)),
        [(SuspicionKind::RepeatedTime, 0.0, 3)]
    );
}

#[test]
fn nodes_that_leave_one_by_one_are_not_suspicious() {
    let rows: Vec<_> = (0..60usize)
        .map(|i| (10, (0..30).map(|n| n < 30 - i.abs_diff(30)).collect()))
        .collect();
    // All nodes are busy at the first row, where the log starts, so this span is suspicious. In row 30 all nodes are
    // idle, but they became idle one by one.
    assert_eq!(
        kinds(&inspected(&rows)),
        [(SuspicionKind::AllBusy, 10.0, 2)]
    );
}

#[test]
fn few_idle_nodes_becoming_busy_is_not_suspicious() {
    let rows: Vec<_> = (0..60)
        .map(|i| (10, (0..30).map(|n| i % 5 > 0 && n < 4).collect()))
        .collect();
    assert_eq!(inspected(&rows).suspicions, []);
}

proptest! {
    #![proptest_config(gleaner_testing::cases(128))]

    // The oracle inspects the nodes of each class as a separate log.
    #[test]
    fn classes_are_inspected_like_logs_of_their_nodes(rows in rows(), first in 1usize..4) {
        let width = rows[0].1.len();
        prop_assume!(first < width);
        let part = |nodes: std::ops::Range<usize>| -> Vec<(i64, Vec<bool>)> {
            let cut = rows.iter().map(|(gap, states)| (*gap, states[nodes.clone()].to_vec()));
            cut.collect()
        };
        let names = (0..width).map(|node| if node < first { "a" } else { "b" });
        let log = log(&rows).with_classes(NodeClasses::of_names(names));
        let found = inspect(&log, RescaleCosts::typical(10), &Unobserved).unwrap();
        prop_assert_eq!(found.classes.len(), 2);
        let idle = found.idle_node_seconds;
        for (class, nodes) in found.classes.iter().zip([0..first, first..width]) {
            let own = inspected(&part(nodes));
            let median = own.fragments.lengths.percentile(50.0);
            prop_assert_eq!(class.nodes as usize, own.nodes);
            prop_assert_eq!((class.fragments, class.median_fragment_s), (own.fragments.lengths.count, median));
            prop_assert!(close(class.idle_node_seconds, own.idle_node_seconds));
            prop_assert!(close(class.idle_share, own.idle_share));
            prop_assert!(close(class.idle_nodes_mean, own.idle_nodes_mean));
            prop_assert!(close(class.share_of_idle * idle, own.idle_node_seconds));
        }
    }
}

#[test]
fn a_single_class_is_not_shown() {
    let rows = [
        (0, vec![true, false]),
        (60, vec![true, true]),
        (60, vec![false, false]),
    ];
    let of = |names: &[&str], of_node: Vec<u16>| {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        let log = log(&rows).with_classes(NodeClasses::new(names, of_node));
        let found = inspect(&log, RescaleCosts::typical(10), &Unobserved).unwrap();
        found
            .classes
            .into_iter()
            .map(|class| class.name)
            .collect::<Vec<_>>()
    };
    assert_eq!(of(&["a", "b"], vec![1, 1]), Vec::<String>::new());
    assert_eq!(of(&["a", "b", "c"], vec![2, 0]), ["a", "c"]);
    assert!(inspected(&rows).classes.is_empty());
}
