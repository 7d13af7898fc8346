//! Splits the lines of text tables into cells.

use std::borrow::Cow;

use csv::{ReaderBuilder, StringRecord, Terminator};

/// The rules by which the lines of a table are split into cells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Dialect {
    /// Comma-separated values, in which a cell may be quoted.
    Csv,
    /// Cells are separated by this string, which is not empty. [`Dialect::split`] treats quotes as ordinary characters.
    Plain(String),
}

/// The cells of a line.
#[derive(Debug)]
pub struct Cells<'l> {
    /// The line itself if no cell is quoted. Otherwise, the texts of all cells, concatenated without quotes and
    /// delimiters.
    text: Cow<'l, str>,
    /// For each cell, the byte offset in `text` at which it ends.
    ends: Vec<usize>,
    /// Number of bytes in `text` between the end of a cell and the start of the next cell.
    gap: usize,
}

impl Dialect {
    /// The dialect of a table with this header. The delimiter is `given` if the header contains it. Otherwise, it is
    /// the first of `|`, tab, semicolon and comma that the header contains, or else `|`.
    pub fn of_header(line: &str, given: Option<&str>) -> Self {
        let occurring = ["|", "\t", ";", ","].into_iter().find(|d| line.contains(d));
        // A command can read several tables, and the user may have given the delimiter for another table.
        let given = given.filter(|given| !given.is_empty() && line.contains(given));
        Dialect::Plain(given.or(occurring).unwrap_or("|").to_owned())
    }

    /// The string that separates cells.
    fn delimiter(&self) -> &str {
        match self {
            Dialect::Csv => ",",
            Dialect::Plain(delimiter) => delimiter,
        }
    }

    /// Whether a quoted cell is still open at the end of a line, so that it may continue on the next line. Cells may be
    /// quoted in any dialect.
    pub fn is_open(&self, line: &str) -> bool {
        line.contains('"') && quoted(line, self.delimiter()).err() == Some(Quote::Open)
    }

    /// Splits a line in which cells may be quoted, in any dialect. Returns `None` if the quotes do not match.
    pub fn split_quoted<'l>(&self, line: &'l str) -> Option<Cells<'l>> {
        quoted(line, self.delimiter()).ok()
    }

    /// Splits a line into `width` cells, which may be quoted in any dialect. If the line has more or fewer cells, `Err`
    /// contains the number of cells and, if the quotes do not match, the reason.
    pub fn split_exactly<'l>(
        &self,
        line: &'l str,
        width: usize,
    ) -> Result<Cells<'l>, (usize, Option<Quote>)> {
        let mut wrong = None;
        if line.contains('"') {
            match quoted(line, self.delimiter()) {
                Ok(cells) if cells.count() == width => return Ok(cells),
                Ok(_) => {}
                Err(quote) => wrong = Some(quote),
            }
        }
        let cells = parts(line, self.delimiter());
        if cells.count() == width {
            Ok(cells)
        } else {
            Err((cells.count(), wrong))
        }
    }

    /// Splits a line into its cells. Every line has at least one cell.
    pub fn split<'l>(&self, line: &'l str) -> Cells<'l> {
        match self {
            Dialect::Csv if line.contains('"') => unquoted(line),
            Dialect::Csv => parts(line, ","),
            Dialect::Plain(delimiter) => parts(line, delimiter),
        }
    }
}

/// Splits a line in which some cells are quoted, such as `7,"n[1,2]",4`. A quoted cell begins and ends with a quote,
/// and a doubled quote in it stands for a single quote. A quote within any other cell is an ordinary character. Returns
/// `Err` if a quoted cell is not closed, or if its closing quote is not followed by a delimiter or the end of the line.
fn quoted<'l>(line: &'l str, delimiter: &str) -> Result<Cells<'l>, Quote> {
    let mut text = String::with_capacity(line.len());
    let mut ends = Vec::with_capacity(16);
    let mut rest = line;
    loop {
        // Spaces before a quote are dropped, like the spaces around every cell.
        let trimmed = rest.trim_start_matches(' ');
        let quoted = trimmed.strip_prefix('"');
        rest = match quoted {
            Some(quoted) => unquote(quoted, &mut text)?.trim_start_matches(' '),
            None => {
                let end = rest.find(delimiter).unwrap_or(rest.len());
                text.push_str(&rest[..end]);
                &rest[end..]
            }
        };
        ends.push(text.len());
        if rest.is_empty() {
            let text = text.into();
            return Ok(Cells { text, ends, gap: 0 });
        }
        rest = rest.strip_prefix(delimiter).ok_or(Quote::Stray)?;
    }
}

