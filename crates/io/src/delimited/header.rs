//! The header of a table in a log, and the rows below it.

use super::dialect::{Cells, Dialect};
use super::log_table::Layout;
use super::names::{ColumnNames, Names};
use crate::input::Place;
use gleaner_domain::error::{Fault, Faults, Result};
use gleaner_domain::words::counted;

/// Columns with free text, in which the delimiter may occur.
const FREE_TEXT: [&str; 7] = [
    "JobName",
    "Comment",
    "AdminComment",
    "SystemComment",
    "SubmitLine",
    "WorkDir",
    "Reason",
];

/// The header of a table, with the positions of the requested columns.
#[derive(Debug, Clone)]
pub(super) struct Header {
    text: String,
    dialect: Dialect,
    width: usize,
    /// The only column in which the delimiter may occur, if there is exactly one.
    free: Option<usize>,
    /// Position of each requested column; `None` if the table lacks it.
    at: Vec<Option<usize>>,
}

impl Header {
    /// Finds the requested columns of a layout in a header line.
    ///
    /// # Errors
    /// Required columns are missing. The error contains a fault with a remedy for each missing column, or a single
    /// fault if the line is not a header at all.
    pub fn find(
        line: &str,
        place: Place<'_>,
        delimiter: Option<&str>,
        layout: &Layout,
    ) -> Result<Self> {
        let dialect = if layout.quoted {
            Dialect::Csv
        } else {
            Dialect::of_header(line, delimiter)
        };
        // Programs other than Slurm may quote cells, both in the header and in rows.
        let cells = dialect.split_quoted(line);
        let cells = cells.unwrap_or_else(|| dialect.split(line));
        let names = ColumnNames::new(cells.iter());
        let wanted = layout.columns;
        let at: Vec<_> = wanted.iter().map(|wanted| names.find(wanted)).collect();
        if names.all().len() == 1 && is_aligned(line, wanted) {
            return Err(aligned(line, place, &(layout.remedy)()).into());
        }
        if at.iter().all(Option::is_none) {
            return Err(not_a_header(line, place, layout).into());
        }
        let mut faults = Faults::default();
        let required = layout.required.iter();
        for missing in required.filter(|column| at[**column].is_none()) {
            let expected = "a header line with this column";
            let name = wanted[*missing][0];
            let fault = Fault::of(place.file, names.without_it(), expected).field(name);
            faults.push(fault.at(place.within()).remedy((layout.remedy)()));
        }
        faults.into_result(Header {
            text: line.to_owned(),
            width: names.all().len(),
            free: free(&names, &dialect),
            dialect,
            at,
        })
    }

    /// Whether the table has the requested column with index `wanted`.
    pub fn has(&self, wanted: usize) -> bool {
        self.at.get(wanted).is_some_and(Option::is_some)
    }

    /// Whether a line repeats this header, as in concatenated files.
    pub fn is(&self, line: &str) -> bool {
        line == self.text
    }

    /// Splits a line with quoted cells, such as `7,"n[1,2]"` under `JobID,NodeList`, in a table that is not CSV. Slurm
    /// does not quote cells, but other programs may. Returns `None` if the line has no quotes, the quotes do not match,
    /// or the number of cells differs from the header's. The caller then treats quotes as ordinary characters.
    fn exact<'l>(&self, line: &'l str) -> Option<Cells<'l>> {
        let is_plain = matches!(self.dialect, Dialect::Plain(_));
        if !is_plain || !line.contains('"') {
            return None;
        }
        let cells = self.dialect.split_quoted(line)?;
        Some(cells).filter(|cells| cells.count() == self.width)
    }

    /// Splits a line into cells. The error describes what is wrong with the line.
    pub fn row<'l>(&self, line: &'l str) -> Result<Row<'_, 'l>, String> {
        let exact = self.exact(line);
        let cells = exact.unwrap_or_else(|| self.dialect.split(line));
        let count = cells.count();
        if count < self.width || count > self.width && self.free.is_none() {
            return Err(format!(
                "{}, not {} as in the header",
                counted(count, "cell"),
                self.width
            ));
        }
        Ok(Row {
            header: self,
            cells,
        })
    }
}

/// The only column with free text, in which the delimiter may occur; `None` unless there is exactly
/// one such column. For CSV it is always `None`, because CSV quotes such cells.
fn free(names: &ColumnNames, dialect: &Dialect) -> Option<usize> {
    let Dialect::Plain(delimiter) = dialect else {
        return None;
    };
    let is_free = |name: &String| {
        let list = delimiter == "," && name.eq_ignore_ascii_case("NodeList");
        list || FREE_TEXT.iter().any(|free| name.eq_ignore_ascii_case(free))
    };
    let all = names.all();
    let one = all.iter().filter(|name| is_free(name)).count() == 1;
    all.iter().position(is_free).filter(|_| one)
}

/// Returns a single fault for a line that has none of the requested columns, instead of a fault for each column.
fn not_a_header(line: &str, place: Place<'_>, layout: &Layout) -> Fault {
    let mut words = line.split(|c: char| !c.is_alphanumeric());
    let (what, hint) = if line.starts_with(['{', '[']) {
        (
            "JSON",
            "export a table instead of JSON (run sacct without --json)",
        )
    } else if words.next().is_some_and(|word| word.parse::<u64>().is_ok()) {
        ("a row of values", "keep the header (run sacct without -n)")
    } else {
        ("another line", "remove the lines above the header")
    };
    let required = layout.required.iter();
    let required: Vec<&str> = required.map(|column| layout.columns[*column][0]).collect();
    let expected = format!("a header with the columns {}", required.join(", "));
    let start: String = line.chars().take(60).collect();
    Fault::of(place.file, format!("{what}, {start:?}"), expected)
        .at(place.within())
        .remedy(format!("{hint}, or {}", (layout.remedy)()))
}

