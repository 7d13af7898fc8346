//! The figures of `summary.json`.

use super::Named;
use super::compare::{self, Row};
use crate::numbers::{change, count, hours, large, number, part, percent, points};
use crate::{Grid, Tile};
use gleaner_core::domain::NodeRule;
use gleaner_core::results::replay::Summary;
use gleaner_core::words::duration;
use gleaner_formats::output::summary::why;

const ROWS: [Row; 19] = [
    ("Time replayed", |s| Some(s.span_seconds), duration, change),
    (
        "Time of the whole log",
        |s| Some(s.log_span_seconds),
        duration,
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
        "Idle node-hours of the time replayed",
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
    ("Share of idle node-time used", used_share, percent, points),
    ("Work done", |s| Some(s.total_work), large, change),
    (
        "Work lost to rescaling",
        |s| Some(s.rescale_loss),
        large,
        change,
    ),
    (
        "Work lost to preemption",
        |s| Some(s.preemption_loss),
        large,
        change,
    ),
    (
        "Tasks hit by an event on average",
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
        "Efficiency against the costless bound",
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
        "Tasks finished",
        |s| Some(s.tasks_finished as f64),
        number,
        change,
    ),
    (
        "Mean time to completion",
        |s| s.completion_mean_s,
        duration,
        change,
    ),
    (
        "Median time to completion",
        |s| s.completion_median_s,
        duration,
        change,
    ),
    (
        "Last task finished after",
        |s| s.completion_last_s,
        duration,
        change,
    ),
];

fn used_share(s: &Summary) -> Option<f64> {
    (s.idle_node_seconds > 0.0).then(|| s.used_node_seconds / s.idle_node_seconds)
}

/// All figures that any of the runs has, side by side, with their changes relative to the first.
pub(super) fn grid(runs: &[Named<'_>]) -> Grid {
    let title = match runs {
        [first, _, ..] => format!("Figures, and their change against {}", first.name),
        _ => "All figures".to_owned(),
    };
    compare::grid(title, runs, &ROWS)
}

/// The most important figures of a single run.
pub(super) fn tiles(s: &Summary) -> Vec<Tile> {
    let tile = |name: &str, value: String, remark: String| Tile {
        name: name.to_owned(),
        value,
        remark,
    };
    let efficiency = s.efficiency.map_or("–".to_owned(), percent);
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
            efficiency,
            format!("of {} nodes for training alone", number(s.equivalent_nodes)),
        ),
        tile(
            "Tasks finished",
            format!("{} of {}", count(s.tasks_finished), count(s.tasks)),
            format!("{} started", count(s.tasks_started)),
        ),
    ];
    if let (Some(mean), Some(median)) = (s.completion_mean_s, s.completion_median_s) {
        let remark = format!("mean; median {}", duration(median));
        tiles.push(tile("Time to completion", duration(mean), remark));
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
            duration(s.span_seconds)
        ),
        false => format!(
            "Of the log, {} to {}, the time to {} ({}) was replayed",
            s.log_from,
            s.log_to,
            s.to,
            duration(s.span_seconds)
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
        match s.node_choice {
            NodeRule::Arrival => "the nodes that had been idle longest",
            NodeRule::Blocks => "neighbouring nodes",
            NodeRule::Learned => "nodes that had mostly left and joined together",
        }
    )
}
