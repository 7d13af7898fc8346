//! The summary of a replay, as text and as JSON.

use std::fmt::Write;

use gleaner_core::domain::NodeRule;
use gleaner_core::domain::objective::NAMED;
use gleaner_core::error::{Error, Result};
use gleaner_core::results::replay::{Ended, Summary};
use gleaner_core::results::run::Seconds;
use gleaner_core::words::{counted, duration};
use gleaner_io::number;

/// The summary as pretty-printed JSON.
///
/// # Errors
/// Never in practice. A failure of the serialiser is passed on.
pub fn json(summary: &Summary) -> Result<String> {
    serde_json::to_string_pretty(summary)
        .map(|text| text + "\n")
        .map_err(|e| Error::Run(e.to_string()))
}

/// The terms of the summary that need an explanation, each with one line: for `--help` and for pages.
pub const TERMS: [(&str, &str); 14] = [
    ("unused", "idle node-time in which no task held the node"),
    (
        "before completion",
        "node-time held by running tasks before their completion",
    ),
    (
        "after completion",
        "node-time held by finished tasks until the next event, and the work they could have \
         done in that time (only with --no-completion-events)",
    ),
    (
        "too few nodes",
        "node-time held by tasks that a preemption left with fewer nodes than they need to run",
    ),
    (
        "possible work",
        "work that the tasks would have done at their rates without any loss. Work is in the units of the \
         scaling curves (images, samples), summed over all tasks. Compare totals only between \
         runs of the same tasks; shares can be compared between any runs",
    ),
    (
        "useful",
        "work that brought tasks nearer to their completion",
    ),
    (
        "lost to rescaling",
        "work lost because tasks pause when they start, grow or shrink",
    ),
    (
        "lost to preemption",
        "work lost because the batch scheduler took nodes back",
    ),
    (
        "efficiency",
        "useful work as a share of the work that the same tasks would have done on dedicated nodes: as many \
         as were idle on average, and never taken away",
    ),
    (
        "without costs",
        "useful work as a share of the work that the tasks would have done if each best plan took effect at \
         once, and rescaling and preemption cost nothing",
    ),
    (
        "bound with hindsight",
        "the most work that any allocator could have done, even one that knew the whole log (--bound)",
    ),
    (
        "slowest task",
        "the lowest progress of any task, as a share of its progress on as many nodes as \
         it can use",
    ),
    (
        "evenness",
        "evenness of the tasks' progress: 1 if all made the same share, 1/n if one of n tasks made \
         all of it (Jain's index)",
    ),
    (
        "time to completion",
        "time from a task's submission to its end, for the tasks that finished",
    ),
];

/// The summary as a text table.
pub fn text(s: &Summary, seconds: Seconds) -> String {
    let mut lines = vec![
        ("log", log(s)),
        ("replayed", replayed(s)),
        ("nodes", nodes(s)),
        ("planning window", window(s)),
        ("maximised", maximised(s)),
        ("nodes for growth", growth(s.node_choice).to_owned()),
        ("solver", solver(s)),
        ("decisions", decisions(s)),
    ];
    lines.extend(node_time(s));
    lines.extend(work(s));
    lines.extend(compared(s));
    lines.extend(fairness(s));
    lines.push(("tasks", tasks(s)));
    lines.extend(completion(s).map(|text| ("time to completion", text)));
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

/// A line of the summary: its label and its text.
type Line = (&'static str, String);

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

/// The objective: its name and expression, or only its expression.
fn maximised(s: &Summary) -> String {
    let objective = s.objective.to_string();
    match NAMED.iter().find(|named| named.name == objective) {
        Some(named) => format!("{}: {}", named.name, uncapitalised(named.meaning)),
        None => objective,
    }
}

fn uncapitalised(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_ascii_lowercase());
    first.into_iter().chain(letters).collect()
}

/// Describes which free nodes a growing task gets. The text completes "a growing task got ...".
pub fn growth(rule: NodeRule) -> &'static str {
    match rule {
        NodeRule::Arrival => "the nodes that had been idle longest (arrival)",
        NodeRule::Blocks => "neighbouring nodes (blocks)",
        NodeRule::Learned => "nodes that had usually left and joined together (learned)",
    }
}

