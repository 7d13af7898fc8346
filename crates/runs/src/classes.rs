//! The results of a replay by class of nodes, as tables for the terminal and the page.

use std::collections::BTreeMap;

use gleaner_document::numbers::{count, hours, large, number, part, percent};
use gleaner_document::{Grid, Head};
use gleaner_domain::results::classes::{ClassOutcome, ClassTotal};

use crate::summary::submitted_name;

/// Maximum number of tasks in the table of node-time by task.
const TASKS: usize = 20;

/// A table of the totals of each class.
pub fn totals(classes: &ClassOutcome) -> Grid {
    let heads = [
        Head::text("class"),
        Head::number("nodes"),
        Head::number("idle node-hours"),
        Head::number("used"),
        Head::number("work"),
        Head::number("share of work")
            .meaning("share of the work in all classes, which have the same unit of work"),
        Head::number("preemptions")
            .meaning("number of times that a task lost nodes to the batch scheduler"),
        Head::number("moves in")
            .meaning("number of times that a task moved to this class from another class"),
        Head::number("moves out"),
        Head::number("price").meaning(
            "mean price of a node: roughly how much one more idle node would add to the objective per second",
        ),
    ];
    Grid::of(
        "Node classes",
        heads,
        &classes.totals,
        |total: &ClassTotal| {
            [
                total.class.to_string(),
                count(total.nodes),
                hours(total.idle_node_seconds),
                part(total.used_node_seconds, total.idle_node_seconds),
                large(total.work),
                total.work_share.map_or("–".to_owned(), percent),
                count(total.preemptions),
                count(total.moved_in),
                count(total.moved_out),
                total.mean_price.map_or("–".to_owned(), number),
            ]
        },
    )
}

/// The number of moves from each class to every other class.
pub fn moves(classes: &ClassOutcome) -> Grid {
    let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for row in &classes.moves {
        *counts.entry((&row.from, &row.to)).or_default() += 1;
    }
    let names = || classes.totals.iter().map(|total| &*total.class);
    let heads = std::iter::once(Head::text("from"))
        .chain(names().map(|name| Head::number(format!("to {name}"))));
    Grid::of("Moves between classes", heads, names(), |from| {
        let cells = names().map(|to| {
            let moves = counts.get(&(from, to)).copied().unwrap_or(0);
            if from == to {
                "–".to_owned()
            } else {
                count(moves)
            }
        });
        std::iter::once(from.to_owned())
            .chain(cells)
            .collect::<Vec<_>>()
    })
}

/// The node-time of the tasks that held the most node-time, and the share of this node-time in each class. The rounds
/// `a`, `a#2` and `a#3` of a task count as one task. `held` yields triples: a task, the class of its nodes, and
/// node-seconds.
pub fn tasks<'a>(
    classes: &ClassOutcome,
    held: impl Iterator<Item = (&'a str, &'a str, f64)>,
) -> Grid {
    let mut by_task: BTreeMap<&str, BTreeMap<&str, f64>> = BTreeMap::new();
    for (task, class, seconds) in held {
        let name = submitted_name(task);
        *by_task.entry(name).or_default().entry(class).or_default() += seconds;
    }
    let mut rows: Vec<(&str, f64, BTreeMap<&str, f64>)> = by_task
        .into_iter()
        .map(|(task, seconds)| (task, seconds.values().sum(), seconds))
        .collect();
    rows.sort_by(|a, b| b.1.total_cmp(&a.1));
    rows.truncate(TASKS);
    let names = || classes.totals.iter().map(|total| &*total.class);
    let heads = [Head::text("task"), Head::number("node-hours")];
    let heads = heads
        .into_iter()
        .chain(names().map(|name| Head::number(format!("in {name}"))));
    Grid::of(
        "Node-time by task and class",
        heads,
        rows,
        |(task, all, seconds)| {
            let shares = names().map(|name| part(seconds.get(name).copied().unwrap_or(0.0), all));
            [task.to_owned(), hours(all)]
                .into_iter()
                .chain(shares)
                .collect::<Vec<_>>()
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_domain::Utc;
    use gleaner_domain::results::classes::MoveRow;

    fn outcome() -> ClassOutcome {
        let total = |class: &str| ClassTotal {
            class: class.into(),
            nodes: 2,
            idle_node_seconds: 7200.0,
            used_node_seconds: 3600.0,
            work: 1.0,
            work_share: Some(0.5),
            preemptions: 0,
            moved_in: 1,
            moved_out: 0,
            mean_price: None,
        };
        ClassOutcome {
            rows: Vec::new(),
            moves: vec![MoveRow {
                time: Utc(0),
                event: 0,
                task: "a".into(),
                from: "v100".into(),
                nodes_before: 1,
                to: "a100".into(),
                nodes_after: 2,
            }],
            totals: vec![total("v100"), total("a100")],
        }
    }

    #[test]
    fn moves_are_a_matrix() {
        let grid = moves(&outcome());
        assert_eq!(grid.rows, [["v100", "–", "1"], ["a100", "0", "–"]]);
    }

    #[test]
    fn rounds_of_a_task_are_added_up() {
        let held = [
            ("a", "v100", 3600.0),
            ("a#2", "a100", 10_800.0),
            ("b", "a100", 1800.0),
        ];
        let grid = tasks(&outcome(), held.into_iter());
        assert_eq!(grid.rows[0], ["a", "4.000", "25.0 %", "75.0 %"]);
        assert_eq!(grid.rows[1][0], "b");
    }
}
