//! Combines a published artifact with our values.

use std::collections::BTreeMap;

use gleaner_domain::error::{Error, Fault, Result};
use gleaner_domain::results::reproduce::{Artifact, Drawing, ReproducedRow, Verdict};

use crate::published::{NotComputed, PublishedArtifact, PublishedColumn, faulty};
use crate::verdict::compare;

/// Our values by row, then column. Rows keep the order in which they were set.
#[derive(Debug, Default, PartialEq)]
pub struct Values {
    rows: Vec<(String, BTreeMap<String, f64>)>,
}

impl Values {
    /// Sets a value.
    pub fn set(&mut self, row: &str, column: &str, value: f64) {
        let place = self.rows.iter().position(|(name, _)| name == row);
        let place = place.unwrap_or_else(|| {
            self.rows.push((row.to_owned(), BTreeMap::new()));
            self.rows.len() - 1
        });
        self.rows[place].1.insert(column.to_owned(), value);
    }

    /// Sets values of a row. Each value is paired with the name of its column.
    pub fn row<'c>(&mut self, row: &str, values: impl IntoIterator<Item = (&'c str, f64)>) {
        for (column, value) in values {
            self.set(row, column, value);
        }
    }

    fn get(&self, row: &str, column: &str) -> Option<f64> {
        let (_, values) = self.rows.iter().find(|(name, _)| name == row)?;
        values.get(column).copied()
    }
}

impl PublishedArtifact {
    /// Pairs each published value with our value. Our values without a published counterpart follow.
    ///
    /// # Errors
    /// Data needed to compute a published value are missing, or one of our values names an unknown column, which is a
    /// bug.
    pub fn filled(&self, ours: &Values) -> Result<Artifact> {
        self.check_columns(ours)?;
        let mut rows = Vec::new();
        for (row, _) in &self.rows {
            for (place, column) in self.columns.iter().enumerate() {
                rows.push(self.met(row, place, column, ours)?);
            }
        }
        rows.extend(self.not_computed(&self.impossible, Verdict::NotReproducible));
        rows.extend(self.not_computed(&self.left_out, Verdict::LeftOut));
        rows.extend(self.unpublished(ours));
        Ok(Artifact {
            id: self.id.clone(),
            system: self.system,
            title: self.title.clone(),
            text: self.text.clone(),
            source: self.source.clone(),
            basis: self.basis,
            rounding: self.rounding,
            drawing: self.draw.as_ref().map(Drawing::from),
            rows,
        })
    }

