//! The summary of a replay, for people and for programs.

use std::fmt::Write;

use super::run::Seconds;
use crate::error::{Error, Result};
use crate::replay::{Outcome, Summary};

/// The summary as pretty-printed JSON.
///
/// # Errors
/// Never in practice; the serialiser's words where it fails.
pub fn json(summary: &Summary) -> Result<String> {
    serde_json::to_string_pretty(summary)
        .map(|text| text + "\n")
        .map_err(|e| Error::Run(e.to_string()))
}

/// The summary as a table that a person understands.
pub fn text(outcome: &Outcome, seconds: Seconds) -> String {
    let s = &outcome.summary;
    let mut lines: Vec<(&str, String)> = vec![
        (
            "log",
            format!("{} to {} ({})", s.from, s.to, duration(s.span_seconds)),
        ),
        (
            "nodes",
            format!(
                "{}, of which {:.1} idle on average",
                s.nodes, s.equivalent_nodes
            ),
        ),
        ("objective", s.objective.to_string()),
        ("events", events(s, &outcome.solver)),
        (
            "idle node-hours",
            format!("{:.1}", s.idle_node_seconds / 3600.0),
        ),
        (
            "used node-hours",
            format!(
                "{:.1} ({})",
                s.used_node_seconds / 3600.0,
                share(s.used_node_seconds, s.idle_node_seconds)
            ),
        ),
        ("work done", format!("{:.6e}", s.total_work)),
        ("lost to rescaling", loss(s.rescale_loss, s)),
        ("lost to preemption", loss(s.preemption_loss, s)),
        ("efficiency", efficiency(s)),
        ("fairness", fairness(s)),
        (
            "tasks",
            format!(
                "{} of {} finished, {} started",
                s.tasks_finished, s.tasks, s.tasks_started
            ),
        ),
    ];
    if let (Some(mean), Some(median), Some(last)) = (
        s.completion_mean_s,
        s.completion_median_s,
        s.completion_last_s,
    ) {
        let text = format!(
            "mean {}, median {}, last after {}",
            duration(mean),
            duration(median),
            duration(last)
        );
        lines.push(("completion", text));
    }
    lines.push((
        "time taken",
        format!(
            "{:.2} s reading, {:.2} s replaying, {:.2} s writing",
            seconds.read, seconds.compute, seconds.write
        ),
    ));
    if !s.complete {
        lines.push(("INCOMPLETE", "interrupted before the end of the log".into()));
    }
    let width = lines.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    lines.iter().fold(String::new(), |mut out, (name, value)| {
        let _ = writeln!(out, "{name:width$}  {value}");
        out
    })
}

fn events(s: &Summary, solver: &str) -> String {
    match solver {
        "scripted" => format!("{}, as the script says", s.events),
        _ => format!(
            "{}, {} by {solver} proven optimal{}",
            s.events,
            if s.events_optimal == s.events {
                "all".into()
            } else {
                s.events_optimal.to_string()
            },
            if s.events_kept > 0 {
                format!(", {} without a better plan in time", s.events_kept)
            } else {
                String::new()
            }
        ),
    }
}

fn loss(lost: f64, s: &Summary) -> String {
    let gross = s.total_work + s.rescale_loss + s.preemption_loss;
    format!("{lost:.6e} ({})", share(lost, gross))
}

fn efficiency(s: &Summary) -> String {
    match (s.efficiency, s.fluid_efficiency) {
        (Some(dedicated), Some(fluid)) => format!(
            "{:.1} % of {:.1} dedicated nodes, {:.1} % of the costless bound",
            100.0 * dedicated,
            s.equivalent_nodes,
            100.0 * fluid
        ),
        _ => "none: nothing to compare with".into(),
    }
}

fn fairness(s: &Summary) -> String {
    match (s.fairness_min, s.fairness_jain) {
        (Some(min), Some(jain)) => format!(
            "least normalised progress {:.1} %, Jain's index {jain:.3}",
            100.0 * min
        ),
        _ => "none: no task made progress".into(),
    }
}

fn share(part: f64, whole: f64) -> String {
    if whole > 0.0 {
        format!("{:.1} %", 100.0 * part / whole)
    } else {
        "0 %".into()
    }
}

/// Seconds in the two units that say most.
pub(super) fn duration(seconds: f64) -> String {
    let whole = seconds.round().max(0.0) as u64;
    let (days, hours, minutes) = (whole / 86_400, whole / 3600 % 24, whole / 60 % 60);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{whole} s"),
        (0, 0, _) => format!("{minutes} min {} s", whole % 60),
        (0, ..) => format!("{hours} h {minutes} min"),
        _ => format!("{days} d {hours} h"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_in_two_units() {
        assert_eq!(duration(12.4), "12 s");
        assert_eq!(duration(90.0), "1 min 30 s");
        assert_eq!(duration(7260.0), "2 h 1 min");
        assert_eq!(duration(90_000.0), "1 d 1 h");
    }
}