/// Appends the content of a quoted cell to `out`, and returns the text after its closing quote. `text` begins after
/// the opening quote.
fn unquote<'l>(mut text: &'l str, out: &mut String) -> Result<&'l str, Quote> {
    loop {
        let (before, after) = text.split_once('"').ok_or(Quote::Open)?;
        out.push_str(before);
        match after.strip_prefix('"') {
            Some(after) => {
                out.push('"');
                text = after;
            }
            None => return Ok(after),
        }
    }
}

/// The reason why a line with quotes cannot be split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quote {
    /// The last quote is not closed. The cell may continue on the next line.
    Open,
    /// A closing quote is followed by something other than a delimiter.
    Stray,
}

/// Splits a line at every delimiter.
fn parts<'l>(line: &'l str, delimiter: &str) -> Cells<'l> {
    // Few tables have more than 16 columns, so most lines need only one allocation.
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

/// Splits a line of CSV that contains quotes. Unmatched quotes are not an error.
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
        // The reader cannot fail, because the line is not empty and is UTF-8.
        Ok(false) | Err(_) => parts(line, ","),
    }
}

impl Cells<'_> {
    /// Number of cells.
    pub fn count(&self) -> usize {
        self.ends.len()
    }

    /// The trimmed text of the cells `first` to `last`; `None` if the line has fewer cells. The text includes the
    /// delimiters between the cells, unless the line has a quoted cell.
    pub fn joined(&self, first: usize, last: usize) -> Option<&str> {
        let start = match first.checked_sub(1) {
            None => 0,
            Some(before) => self.ends.get(before)? + self.gap,
        };
        self.text.get(start..*self.ends.get(last)?).map(str::trim)
    }

    /// The cell with the index `cell`, trimmed; `None` if the line has no such cell.
    pub fn get(&self, cell: usize) -> Option<&str> {
        self.joined(cell, cell)
    }

    /// All cells, trimmed.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.count()).filter_map(|cell| self.get(cell))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cells(dialect: &Dialect, line: &str) -> Vec<String> {
        dialect.split(line).iter().map(str::to_owned).collect()
    }

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

    #[test]
    fn quotes_that_do_not_match_are_ordinary_characters_if_the_width_fits() {
        let split = |line: &str, width| {
            let cells = Dialect::Plain(",".to_owned());
            let cells = cells.split_exactly(line, width);
            cells.map(|cells| {
                cells
                    .iter()
                    .map(str::to_owned)
                    .collect::<Vec<_>>()
                    .join("/")
            })
        };
        for (line, width, expected) in [
            ("7,\"n[1,2]\",4", 3, Ok("7/n[1,2]/4")),
            ("7, \"n[1,2]\" ,4", 3, Ok("7/n[1,2]/4")),
            ("7,5\" disk,4", 3, Ok("7/5\" disk/4")),
            ("7,\"a,4", 3, Ok("7/\"a/4")),
            ("7,\"a,4", 2, Err((3, Some(Quote::Open)))),
            ("7,\"a\"b,4", 2, Err((3, Some(Quote::Stray)))),
            ("7,8", 3, Err((2, None))),
        ] {
            assert_eq!(split(line, width), expected.map(str::to_owned), "{line}");
        }
    }

    proptest! {
        #![proptest_config(gleaner_testing::cases(256))]

        // Compares the cells with the result of `str::split`.
        #[test]
        fn plain_cells_are_the_parts_of_the_line(
            line in "[ab|\"^é ]{0,20}",
            delimiter in "[|^]{1,2}",
        ) {
            let found = cells(&Dialect::Plain(delimiter.clone()), &line);
            let expected: Vec<_> = line.split(&delimiter).map(str::trim).collect();
            prop_assert_eq!(found, expected);
        }

        // A line that the csv crate wrote, with any delimiter, is split into the original cells.
        #[test]
        fn cells_quoted_by_the_csv_library_are_split_exactly(
            row in prop::collection::vec("[ab,;\"é\r]{0,6}", 1..6),
            delimiter in "[,;|]",
        ) {
            let mut writer = csv::WriterBuilder::new();
            let writer = writer.delimiter(delimiter.as_bytes()[0]);
            let mut writer = writer.from_writer(Vec::new());
            writer.write_record(&row).unwrap();
            let line = String::from_utf8(writer.into_inner().unwrap()).unwrap();
            let cells = Dialect::Plain(delimiter).split_exactly(line.trim_end_matches('\n'), row.len());
            let cells: Vec<_> = cells.unwrap().iter().map(str::to_owned).collect();
            let trimmed: Vec<_> = row.iter().map(|cell| cell.trim()).collect();
            prop_assert_eq!(cells, trimmed);
        }

        // A CSV line that the csv crate wrote is split into the original cells.
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
