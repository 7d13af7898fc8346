//! The inspection of an event log, for people and for programs.

use std::fmt::Write;

use super::summary::duration;
use crate::error::{Error, Result};
use crate::inspect::{Bin, Inspection, Slot, Suggestion, Suspicion, SuspicionKind, UnchangedNodes};

/// Where the rescale costs of a suggestion come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CostSource {
    /// The tasks of a file.
    Tasks,
    /// No task was named: typical ones.
    Typical,
}

/// Names of nodes, and suspicions, that the text shows.
const SHOWN_NODES: usize = 5;
const SHOWN_SUSPICIONS: usize = 10;
/// Characters of a bar for the largest value.
const BAR: f64 = 40.0;

/// The inspection as pretty-printed JSON.
///
/// # Errors
/// Never in practice; the serialiser's words where it fails.
pub fn json(inspection: &Inspection) -> Result<String> {
    serde_json::to_string_pretty(inspection)
        .map(|text| text + "\n")
        .map_err(|e| Error::Run(e.to_string()))
}

/// The inspection as tables that a person understands.
pub fn text(inspection: &Inspection, source: CostSource) -> String {
    [
        overview(inspection),
        fragments(inspection),
        slots("hour", &inspection.calendar.hours, |hour| {
            format!("{hour:02}")
        }),
        slots("weekday", &inspection.calendar.weekdays, weekday),
        suspicions(&inspection.suspicions),
        suggestion(&inspection.suggestion, source),
    ]
    .join("\n")
}

fn overview(i: &Inspection) -> String {
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
        ("event gaps", gaps(i)),
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
    let plural = if nodes.count == 1 { "node" } else { "nodes" };
    let names = named.collect::<Vec<_>>().join(", ");
    format!("{} {plural}: {names}{more}", nodes.count)
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
        0 => f.lengths.count.to_string(),
        cut => format!("{}, {cut} cut off by the ends of the log", f.lengths.count),
    }
}

fn lengths(i: &Inspection) -> String {
    let lengths = &i.fragments.lengths;
    match lengths.quantiles.iter().find(|q| q.percent == 50.0) {
        None => "none".into(),
        Some(half) => format!(
            "mean {}, median {}; those up to {} hold half of idle node-time",
            duration(lengths.mean_s),
            duration(half.by_count_s),
            duration(half.by_sum_s),
        ),
    }
}

fn fragments(i: &Inspection) -> String {
    let mut out = format!(
        "{:<16}{:>10}  {:>8}  {:>12}  {:>8}\n",
        "fragment length", "count", "share", "node-hours", "share"
    );
    for bin in &i.fragments.lengths.bins {
        let _ = writeln!(
            out,
            "{:<16}{:>10}  {:>8}  {:>12.1}  {:>8}",
            range(bin),
            bin.count,
            percent(bin.count_share),
            bin.sum_s / 3600.0,
            percent(bin.sum_share)
        );
    }
    out
}

/// A bin's bounds, which are whole minutes or hours.
fn range(bin: &Bin) -> String {
    let unit = |seconds: f64| {
        if seconds < 3600.0 {
            (seconds / 60.0, "min")
        } else {
            (seconds / 3600.0, "h")
        }
    };
    let (from, from_unit) = unit(bin.from_s);
    match bin.to_s.map(unit) {
        None => format!("{from} {from_unit} or more"),
        Some((to, to_unit)) if bin.from_s == 0.0 => format!("under {to} {to_unit}"),
        Some((to, to_unit)) if to_unit == from_unit => format!("{from} to {to} {to_unit}"),
        Some((to, to_unit)) => format!("{from} {from_unit} to {to} {to_unit}"),
    }
}

