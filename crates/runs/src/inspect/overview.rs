//! The log in a dozen lines.

use std::fmt::Write;

use super::percent;
use gleaner_core::words::{counted, duration};
use gleaner_inspect::{Inspection, UnchangedNodes};

/// Maximum number of nodes that the text names.
const SHOWN_NODES: usize = 5;

/// A line for each figure of the whole log.
pub(super) fn overview(i: &Inspection) -> String {
    let lines = [
        (
            "log",
            format!("{} to {} ({})", i.from, i.to, duration(i.span_seconds)),
        ),
        (
            "nodes",
            format!(
                "{}, of which {:.1} idle on average ({}), at most {}",
                i.nodes,
                i.idle_nodes_mean,
                percent(i.idle_share),
                i.idle_nodes_max
            ),
        ),
        (
            "idle node-hours",
            format!("{:.1}", i.idle_node_seconds / 3600.0),
        ),
        ("never idle", nodes(&i.never_idle)),
        ("always idle", nodes(&i.always_idle)),
        ("events", events(i)),
        ("between events", gaps(i)),
        ("idle fragments", fragment_count(i)),
        ("their lengths", lengths(i)),
    ];
    let width = lines.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    lines.iter().fold(String::new(), |mut out, (name, value)| {
        let _ = writeln!(out, "{name:width$}  {value}");
        out
    })
}

fn events(i: &Inspection) -> String {
    let still = match i.events_without_change {
        0 => String::new(),
        rows => format!(", {rows} of them change no node"),
    };
    format!("{}{still}", i.events)
}

fn nodes(nodes: &UnchangedNodes) -> String {
    if nodes.count == 0 {
        return "no node".into();
    }
    let named = nodes.names.iter().take(SHOWN_NODES).map(String::as_str);
    let more = if nodes.count > SHOWN_NODES {
        ", …"
    } else {
        ""
    };
    let names = named.collect::<Vec<_>>().join(", ");
    format!("{}: {names}{more}", counted(nodes.count, "node"))
}

fn gaps(i: &Inspection) -> String {
    let at = |percent| i.event_gaps.percentile(percent).map(duration);
    match (at(50.0), at(90.0), at(99.0)) {
        (Some(half), Some(most), Some(nearly_all)) => format!(
            "median {half}, 90 % up to {most}, 99 % up to {nearly_all}, longest {}",
            duration(i.event_gaps.max_s)
        ),
        _ => "none".into(),
    }
}

fn fragment_count(i: &Inspection) -> String {
    let f = &i.fragments;
    match f.cut_at_start + f.cut_at_end {
        0 => format!("{} idle periods of nodes", f.lengths.count),
        cut => format!(
            "{} idle periods of nodes, {cut} of them cut off by the ends of the log",
            f.lengths.count
        ),
    }
}

fn lengths(i: &Inspection) -> String {
    let lengths = &i.fragments.lengths;
    match lengths.quantiles.iter().find(|q| q.percent == 50.0) {
        None => "none".into(),
        Some(half) => format!(
            "mean {}, median {}; half of the idle time is in fragments up to {}",
            duration(lengths.mean_s),
            duration(half.by_count_s),
            duration(half.by_sum_s),
        ),
    }
}
