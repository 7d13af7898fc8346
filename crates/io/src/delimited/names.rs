//! The names of the columns of a table.

use csv::ByteRecord;

/// The names that a column can have. The first name found in the header is used.
pub type Names = &'static [&'static str];

/// Maximum length of a header in a message, in characters.
const SHOWN: usize = 200;

/// The names in a header, from left to right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnNames(Vec<String>);

impl ColumnNames {
    /// The names in these cells.
    pub fn new<'n>(names: impl IntoIterator<Item = &'n str>) -> Self {
        ColumnNames(names.into_iter().map(str::to_owned).collect())
    }

    /// The names in this record, trimmed. Bytes that are not UTF-8 become replacement characters.
    pub fn of_record(header: &ByteRecord) -> Self {
        let names = header.iter().map(String::from_utf8_lossy);
        ColumnNames(names.map(|name| name.trim().to_owned()).collect())
    }

    /// All names, from left to right.
    pub fn all(&self) -> &[String] {
        &self.0
    }

    /// The index of the first column with this name.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.0.iter().position(|other| other == name)
    }

    /// Number of columns with this name.
    pub fn count(&self, name: &str) -> usize {
        self.0.iter().filter(|other| *other == name).count()
    }

    /// Finds the first of `names` that occurs in the header, ignoring case. Returns the index of
    /// the first column with that name.
    pub fn find(&self, names: &[&str]) -> Option<usize> {
        let same = |name: &&str| self.0.iter().position(|n| n.eq_ignore_ascii_case(name));
        names.iter().find_map(same)
    }

    /// Describes a missing column for messages, with a list of the existing columns.
    pub fn without_it(&self) -> String {
        let names: String = self.0.join(", ").chars().take(SHOWN).collect();
        format!("no such column among {names}")
    }
}
