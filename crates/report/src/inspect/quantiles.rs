//! Percentiles of the lengths of fragments and gaps.

use crate::{Grid, Head};
use gleaner_domain::words::duration;
use gleaner_inspect::{Distribution, Inspection};

/// A table of the percentiles.
pub(super) fn grid(log: &Inspection) -> Grid {
    let heads = [
        Head::text("share"),
        Head::number("this share of fragments lasts at most"),
        Head::number("this share of idle node-time is in fragments of at most"),
        Head::number("this share of gaps between events lasts at most"),
    ];
    let mut grid = Grid::new("Lengths by share", heads);
    let (fragments, gaps) = (&log.fragments.lengths, &log.event_gaps);
    for quantile in &fragments.quantiles {
        grid.row([
            format!("{} %", quantile.percent),
            duration(quantile.by_count_s),
            duration(quantile.by_sum_s),
            gap(gaps, quantile.percent),
        ]);
    }
    grid
}

fn gap(gaps: &Distribution, percent: f64) -> String {
    gaps.percentile(percent).map_or("–".to_owned(), duration)
}
