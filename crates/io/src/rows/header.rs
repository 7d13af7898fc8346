//! The columns of a table, requested by name.

use super::parquet::Held;
use super::table::{Content, Table, open_records};
use crate::delimited::ColumnNames;
use crate::fault::Place;
use crate::source::{Kind, Source};
use crate::{Gatherer, parquet};
use gleaner_domain::error::Result;

/// A requested column, identified by its index among the requested columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Col(usize);

impl Col {
    pub(super) fn index(self) -> usize {
        self.0
    }
}

/// A requested column and its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RequestedColumn {
    /// The name for messages.
    pub label: String,
    /// The index of the column among all columns of the file.
    pub at: usize,
}

/// The header of a table, from which columns are requested.
pub struct Header<'a> {
    source: &'a Source,
    names: ColumnNames,
    requested: Vec<RequestedColumn>,
    faults: Gatherer,
    /// The file's metadata; `None` for CSV.
    parquet: Option<parquet::Table<'a>>,
}

impl<'a> Header<'a> {
    /// Reads the names of the columns.
    ///
    /// # Errors
    /// The file cannot be read, is neither CSV nor Parquet, is damaged, or has no header.
    pub fn open(source: &'a Source) -> Result<Self> {
        let (names, parquet) = match source.kind() {
            Kind::Csv => (open_records(source)?.names(), None),
            Kind::Parquet => {
                let table = parquet::Table::open(source)?;
                let columns = table.columns().iter();
                let names = ColumnNames::new(columns.map(|column| column.name.as_str()));
                (names, Some(table))
            }
            other => return Err(source.fault(other_kind(other), "CSV or Parquet").into()),
        };
        Ok(Header {
            source,
            names,
            requested: Vec::new(),
            faults: Gatherer::default(),
            parquet,
        })
    }

    /// Whether there is a column with this name.
    pub fn has(&self, name: &str) -> bool {
        self.names.position(name).is_some()
    }

    /// Requests a required column under the first of these names that occurs in the header. `holds`
    /// describes the contents of the column, for the message.
    ///
    /// If the column is missing, this method records a fault and returns a placeholder. The
    /// placeholder is never used, because [`Header::finish`] returns the fault.
    ///
    /// # Errors
    /// There are too many faults; the error contains all of them.
    pub fn require(&mut self, names: &[&str], holds: &str) -> Result<Col> {
        if let Some(col) = self.optional(names)? {
            return Ok(col);
        }
        let [name, others @ ..] = names else {
            return Ok(Col(0));
        };
        let others = others.iter().filter(|name| is_written(name));
        let others: String = others.map(|name| format!(" or {name}")).collect();
        let expected = format!("a column {name}{others}");
        let fault = self.source.fault(self.names.without_it(), expected);
        let remedy = format!("add it, or rename the column that holds {holds} to {name}");
        self.faults
            .add(fault.at(Place::Header).field(*name).remedy(remedy))?;
        Ok(Col(0))
    }

    /// Requests an optional column under the first of these names that occurs in the header and was
    /// not requested before. Returns `None` if there is no such name.
    ///
    /// # Errors
    /// There are too many faults; the error contains all of them.
    pub fn optional(&mut self, names: &[&str]) -> Result<Option<Col>> {
        let is_free = |at: &usize| self.requested.iter().all(|requested| requested.at != *at);
        let mut found = names
            .iter()
            .map(|name| (name, self.names.position(name).filter(is_free)));
        let Some((name, at)) = found.find_map(|(name, at)| Some((name, at?))) else {
            return Ok(None);
        };
        if self.names.count(name) > 1 {
            let fault = self.source.fault("the column twice", "the column once");
            let fault = fault.at(Place::Header).field(*name);
            self.faults
                .add(fault.remedy("remove one of the two columns"))?;
        }
        let label = if is_written(name) { name } else { names[0] };
        self.requested.push(RequestedColumn {
            label: label.to_owned(),
            at,
        });
        Ok(Some(Col(self.requested.len() - 1)))
    }

    /// Returns the table with the requested columns.
    ///
    /// # Errors
    /// Columns are missing or occur twice (reported together), or the file is damaged.
    pub fn finish(self) -> Result<Table<'a>> {
        self.faults.finish(())?;
        let content = match self.parquet {
            None => Content::Csv,
            Some(table) => Content::Parquet(Held::read(self.source, &table, &self.requested)?),
        };
        Ok(Table {
            source: self.source,
            requested: self.requested,
            content,
        })
    }
}

/// Whether this column name was chosen by a person. For an index, pandas leaves the name empty in
/// CSV and generates a name that starts with `__` in Parquet.
fn is_written(name: &str) -> bool {
    !name.is_empty() && !name.starts_with("__")
}

fn other_kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Pickle => "a pickle",
        Kind::Gev => "an event log (.gev)",
        Kind::Json => "JSON text",
        Kind::Toml => "TOML text",
        Kind::Parquet => "Parquet",
        Kind::Csv => "CSV",
    }
}
