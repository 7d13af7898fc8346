//! Checks the log that worker.sh writes, which shows when each rank of a task worked on which node.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// A line of the log.
struct Line<'t> {
    event: &'t str,
    task: &'t str,
    run: &'t str,
    rank: u32,
    ranks: u32,
    node: &'t str,
    done: u64,
    time: f64,
}

/// A task that was submitted.
#[derive(Debug, Clone, Copy)]
pub struct Expected {
    pub name: &'static str,
    pub min_nodes: u32,
    pub max_nodes: u32,
    pub work: u64,
}

impl Expected {
    /// The task, as an entry in a task file of `gleaner replay`.
    pub fn replayed(&self) -> String {
        let Expected {
            name,
            min_nodes,
            max_nodes,
            work,
        } = self;
        format!(
            "[[task]]\nname = \"{name}\"\nmin_nodes = {min_nodes}\nmax_nodes = {max_nodes}\nrescale_up = 1\n\
             rescale_down = 1\nwork = {work}\n\
             curve = {{ nodes = [0, 1, 2, 4], progress = [0, 42, 80, 145] }}\n"
        )
    }
}

/// Totals of the log.
#[derive(Debug, Default)]
pub struct Summary {
    /// Number of runs of all tasks.
    pub runs: usize,
    /// Work that was lost because no checkpoint contained it.
    pub lost: u64,
    /// Work of all tasks.
    pub work: u64,
}

fn parse(text: &str) -> Vec<Line<'_>> {
    let line = |line| {
        let fields: Vec<&str> = str::split(line, ' ').collect();
        let [event, task, run, rank, ranks, node, done, time] = fields[..] else {
            panic!("found {line:?}, expected 8 fields");
        };
        let number = |text: &str| text.parse::<u64>().unwrap();
        Line {
            event,
            task,
            run,
            rank: number(rank) as u32,
            ranks: number(ranks) as u32,
            node,
            done: number(done),
            time: time.parse().unwrap(),
        }
    };
    text.lines().map(line).collect()
}

/// Checks that the log obeys these rules:
/// - No node works for two runs at the same time.
/// - The runs of a task do not overlap, and their numbers of nodes are within the task's bounds.
/// - A run begins at the last checkpoint. No work before the checkpoint is lost, and no work counts twice.
/// - Every task has done exactly its work.
///
/// Returns the totals of the log.
pub fn check(path: &Path, tasks: &[Expected]) -> Summary {
    let text = fs::read_to_string(path).unwrap();
    let lines = parse(&text);
    let clashes = lines.iter().filter(|line| line.event == "clash").count();
    assert_eq!(clashes, 0, "a node or a task was used twice at once");
    check_overlaps(&lines, |line| line.node.to_owned(), "node");
    check_overlaps(&lines, |line| format!("task {}", line.task), "task");
    let mut summary = Summary::default();
    for task in tasks {
        check_task(&lines, task, &mut summary);
    }
    summary
}

/// Times of the first and the last line of each run, by task and run.
type Spans<'l> = BTreeMap<(&'l str, &'l str), (f64, f64)>;

/// Checks that runs with the same `place` do not overlap in time.
fn check_overlaps(lines: &[Line], place: impl Fn(&Line) -> String, what: &str) {
    let mut times: BTreeMap<String, Spans<'_>> = BTreeMap::new();
    for line in lines {
        let runs = times.entry(place(line)).or_default();
        let found = runs.entry((line.task, line.run));
        let (first, last) = found.or_insert((line.time, line.time));
        (*first, *last) = ((*first).min(line.time), (*last).max(line.time));
    }
    for (place, runs) in times {
        let mut spans: Vec<(f64, f64)> = runs.into_values().collect();
        spans.sort_by(|one, other| one.0.total_cmp(&other.0));
        let is_apart = |pair: &[(f64, f64)]| pair[0].1 <= pair[1].0;
        assert!(
            spans.windows(2).all(is_apart),
            "{what} {place} was used twice at once"
        );
    }
}

/// Checks the runs of a task, and adds their totals to `summary`.
fn check_task(lines: &[Line], task: &Expected, summary: &mut Summary) {
    let name = task.name;
    let own = lines.iter().filter(|line| line.task == name);
    // The total work in the last logged checkpoint, and the total work at the last line of rank 0.
    let (mut saved, mut done) = (0, 0);
    for line in own {
        let bounds = task.min_nodes..=task.max_nodes;
        assert!(
            bounds.contains(&line.ranks),
            "{name} had {} nodes",
            line.ranks
        );
        assert!(line.rank < line.ranks, "{name} had no rank {}", line.rank);
        if line.rank != 0 {
            continue;
        }
        match line.event {
            "start" => {
                // If a worker is killed between writing a checkpoint and logging it, the next run begins with more
                // work than `saved`.
                let expected = saved..=done.max(saved);
                let found = line.done;
                assert!(
                    expected.contains(&found),
                    "{name} began with {found}, not {expected:?}"
                );
                summary.lost += done.saturating_sub(found);
                summary.runs += 1;
                (saved, done) = (found, found);
            }
            "saved" => (saved, done) = (line.done, line.done),
            _ => done = line.done,
        }
    }
    assert_eq!(saved, task.work, "work of {name}");
    summary.work += saved;
}
