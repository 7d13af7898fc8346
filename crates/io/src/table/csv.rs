//! Writes a table as CSV text.

use std::io::Write;

use gleaner_domain::Local;
use gleaner_domain::results::{Column, Cursor, Table};

/// Writes the table as CSV: a header, then a line for each row.
///
/// # Errors
/// `out` cannot be written.
pub(super) fn write(table: &Table<'_>, out: impl Write) -> std::io::Result<()> {
    let mut csv = ::csv::Writer::from_writer(out);
    csv.write_record(table.columns.iter().map(|(name, _)| name))?;
    let mut columns: Vec<Cells> = table.columns.iter().map(|(_, c)| Cells::new(c)).collect();
    let mut cell = Vec::new();
    for row in 0..table.rows() {
        for column in &mut columns {
            cell.clear();
            column.write(row, &mut cell)?;
            csv.write_field(&cell)?;
        }
        csv.write_record(None::<&[u8]>)?;
    }
    csv.flush()
}

/// A column, with caches of values that adjacent rows often share: the most recent time with its
/// text, and the current run of equal values.
struct Cells<'a> {
    column: &'a Column<'a>,
    last: Option<(Local, String)>,
    cursor: Cursor,
}

impl<'a> Cells<'a> {
    fn new(column: &'a Column<'a>) -> Self {
        Cells {
            column,
            last: None,
            cursor: Cursor::default(),
        }
    }

    fn write(&mut self, row: usize, cell: &mut Vec<u8>) -> std::io::Result<()> {
        match self.column {
            Column::Times(v) => match v[row] {
                Some(time) => self.write_time(time, cell),
                None => Ok(()),
            },
            Column::EveryTime(v) => self.write_time(v[row], cell),
            Column::Fixed(v) => write!(cell, "{:.6}", v[row]),
            Column::Floats(v) => v[row].map_or(Ok(()), |x| write!(cell, "{x}")),
            // Rust's debug format writes the zero fraction of a float (`3.0`), as Python does.
            Column::PythonFloats(v) => v[row].map_or(Ok(()), |x| write!(cell, "{x:?}")),
            Column::Integers(v) => write!(cell, "{}", v[row]),
            Column::Whole(v) => write!(cell, "{}", v[row]),
            Column::Spaced(v) => write!(cell, "{}", v.at(row, &mut self.cursor)),
            Column::OptionalWhole(v) => v[row].map_or(Ok(()), |n| write!(cell, "{n}")),
            Column::Texts(v) => cell.write_all(v[row].as_bytes()),
            Column::Names { names, indices } => {
                cell.write_all(names[indices[row] as usize].as_bytes())
            }
            Column::RepeatedFloats(v) => match v.at(row, &mut self.cursor) {
                x if x.is_nan() => Ok(()),
                x => write!(cell, "{x}"),
            },
            Column::RepeatedIntegers(v) => write!(cell, "{}", v.at(row, &mut self.cursor)),
            Column::RepeatedNames { names, indices } => {
                let index = *indices.at(row, &mut self.cursor);
                cell.write_all(names[index as usize].as_bytes())
            }
        }
    }

    fn write_time(&mut self, time: Local, cell: &mut Vec<u8>) -> std::io::Result<()> {
        let text = match &mut self.last {
            Some((last, text)) if *last == time => text,
            last => &mut last.insert((time, time.to_string())).1,
        };
        cell.write_all(text.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_domain::results::Spaced;

    #[test]
    fn cells_are_written_as_documented() {
        let t = Local::from_seconds(0);
        let table = Table {
            name: "t",
            columns: vec![
                ("when", Column::Times(vec![Some(t), None])),
                ("fixed", Column::Fixed(vec![0.1, -2.0])),
                ("float", Column::Floats(vec![Some(0.1), None])),
                ("count", Column::Integers(vec![3, 4])),
                ("python", Column::PythonFloats(vec![Some(3.0), None])),
                ("whole", Column::Whole(vec![-3, 4])),
                ("spaced", Column::Spaced(Spaced::new(5, [(-5, 2)]))),
                ("some", Column::OptionalWhole(vec![None, Some(5)])),
                (
                    "same",
                    Column::RepeatedIntegers([(7, 2)].into_iter().collect()),
                ),
                (
                    "half",
                    Column::RepeatedFloats([(0.5, 1), (f64::NAN, 1)].into_iter().collect()),
                ),
                ("text", Column::Texts(vec!["a,b".into(), "c".into()])),
                (
                    "name",
                    Column::Names {
                        names: vec!["x", "y"],
                        indices: vec![1, 0],
                    },
                ),
            ],
        };
        let mut out = Vec::new();
        write(&table, &mut out).unwrap();
        let expected = "when,fixed,float,count,python,whole,spaced,some,same,half,text,name\n\
                        1970-01-01 00:00:00,0.100000,0.1,3,3.0,-3,-5,,7,0.5,\"a,b\",y\n\
                        ,-2.000000,,4,,4,0,5,7,,c,x\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
