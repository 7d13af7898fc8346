//! The facts about a replay, for printing, for pages, and for comparisons with other runs.

use gleaner_document::Fact;
use gleaner_document::numbers::{count, hours, percent};
use gleaner_domain::error::Result;
use gleaner_domain::objective::NAMED;
use gleaner_domain::results::replay::{Ended, Summary};
use gleaner_domain::results::run::Seconds;
use gleaner_domain::words::{counted, duration};
use gleaner_domain::{NodeRule, Quality};

mod meaning;
mod quantity;

pub use meaning::meaning;
pub(crate) use meaning::submitted_name;
pub use quantity::{QUANTITIES, Quantity, SEARCHED, loss};

/// Label of the facts about the quality of a log. These facts describe the whole log, even if a slice is replayed or
/// inspected.
pub(crate) const QUALITY: &str = "quality of the whole log";

/// The summary as pretty-printed JSON.
///
/// # Errors
/// Returns an error if serialisation fails, which does not occur in practice.
pub fn json(summary: &Summary) -> Result<String> {
    crate::pretty::json(summary)
}

/// All facts of a summary except those about a search.
pub fn facts(s: &Summary) -> Vec<Fact> {
    let mut facts = Vec::new();
    if !s.complete {
        facts.push(Fact::new(
            "INCOMPLETE",
            "interrupted before the end of the log",
        ));
    }
    facts.extend(circumstances(s));
    facts.extend(reliability(s));
    facts.extend(QUANTITIES.iter().filter_map(|quantity| quantity.fact(s)));
    facts
}

/// The facts about the search in a summary; empty if there was no search.
pub fn search(s: &Summary) -> Vec<Fact> {
    let Some(algorithm) = &s.search else {
        return Vec::new();
    };
    let quantities = SEARCHED.iter().filter_map(|quantity| quantity.fact(s));
    let algorithm = Fact::new("search", algorithm.clone());
    std::iter::once(algorithm).chain(quantities).collect()
}

/// The labels of the figures that need an explanation, each with its explanation.
pub fn terms() -> Vec<(&'static str, &'static str)> {
    let all = QUANTITIES.iter().chain(&SEARCHED);
    let terms = all.map(|quantity| (quantity.label, quantity.meaning));
    terms.filter(|(_, meaning)| !meaning.is_empty()).collect()
}

/// The facts that are not figures: the log, its replayed part, the settings, and the counts of decisions.
pub fn circumstances(s: &Summary) -> [Fact; 8] {
    [
        Fact::new("log", log(s)),
        Fact::new("replayed", replayed(s)),
        Fact::new("nodes", count(s.nodes)),
        Fact::new("planning window", window(s)),
        Fact::new("maximised", maximised(s)),
        Fact::new("nodes for growth", growth(s.node_choice)),
        Fact::new("solver", solver(s)),
        Fact::new("decisions", decisions(s)),
    ]
}

/// The quality of the log, and the share of the idle node-time during which jobs waited.
pub fn reliability(s: &Summary) -> Vec<Fact> {
    let quality = s.log_quality.iter().flat_map(Quality::sentences);
    let mut facts: Vec<Fact> = quality
        .map(|sentence| Fact::new(QUALITY, sentence))
        .collect();
    facts.extend(s.log_queued_share.map(|share| {
        let value = format!("{} of the idle node-time", percent(share));
        Fact::new("while jobs waited", value)
    }));
    facts
}

/// The wall time of a run by stage. `computing` names the stage between reading and writing.
pub fn time_taken(seconds: Seconds, computing: &str) -> Fact {
    let Seconds {
        read,
        compute,
        write,
    } = seconds;
    let told = format!("{read:.2} s reading, {compute:.2} s {computing}, {write:.2} s writing");
    Fact::new("time taken", told)
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
    let span = if s.to == s.log_to {
        "the whole log".to_owned()
    } else {
        format!("{} to {} ({})", s.from, s.to, duration(s.span_seconds))
    };
    let ignored = s.min_fragment_seconds.map_or(String::new(), |seconds| {
        let seconds = duration(seconds);
        format!("; idle fragments shorter than {seconds} are ignored, which requires hindsight")
    });
    format!("{span}, until {}{ignored}", why(s.ended))
}

/// The reason why a replay ended, worded to complete "until ...".
fn why(ended: Ended) -> &'static str {
    match ended {
        Ended::TasksFinished => "all tasks had finished",
        Ended::LogEnded => "its end",
        Ended::ScriptEnded => "the end of the script",
        Ended::TaskLimit => "there would have been too many tasks",
        Ended::Interrupted => "it was interrupted",
    }
}

fn window(s: &Summary) -> String {
    let at_once = counted(s.max_tasks, "task");
    format!(
        "{} s, at most {at_once} at once",
        gleaner_io::number::short(s.t_fwd)
    )
}

/// The objective's name and meaning, or only its expression if it has no name.
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

/// Describes the free nodes that a growing task gets. The text completes "a growing task got ...".
fn growth(rule: NodeRule) -> &'static str {
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

fn decisions(s: &Summary) -> String {
    if s.solver == "scripted" {
        return format!("{}, all taken from the script", s.events);
    }
    let optimal = if s.events_optimal == s.events {
        "all".to_owned()
    } else {
        s.events_optimal.to_string()
    };
    let kept = match s.events_kept {
        0 => String::new(),
        kept => format!(", {kept} without a plan better than no change"),
    };
    let short = match s.events_short {
        None | Some(0) => String::new(),
        Some(short) => format!(", {short} with too few nodes for a group of tasks"),
    };
    format!("{}, {optimal} proven optimal{kept}{short}", s.events)
}
