//! The result tables that policies are compared by, for people.

use std::fmt::Write;

use super::results::{Entry, Figure, by_vc};
use crate::lucid::metrics::{Delays, Metrics, SMALL_JOB_GPUS};
use crate::output::grid::Grid;

/// Policies against their figures, small jobs against large ones, virtual clusters apart.
/// Seconds are cut to whole ones, as published.
pub fn text(entries: &[Entry<'_>]) -> String {
    let mut out = overview(entries).to_string();
    if let Some((_, metrics)) = entries.first() {
        let _ = write!(
            out,
            "\n{}\n{}\nAverage JCT (s) by virtual cluster\n{}",
            sizes_title(metrics),
            sizes(entries),
            vcs(entries)
        );
    }
    out
}

fn overview(entries: &[Entry<'_>]) -> Grid {
    let header = [
        "policy",
        "avg JCT (s)",
        "avg queue (s)",
        "99.9 % queue (s)",
        "makespan (s)",
        "GPU use %",
        "checkpoints",
    ];
    let row = |(policy, m): &Entry<'_>| {
        let mut cells = vec![(*policy).to_owned()];
        cells.extend(Figure::ALL.map(|figure| figure.of(&m.all).to_string()));
        cells.push(m.makespan_s.to_string());
        cells.push(format!("{:.1}", 100.0 * m.gpu_utilisation));
        cells.push(m.checkpoints.to_string());
        cells
    };
    Grid::new(header, entries.iter().map(row))
}

fn sizes_title(metrics: &Metrics) -> String {
    let jobs = |delays: &Option<Delays>| delays.map_or(0, |d| d.jobs);
    format!(
        "Small jobs: up to {SMALL_JOB_GPUS} GPUs, {}; large jobs: more, {}",
        jobs(&metrics.small),
        jobs(&metrics.large)
    )
}

fn sizes(entries: &[Entry<'_>]) -> Grid {
    let header = [
        "policy",
        "small JCT (s)",
        "queue (s)",
        "99.9 % (s)",
        "large JCT (s)",
        "queue (s)",
        "99.9 % (s)",
    ];
    let cells = |delays: &Option<Delays>| {
        Figure::ALL.map(|figure| match delays {
            Some(delays) => figure.of(delays).to_string(),
            None => "-".to_owned(),
        })
    };
    let row = |(policy, m): &Entry<'_>| {
        let mut row = vec![(*policy).to_owned()];
        row.extend(cells(&m.small));
        row.extend(cells(&m.large));
        row
    };
    Grid::new(header, entries.iter().map(row))
}

fn vcs(entries: &[Entry<'_>]) -> Grid {
    let policies = entries.iter().map(|(policy, _)| *policy);
    let mut rows = by_vc(Figure::AverageJct, entries);
    for cell in rows.iter_mut().flatten().filter(|cell| cell.is_empty()) {
        "-".clone_into(cell);
    }
    Grid::new(std::iter::once("VC").chain(policies), rows)
}
