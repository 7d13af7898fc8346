//! Tests the bounds on the idle time of logs in which jobs list fewer nodes than they used.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

use gleaner_domain::{Quality, UnknownNodes, Unobserved};
use gleaner_logs::scheduler;
use gleaner_logs::scheduler::{Format, Holds, Input, Options};
use proptest::prelude::*;

const SHOWN: [UnknownNodes; 3] = [UnknownNodes::Busy, UnknownNodes::Deal, UnknownNodes::Idle];

/// A job that runs from `start` to `end` on `nodes`, and lists only the first `listed` of them.
#[derive(Debug, Clone)]
struct Job {
    start: i64,
    end: i64,
    nodes: Vec<usize>,
    listed: usize,
}

/// Random jobs on `nodes` nodes. Jobs do not share nodes: each takes random nodes that are free during its run.
fn jobs(nodes: usize) -> impl Strategy<Value = Vec<Job>> {
    let job = (
        0i64..30,
        1i64..12,
        1usize..=nodes,
        any::<u64>(),
        any::<bool>(),
    );
    prop::collection::vec(job, 1..10).prop_map(move |wanted| {
        let mut jobs: Vec<Job> = Vec::new();
        for (start, length, count, seed, is_whole) in wanted {
            let end = start + length;
            let overlaps = |job: &&Job| job.start < end && start < job.end;
            let taken: BTreeSet<usize> = jobs
                .iter()
                .filter(overlaps)
                .flat_map(|job| job.nodes.clone())
                .collect();
            let mut free: Vec<usize> = (0..nodes).filter(|node| !taken.contains(node)).collect();
            let shift = seed as usize % free.len().max(1);
            free.rotate_left(shift);
            free.truncate(count);
            let listed = if is_whole {
                free.len()
            } else {
                seed as usize / 7 % (free.len() + 1)
            };
            if !free.is_empty() {
                jobs.push(Job {
                    start,
                    end,
                    nodes: free,
                    listed,
                });
            }
        }
        jobs
    })
}

/// The log of these jobs as `sacct` prints it.
fn sacct(jobs: &[Job]) -> String {
    let mut text = "JobIDRaw|State|Start|End|NNodes|NodeList\n".to_owned();
    for (id, job) in jobs.iter().enumerate() {
        let names: Vec<_> = job.nodes[..job.listed]
            .iter()
            .map(|node| format!("n{node}"))
            .collect();
        let count = job.nodes.len();
        let time = |second: i64| format!("1970-01-01T00:00:{second:02}");
        let (start, end, names) = (time(job.start), time(job.end), names.join(","));
        writeln!(text, "{id}|COMPLETED|{start}|{end}|{count}|{names}").unwrap();
    }
    text
}

fn read(log: &str, nodes: usize) -> Holds {
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("nodes");
    let names: Vec<_> = (0..nodes).map(|node| format!("n{node}")).collect();
    std::fs::write(&list, names.join(",")).unwrap();
    let options = Options {
        nodes: Some(list),
        from: Some("1970-01-01T00:00:00".to_owned()),
        to: Some("1970-01-01T00:00:50".to_owned()),
        timezone: Some("UTC".to_owned()),
        ..Options::new(Format::Slurm)
    };
    let input = Input::new(Path::new("log"), log.as_bytes());
    scheduler::read_inputs([input], &options).unwrap()
}

/// Returns the idle nodes in each of the first 50 seconds, for each way of showing unknown nodes. Also returns the
/// quality.
fn idle(holds: Holds) -> (Vec<Vec<BTreeSet<usize>>>, Quality) {
    let mut logs = vec![vec![BTreeSet::new(); 50]; SHOWN.len()];
    let summaries = holds
        .sweep_all(&SHOWN, |log, event| {
            let second = event.time.0 / 1_000_000_000;
            for later in logs[log].iter_mut().skip(second as usize) {
                for change in event.changes {
                    if change.idle() {
                        later.insert(change.node() as usize);
                    } else {
                        later.remove(&(change.node() as usize));
                    }
                }
            }
            Ok(())
        })
        .unwrap();
    (logs, summaries[1].quality.clone())
}

