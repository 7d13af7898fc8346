//! Scales up an experiment: repeats each job several times, and multiplies the number of nodes by the same factor.

use std::io::{self, Write};

use csv::{ByteRecord, ReaderBuilder, Writer};

use gleaner_domain::error::{Fault, Faults};

/// The reason why a table cannot be copied.
#[derive(Debug)]
pub enum CopyError {
    /// Faults in the table. Their messages do not name the file.
    Data(Faults),
    /// The copy cannot be written.
    Write(io::Error),
}

impl From<io::Error> for CopyError {
    fn from(error: io::Error) -> Self {
        CopyError::Write(error)
    }
}

impl From<csv::Error> for CopyError {
    fn from(error: csv::Error) -> Self {
        CopyError::Write(error.into())
    }
}

/// Writes every row of a CSV table `copies` times. The copies of a row are numbered from 0, and the number is appended
/// to the id. All numbers have the same number of digits, so numeric ids stay numeric and all ids are unique. `ids`
/// lists possible names of the id column, and the first name that the table contains is used.
///
/// # Errors
/// None of the columns in `ids` exists, or writing to `out` fails.
pub fn repeat_rows(
    table: &[u8],
    ids: &[&str],
    copies: u32,
    out: impl Write,
) -> Result<(), CopyError> {
    let (header, rows) = open(table);
    let id = ids.iter().find_map(|name| column(&header, name));
    let id = id.ok_or_else(|| missing(&header, ids[0]))?;
    let width = copies.saturating_sub(1).max(1).ilog10() as usize + 1;
    let mut writer = Writer::from_writer(out);
    writer.write_byte_record(&header)?;
    for row in rows {
        let row = row?;
        for copy in 0..copies {
            for (position, cell) in row.iter().enumerate() {
                if position == id {
                    let mut id = cell.to_vec();
                    write!(id, "{copy:0width$}")?;
                    writer.write_field(id)?;
                } else {
                    writer.write_field(cell)?;
                }
            }
            writer.write_record(None::<&[u8]>)?;
        }
    }
    Ok(writer.flush()?)
}

/// Writes a CSV table, multiplying the numbers in some columns by `factor`.
///
/// # Errors
/// None of the columns exists, a cell is not a number, or writing to `out` fails.
pub fn multiply(
    table: &[u8],
    columns: &[&str],
    factor: u32,
    out: impl Write,
) -> Result<(), CopyError> {
    let (header, rows) = open(table);
    let scaled: Vec<_> = columns
        .iter()
        .filter_map(|name| column(&header, name))
        .collect();
    if scaled.is_empty() {
        return Err(missing(&header, columns[0]));
    }
    let mut writer = Writer::from_writer(out);
    writer.write_byte_record(&header)?;
    for row in rows {
        let row = row?;
        for (position, cell) in row.iter().enumerate() {
            if scaled.contains(&position) {
                let product = times(cell, factor);
                let fault = || no_number(&row, &header[position], cell);
                writer.write_field(product.ok_or_else(fault)?)?;
            } else {
                writer.write_field(cell)?;
            }
        }
        writer.write_record(None::<&[u8]>)?;
    }
    Ok(writer.flush()?)
}

/// A table's header, and its rows, which may have different numbers of cells.
fn open(table: &[u8]) -> (ByteRecord, impl Iterator<Item = csv::Result<ByteRecord>>) {
    let mut reader = ReaderBuilder::new().flexible(true).from_reader(table);
    // Reading a header from bytes in memory cannot fail.
    let header = reader.byte_headers().cloned().unwrap_or_default();
    (header, reader.into_byte_records())
}

fn column(header: &ByteRecord, name: &str) -> Option<usize> {
    let mut names = header.iter().map(<[u8]>::trim_ascii);
    names.position(|cell| cell == name.as_bytes())
}

/// The number in a cell, multiplied by a factor; whole numbers stay whole. `None` if the cell is not a number, or if
/// the product is too large.
fn times(cell: &[u8], factor: u32) -> Option<String> {
    let text = std::str::from_utf8(cell).ok()?.trim();
    if let Ok(number) = text.parse::<i64>() {
        return Some(number.checked_mul(i64::from(factor))?.to_string());
    }
    let number: f64 = text.parse().ok()?;
    let product = number * f64::from(factor);
    product.is_finite().then(|| product.to_string())
}

fn missing(header: &ByteRecord, name: &str) -> CopyError {
    let names: Vec<_> = header.iter().map(String::from_utf8_lossy).collect();
    let found: String = names.join(",").chars().take(100).collect();
    CopyError::Data(Faults(vec![Fault {
        place: "header".to_owned(),
        field: name.to_owned(),
        found: format!("no such column among {found:?}"),
        expected: "this column in a comma-separated table".to_owned(),
        ..Fault::default()
    }]))
}

fn no_number(row: &ByteRecord, column: &[u8], cell: &[u8]) -> CopyError {
    let line = row.position().map_or(0, csv::Position::line);
    CopyError::Data(Faults(vec![Fault {
        place: format!("line {line}"),
        field: String::from_utf8_lossy(column).into_owned(),
        found: format!("{:?}", String::from_utf8_lossy(cell)),
        expected: "a number".to_owned(),
        ..Fault::default()
    }]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repeated(table: &str, copies: u32) -> Result<String, CopyError> {
        let mut out = Vec::new();
        repeat_rows(table.as_bytes(), &["job_id", "jobname"], copies, &mut out)?;
        Ok(String::from_utf8(out).unwrap())
    }

    fn multiplied(table: &str) -> Result<String, CopyError> {
        let mut out = Vec::new();
        multiply(table.as_bytes(), &["num", "nodes"], 10, &mut out)?;
        Ok(String::from_utf8(out).unwrap())
    }

    fn fault(result: Result<String, CopyError>) -> String {
        match result {
            Err(CopyError::Data(faults)) => faults.to_string(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn rows_are_repeated_under_other_ids() {
        let copies = repeated("vc,job_id\n\"a,b\",7\nc,8\n", 2).unwrap();
        assert_eq!(copies, "vc,job_id\n\"a,b\",70\n\"a,b\",71\nc,80\nc,81\n");
        let copies = repeated("jobname\nx\n", 11).unwrap();
        assert!(copies.starts_with("jobname\nx00\n") && copies.ends_with("x10\n"));
    }

    #[test]
    fn numbers_are_multiplied() {
        let product = multiplied(",num\nvc1,3\nvc2,1.5\n").unwrap();
        assert_eq!(product, ",num\nvc1,30\nvc2,15\n");
    }

    #[test]
    fn invalid_columns_and_numbers_are_named() {
        assert!(fault(repeated("a,b\n1,2\n", 2)).contains("job_id: found no such column"));
        assert!(fault(repeated("", 2)).contains("job_id"));
        assert!(fault(multiplied(",num\nx,1\ny,many\n")).contains("line 3, num: found \"many\""));
        assert!(fault(multiplied(",num\nx,1e308\n")).contains("line 2, num: found \"1e308\""));
        assert!(fault(multiplied(",num\nx,nan\n")).contains("found \"nan\""));
        assert!(fault(multiplied("a\n1\n")).contains("no such column among \"a\""));
    }
}
