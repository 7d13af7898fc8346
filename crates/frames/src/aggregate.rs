//! Means of groups of rows, with their standard errors and intervals.

use gleaner_domain::results::sweep::Replication;
use gleaner_domain::student::t95;
use polars::prelude::{
    ChunkVar, Column, DataFrame, DataType, GroupBy, GroupsIndicator, PolarsResult, Series,
};

use crate::{Error, Result};

/// The statistics of all groups. Each list has one value per group.
#[derive(Default)]
struct Spreads {
    runs: Vec<u64>,
    mean: Vec<Option<f64>>,
    error: Vec<Option<f64>>,
    low: Vec<Option<f64>>,
    high: Vec<Option<f64>>,
}

/// Aggregates the column `value` over groups of rows that have the same values in all columns of `by`. The result has a
/// row for each group, in the order in which the groups' first rows appear. Its columns are those of `by`, followed by:
///
/// - `runs`: the number n of rows in the group;
/// - `mean`: the mean m of the values;
/// - `standard_error`: e = s ÷ √n, where s² = Σ(x − m)² ÷ (n − 1);
/// - `low` and `high`: m ∓ t·e, the 95 % interval of the mean, where t is the 97.5th percentile of
///   Student's t distribution with n − 1 degrees of freedom ([`t95`]).
///
/// All statistics except `runs` have the unit of the value, and are null if a row of the group has no value. The
/// standard error and the interval are also null if n is 1. Nulls in the columns of `by` count as equal.
///
/// # Errors
/// [`Error::NoNumbers`] if the values are not numbers. [`Error::Polars`] if the frame lacks a column, or
/// if `by` is empty or names a column twice.
pub fn aggregate(frame: &DataFrame, value: &str, by: &[&str]) -> Result<DataFrame> {
    aggregate_over(frame, value, by, Replication::Seeds)
}

/// Like [`aggregate`], but `over` states whether the rows of a group are seeds, windows or blocks. Windows and blocks
/// have the intervals that [`Replication`] defines.
///
/// # Errors
/// Same as [`aggregate`].
pub(crate) fn aggregate_over(
    frame: &DataFrame,
    value: &str,
    by: &[&str],
    over: Replication,
) -> Result<DataFrame> {
    let values = numbers(frame.column(value)?)?;
    let grouped = frame.group_by_stable(by)?;
    let mut spreads = Spreads::default();
    for members in members(&grouped, values.as_materialized_series()) {
        spreads.push(&members?, over)?;
    }
    let mut columns = grouped.keys();
    columns.extend(spreads.columns());
    Ok(DataFrame::new_infer_height(columns)?)
}

fn numbers(values: &Column) -> Result<Column> {
    match values.dtype() {
        found if found.is_primitive_numeric() => Ok(values.cast(&DataType::Float64)?),
        found => Err(Error::NoNumbers {
            column: values.name().to_string(),
            found: found.clone(),
        }),
    }
}

/// The values of each group.
fn members(grouped: &GroupBy<'_>, values: &Series) -> impl Iterator<Item = PolarsResult<Series>> {
    grouped.get_groups().iter().map(|group| match group {
        GroupsIndicator::Idx((_, rows)) => values.take_slice(rows),
        GroupsIndicator::Slice([first, count]) => Ok(values.slice(first.into(), count as usize)),
    })
}

impl Spreads {
    /// Adds the values of a group.
    fn push(&mut self, values: &Series, over: Replication) -> Result<()> {
        let count = values.len();
        let given = (values.null_count() == 0).then_some(values);
        let mean = given.and_then(|values| values.mean());
        let deviation = match given {
            Some(values) if count > 1 => values.f64()?.std(1),
            _ => None,
        };
        let error = deviation.map(|deviation| deviation / (count as f64).sqrt());
        let ends = if over.cuts_log() {
            let spread = over.spread(values.f64()?.iter());
            spread.and_then(|spread| spread.ends())
        } else {
            let reach = error.map(|error| t95(count - 1) * error);
            mean.zip(reach)
                .map(|(mean, reach)| [mean - reach, mean + reach])
        };
        self.runs.push(count as u64);
        self.mean.push(mean);
        self.error.push(error);
        self.low.push(ends.map(|[low, _]| low));
        self.high.push(ends.map(|[_, high]| high));
        Ok(())
    }

    fn columns(self) -> [Column; 5] {
        [
            Column::new("runs".into(), self.runs),
            Column::new("mean".into(), self.mean),
            Column::new("standard_error".into(), self.error),
            Column::new("low".into(), self.low),
            Column::new("high".into(), self.high),
        ]
    }
}
