//! The figures of `summary.json`.

use super::Named;
use super::compare::{self, Row};
use crate::numbers::{change, count, hours, in_hours, large, number, part, percent, points};
use crate::{Grid, Head, Tile};
use gleaner_core::results::replay::Summary;
use gleaner_runs::summary::{TERMS, growth, why};

const ROWS: [Row; 24] = [
    ("Time replayed", |s| Some(s.span_seconds), in_hours, change),
    (
        "Duration of the whole log",
        |s| Some(s.log_span_seconds),
        in_hours,
        change,
    ),
    ("Nodes in the log", |s| Some(s.nodes as f64), number, change),
    (
        "Idle nodes on average",
        |s| Some(s.idle_nodes_mean()),
        number,
        change,
    ),
    (
        "Idle node-hours of the whole log",
        |s| Some(s.log_idle_node_seconds),
        hours,
        change,
    ),
    (
        "Idle node-hours of the replayed time",
        |s| Some(s.idle_node_seconds),
        hours,
        change,
    ),
    (
        "Node-hours used",
        |s| Some(s.used_node_seconds),
        hours,
        change,
    ),
    (
        "Share of idle node-time used",
        |s| s.used_share,
        percent,
        points,
    ),
    (
        "Possible work, in the units of the curves",
        |s| Some(s.gross_work),
        large,
        change,
    ),
    (
        "Useful work, in the units of the curves",
        |s| Some(s.total_work),
        large,
        change,
    ),
    (
        "Useful share of the possible work",
        |s| s.useful_share,
        percent,
        points,
    ),
    (
        "Work lost to rescaling",
        |s| of_gross(s, s.rescale_loss),
        percent,
        points,
    ),
    (
        "Work lost to preemption",
        |s| of_gross(s, s.preemption_loss),
        percent,
        points,
    ),
    (
        "Work lost after completion",
        |s| of_gross(s, s.after_completion_work),
        percent,
        points,
    ),
    (
        "Mean number of tasks hit when nodes are taken back",
        |s| s.tasks_hit_mean,
        number,
        change,
    ),
    (
        "Efficiency against dedicated nodes",
        |s| s.efficiency,
        percent,
        points,
    ),
    (
        "Efficiency against the work without costs",
        |s| s.fluid_efficiency,
        percent,
        points,
    ),
    (
        "Efficiency against the bound with hindsight",
        |s| s.bound_efficiency,
        percent,
        points,
    ),
    (
        "Progress of the slowest task",
        |s| s.fairness_min,
        percent,
        points,
    ),
    ("Evenness of progress", |s| s.fairness_jain, number, change),
    (
        "Tasks finished",
        |s| Some(s.tasks_finished as f64),
        number,
        change,
    ),
    (
        "Mean time to completion",
        |s| s.completion_mean_s,
        in_hours,
        change,
    ),
    (
        "Median time to completion",
        |s| s.completion_median_s,
        in_hours,
        change,
    ),
    (
        "Time until the last task finished",
        |s| s.completion_last_s,
        in_hours,
        change,
    ),
];

/// Returns a share of the possible work. Rounding errors of completion times count as 0.
fn of_gross(s: &Summary, work: f64) -> Option<f64> {
    let share = (s.gross_work > 0.0).then(|| work / s.gross_work)?;
    Some(if share < 1e-9 { 0.0 } else { share })
}

/// All figures that any of the runs has, side by side, with their changes relative to the first.
pub(super) fn grid(runs: &[Named<'_>]) -> Grid {
    let title = match runs {
        [first, _, ..] => format!("Figures, and their change against {}", first.name),
        _ => "All figures".to_owned(),
    };
    compare::grid(title, runs, &ROWS)
}

/// A table that explains the terms of the figures.
pub(super) fn terms() -> Grid {
    let heads = ["word", "meaning"].map(Head::text);
    let mut grid = Grid::new("What the figures mean", heads);
    for (word, meaning) in TERMS {
        grid.row([word, meaning].map(str::to_owned));
    }
    grid
}

/// The most important figures of a single run.
pub(super) fn tiles(s: &Summary) -> Vec<Tile> {
    let tile = |name: &str, value: String, remark: String| Tile {
        name: name.to_owned(),
        value,
        remark,
    };
    let percent_of = |share: Option<f64>| share.map_or("–".to_owned(), percent);
    let mut tiles = vec![
        tile(
            "Idle node-hours",
            hours(s.idle_node_seconds),
            format!(
                "{} of {} nodes on average",
                number(s.idle_nodes_mean()),
                count(s.nodes)
            ),
        ),
        tile(
            "Used by training",
            part(s.used_node_seconds, s.idle_node_seconds),
            format!("{} node-hours", hours(s.used_node_seconds)),
        ),
        tile(
            "Efficiency",
            percent_of(s.efficiency),
            format!(
                "of the work of {} dedicated nodes",
                number(s.equivalent_nodes)
            ),
        ),
        tile(
            "Useful",
            percent_of(s.useful_share),
            "of the work that was possible on the nodes used".to_owned(),
        ),
        tile(
            "Tasks finished",
            format!("{} of {}", count(s.tasks_finished), count(s.tasks)),
            format!("{} started", count(s.tasks_started)),
        ),
    ];
    if let (Some(mean), Some(median)) = (s.completion_mean_s, s.completion_median_s) {
        let remark = format!("mean; median {}", in_hours(median));
        tiles.push(tile("Time to completion", in_hours(mean), remark));
    }
    tiles
}

/// The lead sentence: the time that the run covers, and how many of its decisions are proven
/// optimal.
pub(super) fn lead(runs: &[Named<'_>]) -> String {
    let [run] = runs else {
        return "Changes are against the first run.".to_owned();
    };
    let s = &run.result.summary;
    let optimal = match s.events_optimal == s.events {
        true => "each proven optimal".to_owned(),
        false => format!("{} of them proven optimal", count(s.events_optimal)),
    };
    let kept = match s.events_kept {
        0 => String::new(),
        kept => format!(", {} without a better plan in time", count(kept)),
    };
    let replayed = match s.to == s.log_to {
        true => format!(
            "The whole log was replayed, {} to {} ({})",
            s.from,
            s.to,
            in_hours(s.span_seconds)
        ),
        false => format!(
            "Of the log, {} to {}, the time to {} ({}) was replayed",
            s.log_from,
            s.log_to,
            s.to,
            in_hours(s.span_seconds)
        ),
    };
    format!(
        "{replayed}, until {}. {} decisions, {optimal}{kept}, by the solver {}, with a window of {} s \
         and at most {} tasks at once. A growing task got {}.",
        why(s.ended),
        count(s.events),
        s.solver,
        number(s.t_fwd),
        count(s.max_tasks),
        growth(s.node_choice)
    )
}
