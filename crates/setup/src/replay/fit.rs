//! Notes about tasks that do not suit the log or the forward window. Such tasks are valid, but the values in their file
//! may be wrong: for example, hours instead of seconds.

use gleaner_domain::words::{counted, duration, printable};
use gleaner_domain::{EventLog, TrainingTask};

/// The notes for tasks of which at most `at_once` are active at a time, with a forward window of `window` seconds.
/// Without `at_once`, there is no note about tasks that are too small.
pub(super) fn notes(
    tasks: &[TrainingTask],
    log: &EventLog,
    window: f64,
    at_once: Option<usize>,
) -> Vec<String> {
    let idle = Idle::of(log);
    let of_sizes = match log.classes() {
        // A task's limits differ between classes, so sizes are not checked.
        Some(_) => None,
        None => {
            let big = too_big(tasks, idle.most);
            big.or_else(|| too_small(tasks, &idle, at_once?))
        }
    };
    of_sizes
        .into_iter()
        .chain(too_slow(tasks, window))
        .collect()
}

/// The maximum and the mean number of idle nodes.
struct Idle {
    most: u32,
    mean: f64,
}

impl Idle {
    fn of(log: &EventLog) -> Self {
        let (mut now, mut most) = (0i64, 0);
        for (_, changes) in log.rows() {
            let joined: i64 = changes.iter().map(|c| if c.idle() { 1 } else { -1 }).sum();
            now += joined;
            most = most.max(now);
        }
        let ends = log.times().first().zip(log.times().last());
        let span = ends.map_or(0.0, |(from, to)| to.seconds_since(*from));
        Idle {
            most: u32::try_from(most).unwrap_or(u32::MAX),
            mean: log.idle_node_seconds() / span.max(1.0),
        }
    }
}

/// A note about tasks that can never start, because they need more nodes than are ever idle.
fn too_big(tasks: &[TrainingTask], most: u32) -> Option<String> {
    let big = tasks.iter().filter(|task| task.min_nodes > most);
    let least = big.clone().map(|task| task.min_nodes).min()?;
    let who = match big.count() {
        all if all == tasks.len() => "no task can start: each".to_owned(),
        some => format!(
            "{some} of {} can never start: each",
            counted(tasks.len(), "task")
        ),
    };
    Some(format!(
        "{who} needs at least {}, but at most {most} are ever idle",
        counted(least as usize, "node")
    ))
}

/// A note if the active tasks can use fewer nodes than are idle on average, even if the largest tasks are active.
fn too_small(tasks: &[TrainingTask], idle: &Idle, at_once: usize) -> Option<String> {
    let mut sizes: Vec<u32> = tasks.iter().map(|task| task.max_nodes).collect();
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    let usable: u64 = sizes
        .iter()
        .take(at_once)
        .map(|&size| u64::from(size))
        .sum();
    let remedy = if at_once < tasks.len() {
        "raise --max-tasks"
    } else {
        "add tasks, or raise their max_nodes"
    };
    ((usable as f64) < idle.mean).then(|| {
        format!(
            "the active tasks can use at most {}, but {:.0} are idle on average: {remedy}",
            counted(usable as usize, "node"),
            idle.mean
        )
    })
}

/// A note about tasks that would rarely grow, because growing costs more than a whole window.
fn too_slow(tasks: &[TrainingTask], window: f64) -> Option<String> {
    let slow = tasks.iter().filter(|task| task.rescale_up > window);
    let worst = slow
        .clone()
        .max_by(|a, b| a.rescale_up.total_cmp(&b.rescale_up))?;
    Some(format!(
        "rescale_up of {} exceeds the forward window of {} (the longest is {} in task {}), so these tasks rarely \
         grow: check that the costs are in seconds, or set a longer --t-fwd",
        counted(slow.count(), "task"),
        duration(window),
        duration(worst.rescale_up),
        printable(&worst.name)
    ))
}
