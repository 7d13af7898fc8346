//! The results of `gleaner pilots` as JSON, and as facts and tables for the terminal and the page.

use gleaner_document::numbers::{count, hours, percent};
use gleaner_document::{Block, Fact, Grid, Head};
use gleaner_domain::error::Result;
use gleaner_domain::results::pilots::{Ladder, MinuteGrid, Pilots, PlanStep};
use gleaner_domain::words::{counted, duration};
use gleaner_inspect::Fragments;
use serde::Serialize;

use super::inspect::length_classes;
use super::lengths::Lengths;

/// Maximum number of wall times that a cell or a fact lists.
const SHOWN_LENGTHS: usize = 24;

/// Explains why `fits` is optimistic, and which model is closest to a real site.
const CAUTION: &str = "fits is optimistic: it assumes that the batch scheduler knows how long each node will stay idle, so \
                       that no pilot is ever preempted. Real schedulers do not know this. Of 694 pilots on Prometheus \
                       on 17 March 2022, 484 were preempted. These 484 pilots account for 47 % of the pilot time. \
                       That site came close to the kept model.";

/// Explains why a plan must be evaluated on a log other than the one that it was chosen on.
const HINDSIGHT: &str = "The plan for the lost model was chosen with hindsight: evaluate it on another log, with \
                         --plan.";

/// The notes below the figures, which explain the models.
pub fn notes(pilots: &Pilots) -> String {
    if pilots.is_plan_given {
        CAUTION.to_owned()
    } else {
        format!("{CAUTION} {HINDSIGHT}")
    }
}

/// The results as pretty-printed JSON.
///
/// # Errors
/// Returns an error if serialisation fails, which does not occur in practice.
pub fn json(pilots: &Pilots, fragments: &Fragments) -> Result<String> {
    #[derive(Serialize)]
    struct All<'a> {
        #[serde(flatten)]
        pilots: &'a Pilots,
        fragments: &'a Fragments,
    }
    crate::pretty::json(&All { pilots, fragments })
}

/// The text that `gleaner pilots` prints.
pub fn printed(pilots: &Pilots, fragments: &Fragments) -> Vec<Block> {
    let mut blocks = vec![Block::Facts(facts(pilots, fragments))];
    blocks.extend(pilots.grid.map(|grid| Block::Grid(best(pilots, grid))));
    blocks.extend(unproven(pilots).map(Block::Note));
    blocks.extend(chosen(pilots).map(|ladder| Block::Grid(models(pilots, ladder))));
    if !pilots.complete {
        let note = "The search was stopped, so ladders with more wall times are missing.";
        blocks.push(Block::Note(note.to_owned()));
    }
    blocks.push(Block::Note(notes(pilots)));
    blocks
}

/// Facts about the log and the pilots.
pub fn facts(pilots: &Pilots, fragments: &Fragments) -> Vec<Fact> {
    let cut = match fragments.cut_at_start + fragments.cut_at_end {
        0 => String::new(),
        cut => format!("({} cut off by the log's ends)", count(cut)),
    };
    let log = format!(
        "{} to {} ({})",
        pilots.from,
        pilots.to,
        duration(pilots.span_seconds)
    );
    let idle = format!("{} node-hours", hours(pilots.idle_node_seconds as f64));
    let ready = format!(
        "start {} s after their node becomes free, and are ready {} s later",
        pilots.delay_s, pilots.startup_s
    );
    let mut facts = vec![
        Fact::new("log", log),
        Fact::new("nodes", count(pilots.nodes)),
        Fact::main("idle node-time", idle),
        Fact::main("idle fragments", count(fragments.lengths.count)).remark(cut),
        Fact::new("pilots", ready),
    ];
    if let Some(ladder) = chosen(pilots) {
        facts.push(Fact::main(
            "ready, model fits",
            percent(ladder.fits.ready_share),
        ));
        facts.push(Fact::main(
            "ready, model kept",
            percent(pilots.kept.ready_share),
        ));
        facts.push(Fact::main(
            "ready, model lost",
            percent(ladder.lost.ready_share),
        ));
        facts.push(Fact::new("plan for lost", plan(&ladder.lost.plan)));
    }
    facts
}

/// The ladder that is shown in detail: the given ladder, the wall times of the given plan, or, among the best ladders,
/// the one with the most wall times.
pub fn chosen(pilots: &Pilots) -> Option<&Ladder> {
    pilots.ladders.last()
}