/// Whether a line is a header whose names are separated by spaces, as in output aligned for human
/// readers.
fn is_aligned(line: &str, wanted: &[Names]) -> bool {
    let words = line.split_whitespace();
    let known = words.filter(|word| {
        let mut names = wanted.iter().copied().flatten();
        names.any(|name| name.eq_ignore_ascii_case(word))
    });
    known.count() > 1
}

/// The fault for a table whose columns are aligned with spaces.
fn aligned(line: &str, place: Place<'_>, remedy: &str) -> Fault {
    let found = format!("columns aligned with spaces: {:?}", shown(line));
    let expected = "cells separated by vertical bars, as Slurm's commands write them with -P";
    Fault::of(place.file, found, expected)
        .at(place.within())
        .remedy(remedy)
}

fn shown(line: &str) -> String {
    line.chars().take(200).collect()
}

/// The cells of a line below a header.
pub struct Row<'h, 'l> {
    header: &'h Header,
    cells: Cells<'l>,
}

impl Row<'_, '_> {
    /// The cell of the requested column with index `wanted`; `None` if the table lacks the column.
    pub fn cell(&self, wanted: usize) -> Option<&str> {
        let column = *self.header.at.get(wanted)?.as_ref()?;
        // If a line has more cells than the header, the surplus delimiters are part of the free
        // text, and they shift the cells after it.
        let surplus = self.cells.count() - self.header.width;
        let free = self.header.free.unwrap_or(usize::MAX);
        let first = column + if column > free { surplus } else { 0 };
        let last = column + if column >= free { surplus } else { 0 };
        self.cells.joined(first, last)
    }

    /// The cell of a requested column, or an empty string if the table lacks the column.
    pub fn text(&self, wanted: usize) -> &str {
        self.cell(wanted).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    const LAYOUT: Layout = Layout {
        columns: &[&["JobIDRaw", "JobID"], &["NodeList"], &["NNodes"]],
        required: &[0, 1],
        quoted: false,
        remedy: || "run it".to_owned(),
    };

    fn header(line: &str, delimiter: Option<&str>) -> Result<Header> {
        let place = Place::line(Path::new("log"), 1);
        Header::find(line, place, delimiter, &LAYOUT)
    }

    fn cells(header: &str, delimiter: Option<&str>, line: &str) -> Result<[String; 3], String> {
        let header = self::header(header, delimiter).unwrap();
        let row = header.row(line)?;
        Ok([0, 1, 2].map(|at| row.cell(at).unwrap_or("none").to_owned()))
    }

    #[test]
    fn columns_are_found_by_name() {
        let found = cells("State|nodelist|JobID", None, "OK| n[1,2] |7").unwrap();
        assert_eq!(found, ["7", "n[1,2]", "none"]);
        let found = cells("NNodes;JobIDRaw;NodeList", None, "2;7;a").unwrap();
        assert_eq!(found, ["7", "a", "2"]);
        let found = cells("NNodes^^JobIDRaw^^NodeList", Some("^^"), "2^^7^^a").unwrap();
        assert_eq!(found, ["7", "a", "2"]);
        let found = cells("NNodes|JobIDRaw|NodeList", Some("^^"), "2|7|a").unwrap();
        assert_eq!(found, ["7", "a", "2"]);
    }

    #[test]
    fn free_text_may_hold_the_delimiter() {
        let found = cells("JobID|JobName|NNodes|NodeList", None, "7|a|b|c|2|n1").unwrap();
        assert_eq!(found, ["7", "n1", "2"]);
        let found = cells("JobID,NodeList,NNodes", None, "7,n[1,3],2").unwrap();
        assert_eq!(found, ["7", "n[1,3]", "2"]);
        let problem = cells("JobID|NNodes|NodeList", None, "7|a|b|c").unwrap_err();
        assert_eq!(problem, "4 cells, not 3 as in the header");
        assert!(cells("JobID|JobName|NNodes|NodeList", None, "7|a").is_err());
    }

    #[test]
    fn cells_may_be_quoted_by_other_programs() {
        let names = "\"JobID\",\"NodeList\",\"NNodes\"";
        let found = cells(names, None, "7,\"c503-[1,2]\",2").unwrap();
        assert_eq!(found, ["7", "c503-[1,2]", "2"]);
        let found = cells("JobID|JobName|NNodes|NodeList", None, "7|\"a|2|n[1,2]").unwrap();
        assert_eq!(found, ["7", "n[1,2]", "2"]);
        let found = cells("JobID|JobName|NNodes|NodeList", None, "7|\"a\"|b|2|n1").unwrap();
        assert_eq!(found, ["7", "n1", "2"]);
    }

    #[test]
    fn missing_columns_are_named_with_a_remedy() {
        let message = header("NNodes|State", None).unwrap_err().to_string();
        for part in [
            "log, line 1, JobIDRaw: found no such column",
            "line 1, NodeList",
            "run it",
        ] {
            assert!(message.contains(part), "{message}");
        }
    }
}
