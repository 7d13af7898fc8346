//! The summary of a replay, as text and as JSON.

use std::fmt::Write;

use super::number;
use gleaner_core::error::{Error, Result};
use gleaner_core::results::replay::{Ended, Summary};
use gleaner_core::results::run::Seconds;
use gleaner_core::words::{counted, duration};

/// The summary as pretty-printed JSON.
///
/// # Errors
/// Never in practice. A failure of the serialiser is passed on.
pub fn json(summary: &Summary) -> Result<String> {
    serde_json::to_string_pretty(summary)
        .map(|text| text + "\n")
        .map_err(|e| Error::Run(e.to_string()))
}

/// The summary as a text table.
pub fn text(s: &Summary, seconds: Seconds) -> String {
    let mut lines = vec![
        ("log", log(s)),
        ("replayed", replayed(s)),
        ("nodes", nodes(s)),
        ("window", window(s)),
        ("objective", s.objective.to_string()),
        ("choice of nodes", s.node_choice.to_string()),
        ("solver", solver(s)),
        ("events", events(s)),
        ("idle node-hours", hours(s.idle_node_seconds)),
        ("used node-hours", used(s)),
        ("work done", format!("{:.6e}", s.total_work)),
        ("lost to rescaling", loss(s.rescale_loss, s)),
        ("lost to preemption", preempted(s)),
        ("efficiency", efficiency(s)),
        ("fairness", fairness(s)),
        ("tasks", tasks(s)),
    ];
    lines.extend(completion(s).map(|text| ("completion", text)));
    lines.extend(deadlines(s).map(|text| ("deadlines", text)));
    lines.extend(search(s).map(|text| ("search", text)));
    lines.extend(best_trial(s).map(|text| ("best trial", text)));
    let wasted = s.wasted_work.map(|work| wasted(work, s));
    lines.extend(wasted.map(|text| ("wasted work", text)));
    lines.push(("time taken", taken(seconds)));
    if !s.complete {
        lines.push(("INCOMPLETE", "interrupted before the end of the log".into()));
    }
    let width = lines.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    lines.iter().fold(String::new(), |mut out, (name, value)| {
        let _ = writeln!(out, "{name:width$}  {value}");
        out
    })
}

fn log(s: &Summary) -> String {
    format!(
        "{} to {} ({}), {} idle node-hours",
        s.log_from,
        s.log_to,
        duration(s.log_span_seconds),
        hours(s.log_idle_node_seconds)
    )
}

fn replayed(s: &Summary) -> String {
    let span = match s.to == s.log_to {
        true => "the whole log".to_owned(),
        false => format!("{} to {} ({})", s.from, s.to, duration(s.span_seconds)),
    };
    format!("{span}, until {}", why(s.ended))
}

fn preempted(s: &Summary) -> String {
    let lost = loss(s.preemption_loss, s);
    match s.tasks_hit_mean {
        Some(mean) => format!(
            "{lost}, {} tasks hit by an event on average",
            short(mean, 2)
        ),
        None => lost,
    }
}

/// Why a replay ended. The text completes "until ...".
pub fn why(ended: Ended) -> &'static str {
    match ended {
        Ended::TasksFinished => "all tasks had finished",
        Ended::LogEnded => "its end",
        Ended::ScriptEnded => "the end of the script",
        Ended::TaskLimit => "there would have been too many tasks",
        Ended::Interrupted => "it was interrupted",
    }
}

fn nodes(s: &Summary) -> String {
    let idle = short(s.idle_nodes_mean(), 1);
    format!("{}, of which {idle} idle on average", s.nodes)
}

fn window(s: &Summary) -> String {
    let at_once = counted(s.max_tasks, "task");
    format!("{} s, at most {at_once} at once", number::short(s.t_fwd))
}

fn solver(s: &Summary) -> String {
    match &s.formulation {
        Some(formulation) => format!("{}, formulation {formulation}", s.solver),
        None => s.solver.clone(),
    }
}