/// A table of the best ladders, with a row for each number of wall times.
pub fn best(pilots: &Pilots, grid: MinuteGrid) -> Grid {
    let title = format!(
        "Ready share of the best ladders under the model fits (wall times: multiples of {} min up to {} min)",
        count(grid.step_min),
        count(grid.longest_min)
    );
    let mut heads = vec![
        Head::text("wall times"),
        Head::text("minutes"),
        Head::number("fits"),
        Head::number("kept"),
        Head::number("lost"),
    ];
    let has_bounds = unproven(pilots).is_some();
    heads.extend(has_bounds.then(|| Head::number("bound on fits")));
    let mut table = Grid::new(title, heads);
    let numbered = (1..).zip(&pilots.ladders).map(|(most, ladder)| {
        let name = format!("at most {most}");
        (name, minutes(&ladder.lengths_min), ladder)
    });
    let every = pilots.every_length.iter().map(|ladder| {
        let minutes = format!("every {} to {}", grid.step_min, grid.longest_min);
        (format!("all {}", ladder.lengths_min.len()), minutes, ladder)
    });
    for (name, minutes, ladder) in numbered.chain(every) {
        let cells = [
            name,
            minutes,
            percent(ladder.fits.ready_share),
            percent(pilots.kept.ready_share),
            percent(ladder.lost.ready_share),
        ];
        let bound = has_bounds.then(|| ladder.bound_share.map_or("–".to_owned(), percent));
        table.row(cells.into_iter().chain(bound));
    }
    table
}

/// A note that some ladders are not proven to be optimal; `None` if all of them are.
pub fn unproven(pilots: &Pilots) -> Option<String> {
    let open = |ladder: &&Ladder| {
        ladder
            .bound_share
            .is_some_and(|bound| bound > ladder.fits.ready_share)
    };
    match pilots.ladders.iter().filter(open).count() {
        0 => None,
        open => Some(format!(
            "The search for {} ended before it was complete. In each row, the last column is an upper bound on the \
             ready share of any ladder with the same number of wall times or fewer. Raise --time-limit to search \
             longer.",
            counted(open, "ladder")
        )),
    }
}

/// A table that shows how the idle node-time is used under each of the three models.
pub fn models(pilots: &Pilots, ladder: &Ladder) -> Grid {
    let title = format!(
        "Idle node-time with pilots of {} min, by model",
        minutes(&ladder.lengths_min)
    );
    let heads = [
        Head::text("model"),
        Head::text("idle time"),
        Head::text("if preempted"),
        Head::number("ready"),
        Head::number("starting up"),
        Head::number("waiting"),
        Head::number("unused or lost"),
        Head::number("pilots"),
        Head::number("preempted"),
    ];
    let mut table = Grid::new(title, heads);
    let (fits, kept, lost) = (&ladder.fits, &pilots.kept, &ladder.lost);
    let none = || "–".to_owned();
    let rows = [
        (
            ["fits", "known", "–"],
            [
                fits.ready_share,
                fits.startup_share,
                fits.delay_share,
                fits.unused_share,
            ],
            [count(fits.pilots), count(0)],
        ),
        (
            ["kept", "unknown", "keeps work"],
            [kept.ready_share, kept.startup_share, kept.delay_share, 0.0],
            [none(), none()],
        ),
        (
            ["lost", "unknown", "loses work"],
            [
                lost.ready_share,
                lost.startup_share,
                lost.delay_share,
                lost.unused_share,
            ],
            [count(lost.finished + lost.preempted), count(lost.preempted)],
        ),
    ];
    for (words, shares, numbers) in rows {
        let cells = words
            .map(str::to_owned)
            .into_iter()
            .chain(shares.map(percent));
        table.row(cells.chain(numbers));
    }
    table
}

/// A table of the plan for the model `lost`, with a row for each pilot.
pub fn steps(ladder: &Ladder) -> Grid {
    let heads = [
        Head::number("node idle for (s)"),
        Head::number("wall time (min)"),
        Head::number("started"),
        Head::number("ended by themselves"),
    ];
    Grid::of(
        "Plan for lost: the pilots that a node starts, in order",
        heads,
        &ladder.lost.plan,
        |step| {
            [
                count(step.age_s),
                count(step.length_min),
                count(step.started),
                count(step.finished),
            ]
        },
    )
}

/// The histogram of the lengths of the idle fragments.
pub fn fragments(fragments: &Fragments) -> Lengths {
    Lengths::of_fragments(length_classes(&fragments.lengths.bins))
}

/// Wall times in minutes, separated by spaces.
pub fn minutes(lengths: &[u64]) -> String {
    if lengths.is_empty() {
        return "none".to_owned();
    }
    let shown = lengths.iter().take(SHOWN_LENGTHS).map(ToString::to_string);
    let more = (lengths.len() > SHOWN_LENGTHS).then(|| "…".to_owned());
    shown.chain(more).collect::<Vec<_>>().join(" ")
}

/// Describes a plan. The wall times of its pilots are listed in order, in the syntax of `--plan`.
fn plan(steps: &[PlanStep]) -> String {
    let runs = steps.chunk_by(|step, next| step.length_min == next.length_min);
    let runs = runs.map(|run| match run {
        [step] => step.length_min.to_string(),
        steps => format!("{}x{}", steps[0].length_min, steps.len()),
    });
    let plan = runs.collect::<Vec<_>>().join(",");
    if plan.is_empty() {
        "no pilot is worth starting".to_owned()
    } else {
        format!("{plan} (wall times in min, one pilot after the other)")
    }
}
