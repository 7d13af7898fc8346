//! Joins, pivots and ranks frames.

use std::collections::BTreeMap;

use gleaner_domain::results::Direction;
use polars::prelude::{
    Column, DataFrame, DataFrameJoinOps, GroupBy, GroupsIndicator, IdxCa, IdxSize, JoinArgs,
    JoinType, MaintainOrderJoin, NewChunkedArray, RankMethod, RankOptions, SeriesRank,
    SortMultipleOptions,
};

use crate::{Error, Result};

/// Joins each row of `left` with the row of `right` that has the same values in all columns of `on`. Rows of `left`
/// without a matching row are left out. Columns of `right` whose names also occur in `left` get the suffix `_right`.
/// The rows keep the order of `left`. Nulls count as equal.
///
/// # Errors
/// [`Error::Repeated`] if several rows of `right` have the same values in all columns of `on`. [`Error::Polars`] if a
/// frame lacks one of the columns, or if their types differ between the frames.
pub fn join(left: &DataFrame, right: &DataFrame, on: &[&str]) -> Result<DataFrame> {
    let groups = right.group_by_stable(on)?.into_groups();
    if groups.len() < right.height() {
        return Err(repeated(on));
    }
    let mut how = JoinArgs::new(JoinType::Inner);
    how.nulls_equal = true;
    how.maintain_order = MaintainOrderJoin::Left;
    Ok(left.join(right, on, on, how, None)?)
}

/// Arranges the column `value` in two dimensions. The result has a row for each value of the column `rows`, and a
/// column for each value of the column `columns`. Rows and columns are in the order of first occurrence. The first
/// column is `rows`. The other columns are named after the values, with `null` for a null. A cell is null if no row of
/// the frame has its pair of values.
///
/// # Errors
/// [`Error::Repeated`] if several rows of the frame have the same values in both columns. [`Error::Polars`] if
/// the frame lacks a column, or if a value of `columns` equals the name of the column `rows`.
pub fn pivot(frame: &DataFrame, rows: &str, columns: &str, value: &str) -> Result<DataFrame> {
    let down = frame.group_by_stable([rows])?;
    let across = frame.group_by_stable([columns])?;
    let places = cells(&down, &across, frame.height());
    if places.len() < frame.height() {
        return Err(repeated(&[rows, columns]));
    }
    let values = frame.column(value)?;
    let mut laid_out = down.keys();
    let height = down.get_groups().len();
    for (place, name) in labels(&across)?.into_iter().enumerate() {
        let cells = (0..height).map(|row| places.get(&(place, row)).copied());
        let cells = IdxCa::from_iter_options("".into(), cells);
        let mut column = values.take(&cells)?;
        column.rename(name.into());
        laid_out.push(column);
    }
    Ok(DataFrame::new_infer_height(laid_out)?)
}

/// Ranks rows by the column `value` and sorts them, best first. The result has the columns of `frame` and an additional
/// column `rank`, which is 1 for the best value. Equal values share a rank, and the next ranks are skipped. For
/// example, the values 5, 5 and 7 have the ranks 1, 1 and 3 if the lowest value is best. Rows without a value have no
/// rank and are last. Rows of the same rank keep their order.
///
/// # Errors
/// [`Error::Polars`] if the frame lacks the column `value`.
pub fn rank(frame: &DataFrame, value: &str, best: Direction) -> Result<DataFrame> {
    let options = RankOptions {
        method: RankMethod::Min,
        descending: best == Direction::Max,
    };
    let values = frame.column(value)?.as_materialized_series();
    let mut ranked = frame.clone();
    ranked.with_column(Column::from(
        values.rank(options, None).with_name("rank".into()),
    ))?;
    let order = SortMultipleOptions::default()
        .with_maintain_order(true)
        .with_nulls_last(true);
    Ok(ranked.sort(["rank"], order)?)
}

fn repeated(columns: &[&str]) -> Error {
    Error::Repeated {
        columns: columns.iter().map(|&name| name.to_owned()).collect(),
    }
}

/// Maps each non-empty cell of the pivot table, as (column, row), to the index of the last row of the frame that falls
/// into it.
fn cells(
    down: &GroupBy<'_>,
    across: &GroupBy<'_>,
    height: usize,
) -> BTreeMap<(usize, usize), IdxSize> {
    let [down, across] = [down, across].map(|grouped| places(grouped, height));
    let cells = across.into_iter().zip(down);
    cells.zip(0..).collect()
}

/// For each row, the index of its group.
fn places(grouped: &GroupBy<'_>, height: usize) -> Vec<usize> {
    let mut places = vec![0; height];
    for (place, group) in grouped.get_groups().iter().enumerate() {
        let mut set = |row: usize| {
            if let Some(slot) = places.get_mut(row) {
                *slot = place;
            }
        };
        match group {
            GroupsIndicator::Idx((_, rows)) => rows.iter().for_each(|&row| set(row as usize)),
            GroupsIndicator::Slice([first, count]) => {
                (first..first + count).for_each(|row| set(row as usize));
            }
        }
    }
    places
}

/// The value of the first grouping column in each group, as text.
fn labels(grouped: &GroupBy<'_>) -> Result<Vec<String>> {
    let keys = grouped.keys();
    let key = keys.first().into_iter();
    let labels = key
        .flat_map(|key| (0..key.len()).map(|place| Ok(key.get(place)?.str_value().into_owned())));
    labels.collect()
}
