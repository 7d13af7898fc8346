//! Which task held how many nodes, and when.

use super::{Named, id_of};
use crate::curves::{millis, minute};
use crate::figure::{Axis, Marks, Span, Spans};
use crate::names::short;
use crate::numbers::{count, hours, number};
use crate::{Figure, Grid, Head, thin};
use gleaner_core::domain::Time;
use gleaner_core::results::replay::AllocationRow;
use gleaner_core::words::duration;
use gleaner_formats::ingest::runs::ReplayRun;

/// Maximum number of tasks in the figure.
const MAX_TASKS: usize = 1_000;
/// Maximum number of spans in the figure; thinning may leave a few more.
const MAX_SPANS: usize = 60_000;
/// Maximum number of tasks in the table.
const MAX_ROWS: usize = 100;

pub(super) fn figure(run: &Named<'_>) -> Figure {
    let shown = shown(run.result);
    let mut held = vec![Vec::new(); run.result.tasks.len()];
    for row in &run.result.allocations {
        held[row.task as usize].push(*row);
    }
    let spans = shown
        .iter()
        .enumerate()
        .flat_map(|(row, &task)| of_task(row, &held[task]));
    let (spans, step) = thin::spans(&spans.collect::<Vec<_>>(), MAX_SPANS);
    let names = shown
        .iter()
        .map(|&task| short(&run.result.tasks[task].name));
    Figure {
        id: id_of("tasks", run),
        title: "Nodes of each task".to_owned(),
        text: text(run.result, shown.len(), step),
        x: Axis::time(),
        y: Axis::names("", names.collect()),
        marks: Marks::Spans(Spans {
            title: "nodes".to_owned(),
            spans,
        }),
        numbers: numbers(run.result, &shown, &held),
    }
}

/// The tasks that held nodes, in file order, at most [`MAX_TASKS`].
fn shown(run: &ReplayRun) -> Vec<usize> {
    let started = |task: &usize| run.tasks[*task].start.is_some();
    (0..run.tasks.len())
        .filter(started)
        .take(MAX_TASKS)
        .collect()
}

/// The spans of a task's row: from each change of its node count to the next.
fn of_task(row: usize, holds: &[AllocationRow]) -> Vec<Span> {
    let changes = holds
        .iter()
        .flat_map(|hold| [(hold.from, 1), (hold.to, -1)]);
    let mut changes: Vec<(Time, i64)> = changes.collect();
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

fn text(run: &ReplayRun, shown: usize, step: f64) -> String {
    let mut text = "A row for each task that held nodes, in file order; the stronger the colour, the more nodes."
        .to_owned();
    let started = run.tasks.iter().filter(|task| task.start.is_some()).count();
    if shown < started {
        text += &format!(
            " The first {} of {} are shown.",
            count(shown as u64),
            count(started as u64)
        );
    }
    if step > 0.0 {
        let seconds = duration(step / 1e3);
        text += &format!(" Within {seconds}, the largest number of nodes stands for all.");
    }
    text
}

fn numbers(run: &ReplayRun, shown: &[usize], held: &[Vec<AllocationRow>]) -> Grid {
    let title = match shown.len() > MAX_ROWS {
        true => format!("The first {MAX_ROWS} tasks that held nodes"),
        false => "Tasks that held nodes".to_owned(),
    };
    let heads = [
        Head::text("task"),
        Head::text("submitted"),
        Head::text("started"),
        Head::text("finished"),
        Head::number("node-hours"),
        Head::number("nodes on average"),
    ];
    let mut grid = Grid::new(title, heads);
    for &task in shown.iter().take(MAX_ROWS) {
        let end = &run.tasks[task];
        let seconds: f64 = held[task]
            .iter()
            .map(|hold| hold.to.seconds_since(hold.from))
            .sum();
        let length: f64 = of_task(0, &held[task])
            .iter()
            .map(|span| span.to - span.from)
            .sum();
        let time = |time: Option<Time>| time.map_or("–".to_owned(), |time| minute(millis(time)));
        grid.row([
            short(&end.name),
            time(Some(end.submit)),
            time(end.start),
            time(end.end),
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

    // Small fixed example.
    #[test]
    fn spans_follow_the_node_count() {
        let hold = |from, to| AllocationRow {
            node: 0,
            task: 0,
            from: Time::from_seconds(from),
            to: Time::from_seconds(to),
        };
        let spans = of_task(3, &[hold(0, 2), hold(1, 3), hold(2, 3), hold(5, 6)]);
        let told: Vec<_> = spans
            .iter()
            .map(|s| (s.from / 1e3, s.to / 1e3, s.value))
            .collect();
        assert_eq!(told, [(0.0, 1.0, 1.0), (1.0, 3.0, 2.0), (5.0, 6.0, 1.0)]);
    }
}