/// The nodes that are idle in each second.
fn truth(jobs: &[Job], nodes: usize) -> Vec<BTreeSet<usize>> {
    let busy = |second: i64| -> BTreeSet<usize> {
        let runs = jobs
            .iter()
            .filter(|job| (job.start..job.end).contains(&second));
        runs.flat_map(|job| job.nodes.clone()).collect()
    };
    (0..50)
        .map(|second| {
            let busy = busy(second);
            (0..nodes).filter(|node| !busy.contains(node)).collect()
        })
        .collect()
}

/// All ways of completing the lists of jobs. Each job takes as many nodes as it used, from the nodes that are free
/// during its run.
fn completions(jobs: &[Job], nodes: usize) -> Vec<Vec<Job>> {
    let mut all = vec![Vec::<Job>::new()];
    // A node that a job lists is not free for other jobs during its run.
    let listed: Vec<Job> = jobs
        .iter()
        .map(|job| Job {
            nodes: job.nodes[..job.listed].to_vec(),
            ..job.clone()
        })
        .collect();
    for (index, job) in jobs.iter().enumerate() {
        let mut longer = Vec::new();
        for done in all {
            let overlaps = |other: &&Job| other.start < job.end && job.start < other.end;
            let others = listed.iter().chain(&done).filter(overlaps);
            let taken: BTreeSet<usize> = others.flat_map(|other| other.nodes.clone()).collect();
            let free: Vec<usize> = (0..nodes).filter(|node| !taken.contains(node)).collect();
            for chosen in subsets(&free, job.nodes.len() - job.listed) {
                let nodes = [&listed[index].nodes[..], &chosen].concat();
                let mut done = done.clone();
                done.push(Job {
                    nodes,
                    ..job.clone()
                });
                longer.push(done);
            }
        }
        all = longer;
    }
    all
}

fn subsets(of: &[usize], size: usize) -> Vec<Vec<usize>> {
    match (size, of) {
        (0, _) => vec![Vec::new()],
        (_, []) => Vec::new(),
        (_, [first, rest @ ..]) => {
            let with = subsets(rest, size - 1).into_iter();
            let with = with.map(|chosen| [&[*first][..], &chosen].concat());
            with.chain(subsets(rest, size)).collect()
        }
    }
}

proptest! {
    #![proptest_config(gleaner_testing::cases(256))]

    // The oracle is the schedule before its lists were cut.
    #[test]
    fn the_truth_lies_between_the_bounds(jobs in jobs(7)) {
        let (logs, quality) = idle(read(&sacct(&jobs), 7));
        let truth = truth(&jobs, 7);
        for second in 0..50 {
            let [lower, dealt, upper] = [0, 1, 2].map(|log| &logs[log][second]);
            prop_assert!(lower.is_subset(&truth[second]), "{} {:?} {:?}", second, lower, truth[second]);
            prop_assert!(truth[second].is_subset(upper), "{} {:?} {:?}", second, upper, truth[second]);
            prop_assert!(lower.is_subset(dealt) && dealt.is_subset(upper));
        }
        let sum = |log: &[BTreeSet<usize>]| log.iter().map(|idle| idle.len() as u64).sum::<u64>();
        prop_assert_eq!(quality.idle_lower, sum(&logs[0]));
        prop_assert_eq!(quality.idle_upper, sum(&logs[2]));
        if quality.unknown > 0 {
            prop_assert_eq!(quality.idle_counted, Some(sum(&truth)));
        }
    }
}

