//! A table read from a pickle.

use std::borrow::Cow;

use super::array;
use super::blocks::{Block, BlockData};
use super::cell::Cell;
use super::error::{PickleError, Problem};
use super::globals::Global;
use super::graph::{Graph, Item, Value};
use super::index::{self, Labels};
use super::manager::{self, Manager};

/// A table with labelled rows and named columns. Its values are stored in
/// blocks, each of which has columns of one type.
///
/// Column names need not be unique. A look-up by name finds the first column with that name.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame<'a> {
    index: Labels<'a>,
    columns: Vec<Cow<'a, str>>,
    blocks: Vec<Block<'a>>,
    places: Vec<Place>,
}

/// The position of a column's values: a block, and a column of the block.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Place {
    block: usize,
    /// Position among the block's columns.
    column: usize,
}

impl<'a> Frame<'a> {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.index.len()
    }

    /// The labels of the rows.
    pub fn index(&self) -> &Labels<'a> {
        &self.index
    }

    /// The names of the columns, in order. Integer names are written in
    /// decimal.
    pub fn columns(&self) -> &[Cow<'a, str>] {
        &self.columns
    }

    /// The values. Every column is in exactly one block, and every block has
    /// [`Frame::rows`] rows.
    pub fn blocks(&self) -> &[Block<'a>] {
        &self.blocks
    }

    /// The position of the first column called `name`.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column == name)
    }

    /// The block that holds the column at `position`, and the column's position
    /// in that block.
    pub fn block_of(&self, position: usize) -> Option<(&Block<'a>, usize)> {
        let place = self.places.get(position)?;
        Some((self.blocks.get(place.block)?, place.column))
    }

    /// The value in a row of the column at `position`. `None` if the position
    /// or row is outside the table.
    pub fn cell(&self, position: usize, row: usize) -> Option<Cow<'_, Cell<'a>>> {
        if row >= self.rows() {
            return None;
        }
        let (block, column) = self.block_of(position)?;
        match &block.data {
            BlockData::Numbers(matrix) => matrix.cell(column, row).map(Cow::Owned),
            BlockData::Cells(cells) => cells.get(column * self.rows() + row).map(Cow::Borrowed),
        }
    }
}

/// Reads the table in `graph`.
pub(super) fn read<'a>(graph: &Graph<'a>) -> Result<Frame<'a>, PickleError> {
    const EXPECTED: &str = "a pandas DataFrame or Series";
    let root = graph.root();
    let call = graph
        .call(root)
        .ok_or_else(|| graph.unexpected(root, EXPECTED))?;
    let state = graph.state(root, call);
    let manager = match graph.entry(state, "_mgr", EXPECTED)? {
        Some(manager) => manager,
        None => graph.required(state, "_data", EXPECTED)?,
    };
    let manager = manager::read(graph, manager)?;
    match call.class {
        Global::DataFrame => frame(graph, &manager),
        Global::Series => series(graph, &manager, state),
        _ => Err(graph.unexpected(root, EXPECTED)),
    }
}

fn frame<'a>(graph: &Graph<'a>, manager: &Manager<'a>) -> Result<Frame<'a>, PickleError> {
    let [columns, rows] = graph.fields(manager.axes, "the two axes of a table")?;
    let index = index::read(graph, rows)?;
    let names = index::names(graph, columns, index::read(graph, columns)?)?;
    let mut blocks = Vec::with_capacity(manager.blocks.len());
    for raw in &manager.blocks {
        let array = array::read(graph, raw.values)?;
        let columns = manager::placement(graph, raw.placement, names.len())?;
        if (array.columns, array.rows) != (columns.len(), index.len()) {
            let found = (array.columns, array.rows);
            return Err(misfit(found, (columns.len(), index.len())).at(raw.values.at));
        }
        let data = array.data;
        blocks.push(Block { columns, data });
    }
    let places = places(graph, manager.axes, &blocks, names.len())?;
    Ok(Frame {
        index,
        columns: names,
        blocks,
        places,
    })
}

fn series<'a>(
    graph: &Graph<'a>,
    manager: &Manager<'a>,
    state: Item<'a>,
) -> Result<Frame<'a>, PickleError> {
    let [rows] = graph.fields(manager.axes, "the one axis of a series")?;
    let index = index::read(graph, rows)?;
    let [raw] = manager.blocks.as_slice() else {
        return Err(graph.unexpected(manager.axes, "a series of one block"));
    };
    let array = array::read(graph, raw.values)?;
    if (array.columns, array.rows) != (1, index.len()) {
        let found = (array.columns, array.rows);
        return Err(misfit(found, (1, index.len())).at(raw.values.at));
    }
    let block = Block {
        columns: vec![0],
        data: array.data,
    };
    Ok(Frame {
        index,
        columns: vec![series_name(graph, state)?],
        blocks: vec![block],
        places: vec![Place {
            block: 0,
            column: 0,
        }],
    })
}

/// The name of a series. A series without a name is called 0, as if pandas had converted it to a column.
fn series_name<'a>(graph: &Graph<'a>, state: Item<'a>) -> Result<Cow<'a, str>, PickleError> {
    const EXPECTED: &str = "a series whose name is a string or an integer";
    let name = match graph.entry(state, "_name", EXPECTED)? {
        Some(name) => Some(name),
        None => graph.entry(state, "name", EXPECTED)?,
    };
    match name.map(|name| name.value) {
        None | Some(Value::None) => Ok(Cow::Borrowed("0")),
        Some(Value::Text(name)) => Ok(Cow::Borrowed(name)),
        Some(Value::Int(name)) => Ok(Cow::Owned(name.to_string())),
        Some(_) => Err(graph.unexpected(name.unwrap_or(state), EXPECTED)),
    }
}

fn misfit(found: (usize, usize), expected: (usize, usize)) -> Problem {
    let shown = |(columns, rows)| format!("{columns} columns and {rows} rows");
    Problem::Size {
        what: "a block",
        found: shown(found),
        expected: shown(expected),
    }
}

/// Finds the position of each column. Fails unless every column is in exactly
/// one block.
fn places<'a>(
    graph: &Graph<'a>,
    axes: Item<'a>,
    blocks: &[Block<'a>],
    columns: usize,
) -> Result<Vec<Place>, PickleError> {
    graph.spend(columns, size_of::<Option<Place>>(), axes.at)?;
    let mut places = vec![None; columns];
    let taken = blocks.iter().enumerate().flat_map(|(block, data)| {
        let positions = data.columns.iter().enumerate();
        positions.map(move |(column, &position)| (position, Place { block, column }))
    });
    for (position, place) in taken {
        if places[position].replace(place).is_some() {
            return Err(Problem::Malformed("two blocks hold the same column").at(axes.at));
        }
    }
    let complete: Option<Vec<Place>> = places.into_iter().collect();
    complete.ok_or_else(|| Problem::Malformed("a column is in no block").at(axes.at))
}