fn solver(s: &Summary) -> String {
    match &s.formulation {
        Some(formulation) => format!("{}, formulation {formulation}", s.solver),
        None => s.solver.clone(),
    }
}

/// The first account, of node-time: the idle time, its unused and used parts, and the use of the used
/// part.
fn node_time(s: &Summary) -> [Line; 6] {
    let of = |seconds: f64| {
        format!(
            "{} ({})",
            hours(seconds),
            share(seconds, s.idle_node_seconds)
        )
    };
    [
        ("idle node-hours", hours(s.idle_node_seconds)),
        ("  unused", of(s.unused_node_seconds)),
        ("  used", of(s.used_node_seconds)),
        (
            "    before completion",
            of(s.before_completion_node_seconds),
        ),
        ("    after completion", of(s.after_completion_node_seconds)),
        ("    too few nodes", of(s.below_minimum_node_seconds)),
    ]
}

/// The second account, of work: the work possible at the tasks' rates, and its useful and lost parts.
fn work(s: &Summary) -> [Line; 5] {
    [
        (
            "possible work",
            format!(
                "{:.6e}, in the units of the scaling curves, summed over all tasks",
                s.gross_work
            ),
        ),
        ("  useful", of_gross(s.total_work, s)),
        ("  lost to rescaling", of_gross(s.rescale_loss, s)),
        ("  lost to preemption", preempted(s)),
        ("  after completion", of_gross(s.after_completion_work, s)),
    ]
}

fn preempted(s: &Summary) -> String {
    let lost = of_gross(s.preemption_loss, s);
    let hit = s.tasks_hit_mean.map(|mean| {
        let mean = short(mean, 2);
        format!("; on average {mean} tasks are hit when nodes are taken back")
    });
    lost + &hit.unwrap_or_default()
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

fn decisions(s: &Summary) -> String {
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

/// Formats work and its share of rate × time. Rounding errors of completion times are shown as 0.
fn of_gross(work: f64, s: &Summary) -> String {
    let work = if work > 1e-9 * s.gross_work {
        work
    } else {
        0.0
    };
    format!("{work:.6e} ({})", share(work, s.gross_work))
}

/// Compares the useful work with the work possible under other conditions.
fn compared(s: &Summary) -> Vec<Line> {
    let (Some(dedicated), Some(fluid)) = (s.efficiency, s.fluid_efficiency) else {
        return vec![("compared with", "not applicable: no task was active".into())];
    };
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    let mut lines = vec![
        (
            "compared with",
            format!(
                "{} of the work of {} dedicated nodes (efficiency)",
                percent(dedicated),
                short(s.equivalent_nodes, 1)
            ),
        ),
        (
            "",
            format!(
                "{} of the work possible without the costs of rescaling and preemption",
                percent(fluid)
            ),
        ),
    ];
    let hindsight = s
        .bound_efficiency
        .map(|bound| format!("{} of the bound with hindsight", percent(bound)));
    lines.extend(hindsight.map(|text| ("", text)));
    lines
}

fn fairness(s: &Summary) -> Vec<Line> {
    let (Some(min), Some(jain)) = (s.fairness_min, s.fairness_jain) else {
        return vec![("fairness", "not applicable: no task made progress".into())];
    };
    vec![
        (
            "slowest task",
            format!(
                "{:.1} % of its progress on all nodes that it can use",
                100.0 * min
            ),
        ),
        (
            "evenness",
            format!("{jain:.3} (1: all tasks made the same share of their progress)"),
        ),
    ]
}

fn share(part: f64, whole: f64) -> String {
    if whole > 0.0 {
        format!("{:.1} %", 100.0 * part.max(0.0) / whole)
    } else {
        "0 %".into()
    }
}
