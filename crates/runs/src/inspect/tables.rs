//! Fragments by length, idle nodes by hour and weekday.

use std::fmt::Write;

use super::percent;
use gleaner_inspect::{Bin, Calendar, Fragments, Slot};

/// Length of the bar for the largest value, in characters.
const BAR: f64 = 40.0;

/// A table of fragments by length: their number, and the idle node-time in them.
pub(super) fn fragments(fragments: &Fragments) -> String {
    let mut out = format!(
        "{:<16}{:>10}  {:>8}  {:>12}  {:>8}\n",
        "fragment length", "count", "share", "node-hours", "share"
    );
    for bin in &fragments.lengths.bins {
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

/// Idle nodes by hour of the day.
pub(super) fn hours(calendar: &Calendar) -> String {
    slots("hour", &calendar.hours, |hour| format!("{hour:02}"))
}

/// Idle nodes by weekday.
pub(super) fn weekdays(calendar: &Calendar) -> String {
    const NAMES: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
    slots("weekday", &calendar.weekdays, |day| NAMES[day % 7].into())
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

fn bar(value: f64, largest: f64) -> String {
    if largest > 0.0 {
        "#".repeat((BAR * value / largest).round() as usize)
    } else {
        String::new()
    }
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