/// Mean idle nodes of recurring parts of the week, with bars from zero.
fn slots(name: &str, slots: &[Slot], label: impl Fn(usize) -> String) -> String {
    let largest = slots
        .iter()
        .filter_map(|s| s.idle_nodes)
        .fold(0.0, f64::max);
    let mut out = format!("{name:<10}{:>16}\n", "idle nodes, mean");
    for (i, slot) in slots.iter().enumerate() {
        let _ = match slot.idle_nodes {
            Some(idle) => writeln!(out, "{:<10}{idle:>16.1}  {}", label(i), bar(idle, largest)),
            None => writeln!(out, "{:<10}{:>16}", label(i), "not in the log"),
        };
    }
    out
}

fn weekday(index: usize) -> String {
    ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"][index % 7].into()
}

fn bar(value: f64, largest: f64) -> String {
    if largest > 0.0 {
        "#".repeat((BAR * value / largest).round() as usize)
    } else {
        String::new()
    }
}

fn suspicions(found: &[Suspicion]) -> String {
    if found.is_empty() {
        return "suspicious spans: none\n".into();
    }
    let mut longest: Vec<usize> = (0..found.len()).collect();
    longest.sort_by(|&a, &b| found[b].seconds.total_cmp(&found[a].seconds));
    longest.truncate(SHOWN_SUSPICIONS);
    longest.sort_unstable();
    let shown = if found.len() > SHOWN_SUSPICIONS {
        format!(", of which the {SHOWN_SUSPICIONS} longest (--json lists all)")
    } else {
        String::new()
    };
    let lines = longest.iter().map(|&i| suspicion(&found[i]));
    format!("suspicious spans: {}{shown}\n", found.len()) + &lines.collect::<String>()
}

fn suspicion(s: &Suspicion) -> String {
    let what = match s.kind {
        SuspicionKind::LogGap => "no event",
        SuspicionKind::AllIdle => "every node idle",
        SuspicionKind::AllBusy => "every node busy",
        SuspicionKind::RepeatedTime => "repeated time",
    };
    let place = match s.kind {
        SuspicionKind::RepeatedTime => format!("{}, {} rows", s.from, s.rows),
        _ => format!("{} to {} ({})", s.from, s.to, duration(s.seconds)),
    };
    format!("  {what:<16}  {place}\n")
}

fn suggestion(s: &Suggestion, source: CostSource) -> String {
    let costs = format!(
        "{}: {:.1} s to grow, {:.1} s to lose nodes, {} at once",
        match source {
            CostSource::Tasks => "the tasks' rescale costs, on average",
            CostSource::Typical => "typical rescale costs (--tasks FILE for your own)",
        },
        s.costs.up_s,
        s.costs.down_s,
        s.costs.tasks
    );
    let Some(w) = s.window else {
        let reason = s.reason.unwrap_or_default();
        return format!("suggested --t-fwd: none, {reason}\n  {costs}\n");
    };
    let losses = match w.loss_every_s {
        Some(seconds) => format!("every {}", duration(seconds)),
        None => "never".into(),
    };
    format!(
        "suggested --t-fwd {}\n  \
         {costs}\n  \
         it makes a task grow about every {}, in which {} of idle nodes are taken again;\n  \
         growing more often would cost more than the nodes earn, less often would leave more\n  \
         of them unused. A task loses nodes {losses}; docs/OUTPUTS.md derives the rule.\n",
        w.t_fwd_s,
        duration(w.growth_every_s),
        percent(w.taken_within)
    )
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_in_the_units_of_their_bounds() {
        let bin = |from_s, to_s| Bin {
            from_s,
            to_s,
            count: 0,
            count_share: 0.0,
            sum_s: 0.0,
            sum_share: 0.0,
        };
        assert_eq!(range(&bin(0.0, Some(60.0))), "under 1 min");
        assert_eq!(range(&bin(60.0, Some(600.0))), "1 to 10 min");
        assert_eq!(range(&bin(600.0, Some(3600.0))), "10 min to 1 h");
        assert_eq!(range(&bin(86_400.0, None)), "24 h or more");
    }

    #[test]
    fn bars_start_at_zero() {
        assert_eq!(bar(0.5, 1.0).len(), 20);
        assert_eq!(bar(0.0, 0.0), "");
    }
}
