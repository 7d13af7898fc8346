//! The names of a table's columns.

use csv::ByteRecord;

/// The names that one column may have, best first.
pub(in crate::ingest) type Names = &'static [&'static str];

/// Most characters of a header in a message.
const SHOWN: usize = 200;

/// The names in a header, from the left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::ingest) struct ColumnNames(Vec<String>);

impl ColumnNames {
    /// The names in these cells.
    pub fn new<'n>(names: impl IntoIterator<Item = &'n str>) -> Self {
        ColumnNames(names.into_iter().map(str::to_owned).collect())
    }

    /// The names in this record, without blanks around them; bytes that are not UTF-8 become
    /// replacement characters.
    pub fn of_record(header: &ByteRecord) -> Self {
        let names = header.iter().map(String::from_utf8_lossy);
        ColumnNames(names.map(|name| name.trim().to_owned()).collect())
    }

    /// All names.
    pub fn all(&self) -> &[String] {
        &self.0
    }

    /// The first column of this name.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.0.iter().position(|other| other == name)
    }

    /// How many columns have this name.
    pub fn count(&self, name: &str) -> usize {
        self.0.iter().filter(|other| *other == name).count()
    }

    /// The column with the best of these names, in upper or lower case.
    pub fn find(&self, names: &[&str]) -> Option<usize> {
        let same = |name: &&str| self.0.iter().position(|n| n.eq_ignore_ascii_case(name));
        names.iter().find_map(same)
    }

    /// What a message says was found where a column is missing.
    pub fn without_it(&self) -> String {
        let names: String = self.0.join(", ").chars().take(SHOWN).collect();
        format!("no such column among {names}")
    }
}
