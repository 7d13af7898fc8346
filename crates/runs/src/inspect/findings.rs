//! The conclusions of the inspection: suspicious spans, and a suggested window for the replay.

use gleaner_document::numbers::{count, percent};
use gleaner_document::{Block, Fact, Grid, Head};
use gleaner_domain::words::duration;
use gleaner_inspect::{Inspection, Suggestion, Suspicion, SuspicionKind};

/// The source of the rescale costs on which a suggestion is based.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CostSource {
    /// A file of tasks.
    Tasks,
    /// Typical costs, because no tasks were given.
    Typical,
}

/// Up to `most` of the longest suspicious spans, ordered by time.
pub fn suspicions(i: &Inspection, most: usize) -> Block {
    let found = &i.suspicions;
    if found.is_empty() {
        return Block::Note("Suspicious spans: none.".to_owned());
    }
    let mut longest: Vec<usize> = (0..found.len()).collect();
    longest.sort_by(|&a, &b| found[b].seconds.total_cmp(&found[a].seconds));
    longest.truncate(most);
    longest.sort_unstable();
    let all = count(found.len());
    let title = if found.len() > most {
        format!("Suspicious spans: the {most} longest of {all} (--json lists all)")
    } else {
        format!("Suspicious spans ({all})")
    };
    let heads = ["what", "from", "to"].map(Head::text).into_iter();
    let heads = heads.chain(["length", "rows"].map(Head::number));
    Block::Grid(Grid::of(title, heads, longest, |place| row(&found[place])))
}

fn row(found: &Suspicion) -> [String; 5] {
    let what = match found.kind {
        SuspicionKind::LogGap => "no event",
        SuspicionKind::AllIdle => "every node idle",
        SuspicionKind::AllBusy => "every node busy",
        SuspicionKind::RepeatedTime => "repeated time",
    };
    [
        what.to_owned(),
        found.from.clone(),
        found.to.clone(),
        duration(found.seconds),
        count(found.rows),
    ]
}

/// The suggested window, with the share of idle node-time that becomes work.
pub fn suggested(s: &Suggestion) -> Fact {
    let label = "suggested --t-fwd";
    match s.window {
        None => Fact::main(label, format!("none: {}", s.reason.unwrap_or_default())),
        Some(w) => Fact::main(label, format!("{} s", w.t_fwd_s)).remark(format!(
            "({} of the idle node-time becomes work)",
            percent(w.useful_share)
        )),
    }
}

/// The reasons for the suggestion, as prose.
pub fn reasons(s: &Suggestion, source: CostSource) -> String {
    let costs = format!(
        "{}: {:.1} s to grow, {:.1} s to lose nodes. Concurrent tasks: {}.",
        match source {
            CostSource::Tasks => "The tasks' rescale costs, on average",
            CostSource::Typical => "Typical rescale costs (--tasks FILE for your own)",
        },
        s.costs.up_s,
        s.costs.down_s,
        s.costs.tasks
    );
    let Some(w) = s.window else {
        return costs;
    };
    let losses = match w.loss_every_s {
        Some(seconds) => format!("every {}", duration(seconds)),
        None => "never".into(),
    };
    format!(
        "{costs} With this window, a task grows about every {}. Within that time, the batch scheduler takes back \
         {} of the idle nodes. Growing more often would cost more than the added nodes earn. Growing less often would \
         leave more nodes unused. A task loses nodes {losses}. docs/OUTPUTS.md derives the rule.",
        duration(w.growth_every_s),
        percent(w.taken_within)
    )
}
