//! Compares the CSV file of a table with its Parquet file, cell by cell.

use csv::ByteRecord;

use super::files::RunFiles;
use super::info::RunInfo;
use super::tables::Cells;
use gleaner_domain::Local;
use gleaner_domain::error::Result;
use gleaner_io::delimited::Records;
use gleaner_io::fault::show;
use gleaner_io::parquet;
use gleaner_io::source::Source;

/// Maximum number of cells held in memory. Larger tables are compared a few columns at a time, in several passes over
/// the CSV file.
const HELD: usize = 1 << 23;

/// Receives the result for each cell: `None` if the two files agree, otherwise a description of the difference.
pub type Compared<'a> = &'a mut dyn FnMut(Option<String>);

impl RunInfo {
    /// Whether the run also wrote a table as CSV.
    pub fn has_csv(&self, table: &str) -> bool {
        RunFiles::of(self).has(&format!("{table}.csv"))
    }

    /// Compares the CSV file of a table with its Parquet file.
    ///
    /// # Errors
    /// A file is not listed in `run.json`, is missing or is damaged.
    pub fn compare_csv(&self, table: &str, each: Compared<'_>) -> Result<()> {
        let files = RunFiles::of(self);
        let text = files.open(&format!("{table}.csv"))?;
        let binary = files.open(&format!("{table}.parquet"))?;
        let stored = parquet::Table::open(&binary)?;
        let forms = Forms {
            name: table,
            text: &text,
            binary: &binary,
            stored: &stored,
        };
        if !forms.compare_headers(each)? {
            return Ok(());
        }
        let at_once = (HELD / stored.rows().max(1)).max(1);
        for (pass, columns) in stored.columns().chunks(at_once).enumerate() {
            forms.compare_columns(columns, pass * at_once, pass == 0, each)?;
        }
        Ok(())
    }
}

/// The CSV file and the Parquet file of a table.
struct Forms<'a> {
    name: &'a str,
    text: &'a Source,
    binary: &'a Source,
    stored: &'a parquet::Table<'a>,
}

impl Forms<'_> {
    /// Compares the column names. Cells are compared only if the names agree.
    fn compare_headers(&self, each: Compared<'_>) -> Result<bool> {
        let header = Records::open(self.text)?.header;
        let columns = self.stored.columns().iter();
        let names: Vec<&[u8]> = columns.map(|column| column.name.as_bytes()).collect();
        let is_same = header.iter().eq(names.iter().copied());
        each((!is_same).then(|| {
            let header = header.iter().map(show).collect::<Vec<_>>().join(", ");
            let names: Vec<String> = names.iter().map(|name| show(name)).collect();
            format!(
                "{}.csv: the columns are {header}, but those of {}.parquet are {}",
                self.name,
                self.name,
                names.join(", ")
            )
        }));
        Ok(is_same)
    }

    /// Compares a few columns, starting with column `first`. Only the first pass checks the number of cells in each
    /// row.
    fn compare_columns(
        &self,
        columns: &[parquet::Column],
        first: usize,
        compares_widths: bool,
        each: Compared<'_>,
    ) -> Result<()> {
        let cells = columns
            .iter()
            .map(|column| Cells::read(self.binary, self.stored, column));
        let cells = cells.collect::<Result<Vec<Cells>>>()?;
        let width = self.stored.columns().len();
        let mut records = Records::open(self.text)?;
        let (mut record, mut row) = (ByteRecord::new(), 0);
        while let Some(line) = records.next(&mut record)? {
            if row >= self.stored.rows() {
                row += 1;
                continue;
            }
            if compares_widths && record.len() != width {
                let found = record.len();
                each(Some(format!(
                    "{}.csv, line {line}: {found} cells, but there are {width} columns",
                    self.name
                )));
            }
            for (place, (column, cells)) in columns.iter().zip(&cells).enumerate() {
                let cell = record.get(first + place).unwrap_or_default();
                each(cells.differs(row, cell).map(|stored| {
                    format!(
                        "{}.csv, line {line}: {} is {}, but {stored} in {}.parquet",
                        self.name,
                        column.name,
                        show(cell),
                        self.name
                    )
                }));
            }
            row += 1;
        }
        let rows = self.stored.rows();
        each((row != rows).then(|| {
            format!(
                "{}.csv has {row} rows, but {}.parquet has {rows}",
                self.name, self.name
            )
        }));
        Ok(())
    }
}

impl Cells {
    /// Returns the stored value as text if the CSV cell does not match it.
    fn differs(&self, row: usize, cell: &[u8]) -> Option<String> {
        let text = std::str::from_utf8(cell).unwrap_or("\u{fffd}");
        let (is_same, stored) = match self {
            Cells::Missing(_) => (text.is_empty(), String::new()),
            Cells::Whole(values) => {
                let stored = values[row].map(|value| value.to_string());
                let stored = stored.unwrap_or_default();
                (text == stored, stored)
            }
            Cells::Floats(values) => {
                let stored = values[row].filter(|value| !value.is_nan());
                let is_same = match stored {
                    None => text.is_empty() || text == "NaN",
                    Some(value) => is_number(text, value),
                };
                (is_same, stored.map_or(String::new(), |v| v.to_string()))
            }
            Cells::Times(values) => {
                let stored = values[row].map(|time| time.to_string());
                let is_same = text.parse::<Local>().ok() == values[row]
                    && text.is_empty() == values[row].is_none();
                (is_same, stored.unwrap_or_default())
            }
            Cells::Texts(values) => {
                let stored = values[row].as_deref().unwrap_or_default();
                (text == stored, stored.to_owned())
            }
        };
        let stored = if stored.is_empty() {
            "nothing".to_owned()
        } else {
            stored
        };
        (!is_same).then_some(stored)
    }
}

/// Whether `text` is `value` in one of the two formats that this program writes: exact, or with six decimals.
fn is_number(text: &str, value: f64) -> bool {
    text.parse() == Ok(value) || text == format!("{value:.6}")
}