proptest! {
    #![proptest_config(gleaner_testing::cases(256))]

    // The oracle is the schedule before its lists were cut. A job can use any nodes, even if other jobs hold them. The
    // first two jobs list the same node.
    #[test]
    fn the_number_of_idle_nodes_lies_between_the_bounds_if_nodes_are_shared(
        wanted in prop::collection::vec((0i64..30, 1i64..12, 1usize..=7, 0usize..7, 0usize..=7), 1..8),
    ) {
        let mut all = vec![Job { start: 0, end: 40, nodes: vec![0], listed: 1 }; 2];
        for (start, length, count, first, listed) in wanted {
            let nodes: Vec<usize> = (first..first + count).map(|node| node % 7).collect();
            all.push(Job { start, end: start + length, listed: listed.min(count), nodes });
        }
        let (logs, quality) = idle(read(&sacct(&all), 7));
        let truth = truth(&all, 7);
        prop_assert!(quality.are_nodes_shared);
        for second in 0..50 {
            prop_assert!(truth[second].is_subset(&logs[2][second]));
        }
        let idle: usize = truth.iter().map(BTreeSet::len).sum();
        prop_assert!(quality.idle_lower <= idle as u64 && idle as u64 <= quality.idle_upper);
    }
}

proptest! {
    #![proptest_config(gleaner_testing::slow_cases(64, 20))]

    // The oracle is the set of all completions of the lists. A node that is idle in one completion and busy in another
    // must be unknown.
    #[test]
    fn the_bounds_hold_for_every_completion(jobs in jobs(4)) {
        let (logs, _) = idle(read(&sacct(&jobs), 4));
        for completion in completions(&jobs, 4) {
            let idle = truth(&completion, 4);
            for second in 0..50 {
                prop_assert!(logs[0][second].is_subset(&idle[second]));
                prop_assert!(idle[second].is_subset(&logs[2][second]));
            }
        }
    }
}

/// The damage to the node list of a job.
#[derive(Debug, Clone, Copy)]
enum Damage {
    None,
    /// Only this many characters remain.
    Cut(usize),
    /// The name at this position is missing.
    Dropped(usize),
    /// The name at this position replaces the last name.
    Doubled(usize),
    /// The list is empty.
    Emptied,
}

fn damage() -> impl Strategy<Value = Damage> {
    prop_oneof![
        3 => Just(Damage::None),
        1 => (0usize..30).prop_map(Damage::Cut),
        1 => (0usize..7).prop_map(Damage::Dropped),
        1 => (0usize..7).prop_map(Damage::Doubled),
        1 => Just(Damage::Emptied),
    ]
}

/// A damaged list of names. Each name has two digits, so that no name is a prefix of another.
fn damaged(nodes: &[usize], damage: Damage) -> String {
    let mut names: Vec<_> = nodes.iter().map(|node| format!("n{node:02}")).collect();
    match damage {
        Damage::Dropped(place) if names.len() > 1 => drop(names.remove(place % nodes.len())),
        Damage::Doubled(place) => names[nodes.len() - 1] = names[place % nodes.len()].clone(),
        Damage::Emptied => names.clear(),
        _ => {}
    }
    let list = names.join(",");
    match damage {
        Damage::Cut(length) => list.chars().take(length).collect(),
        _ => list,
    }
}

