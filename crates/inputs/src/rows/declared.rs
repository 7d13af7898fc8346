//! Rows of input tables, declared as types.
//!
//! `input!` declares each column once: its names, the kind of its cells, its unit and its meaning. Readers use the
//! declaration to find the column in a header, to check its cells and to report their faults. The tables in the
//! documentation are also generated from this declaration.
//!
//! ```ignore
//! input! {
//!     pub(super) struct Estimate {
//!         /// the id of the job
//!         id: String as Id = "job_id" or "jobname" [""],
//!         /// the estimated duration
//!         seconds: f64 as ESTIMATE = "priority" ["s"],
//!     }
//! }
//! ```
//!
//! The name and the type of a field are followed by its [`Kind`], the names of its column and its unit.
//! A line `..part: Type` adds the columns of another type, such as those of a workload.

use std::marker::PhantomData;

use super::Kind;
use gleaner_domain::error::{Fault, Result};
use gleaner_io::Gatherer;
use gleaner_io::rows::{Cell, CellResult, Col, Header, Place, Row, Table};
use gleaner_io::source::Source;

/// A declared column of an input table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputColumn {
    /// The accepted names. The first is the usual name.
    pub names: Vec<String>,
    /// A description of the contents of the column's cells, for messages.
    pub holds: String,
    /// The unit of the column's values; empty if they have no unit.
    pub unit: &'static str,
    /// The column's meaning, for the documentation and for messages.
    pub meaning: &'static str,
    /// Whether a table must have the column.
    pub need: Need,
}

/// Whether a table must have a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// Every table must have the column.
    Required,
    /// A table may lack the column.
    Optional,
    /// A table must have all columns of the optional part or none of them.
    Together,
}

/// A type whose values are read from the cells of a row. The macro `input!` implements this trait.
pub trait InputRow: Sized {
    /// Number of columns.
    const WIDTH: usize;

    /// The columns, in the order in which they are read.
    fn columns() -> Vec<InputColumn>;

    /// Reads a value from the next [`InputRow::WIDTH`] cells.
    ///
    /// # Errors
    /// A cell is invalid for its column. The error describes the first such cell.
    fn read(cells: &mut Cells<'_>) -> CellResult<Self>;
}

/// The cells of a row that remain to be read, in the order of the declared columns.
#[derive(Clone)]
pub struct Cells<'r> {
    row: Row<'r>,
    cols: std::slice::Iter<'r, Option<Col>>,
}

impl<'r> Cells<'r> {
    /// Reads the next cell, or returns the default of `kind` if the table lacks the column.
    pub fn next<T>(&mut self, kind: &impl Kind<T>) -> CellResult<T> {
        let col = self.cols.next().copied().flatten();
        match (col, kind.absent()) {
            (None, Some(value)) => Ok(value),
            (col, _) => kind.read(&self.row.cell_or_empty(col)),
        }
    }

    /// Returns the next cells without consuming them. Columns that the table lacks are left out.
    fn peek(&self, width: usize) -> impl Iterator<Item = Cell<'r>> {
        let (row, cols) = (self.row, self.cols.clone());
        cols.take(width).flatten().map(move |col| row.cell(*col))
    }
}

/// An optional part: a table must have all columns of the part or none of them. The value is `None` if the table lacks
/// the columns, or if all of their cells in the row are empty.
impl<P: InputRow> InputRow for Option<P> {
    const WIDTH: usize = P::WIDTH;

    fn columns() -> Vec<InputColumn> {
        let columns = P::columns().into_iter();
        let together = |column| InputColumn {
            need: Need::Together,
            ..column
        };
        columns.map(together).collect()
    }

    fn read(cells: &mut Cells<'_>) -> CellResult<Self> {
        let group = cells.clone();
        let all = || group.peek(P::WIDTH);
        if all().all(|cell| cell.is_missing()) {
            cells.cols.by_ref().take(P::WIDTH).for_each(drop);
            return Ok(None);
        }
        P::read(cells).map(Some).map_err(|mut fault| {
            if all().any(|cell| cell.is_missing()) {
                let names: Vec<_> = all().map(|cell| cell.label).collect();
                fault.remedy = format!("fill in all of {}, or none of them", names.join(", "));
            }
            fault
        })
    }
}

