//! A summary of the log in a dozen facts.

use gleaner_document::Fact;
use gleaner_document::numbers::{count, hours, number, percent};
use gleaner_domain::Quality;
use gleaner_domain::words::{counted, duration};
use gleaner_inspect::{Inspection, UnchangedNodes};

use crate::summary::QUALITY;

/// Maximum number of nodes that a fact names.
const SHOWN_NODES: usize = 5;

/// The facts about the whole log.
pub fn facts(i: &Inspection) -> Vec<Fact> {
    let idle_time = format!("{} node-hours", hours(i.idle_node_seconds));
    let mut facts = vec![
        Fact::new(
            "log",
            format!("{} to {} ({})", i.from, i.to, duration(i.span_seconds)),
        ),
        Fact::new("nodes", count(i.nodes)),
        Fact::main("idle nodes", number(i.idle_nodes_mean))
            .remark(format!("on average, maximum {}", count(i.idle_nodes_max))),
        Fact::main("idle node-time", idle_time)
            .remark(format!("({} of all node-time)", percent(i.idle_share))),
        Fact::new("never idle", nodes(&i.never_idle)),
        Fact::new("always idle", nodes(&i.always_idle)),
        Fact::new("events", events(i)),
        Fact::new("between events", gaps(i)),
        Fact::main("idle fragments", count(i.fragments.lengths.count)).remark(cut(i)),
    ];
    facts.extend(median(i));
    facts.extend(i.queued_share.map(|share| {
        Fact::new(
            "while jobs waited",
            format!("{} of the idle node-time", percent(share)),
        )
    }));
    let quality = i.quality.iter().flat_map(Quality::sentences);
    facts.extend(quality.map(|sentence| Fact::new(QUALITY, sentence)));
    facts
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

fn cut(i: &Inspection) -> String {
    match i.fragments.cut_at_start + i.fragments.cut_at_end {
        0 => "idle periods of nodes".to_owned(),
        cut => format!(
            "idle periods of nodes, {} cut off by the log's ends",
            count(cut)
        ),
    }
}

fn median(i: &Inspection) -> Option<Fact> {
    let lengths = &i.fragments.lengths;
    let half = lengths.quantiles.iter().find(|q| q.percent == 50.0)?;
    Some(
        Fact::main("median fragment", duration(half.by_count_s)).remark(format!(
            "(mean {}; half of the idle time is in fragments up to {})",
            duration(lengths.mean_s),
            duration(half.by_sum_s)
        )),
    )
}