fn used(s: &Summary) -> String {
    format!(
        "{} ({})",
        hours(s.used_node_seconds),
        share(s.used_node_seconds, s.idle_node_seconds)
    )
}

fn tasks(s: &Summary) -> String {
    let endless = match s.tasks_endless {
        0 => String::new(),
        endless => format!(", {endless} endless"),
    };
    let rounds = match s.rounds {
        1 => String::new(),
        rounds => format!(" in {rounds} rounds"),
    };
    format!(
        "{} of {} finished, {} started{endless}{rounds}",
        s.tasks_finished, s.tasks, s.tasks_started
    )
}

fn completion(s: &Summary) -> Option<String> {
    Some(format!(
        "mean {}, median {}, last after {}",
        duration(s.completion_mean_s?),
        duration(s.completion_median_s?),
        duration(s.completion_last_s?)
    ))
}

fn deadlines(s: &Summary) -> Option<String> {
    Some(format!("{} of {} met", s.deadlines_met?, s.deadlines?))
}

fn search(s: &Summary) -> Option<String> {
    let per_hour = s.trials_per_hour.unwrap_or(0.0);
    Some(format!(
        "{}: {} started, {} stopped, {} finished; {} an hour reached a rung",
        s.search?,
        counted(s.trials_started?, "trial"),
        s.trials_stopped?,
        s.trials_finished?,
        short(per_hour, 2)
    ))
}

fn best_trial(s: &Summary) -> Option<String> {
    s.search?;
    let (Some(loss), Some(seconds)) = (s.best_loss, s.best_trial_s) else {
        return Some("none: no trial reached the last rung".to_owned());
    };
    let regret = s.regret.unwrap_or(0.0);
    Some(format!(
        "loss {loss:.4} after {}, {regret:.4} more than the best trial would have",
        duration(seconds)
    ))
}

fn wasted(work: f64, s: &Summary) -> String {
    format!(
        "{work:.6e} ({} of the work done), for trials that did not reach the last rung",
        share(work, s.total_work)
    )
}

fn taken(seconds: Seconds) -> String {
    format!(
        "{:.2} s reading, {:.2} s replaying, {:.2} s writing",
        seconds.read, seconds.compute, seconds.write
    )
}

fn events(s: &Summary) -> String {
    if s.solver == "scripted" {
        return format!("{}, as the script says", s.events);
    }
    let optimal = match s.events_optimal == s.events {
        true => "all".to_owned(),
        false => s.events_optimal.to_string(),
    };
    let kept = match s.events_kept {
        0 => String::new(),
        kept => format!(", {kept} without a better plan in time"),
    };
    let short = match s.events_short {
        None | Some(0) => String::new(),
        Some(short) => format!(", {short} with too few nodes for a group of tasks"),
    };
    format!("{}, {optimal} proven optimal{kept}{short}", s.events)
}

/// Node-seconds as node-hours.
fn hours(node_seconds: f64) -> String {
    short(node_seconds / 3600.0, 1)
}

/// A number with this many decimals, or with six digits if it is 1e9 or more.
fn short(value: f64, decimals: usize) -> String {
    match value.abs() < 1e9 {
        true => format!("{value:.decimals$}"),
        false => number::short(value),
    }
}

fn loss(lost: f64, s: &Summary) -> String {
    let gross = s.total_work + s.rescale_loss + s.preemption_loss;
    format!("{lost:.6e} ({})", share(lost, gross))
}

fn efficiency(s: &Summary) -> String {
    let (Some(dedicated), Some(fluid)) = (s.efficiency, s.fluid_efficiency) else {
        return "none: nothing to compare with".into();
    };
    let hindsight = s
        .bound_efficiency
        .map(|bound| format!(", {:.1} % of the bound with hindsight", 100.0 * bound));
    format!(
        "{:.1} % of {} dedicated nodes, {:.1} % of the costless bound{}",
        100.0 * dedicated,
        short(s.equivalent_nodes, 1),
        100.0 * fluid,
        hindsight.unwrap_or_default()
    )
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
