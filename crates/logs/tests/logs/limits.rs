//! Tests that the number of nodes is limited and that messages name the limit. Without the limit, a
//! log of a few bytes could name more nodes than memory can hold.

use gleaner_logs::scheduler::{Format, Options, Reason, Summary};

use super::support::events;

/// The summary of a log of overlapping jobs, one for each list of nodes.
fn read(lists: impl Iterator<Item = String>, options: &Options) -> Summary {
    let mut log = "JobIDRaw|State|Start|End|NodeList\n".to_owned();
    for (job, list) in lists.enumerate() {
        log += &format!(
            "{job}|COMPLETED|2026-01-01T0{}:00:00|2026-01-01T09:00:00|{list}\n",
            job % 3
        );
    }
    events(log.as_bytes(), options).unwrap().1
}

// There are 160 lists of up to 262,144 nodes, and the first list names all nodes.
#[test]
fn overlapping_lists_cost_only_their_distinct_nodes() {
    let lists = (0..160).map(|job| format!("n[0-{}]", 262_143 - job));
    let summary = read(lists, &Options::new(Format::Slurm));
    assert_eq!(summary.nodes, 262_144);
    assert_eq!(summary.swept.changes, 262_144);
    assert_eq!(
        (summary.log_counts.jobs, summary.swept.shares.idle),
        (160, 0.0)
    );
    // Every job but the first uses only nodes that earlier jobs hold.
    let overlaps: u64 = (1..160).map(|job| 262_144 - job).sum();
    assert_eq!(summary.log_counts.found[&Reason::Overlap].count, overlaps);
}

#[test]
fn a_log_names_a_million_nodes_at_most() {
    let lists = (0..20).map(|job| format!("rack{job}-[0-262143]"));
    let summary = read(lists, &Options::new(Format::Slurm));
    assert_eq!((summary.nodes, summary.log_counts.jobs), (1 << 20, 4));
    let unknown = &summary.log_counts.found[&Reason::UnknownNodes];
    let example = "log, line 6: 262144 nodes beyond the first 1048576 of the log, such as rack4-0";
    assert_eq!((unknown.count, &*unknown.example), (16, example));
}

#[test]
fn a_list_of_nodes_names_a_million_at_most() {
    let lists: String = (0..20)
        .map(|job| format!("rack{job}-[0-262143]\n"))
        .collect();
    let name = std::path::Path::new("nodes");
    let error = gleaner_logs::scheduler::read_nodes(name, lists.as_bytes()).unwrap_err();
    let part = "nodes, line 5: found \"rack4-[0-262143]\", which is a list that increases the number \
                of nodes to more than 1048576";
    assert!(error.to_string().contains(part), "{error}");
}
