//! The number of nodes that each task held over time.

use super::{Named, id_of};
use crate::curves::{millis, minute};
use crate::figure::{Axis, Marks, Span, Spans};
use crate::names::short;
use crate::numbers::{count, hours, number, part};
use crate::{Figure, Grid, Head, thin};
use gleaner_domain::Utc;
use gleaner_domain::results::replay::AllocationRow;
use gleaner_runs::read::ReplayRun;

/// Maximum number of rows in the figure. More rows could not be told apart.
const MAX_ROWS: usize = 60;
/// If the figure has more spans than this, it is thinned. Thinning can leave a few more spans than this number.
const MAX_SPANS: usize = 60_000;

/// A row of the figure.
struct Row {
    name: String,
    /// Indices of the tasks whose nodes the row shows, in file order.
    tasks: Vec<usize>,
}

/// The assignment of tasks to rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rows {
    /// One row for each task that held nodes.
    Each,
    /// One row for each task of the set. The row combines the task's repetitions in all rounds.
    Set,
    /// One row for each of the tasks that held the most node-time.
    Most,
}

pub(super) fn figure(run: &Named<'_>) -> Figure {
    let mut held = vec![Vec::new(); run.result.tasks.len()];
    for row in &run.result.allocations {
        held[row.task as usize].push(*row);
    }
    let (kind, rows) = rows(run.result);
    let spans = rows.iter().enumerate().flat_map(|(place, row)| {
        let holds = row.tasks.iter().flat_map(|&task| &held[task]);
        of_row(place, &holds.copied().collect::<Vec<_>>())
    });
    let (spans, step) = thin::spans(&spans.collect::<Vec<_>>(), MAX_SPANS);
    Figure {
        id: id_of("tasks", run),
        title: match kind {
            Rows::Each | Rows::Set => "Nodes of each task",
            Rows::Most => "Nodes of the tasks that held the most node-time",
        }
        .to_owned(),
        text: text(run.result, kind, &rows, step),
        x: Axis::time(),
        y: Axis::names("", rows.iter().map(|row| row.name.clone()).collect()),
        marks: Marks::Spans(Spans {
            title: "nodes".to_owned(),
            spans,
        }),
        numbers: numbers(run.result, kind, &rows, &held),
    }
}

/// The rows of the figure, at most [`MAX_ROWS`], in file order.
fn rows(run: &ReplayRun) -> (Rows, Vec<Row>) {
    let started = |task: &usize| run.tasks[*task].start.is_some();
    let started: Vec<usize> = (0..run.tasks.len()).filter(started).collect();
    let alone = |&task: &usize| Row {
        name: short(&run.tasks[task].name),
        tasks: vec![task],
    };
    if started.len() <= MAX_ROWS {
        return (Rows::Each, started.iter().map(alone).collect());
    }
    let set = run.tasks.len() / run.summary.rounds.max(1);
    if run.summary.rounds > 1 && set <= MAX_ROWS {
        // The tasks of a round are consecutive, in the order of the set.
        let row = |first: usize| Row {
            name: short(&run.tasks[first].name),
            tasks: started
                .iter()
                .copied()
                .filter(|task| task % set == first)
                .collect(),
        };
        return (Rows::Set, (0..set).map(row).collect());
    }
    let mut most = started;
    most.sort_by(|a, b| {
        let seconds = |task: &usize| run.tasks[*task].node_seconds;
        seconds(b).total_cmp(&seconds(a)).then(a.cmp(b))
    });
    most.truncate(MAX_ROWS);
    most.sort_unstable();
    (Rows::Most, most.iter().map(alone).collect())
}

/// Returns the spans of a row. Each span lasts from one change of the tasks' node count to the
/// next.
fn of_row(row: usize, holds: &[AllocationRow]) -> Vec<Span> {
    let changes = holds
        .iter()
        .flat_map(|hold| [(hold.from, 1), (hold.to, -1)]);
    let mut changes: Vec<(Utc, i64)> = changes.collect();
    changes.sort_unstable();
    let (mut nodes, mut spans): (i64, Vec<Span>) = (0, Vec::new());
    for same in changes.chunk_by(|a, b| a.0 == b.0) {
        let now = millis(same[0].0);
        if let Some(open) = spans.last_mut().filter(|_| nodes > 0) {
            open.to = now;
        }
        nodes += same.iter().map(|change| change.1).sum::<i64>();
        let same_as_before = spans
            .last()
            .is_some_and(|last| last.to == now && last.value == nodes as f64);
        if nodes > 0 && !same_as_before {
            spans.push(Span {
                row,
                from: now,
                to: now,
                value: nodes as f64,
            });
        }
    }
    spans
}

