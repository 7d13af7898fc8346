//! Columns of a table whose cells a delimiter parts, found by the names in its header.

use super::input::Place;
use crate::error::{Fault, Faults, Result};
use crate::words::counted;

/// Columns of free text, in which the delimiter may occur.
const FREE_TEXT: [&str; 7] = [
    "JobName",
    "Comment",
    "AdminComment",
    "SystemComment",
    "SubmitLine",
    "WorkDir",
    "Reason",
];

/// A column that a table must have, under one of some names.
pub(in crate::ingest) type Names = &'static [&'static str];

/// The header of a table.
#[derive(Debug, Clone)]
pub(in crate::ingest) struct Header {
    text: String,
    delimiter: String,
    width: usize,
    /// The one column in which the delimiter may occur.
    free: Option<usize>,
    /// Where the columns asked for are.
    at: Vec<Option<usize>>,
}

/// Says what to do about a missing column.
pub(in crate::ingest) type Remedy<'a> = &'a dyn Fn() -> String;

impl Header {
    /// Finds columns in a header line. The delimiter is `|`, or else whatever of tab,
    /// semicolon and comma parts the names, unless one that is given does.
    ///
    /// # Errors
    /// Missing columns, each with what to do; columns from the `required`th on may be missing.
    pub fn find(
        line: &str,
        place: Place<'_>,
        delimiter: Option<&str>,
        wanted: &[Names],
        required: usize,
        remedy: Remedy<'_>,
    ) -> Result<Self> {
        let occurring = ["|", "\t", ";", ","].into_iter().find(|d| line.contains(d));
        // Where several tables are read, the one given may be that of another.
        let delimiter = delimiter.filter(|given| line.contains(given));
        let delimiter = delimiter.or(occurring).unwrap_or("|");
        let names: Vec<&str> = line.split(delimiter).map(str::trim).collect();
        let position = |name: &str| names.iter().position(|n| n.eq_ignore_ascii_case(name));
        let at: Vec<_> = wanted
            .iter()
            .map(|wanted| wanted.iter().find_map(|name| position(name)))
            .collect();
        if !line.contains(delimiter) && is_aligned(line, wanted) {
            return Err(aligned(line, place, &remedy()).into());
        }
        let mut faults = Faults::default();
        for (names, _) in wanted
            .iter()
            .zip(&at)
            .take(required)
            .filter(|w| w.1.is_none())
        {
            let found = format!("no such column in {:?}", shown(line));
            let fault = Fault::of(place.file, found, "a header line with this column");
            faults.push(fault.at(place.within()).field(names[0]).remedy(remedy()));
        }
        let free = |n: &&str| {
            let list = delimiter == "," && n.eq_ignore_ascii_case("NodeList");
            list || FREE_TEXT.iter().any(|name| n.eq_ignore_ascii_case(name))
        };
        let one_free = names.iter().filter(|name| free(name)).count() == 1;
        let free = names.iter().position(free).filter(|_| one_free);
        faults.into_result(Header {
            text: line.to_owned(),
            delimiter: delimiter.to_owned(),
            width: names.len(),
            free,
            at,
        })
    }

    /// Whether the table has the `wanted`th column asked for.
    pub fn has(&self, wanted: usize) -> bool {
        self.at.get(wanted).is_some_and(Option::is_some)
    }

    /// Whether a line is this header once more, as where files were put together.
    pub fn is(&self, line: &str) -> bool {
        line == self.text
    }

    /// The cells of a line; the message says what is wrong with it.
    pub fn row<'l>(&self, line: &'l str) -> Result<Row<'_, 'l>, String> {
        let ends = line.match_indices(self.delimiter.as_str());
        let ends: Vec<usize> = ends.map(|(at, _)| at).collect();
        let cells = ends.len() + 1;
        if cells < self.width || cells > self.width && self.free.is_none() {
            return Err(format!(
                "{}, not {} as in the header",
                counted(cells, "cell"),
                self.width
            ));
        }
        Ok(Row {
            header: self,
            line,
            ends,
        })
    }
}

/// Whether a line is a header whose names are parted by spaces, as in columns for people.
fn is_aligned(line: &str, wanted: &[Names]) -> bool {
    let words = line.split_whitespace();
    let known = words.filter(|word| {
        let mut names = wanted.iter().copied().flatten();
        names.any(|name| name.eq_ignore_ascii_case(word))
    });
    known.count() > 1
}

fn aligned(line: &str, place: Place<'_>, remedy: &str) -> Fault {
    let found = format!("columns aligned with spaces: {:?}", shown(line));
    let expected = "cells parted by bars, as Slurm's commands write them with -P";
    Fault::of(place.file, found, expected)
        .at(place.within())
        .remedy(remedy)
}

fn shown(line: &str) -> String {
    line.chars().take(200).collect()
}

/// The cells of a line.
pub(in crate::ingest) struct Row<'h, 'l> {
    header: &'h Header,
    line: &'l str,
    /// Where the delimiters are.
    ends: Vec<usize>,
}

impl<'l> Row<'_, 'l> {
    /// The cell of the `wanted`th column asked for; `None` where the table lacks it.
    pub fn cell(&self, wanted: usize) -> Option<&'l str> {
        let column = *self.header.at.get(wanted)?.as_ref()?;
        // Surplus delimiters are part of the free text.
        let surplus = self.ends.len() + 1 - self.header.width;
        let free = self.header.free.unwrap_or(usize::MAX);
        let first = column + if column > free { surplus } else { 0 };
        let last = column + if column >= free { surplus } else { 0 };
        let width = self.header.delimiter.len();
        let start = match first {
            0 => 0,
            _ => self.ends.get(first - 1)? + width,
        };
        let end = self.ends.get(last).copied().unwrap_or(self.line.len());
        self.line.get(start..end).map(str::trim)
    }

    /// The cell of a column that the table has.
    pub fn text(&self, wanted: usize) -> &'l str {
        self.cell(wanted).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    const PLACE: fn() -> Place<'static> = || Place::line(Path::new("log"), 1);

    fn header(line: &str, delimiter: Option<&str>) -> Result<Header> {
        let wanted: [Names; 3] = [&["JobIDRaw", "JobID"], &["NodeList"], &["NNodes"]];
        Header::find(line, PLACE(), delimiter, &wanted, 2, &|| {
            "run it".to_owned()
        })
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
    fn missing_columns_are_named_with_what_to_do() {
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