    fn not_computed<'a>(
        &'a self,
        values: &'a [NotComputed],
        verdict: Verdict,
    ) -> impl Iterator<Item = ReproducedRow> + 'a {
        values.iter().map(move |value| ReproducedRow {
            published: value.value,
            note: value.why.clone(),
            verdict,
            ..self.empty(&value.row, self.column(&value.column))
        })
    }

    /// The column with this name. Values that are not computed can name columns that the artifact lacks. Such a column
    /// is returned without a unit.
    fn column(&self, name: &str) -> PublishedColumn {
        let found = self.columns.iter().find(|column| column.name == name);
        found.cloned().unwrap_or_else(|| PublishedColumn {
            name: name.to_owned(),
            unit: String::new(),
            decimals: 0,
        })
    }

    fn check_columns(&self, ours: &Values) -> Result<()> {
        let known = |name: &String| self.columns.iter().any(|column| column.name == *name);
        let mut names = ours.rows.iter().flat_map(|(_, values)| values.keys());
        match names.find(|name| !known(name)) {
            None => Ok(()),
            Some(name) => Err(faulty(&format!("{} has no column {name}", self.id))),
        }
    }

    /// The row that compares a published value with ours.
    fn met(
        &self,
        row: &str,
        place: usize,
        column: &PublishedColumn,
        ours: &Values,
    ) -> Result<ReproducedRow> {
        let missing = || self.missing(row, &column.name);
        let ours = ours.get(row, &column.name).ok_or_else(missing)?;
        let given = self.given(row, place).ok_or_else(missing)?;
        let (difference, verdict) = compare(&given, ours);
        Ok(ReproducedRow {
            published: Some(given.value),
            reproduced: Some(ours),
            difference: Some(difference).filter(|share| share.is_finite()),
            verdict,
            ..self.empty(row, column.clone())
        })
    }

    /// The error if a published value cannot be computed from the data.
    fn missing(&self, row: &str, column: &str) -> Error {
        let fault = Fault {
            file: "the files in --data".to_owned(),
            place: self.title.clone(),
            found: format!("no data for {row}, {column}"),
            expected: "the published data".to_owned(),
            remedy: "gleaner reproduce --list shows where to get these data".to_owned(),
            ..Fault::default()
        };
        fault.into()
    }

    /// Our values that were not published.
    fn unpublished<'a>(&'a self, ours: &'a Values) -> impl Iterator<Item = ReproducedRow> + 'a {
        let published = |row: &str| self.rows.iter().any(|(name, _)| name == row);
        let more = ours.rows.iter().filter(move |(row, _)| !published(row));
        more.flat_map(|(row, values)| {
            let columns = self.columns.iter();
            columns.filter_map(|column| {
                let value = *values.get(&column.name)?;
                Some(ReproducedRow {
                    reproduced: Some(value),
                    ..self.empty(row, column.clone())
                })
            })
        })
    }

    /// A result row without values.
    fn empty(&self, row: &str, column: PublishedColumn) -> ReproducedRow {
        ReproducedRow {
            system: self.system,
            artifact: self.id.clone(),
            note: self.note(row, &column.name),
            row: row.to_owned(),
            column: column.name,
            unit: column.unit,
            basis: self.basis,
            published: None,
            reproduced: None,
            decimals: column.decimals,
            difference: None,
            verdict: Verdict::Unpublished,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> PublishedArtifact {
        toml::from_str(
            r#"
            id = "t-1"
            system = "lucid"
            title = "A table"
            text = "Two columns."
            source = "a small fixed example"
            basis = "published"
            columns = [{ name = "a", unit = "s", decimals = 0 }, { name = "b", unit = "", decimals = 1 }]
            rows = [["x", [10, 0.5]]]
            notes = [{ row = "x", column = "b", text = "half" }]
            impossible = [{ row = "z", column = "a", value = 3, why = "no data" }]
            "#,
        )
        .unwrap()
    }

    #[test]
    fn published_impossible_and_further_values_are_told_apart() {
        let mut ours = Values::default();
        ours.row("x", [("a", 10.2), ("b", 0.6)]);
        ours.set("y", "a", 7.0);
        let artifact = table().filled(&ours).unwrap();
        let seen: Vec<_> = artifact
            .rows
            .iter()
            .map(|r| {
                (
                    r.row.as_str(),
                    r.published,
                    r.reproduced,
                    r.verdict,
                    r.note.as_str(),
                )
            })
            .collect();
        let expected = [
            ("x", Some(10.0), Some(10.2), Verdict::Equal, ""),
            ("x", Some(0.5), Some(0.6), Verdict::Differs, "half"),
            ("z", Some(3.0), None, Verdict::NotReproducible, "no data"),
            ("y", None, Some(7.0), Verdict::Unpublished, ""),
        ];
        assert_eq!(seen, expected);
    }

    #[test]
    fn a_published_value_that_is_not_computed_is_an_error() {
        let mut ours = Values::default();
        ours.set("x", "a", 10.0);
        let error = table().filled(&ours).unwrap_err().to_string();
        assert!(error.contains("no data for x, b"), "{error}");
        ours.set("x", "b", 0.5);
        ours.set("x", "c", 0.5);
        let error = table().filled(&ours).unwrap_err().to_string();
        assert!(error.contains("no column c"), "{error}");
    }
}
