//! Percentiles of the lengths of fragments and gaps.

use crate::{Grid, Head};
use gleaner_domain::words::duration;
use gleaner_inspect::{Distribution, Inspection};

/// A table of the percentiles.
pub(super) fn grid(log: &Inspection) -> Grid {
    let heads = [
        Head::text("percentile"),
        Head::number("length of idle fragments"),
        Head::number("length of idle fragments, weighted by node-time"),
        Head::number("gap between events"),
    ];
    let mut grid = Grid::new("Percentiles of lengths", heads);
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
