//! How a line of a table is split into cells.

use std::borrow::Cow;

use csv::{ReaderBuilder, StringRecord, Terminator};

/// How a line of a table is split into cells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Dialect {
    /// Comma-separated values; a cell may be quoted.
    Csv,
    /// Cells are separated by this text, which is not empty. Quotes are ordinary characters.
    Plain(String),
}

/// The cells of a line.
#[derive(Debug)]
pub struct Cells<'l> {
    /// The line. If some cells were quoted: the text of all cells, concatenated and without the
    /// quotes.
    text: Cow<'l, str>,
    /// The offset in the text at which each cell ends, in bytes.
    ends: Vec<usize>,
    /// Number of bytes between the end of a cell and the start of the next one.
    gap: usize,
}

impl Dialect {
    /// The dialect of a table with this header. It uses the given delimiter if that occurs in the
    /// header. Otherwise it uses the first of `|`, tab, semicolon and comma that occurs there.
    pub fn of_header(line: &str, given: Option<&str>) -> Self {
        let occurring = ["|", "\t", ";", ","].into_iter().find(|d| line.contains(d));
        // If the program reads several tables, the given delimiter may be that of another table.
        let given = given.filter(|given| !given.is_empty() && line.contains(given));
        Dialect::Plain(given.or(occurring).unwrap_or("|").to_owned())
    }

    /// Splits a line into its cells; every line has at least one cell.
    pub fn split<'l>(&self, line: &'l str) -> Cells<'l> {
        match self {
            Dialect::Csv if line.contains('"') => unquoted(line),
            Dialect::Csv => parts(line, ","),
            Dialect::Plain(delimiter) => parts(line, delimiter),
        }
    }
}

/// Splits at every delimiter.
fn parts<'l>(line: &'l str, delimiter: &str) -> Cells<'l> {
    // Few tables have more than 16 columns, so most lines need one allocation.
    let mut ends = Vec::with_capacity(16);
    match *delimiter.as_bytes() {
        // In UTF-8, the byte of an ASCII character is never part of another character.
        [byte] => {
            let bytes = line.bytes().enumerate();
            ends.extend(bytes.filter(|(_, b)| *b == byte).map(|(at, _)| at));
        }
        _ => ends.extend(line.match_indices(delimiter).map(|(at, _)| at)),
    }
    ends.push(line.len());
    Cells {
        text: line.into(),
        ends,
        gap: delimiter.len(),
    }
}

/// Splits a line of CSV with quoted cells.
fn unquoted(line: &str) -> Cells<'_> {
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        // A carriage return within the line does not end it.
        .terminator(Terminator::Any(b'\n'))
        .from_reader(line.as_bytes());
    let mut cells = StringRecord::new();
    match reader.read_record(&mut cells) {
        Ok(true) => Cells {
            ends: (0..cells.len())
                .filter_map(|cell| Some(cells.range(cell)?.end))
                .collect(),
            text: cells.as_slice().to_owned().into(),
            gap: 0,
        },
        // This never happens: the line is not empty and is UTF-8.
        Ok(false) | Err(_) => parts(line, ","),
    }
}

impl Cells<'_> {
    /// Number of cells.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// The trimmed text from the cell `first` to the cell `last`, including the delimiters between
    /// them. `None` if the line has fewer cells. If the line has a quoted cell, the text lacks the
    /// delimiters.
    pub fn joined(&self, first: usize, last: usize) -> Option<&str> {
        let start = match first.checked_sub(1) {
            None => 0,
            Some(before) => self.ends.get(before)? + self.gap,
        };
        self.text.get(start..*self.ends.get(last)?).map(str::trim)
    }

    /// A trimmed cell; `None` if the line has fewer cells.
    pub fn get(&self, cell: usize) -> Option<&str> {
        self.joined(cell, cell)
    }

    /// All cells, trimmed.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).filter_map(|cell| self.get(cell))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cells(dialect: &Dialect, line: &str) -> Vec<String> {
        dialect.split(line).iter().map(str::to_owned).collect()
    }

    // Small fixed examples.
    #[test]
    fn cells_may_be_quoted() {
        for (line, expected) in [
            ("a,b,", vec!["a", "b", ""]),
            ("\"a,b\",\"c \"\"d\"\"\",e", vec!["a,b", "c \"d\"", "e"]),
            ("\"open,b", vec!["open,b"]),
            ("\"a\"x,b", vec!["ax", "b"]),
            ("\"a\",b\rc, d ", vec!["a", "b\rc", "d"]),
            ("", vec![""]),
        ] {
            assert_eq!(cells(&Dialect::Csv, line), expected, "{line}");
        }
    }

    proptest! {
        #![proptest_config(gleaner_testing::cases(256))]

        // The oracle is the standard library.
        #[test]
        fn plain_cells_are_the_parts_of_the_line(
            line in "[ab|\"^é ]{0,20}",
            delimiter in "[|^]{1,2}",
        ) {
            let found = cells(&Dialect::Plain(delimiter.clone()), &line);
            let expected: Vec<_> = line.split(&delimiter).map(str::trim).collect();
            prop_assert_eq!(found, expected);
        }

        // The oracle is the writer of the csv crate.
        #[test]
        fn cells_written_by_the_csv_library_are_read_back(
            row in prop::collection::vec("[ab,\"é\r]{0,6}", 1..6),
        ) {
            let mut writer = csv::Writer::from_writer(Vec::new());
            writer.write_record(&row).unwrap();
            let line = String::from_utf8(writer.into_inner().unwrap()).unwrap();
            let trimmed: Vec<_> = row.iter().map(|cell| cell.trim()).collect();
            prop_assert_eq!(cells(&Dialect::Csv, line.trim_end_matches('\n')), trimmed);
        }
    }
}