proptest! {
    #![proptest_config(gleaner_testing::cases(256))]

    // The oracle is the schedule before its lists were damaged.
    #[test]
    fn damaged_lists_are_bounded_and_make_no_nodes(
        jobs in jobs(7), damages in prop::collection::vec(damage(), 10), is_listed: bool,
        format in prop::sample::select(vec![Format::Slurm, Format::Djc, Format::Table]),
    ) {
        let header = match format {
            Format::Slurm => "JobIDRaw|State|Start|End|NNodes|NodeList\n",
            Format::Djc => "START_TIMESTAMP,END_TIMESTAMP,NODES_USED,LOCATION\n",
            _ => "start_time,end_time,num_nodes,nodelist\n",
        };
        let mut log = header.to_owned();
        // In tables, the first second of 1970 means that a time is missing.
        let jobs: Vec<Job> =
            jobs.into_iter().filter(|job| format != Format::Table || job.start > 0).collect();
        // The last three jobs use and list all seven nodes, so that most lists are complete in almost all logs.
        let all = |start| Job {
            start,
            end: start + 1,
            nodes: (0..7).collect(),
            listed: 7,
        };
        let whole = [&jobs[..], &[45, 46, 47].map(all)].concat();
        let mut stubs = BTreeSet::new();
        for (id, job) in whole.iter().enumerate() {
            let damage = damages.get(id).filter(|_| id < jobs.len());
            let mut list = damaged(&job.nodes, damage.copied().unwrap_or(Damage::None));
            // The reader treats a name that ends two lists as complete, so no two lists may end with the same truncated
            // name.
            let last = list.rsplit(',').next().unwrap_or_default();
            if last.len() < 3 && !stubs.insert(last.to_owned()) {
                list = damaged(&job.nodes, Damage::None);
            }
            let count = job.nodes.len();
            let [start, end] = [job.start, job.end].map(|second| format!("1970-01-01T00:00:{second:02}"));
            if format == Format::Slurm {
                writeln!(log, "{id}|COMPLETED|{start}|{end}|{count}|{list}").unwrap();
            } else {
                writeln!(log, "{start},{end},{count},\"{list}\"").unwrap();
            }
        }
        let folder = tempfile::tempdir().unwrap();
        let nodes = folder.path().join("nodes");
        std::fs::write(&nodes, "n[00-06]").unwrap();
        let options = Options {
            nodes: is_listed.then_some(nodes),
            from: Some("1970-01-01T00:00:00".to_owned()),
            to: Some("1970-01-01T00:00:50".to_owned()),
            timezone: Some("UTC".to_owned()),
            ..Options::new(format)
        };
        let input = Input::new(Path::new("log"), log.as_bytes());
        let holds = scheduler::read_inputs([input], &options).unwrap();
        if !holds.are_nodes_named() {
            // Too few lists name as many nodes as their jobs used, so the reader used only the counts.
            return Ok(());
        }
        let names: Vec<_> = (0..7).map(|node| format!("n{node:02}")).collect();
        prop_assert_eq!(holds.nodes(), &names[..]);
        let (logs, _) = idle(holds);
        let truth = truth(&whole, 7);
        for second in 0..50 {
            let [lower, upper] = [0, 2].map(|log| &logs[log][second]);
            prop_assert!(lower.is_subset(&truth[second]), "{} {:?} {:?}\n{}", second, lower, truth[second], log);
            prop_assert!(truth[second].is_subset(upper), "{} {:?} {:?}\n{}", second, upper, truth[second], log);
        }
    }
}

fn polaris() -> Option<Holds> {
    let log = gleaner_testing::shared("machines/polaris-like/djc.csv")?;
    let nodes = gleaner_testing::shared("machines/polaris-like/nodes.txt")?;
    let options = Options {
        nodes: Some(nodes),
        from: Some("2025-03-04T00:00:00".to_owned()),
        to: Some("2025-03-06T00:00:00".to_owned()),
        timezone: Some("UTC".to_owned()),
        ..Options::new(Format::Djc)
    };
    Some(scheduler::read(&[log], &options, &Unobserved).unwrap())
}

// The expected figures come from the reference data.
#[test]
fn cut_lists_of_a_machine_are_bounded_to_the_node_second() {
    let Some(holds) = polaris() else {
        return;
    };
    let quality = holds.quality().clone();
    assert_eq!(quality.idle_lower, 12_573_117);
    assert_eq!(quality.idle_upper, 13_426_188);
    assert_eq!(quality.idle_counted, Some(13_145_619));
    let summaries = holds.sweep_all(&SHOWN, |_, _| Ok(())).unwrap();
    let settled = "18 of 26 jobs with too few listed nodes";
    let notes = &summaries[0].notes;
    assert!(
        notes.iter().any(|note| note.starts_with(settled)),
        "{notes:?}"
    );
    assert!(
        !notes
            .iter()
            .any(|note| note.contains("could not be assigned")),
        "{notes:?}"
    );
    let idle: Vec<_> = summaries
        .iter()
        .map(|summary| summary.swept.shares)
        .collect();
    assert_eq!(idle[0].idle, 12_573_117.0);
    assert_eq!(idle[1].idle, 13_145_619.0);
    assert_eq!(idle[2].idle, 13_426_188.0);
}
