//! Tables of delays to compare policies, as text.

use std::fmt::Write;

use super::results::{Entry, Figure, by_vc};
use gleaner_core::results::simulate::{Delays, Durations, PolicyFigures, SMALL_JOB_GPUS};
use gleaner_core::words::printable;
use gleaner_io::text_table::TextTable;

/// The policies' figures with their assumptions: overall, for small and large jobs, and by virtual
/// cluster.
pub fn text(entries: &[Entry<'_>]) -> String {
    let mut out = overview(entries).to_string();
    if let Some((_, metrics)) = entries.first() {
        let _ = write!(
            out,
            "\n{USE_TITLE}\n{}{}\n{}\n{}\nAverage JCT (s) by virtual cluster\n{}",
            in_use(entries),
            notes(entries),
            sizes_title(metrics),
            sizes(entries),
            vcs(entries)
        );
    }
    out
}

/// Whole seconds as they are, other times with about three significant digits.
fn seconds(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        size if size < 1e9 && size.fract() == 0.0 => format!("{value}"),
        size if size < 9.995 => format!("{value:.2}"),
        size if size < 99.95 => format!("{value:.1}"),
        size if size < 1e9 => format!("{value:.0}"),
        _ => format!("{value:.2e}"),
    }
}

/// The cell of a figure without jobs.
const NONE: &str = "-";

fn delays(delays: Option<&Delays>) -> [String; 3] {
    Figure::ALL.map(|figure| delays.map_or(NONE.to_owned(), |delays| seconds(figure.of(delays))))
}

fn overview(entries: &[Entry<'_>]) -> TextTable {
    let header = [
        "policy",
        "avg JCT (s)",
        "avg queue (s)",
        "99.9 % (s)",
        "makespan (s)",
        "checkpoints",
    ];
    let row = |(policy, m): &Entry<'_>| {
        let mut cells = vec![(*policy).to_owned()];
        cells.extend(delays(Some(&m.all)));
        cells.push(seconds(m.makespan_s as f64));
        cells.push(m.checkpoints.to_string());
        cells
    };
    TextTable::new(header, entries.iter().map(row))
}

const USE_TITLE: &str =
    "GPU time in use, while jobs arrive and over the makespan; what policies know of durations";

fn in_use(entries: &[Entry<'_>]) -> TextTable {
    let header = [
        "policy",
        "GPUs",
        "while arriving",
        "over the makespan",
        "durations",
        "rank correlation",
    ];
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    let row = |(policy, m): &Entry<'_>| {
        let assumed = &m.assumptions;
        vec![
            (*policy).to_owned(),
            m.gpus.to_string(),
            m.in_use_while_arriving.map_or(NONE.to_owned(), percent),
            percent(m.gpu_utilisation),
            assumed.durations.to_string(),
            assumed
                .estimate_rank_correlation
                .map_or(NONE.to_owned(), |correlation| format!("{correlation:.2}")),
        ]
    };
    TextTable::new(header, entries.iter().map(row))
}

/// Notes that a reader needs to compare these policies, one per line.
fn notes(entries: &[Entry<'_>]) -> String {
    let named = |durations: Durations| {
        let of = entries.iter();
        let of = of.filter(|(_, m)| m.assumptions.durations == durations);
        of.map(|(policy, _)| *policy).collect::<Vec<_>>().join(", ")
    };
    let mut notes = String::new();
    let omniscient = named(Durations::True);
    if !omniscient.is_empty() {
        notes += &format!(
            "durations: {omniscient}: the policy knows the true ones, as no real scheduler does\n"
        );
    }
    let correlated = |(_, m): &Entry<'_>| m.assumptions.estimate_rank_correlation.is_some();
    if entries.iter().any(correlated) {
        notes += "rank correlation: between estimates and true durations; 1 is a perfect order, 0 is chance\n";
    }
    notes += "placement: it does not affect the speed of jobs here, only which jobs fit\n";
    notes + &entries.iter().filter_map(early_starts).collect::<String>()
}

/// Returns a note if jobs ran in the profiler and in their virtual cluster at the same time.
fn early_starts((policy, m): &Entry<'_>) -> Option<String> {
    let (early, profiled) = (m.early_starts.filter(|&jobs| jobs > 0)?, m.profiled_jobs?);
    Some(format!(
        "{policy}: {early} of {profiled} profiled jobs start in their virtual cluster before\n  \
         their profiling ends, as in the original; --corrected prevents this\n"
    ))
}

fn sizes_title(metrics: &PolicyFigures) -> String {
    let jobs = |delays: &Option<Delays>| delays.map_or(0, |d| d.jobs);
    format!(
        "Small jobs: up to {SMALL_JOB_GPUS} GPUs, {}; large jobs: more, {}",
        jobs(&metrics.small),
        jobs(&metrics.large)
    )
}

fn sizes(entries: &[Entry<'_>]) -> TextTable {
    let header = [
        "policy",
        "small JCT (s)",
        "queue (s)",
        "99.9 % (s)",
        "large JCT (s)",
        "queue (s)",
        "99.9 % (s)",
    ];
    let row = |(policy, m): &Entry<'_>| {
        let mut row = vec![(*policy).to_owned()];
        row.extend(delays(m.small.as_ref()));
        row.extend(delays(m.large.as_ref()));
        row
    };
    TextTable::new(header, entries.iter().map(row))
}

fn vcs(entries: &[Entry<'_>]) -> TextTable {
    let policies = entries.iter().map(|(policy, _)| *policy);
    let rows = by_vc(Figure::AverageJct, entries)
        .into_iter()
        .map(|(vc, row)| {
            let cells = row
                .into_iter()
                .map(|cell| cell.map_or(NONE.to_owned(), seconds));
            std::iter::once(printable(vc).into_owned())
                .chain(cells)
                .collect()
        });
    TextTable::new(std::iter::once("VC").chain(policies), rows)
}

#[cfg(test)]
mod tests {
    use super::seconds;

    // Small fixed examples.
    #[test]
    fn seconds_are_rounded_to_three_digits_or_the_unit() {
        for (value, text) in [
            (0.0, "0"),
            (-0.0, "0"),
            (7.95, "7.95"),
            (8.0, "8"),
            (9.999, "10.0"),
            (99.96, "100"),
            (12_886.7, "12887"),
            (6e8, "600000000"),
            (6e10, "6.00e10"),
        ] {
            assert_eq!(seconds(value), text);
        }
    }
}
