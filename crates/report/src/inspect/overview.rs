//! The log in a few numbers.

use crate::numbers::{count, hours, number, percent};
use crate::{Grid, Head, Tile};
use gleaner_core::words::duration;
use gleaner_inspect::{Distribution, Inspection};

/// The lead sentence: the time, the nodes and the events that the log covers.
pub(super) fn lead(log: &Inspection) -> String {
    let still = match log.events_without_change {
        0 => String::new(),
        rows => format!(", {} of them without a change", count(rows as u64)),
    };
    format!(
        "{} to {} ({}), {} nodes, {} events{still}.",
        log.from,
        log.to,
        duration(log.span_seconds),
        count(log.nodes as u64),
        count(log.events as u64)
    )
}

/// The most important figures of the log.
pub(super) fn tiles(log: &Inspection) -> Vec<Tile> {
    let tile = |name: &str, value: String, remark: String| Tile {
        name: name.to_owned(),
        value,
        remark,
    };
    let lengths = &log.fragments.lengths;
    let median = lengths.percentile(50.0).map_or("–".to_owned(), duration);
    let mut tiles = vec![
        tile(
            "Idle node-hours",
            hours(log.idle_node_seconds),
            format!("{} of all node-time", percent(log.idle_share)),
        ),
        tile(
            "Idle nodes",
            number(log.idle_nodes_mean),
            format!("on average; at most {}", count(log.idle_nodes_max)),
        ),
        tile("Idle fragments", count(lengths.count as u64), cut(log)),
        tile(
            "Median fragment",
            median,
            format!("mean {}", duration(lengths.mean_s)),
        ),
    ];
    if let Some(window) = log.suggestion.window {
        tiles.push(tile(
            "Suggested --t-fwd",
            format!("{} s", window.t_fwd_s),
            format!("{} of idle node-time useful", percent(window.useful_share)),
        ));
    }
    tiles
}

fn cut(log: &Inspection) -> String {
    match log.fragments.cut_at_start + log.fragments.cut_at_end {
        0 => "none cut off by the log's ends".to_owned(),
        cut => format!("{} cut off by the log's ends", count(cut as u64)),
    }
}

/// Quantiles of fragments and gaps.
pub(super) fn lengths(log: &Inspection) -> Grid {
    let heads = [
        Head::text("share"),
        Head::number("of fragments: up to"),
        Head::number("of idle node-time: in fragments up to"),
        Head::number("of gaps between events: up to"),
    ];
    let mut grid = Grid::new("Lengths by share", heads);
    let (fragments, gaps) = (&log.fragments.lengths, &log.event_gaps);
    for quantile in &fragments.quantiles {
        grid.row([
            format!("{} %", quantile.percent),
            duration(quantile.by_count_s),
            duration(quantile.by_sum_s),
            gap(gaps, quantile.percent),
        ]);
    }
    grid
}

fn gap(gaps: &Distribution, percent: f64) -> String {
    gaps.percentile(percent).map_or("–".to_owned(), duration)
}
