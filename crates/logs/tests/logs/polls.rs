//! Tests the parsers of both formats of node-state polls.

use std::collections::BTreeMap;
use std::path::Path;

use gleaner_logs::polls::{PollNames, StateClass, each_poll};
use gleaner_logs::scheduler::{Input, Reason};

/// A poll with the names of its nodes: its time, and the class of each node.
type Words = (i64, BTreeMap<String, StateClass>);

/// The polls in a string, with the names of their nodes and the counts of lines.
fn polls(text: &str) -> (Vec<Words>, PollNames) {
    let mut found = Vec::new();
    let input = Input::new(Path::new("polls"), text.as_bytes());
    let read = each_poll([input], |poll| {
        found.push((poll.time, poll.nodes.to_vec()));
        Ok(())
    })
    .unwrap();
    let words = found.into_iter().map(|(time, nodes)| {
        let named = nodes
            .into_iter()
            .map(|(node, class)| (read.names[node as usize].clone(), class));
        (time, named.collect())
    });
    (words.collect(), read)
}

fn named(nodes: &[(&str, StateClass)]) -> BTreeMap<String, StateClass> {
    let named = nodes
        .iter()
        .map(|(name, class)| ((*name).to_owned(), *class));
    named.collect()
}

/// The number of faults of each kind.
fn faults(read: &PollNames) -> Vec<(Reason, u64)> {
    let found = read.counts.found.iter();
    found
        .map(|(reason, found)| (*reason, found.count))
        .collect()
}

use StateClass::{Busy, Idle, Pilot, Planned, PoweredDown};

#[test]
fn both_forms_give_the_same_polls() {
    let expected = [
        (
            10,
            named(&[("n1", Idle), ("n2", Pilot), ("n3", PoweredDown)]),
        ),
        (25, named(&[])),
        (40, named(&[("n1", Idle)])),
    ];
    let lines = "10 idle n[1-2]\n10 idle~ n3\n10 pilot n2\n25 busy n[1-3]\n40 idle n1\n";
    let (found, read) = polls(lines);
    assert_eq!((&found[0], &found[2]), (&expected[0], &expected[2]));
    assert_eq!(found[1].1.values().collect::<Vec<_>>(), [&Busy; 3]);
    assert_eq!(faults(&read), []);
    let blocks = "10\ninvokers: n2\nlong up 1:00 2 idle n[1-2]\nlong up 1:00 1 idle~ n3\n----\n\
                  25\ninvokers:\n----\n40\npilots: \nlong up 1:00 1 idle n1\n----\n";
    let (found, read) = polls(blocks);
    assert_eq!(found, expected);
    assert_eq!(faults(&read), []);
}

#[test]
fn faults_of_lines_are_counted_and_left_out() {
    let (found, read) = polls(
        "10 idle n1\n10 idle n[1-2]\n10 mixed n2\n9 idle n3\n10 what n4\nidle n5\n10 idle n[6\n\
         20 planned n1\n",
    );
    let first = named(&[("n1", Idle), ("n2", Idle), ("n4", Busy)]);
    assert_eq!(found, [(10, first), (20, named(&[("n1", Planned)]))]);
    let expected = [
        (Reason::Unreadable, 2),
        (Reason::Earlier, 1),
        (Reason::ListedTwice, 2),
        (Reason::UnknownState, 1),
    ];
    assert_eq!(faults(&read), expected);
    let example = &read.counts.found[&Reason::Earlier].example;
    assert_eq!(
        example,
        "polls, line 4: the poll at 9 follows the poll at 10"
    );
}

#[test]
fn quotes_are_not_part_of_names() {
    let lines = "10 idle n[1-2]\n25 busy n1\n25 busy n2\n40 idle n[1-2]\n";
    let quoted = lines.replace(" n", " \"n").replace('\n', "\"\n");
    let (found, read) = polls(&quoted);
    assert_eq!(found, polls(lines).0);
    assert_eq!(faults(&read), []);
}

/// The last line of a file that is still being written may be incomplete.
#[test]
fn a_last_line_without_a_line_break_makes_no_node() {
    for (last, is_used) in [
        ("25 idle n01,n0", false),
        ("25 idle n[01-0", false),
        ("25 idle n01,n0\n", true),
        ("25 idle n01,n02", true),
        ("25 idle n[01-02]", true),
    ] {
        let (found, read) = polls(&format!("10 busy n[01-02]\n{last}"));
        let of_faults = [(Reason::Unreadable, 1)];
        let expected = if is_used { &[][..] } else { &of_faults };
        assert_eq!(faults(&read), expected, "{last}");
        assert_eq!(found.len(), 1 + usize::from(is_used), "{last}");
    }
}

/// Nodes that a block does not list are busy, so a block that is cut off cannot be used.
#[test]
fn faults_of_blocks_are_counted_and_left_out() {
    let row = |node: &str| format!("long up 1:00 1 idle {node}\n");
    let text = format!(
        "10\n{}20\n{}----\n20\n{}----\n15\n{}----\n{}30\nlong up\n----\n40\n{}",
        row("n1"),
        row("n2"),
        row("n3"),
        row("n4"),
        row("n5"),
        row("n6")
    );
    let (found, read) = polls(&text);
    assert_eq!(found, [(20, named(&[("n2", Idle)])), (30, named(&[]))]);
    assert_eq!(
        faults(&read),
        [(Reason::Unreadable, 3), (Reason::Earlier, 2)]
    );
}

/// The expected figures are those of the notebook that analysed these polls of 17 March 2022. The notebook counts nodes
/// that are idle or have a pilot. It also counts, over all nodes, the runs of consecutive polls in which a node is idle
/// or has a pilot.
#[test]
fn the_counts_of_a_published_notebook() {
    let Some(path) = gleaner_testing::shared("machines/whisk/17_03_2022_idle_nodes.txt") else {
        return;
    };
    let (mut count, mut sum, mut runs, mut pilots) = (0, 0, 0, 0);
    let mut before: Vec<u32> = Vec::new();
    let read = each_poll([Input::open(&path)], |poll| {
        let is_counted = |class| matches!(class, Idle | Pilot);
        let counted = poll.nodes.iter().filter(|(_, class)| is_counted(*class));
        let now: Vec<u32> = counted.map(|(node, _)| *node).collect();
        count += 1;
        sum += now.len();
        runs += now.iter().filter(|node| !before.contains(node)).count();
        pilots += poll
            .nodes
            .iter()
            .filter(|(_, class)| *class == Pilot)
            .count();
        before = now;
        Ok(())
    })
    .unwrap();
    assert_eq!((count, sum, runs, pilots), (8057, 95_504, 1599, 85_925));
    assert_eq!(faults(&read), []);
}
