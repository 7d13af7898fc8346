//! Tables, for the terminal and the page, that compare policies by their delays and their knowledge of
//! durations.

use super::results::{Entry, Figure, by_vc};
use crate::sweep::scale::capital;
use gleaner_document::names::{cut, short};
use gleaner_document::numbers::{count, hours, number, percent};
use gleaner_document::{Block, Grid, Head};
use gleaner_domain::results::simulate::{Delays, Durations, PolicyFigures, SMALL_JOB_GPUS};
use gleaner_domain::words::printable;
use gleaner_learn::metrics::is_near_chance;

/// The text of a cell whose figure is undefined because there are no jobs.
const NONE: &str = "–";
/// Maximum displayed length of an estimate source's description, in characters.
const SOURCE: usize = 200;

/// The policies' figures and assumptions, for all jobs and separately for small and large jobs. Placers can be compared
/// only if `placement_affects_speed` is true.
pub fn compared(entries: &[Entry<'_>], placement_affects_speed: bool) -> Vec<Block> {
    vec![
        Block::Grid(all_jobs(entries)),
        Block::Grid(knowledge(entries)),
        Block::Note(notes(entries, placement_affects_speed).join(" ")),
        Block::Grid(sizes(entries)),
    ]
}

/// A delay in hours, by virtual cluster and policy. The last row covers all jobs.
pub fn by_cluster(figure: Figure, entries: &[Entry<'_>]) -> Grid {
    let policies = entries.iter().map(|(policy, _)| Head::number(*policy));
    let heads = std::iter::once(Head::text("virtual cluster")).chain(policies);
    let title = format!("{} by virtual cluster", capital(figure.title()));
    Grid::of(title, heads, by_vc(figure, entries), |(vc, row)| {
        let cells = row.into_iter();
        let cells = cells.map(|cell| cell.map_or(NONE.to_owned(), hours));
        std::iter::once(short(vc)).chain(cells).collect::<Vec<_>>()
    })
}

/// The delays in hours, or dashes if there are no jobs.
fn delays(delays: Option<&Delays>) -> [String; 3] {
    Figure::ALL.map(|figure| delays.map_or(NONE.to_owned(), |delays| hours(figure.of(delays))))
}

fn all_jobs(entries: &[Entry<'_>]) -> Grid {
    let rest = ["makespan (h)", "checkpoints"].map(Head::number);
    let heads = std::iter::once(Head::text("policy"))
        .chain(Figure::ALL.map(|figure| Head::number(figure.title())))
        .chain(rest);
    Grid::of("All jobs", heads, entries, |(policy, m)| {
        let rest = [hours(m.makespan_s as f64), count(m.checkpoints)];
        let delays = delays(Some(&m.all)).into_iter();
        std::iter::once((*policy).to_owned())
            .chain(delays)
            .chain(rest)
    })
}

fn knowledge(entries: &[Entry<'_>]) -> Grid {
    let heads = [
        Head::text("policy"),
        Head::number("GPUs"),
        Head::number("while jobs arrive"),
        Head::number("over the makespan"),
        Head::text("durations"),
        Head::number("rank correlation"),
    ];
    let title = "GPU time in use, and what each policy knows about the jobs' durations";
    Grid::of(title, heads, entries, |(policy, m)| {
        [
            (*policy).to_owned(),
            count(m.gpus),
            m.in_use_while_arriving.map_or(NONE.to_owned(), percent),
            percent(m.gpu_utilisation),
            known(m.assumptions.durations).to_owned(),
            quality(m),
        ]
    })
}

fn known(durations: Durations) -> &'static str {
    match durations {
        Durations::Unknown => "not known",
        Durations::True => "known exactly",
        Durations::Estimated => "estimated",
        Durations::Own => "as the policy chooses",
    }
}

/// The rank correlation of a policy's estimates, with a note if it is near chance.
fn quality(figures: &PolicyFigures) -> String {
    let Some(correlation) = figures.assumptions.estimate_rank_correlation else {
        return NONE.to_owned();
    };
    let chance = is_near_chance(correlation, figures.all.jobs as usize);
    number(correlation) + if chance { " (near chance)" } else { "" }
}

/// The notes that a reader needs to compare these policies.
fn notes(entries: &[Entry<'_>], placement_affects_speed: bool) -> Vec<String> {
    let named = |durations: Durations| {
        let of = entries.iter();
        let of = of.filter(|(_, m)| m.assumptions.durations == durations);
        of.map(|(policy, _)| *policy).collect::<Vec<_>>().join(", ")
    };
    let mut notes = Vec::new();
    let exact = named(Durations::True);
    if !exact.is_empty() {
        notes.push(format!(
            "The true durations are known to {exact}, but not to any real scheduler: these results show what perfect \
             estimates would give under the same rules. Policies with other rules can be better."
        ));
    }
    let own = named(Durations::Own);
    if !own.is_empty() {
        notes.push(format!(
            "User-defined policies can read the true durations: {own}."
        ));
    }
    for source in sources(entries) {
        let of = entries.iter();
        let of = of.filter(|(_, m)| m.assumptions.estimates.as_deref() == Some(source));
        let of: Vec<&str> = of.map(|(policy, _)| *policy).collect();
        let source = cut(&printable(source), SOURCE);
        notes.push(format!("Estimates of {}: {source}.", of.join(", ")));
    }
    let correlated = |(_, m): &Entry<'_>| m.assumptions.estimate_rank_correlation.is_some();
    if entries.iter().any(correlated) {
        notes.push(
            "The rank correlation is between estimates and true durations: 1 means the same order, 0 means chance."
                .to_owned(),
        );
    }
    if !placement_affects_speed {
        notes.push(
            "Placement affects only which jobs fit, not how fast they run. Placers are therefore not compared."
                .to_owned(),
        );
    }
    notes.extend(entries.iter().filter_map(early_starts));
    notes
}

/// The distinct sources of estimates.
fn sources<'a>(entries: &[Entry<'a>]) -> Vec<&'a str> {
    let mut sources = Vec::new();
    for source in entries
        .iter()
        .filter_map(|(_, m)| m.assumptions.estimates.as_deref())
    {
        if !sources.contains(&source) {
            sources.push(source);
        }
    }
    sources
}

/// Returns a note if jobs ran in the profiler and in their virtual cluster at the same time.
fn early_starts((policy, m): &Entry<'_>) -> Option<String> {
    let (early, profiled) = (m.early_starts.filter(|&jobs| jobs > 0)?, m.profiled_jobs?);
    Some(format!(
        "Under {policy}, {early} of {profiled} profiled jobs start in their virtual cluster before their profiling \
         ends, as in Lucid's simulator; --corrected prevents this."
    ))
}

fn sizes(entries: &[Entry<'_>]) -> Grid {
    let jobs = |of: fn(&PolicyFigures) -> &Option<Delays>| {
        let first = entries.first().and_then(|(_, m)| of(m).as_ref());
        count(first.map_or(0, |delays| delays.jobs))
    };
    let title = format!(
        "Delays of small jobs, with up to {SMALL_JOB_GPUS} GPUs ({}), and of large jobs ({}), in hours",
        jobs(|m| &m.small),
        jobs(|m| &m.large)
    );
    let heads = ["small", "large"].into_iter().flat_map(|size| {
        ["JCT", "queuing", "99.9 %"].map(|delay| Head::number(format!("{size} {delay}")))
    });
    let heads = std::iter::once(Head::text("policy")).chain(heads);
    Grid::of(title, heads, entries, |(policy, m)| {
        let delays = delays(m.small.as_ref())
            .into_iter()
            .chain(delays(m.large.as_ref()));
        std::iter::once((*policy).to_owned())
            .chain(delays)
            .collect::<Vec<_>>()
    })
}