/// Two parts of the same type. The column names of the first part end in 1, and those of the second part end in 2.
impl<P: InputRow> InputRow for [P; 2] {
    const WIDTH: usize = 2 * P::WIDTH;

    fn columns() -> Vec<InputColumn> {
        let of = |suffix: &str| renamed(P::columns(), |name| format!("{name}{suffix}"));
        [of("1"), of("2")].concat()
    }

    fn read(cells: &mut Cells<'_>) -> CellResult<Self> {
        Ok([P::read(cells)?, P::read(cells)?])
    }
}

/// Returns the columns with every name converted by `rename`.
fn renamed(mut columns: Vec<InputColumn>, rename: impl Fn(&str) -> String) -> Vec<InputColumn> {
    for name in columns.iter_mut().flat_map(|column| &mut column.names) {
        *name = rename(name);
    }
    columns
}

/// A table whose rows are of type `R`.
pub struct Rows<'a, R> {
    table: Table<'a>,
    columns: Vec<InputColumn>,
    cols: Vec<Option<Col>>,
    row: PhantomData<R>,
}

impl<'a, R: InputRow> Rows<'a, R> {
    /// Finds the columns in the header of a file.
    ///
    /// # Errors
    /// The file cannot be read, or is neither CSV nor Parquet. Columns that are missing or occur
    /// twice are faults, which are reported together.
    pub fn open(source: &'a Source) -> Result<Self> {
        Self::with_names(Header::open(source)?, str::to_owned)
    }

    /// Like [`Rows::open`], but renames the columns.
    ///
    /// # Errors
    /// The file cannot be read, is neither CSV nor Parquet, or lacks or repeats columns.
    pub fn with_names(mut header: Header<'a>, rename: impl Fn(&str) -> String) -> Result<Self> {
        let columns = renamed(R::columns(), rename);
        let mut together = columns
            .iter()
            .filter(|column| column.need == Need::Together);
        let has_group = together.any(|column| column.names.iter().any(|name| header.has(name)));
        let find = |column: &InputColumn| {
            let names: Vec<&str> = column.names.iter().map(String::as_str).collect();
            let is_required = match column.need {
                Need::Required => true,
                Need::Optional => false,
                Need::Together => has_group,
            };
            if is_required {
                // The meaning begins with a noun phrase, and the message shows only this phrase.
                let noun = column.meaning.split([',', ';', ':']).next();
                header.require(&names, noun.unwrap_or_default()).map(Some)
            } else {
                header.optional(&names)
            }
        };
        let cols = columns.iter().map(find).collect::<Result<_>>()?;
        Ok(Rows {
            table: header.finish()?,
            columns,
            cols,
            row: PhantomData,
        })
    }

