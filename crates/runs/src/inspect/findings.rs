//! What the inspection concludes: suspicious spans, and a window for the replay.

use super::percent;
use gleaner_core::words::duration;
use gleaner_inspect::{Suggestion, Suspicion, SuspicionKind};

/// Maximum number of suspicious spans in the text.
const SHOWN_SUSPICIONS: usize = 10;

/// Where the rescale costs of a suggestion come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CostSource {
    /// From the tasks of a file.
    Tasks,
    /// Typical costs, because no tasks were given.
    Typical,
}

/// The longest suspicious spans, ordered by time.
pub(super) fn suspicions(found: &[Suspicion]) -> String {
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

/// The suggested window and how it is derived.
pub(super) fn suggestion(s: &Suggestion, source: CostSource) -> String {
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
