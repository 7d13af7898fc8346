//! The result tables that policies are compared by, for people.

use std::fmt::Write;

use super::results::{Entry, Figure, by_vc};
use crate::lucid::metrics::{Delays, Metrics, SMALL_JOB_GPUS};

/// Widest line.
const WIDTH: usize = 100;
/// Between columns.
const GAP: usize = 2;

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

/// Rows of cells that are printed aligned: the first column to the left, numbers to the right.
struct Grid {
    /// The header is the first.
    rows: Vec<Vec<String>>,
    widths: Vec<usize>,
}

impl Grid {
    fn new<'h>(
        header: impl IntoIterator<Item = &'h str>,
        rows: impl IntoIterator<Item = Vec<String>>,
    ) -> Self {
        let header = header.into_iter().map(str::to_owned).collect();
        let rows: Vec<Vec<String>> = std::iter::once(header).chain(rows).collect();
        let columns = rows[0].len();
        let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
        let widths = (0..columns)
            .map(|column| width(column).unwrap_or(0))
            .collect();
        Grid { rows, widths }
    }

    /// Columns after the first, in as many blocks as it takes to stay within [`WIDTH`].
    fn blocks(&self) -> Vec<std::ops::Range<usize>> {
        let mut blocks = Vec::new();
        let (mut first, mut used) = (1, self.widths[0]);
        for column in 1..self.widths.len() {
            let wanted = GAP + self.widths[column];
            if used + wanted > WIDTH && column > first {
                blocks.push(first..column);
                (first, used) = (column, self.widths[0]);
            }
            used += wanted;
        }
        blocks.push(first..self.widths.len());
        blocks
    }
}

impl std::fmt::Display for Grid {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (number, block) in self.blocks().into_iter().enumerate() {
            if number > 0 {
                f.write_char('\n')?;
            }
            for row in &self.rows {
                write!(f, "{:width$}", row[0], width = self.widths[0])?;
                for column in block.clone() {
                    let width = GAP + self.widths[column];
                    write!(f, "{:>width$}", row[column])?;
                }
                f.write_char('\n')?;
            }
        }
        Ok(())
    }
}