fn text(run: &ReplayRun, kind: Rows, rows: &[Row], step: f64) -> String {
    let number = |value: usize| count(value as u64);
    let started = run.tasks.iter().filter(|task| task.start.is_some()).count();
    let mut text = match kind {
        Rows::Each => format!(
            "A row for each of the {} tasks that held nodes, in file order",
            number(started)
        ),
        Rows::Set => format!(
            "A row for each of the {} tasks of the set, with all {} rounds combined ({} tasks held nodes)",
            number(rows.len()),
            number(run.summary.rounds),
            number(started)
        ),
        Rows::Most => {
            let of = |tasks: &mut dyn Iterator<Item = usize>| -> f64 {
                tasks.map(|task| run.tasks[task].node_seconds).sum()
            };
            let shown = of(&mut rows.iter().flat_map(|row| row.tasks.iter().copied()));
            format!(
                "Of the {} tasks that held nodes, the {} that held the most node-time ({} of the \
                 total), in file order",
                number(started),
                number(rows.len()),
                part(shown, of(&mut (0..run.tasks.len())))
            )
        }
    };
    text += ". A stronger colour means more nodes.";
    if step > 0.0 {
        let hours = hours(step / 1e3);
        text += &format!(" Each interval of {hours} h shows its largest number of nodes.");
    }
    text
}

fn numbers(run: &ReplayRun, kind: Rows, rows: &[Row], held: &[Vec<AllocationRow>]) -> Grid {
    let title = match kind {
        Rows::Each => "Tasks that held nodes".to_owned(),
        Rows::Set => "Tasks of the set, all rounds together".to_owned(),
        Rows::Most => format!("The {} tasks that held the most node-time", rows.len()),
    };
    let heads = [
        Head::text("task"),
        Head::number("times started"),
        Head::number("times finished"),
        Head::text("first started"),
        Head::text("last finished"),
        Head::number("node-hours"),
        Head::number("mean number of nodes while any were held"),
    ];
    let mut grid = Grid::new(title, heads);
    for row in rows {
        let tasks = || row.tasks.iter().map(|&task| &run.tasks[task]);
        let holds = row.tasks.iter().flat_map(|&task| &held[task]);
        let holds: Vec<AllocationRow> = holds.copied().collect();
        let seconds = holds.iter().map(|hold| hold.to.seconds_since(hold.from));
        let seconds: f64 = seconds.sum();
        let spans = of_row(0, &holds);
        let length: f64 = spans.iter().map(|span| span.to - span.from).sum();
        let time = |time: Option<Utc>| time.map_or("–".to_owned(), |time| minute(millis(time)));
        grid.row([
            row.name.clone(),
            count(row.tasks.len() as u64),
            count(tasks().filter(|task| task.end.is_some()).count() as u64),
            time(tasks().filter_map(|task| task.start).min()),
            time(tasks().filter_map(|task| task.end).max()),
            hours(seconds),
            number(if length > 0.0 {
                seconds / (length / 1e3)
            } else {
                0.0
            }),
        ]);
    }
    grid
}

#[cfg(test)]
mod tests {
    use super::*;

    // Small fixed example: a task holds one node, then two, then none, then one again.
    #[test]
    fn spans_follow_the_node_count() {
        let hold = |from, to| AllocationRow {
            node: 0,
            task: 0,
            from: Utc::from_seconds(from),
            to: Utc::from_seconds(to),
        };
        let spans = of_row(3, &[hold(0, 2), hold(1, 3), hold(2, 3), hold(5, 6)]);
        let told: Vec<_> = spans
            .iter()
            .map(|s| (s.from / 1e3, s.to / 1e3, s.value))
            .collect();
        assert_eq!(told, [(0.0, 1.0, 1.0), (1.0, 3.0, 2.0), (5.0, 6.0, 1.0)]);
    }
}
