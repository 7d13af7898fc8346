//! Converts errors in pickled pandas tables to faults.

use std::path::Path;

use gleaner_domain::error::Fault;
use gleaner_io::fault::Place;
use gleaner_pandas::{ColumnError, PickleError};

/// The fault for a pickle that is damaged or does not contain a table.
pub fn of_pickle(path: &Path, error: &PickleError) -> Fault {
    let found = format!("data that cannot be read ({})", error.problem);
    Fault::of(path, found, "a table pickled by pandas").at(Place::Byte(error.offset))
}

/// The fault of a pickled table in which a column is missing or has unexpected values.
pub fn of_column(path: &Path, error: &ColumnError) -> Fault {
    match error {
        ColumnError::Missing { name, present } => {
            let found = format!("no such column among {present}");
            Fault::of(path, found, "the column").field(name.as_str())
        }
        ColumnError::Value {
            name,
            row,
            expected,
            found,
        } => {
            let fault = Fault::of(path, found.as_str(), *expected).field(name.as_str());
            fault.at(Place::Row(*row))
        }
        ColumnError::Index {
            expected,
            found,
            remedy,
        } => {
            let fault = Fault::of(path, found.as_str(), *expected).field("index");
            fault.remedy(*remedy)
        }
    }
}