    /// Calls `each` with every row, in order. For a row that has more or fewer cells than the header, `each` receives a
    /// fault instead.
    ///
    /// # Errors
    /// The file is damaged, or `each` fails.
    pub fn visit(&self, mut each: impl FnMut(CellResult<Line<'_, R>>) -> Result<()>) -> Result<()> {
        self.table
            .visit(|row| each(row.map(|row| Line { row, rows: self })))
    }

    /// Calls `take` with every row, in order. Faults in rows are reported together. `what` is the noun for a row in the
    /// message about a table without rows.
    ///
    /// # Errors
    /// The file is damaged or faulty, or has no rows.
    pub fn each(
        &self,
        what: &str,
        mut take: impl FnMut(&Line<'_, R>) -> CellResult<()>,
    ) -> Result<()> {
        let (mut is_empty, mut faults) = (true, Gatherer::default());
        self.visit(|line| {
            is_empty = false;
            match line.and_then(|line| take(&line)) {
                Ok(()) => Ok(()),
                Err(fault) => faults.add(*fault),
            }
        })?;
        if is_empty {
            let fault = self
                .table
                .source()
                .fault(format!("no {what}"), "at least one row");
            faults.add(fault)?;
        }
        faults.finish(())
    }

    /// A fault in the column with this name. `place` is the place of a row that was already visited.
    pub fn fault(
        &self,
        place: Place,
        name: &str,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> Box<Fault> {
        let label = self.col(name).map_or(name, |col| self.table.label(col));
        let fault = self.table.source().fault(found, expected);
        Box::new(fault.at(place).field(label))
    }

    /// The column with this usual name; `None` if the table lacks it.
    fn col(&self, name: &str) -> Option<Col> {
        let at = self
            .columns
            .iter()
            .position(|column| column.names[0] == name);
        self.cols[at?]
    }
}

/// A row of a [`Rows`] table.
pub struct Line<'r, R> {
    row: Row<'r>,
    rows: &'r Rows<'r, R>,
}

impl<'r, R: InputRow> Line<'r, R> {
    /// Reads the row.
    ///
    /// # Errors
    /// A cell is invalid for its column. The error describes the first such cell.
    pub fn read(&self) -> CellResult<R> {
        R::read(&mut Cells {
            row: self.row,
            cols: self.rows.cols.iter(),
        })
    }

    /// The line or row number, for messages.
    pub fn place(&self) -> Place {
        self.row.place()
    }

    /// The cell in the column with this usual name, or an empty cell if the table lacks the column.
    pub fn cell(&self, name: &str) -> Cell<'r> {
        self.row.cell_or_empty(self.rows.col(name))
    }

    /// A fault in the cell of the column with this usual name. The fault shows `found` instead of the content of the
    /// cell. If the name is empty, the fault concerns the whole row.
    pub fn fault(
        &self,
        name: &str,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> Box<Fault> {
        self.rows.fault(self.place(), name, found, expected)
    }
}

/// Declares the columns from which a type is read; see the module's documentation. With `struct`, the macro also
/// declares the type. With `impl`, the type must exist and have these fields.
macro_rules! input {
    (
        $(#[$attribute:meta])*
        $visible:vis struct $Row:ident {
            $($(#[doc = $meaning:literal])+
            $field:ident: $type:ty as $kind:ident $(($($of:tt)*))?
                = $name:literal $(or $other:literal)* [$unit:literal],)*
            $(..$part:ident: $Part:ty,)*
        }
    ) => {
        $(#[$attribute])*
        $visible struct $Row {
            $($(#[doc = $meaning])+ $visible $field: $type,)*
            $($visible $part: $Part,)*
        }

        $crate::rows::input! {
            impl $Row {
                $($(#[doc = $meaning])+
                $field: $type as $kind $(($($of)*))? = $name $(or $other)* [$unit],)*
                $(..$part: $Part,)*
            }
        }
    };
    (
        impl $Row:ident {
            $($(#[doc = $meaning:literal])+
            $field:ident: $type:ty as $kind:ident $(($($of:tt)*))?
                = $name:literal $(or $other:literal)* [$unit:literal],)*
            $(..$part:ident: $Part:ty,)*
        }
    ) => {
        impl $crate::rows::InputRow for $Row {
            const WIDTH: usize = [$($name),*].len()
                $(+ <$Part as $crate::rows::InputRow>::WIDTH)*;

            fn columns() -> Vec<$crate::rows::InputColumn> {
                use $crate::rows::{InputColumn, Kind, Need};

                let own = vec![$({
                    let kind = $kind $(($($of)*))?;
                    let absent: Option<$type> = kind.absent();
                    InputColumn {
                        names: vec![$name.to_owned(), $($other.to_owned()),*],
                        holds: Kind::<$type>::holds(&kind),
                        unit: $unit,
                        meaning: concat!($($meaning),+).trim_ascii(),
                        need: if absent.is_some() { Need::Optional } else { Need::Required },
                    }
                }),*];
                let parts = [own $(, <$Part as $crate::rows::InputRow>::columns())*];
                parts.concat()
            }

            fn read(
                cells: &mut $crate::rows::Cells<'_>,
            ) -> gleaner_io::rows::CellResult<Self> {
                Ok($Row {
                    $($field: cells.next(&$kind $(($($of)*))?)?,)*
                    $($part: <$Part as $crate::rows::InputRow>::read(cells)?,)*
                })
            }
        }
    };
}

pub(crate) use input;
