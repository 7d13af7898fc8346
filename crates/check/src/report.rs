//! The findings of a check.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;

use gleaner_domain::Utc;

/// The result of a check: wrong values, verified values, and values that were not verified.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Findings {
    /// The first wrong values, one sentence each; at most [`Findings::SHOWN`].
    pub wrong: Vec<String>,
    /// Number of wrong values.
    pub wrong_count: usize,
    /// Number of values that were compared.
    pub verified: u64,
    /// For each file, the columns and fields whose values were compared.
    covered: BTreeMap<String, BTreeSet<String>>,
    /// For each file, the columns and fields that are not verified, with the reasons.
    unverified: BTreeMap<String, BTreeMap<String, String>>,
}

impl Findings {
    /// Maximum number of sentences in [`Findings::wrong`].
    pub const SHOWN: usize = 20;

    /// The name that represents all columns or fields of a file.
    pub const WHOLE: &str = "all of it";

    /// Reason for a column or field that no check mentions.
    pub const UNKNOWN: &str = "no check covers it";

    /// Adds the findings of another part of the check.
    pub fn merge(&mut self, other: Findings) {
        self.wrong_count += other.wrong_count;
        self.verified += other.verified;
        let room = Self::SHOWN - self.wrong.len();
        self.wrong.extend(other.wrong.into_iter().take(room));
        for (file, names) in other.covered {
            self.covered.entry(file).or_default().extend(names);
        }
        for (file, names) in other.unverified {
            self.unverified.entry(file).or_default().extend(names);
        }
    }

    /// Records that all values of these columns of a table, or of these fields of a JSON file, were
    /// compared. Fields are JSON pointers without the first slash; each includes all fields below
    /// it.
    pub fn covers<N: Into<String>>(
        &mut self,
        file: impl Into<String>,
        names: impl IntoIterator<Item = N>,
    ) {
        let covered = self.covered.entry(file.into()).or_default();
        covered.extend(names.into_iter().map(Into::into));
    }

    /// Records that a column or field is not verified, with the reason.
    pub fn not_verified(
        &mut self,
        file: impl Into<String>,
        name: impl Into<String>,
        reason: impl Into<String>,
    ) {
        let unverified = self.unverified.entry(file.into()).or_default();
        unverified.insert(name.into(), reason.into());
    }

    /// Finds the columns or fields in `names` that no check mentions, and records them as not verified.
    pub fn complete(&mut self, file: &str, names: impl IntoIterator<Item = String>) {
        for name in names {
            if !self.mentions(file, &name) {
                self.not_verified(file, name, Self::UNKNOWN);
            }
        }
    }

    /// Whether any column or field of a file is recorded as compared or as not verified.
    pub fn names(&self, file: &str) -> bool {
        self.covered.contains_key(file) || self.unverified.contains_key(file)
    }

    /// Whether a column or field, or a field that contains it, is recorded as compared or as not
    /// verified.
    fn mentions(&self, file: &str, name: &str) -> bool {
        let is_known = |name: &str| {
            let covered = self.covered.get(file);
            let unverified = self.unverified.get(file);
            covered.is_some_and(|names| names.contains(name))
                || unverified.is_some_and(|names| names.contains_key(name))
        };
        let above = name.match_indices('/').map(|(end, _)| &name[..end]);
        above.chain([name, Self::WHOLE]).any(is_known)
    }

    /// The columns and fields that are not verified, each as (file, name, reason).
    pub fn unverified(&self) -> impl Iterator<Item = (&str, &str, &str)> {
        self.unverified.iter().flat_map(|(file, names)| {
            let names = names.iter();
            names.map(move |(name, reason)| (file.as_str(), name.as_str(), reason.as_str()))
        })
    }

    /// Records a wrong value, described in a sentence.
    pub fn add(&mut self, sentence: impl FnOnce() -> String) {
        self.wrong_count += 1;
        if self.wrong.len() < Self::SHOWN {
            self.wrong.push(sentence());
        }
    }

    /// Compares a recorded number with the expected number, with a relative tolerance of 1e-7.
    pub fn number(&mut self, place: impl Display, written: f64, expected: f64) {
        self.verified += 1;
        let scale = written.abs().max(expected.abs()).max(1.0);
        let is_close = (written - expected).abs() <= 1e-7 * scale;
        if !is_close {
            self.add(|| format!("{place} is {written}, but the other results give {expected}"));
        }
    }

    /// Compares a recorded value with the expected value.
    pub fn equal<T: PartialEq + Display>(&mut self, place: impl Display, written: T, expected: T) {
        self.verified += 1;
        if written != expected {
            self.add(|| format!("{place} is {written}, but the other results give {expected}"));
        }
    }

    /// Compares numbers that may be missing.
    pub fn option(&mut self, place: impl Display, written: Option<f64>, expected: Option<f64>) {
        match (written, expected) {
            (Some(written), Some(expected)) => self.number(place, written, expected),
            (None, None) => self.verified += 1,
            (written, expected) => {
                let text =
                    |value: Option<f64>| value.map_or("missing".to_owned(), |v| v.to_string());
                self.equal(place, text(written), text(expected));
            }
        }
    }

    /// Compares times that may be missing.
    pub fn time(&mut self, place: impl Display, written: Option<Utc>, expected: Option<Utc>) {
        self.verified += 1;
        if written != expected {
            let (written, expected) = (time_text(written), time_text(expected));
            self.add(|| format!("{place} is {written}, but the other results give {expected}"));
        }
    }

    /// Counts a condition as verified. If it is false, records the sentence as a wrong value.
    pub fn holds(&mut self, is_so: bool, sentence: impl FnOnce() -> String) {
        self.verified += 1;
        if !is_so {
            self.add(sentence);
        }
    }
}

/// Formats the report as text: a line of counts, the first wrong values, and the columns and fields
/// that were not verified.
impl Display for Findings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} values verified", self.verified)?;
        if self.wrong_count > 0 {
            write!(f, ", {} wrong:", self.wrong_count)?;
        }
        for sentence in &self.wrong {
            write!(f, "\n  {sentence}")?;
        }
        let others = self.wrong_count - self.wrong.len();
        if others > 0 {
            write!(f, "\n  and {others} more")?;
        }
        if self.unverified.is_empty() {
            return Ok(());
        }
        f.write_str("\n  not verified:")?;
        for (file, names) in &self.unverified {
            // Names with the same reason are printed on one line.
            let mut by_reason: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
            for (name, reason) in names {
                by_reason.entry(reason).or_default().push(name);
            }
            for (reason, names) in by_reason {
                write!(f, "\n    {file}: {} ({reason})", names.join(", "))?;
            }
        }

        Ok(())
    }
}

/// Formats a time, or returns `missing`.
pub(crate) fn time_text(time: Option<Utc>) -> String {
    match time {
        Some(time) => time.at_offset(0).to_string(),
        None => "missing".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_without_a_check_are_listed_as_not_verified() {
        let mut findings = Findings::default();
        findings.covers("steps", ["Thr"]);
        findings.covers("summary.json", ["vcs"]);
        findings.not_verified("timings", "solve_us", "it contains measured times");
        findings.complete("steps", ["Thr", "gap"].map(str::to_owned));
        findings.complete("summary.json", ["vcs/a/jobs", "t"].map(str::to_owned));
        findings.complete("timings", ["solve_us"].map(str::to_owned));
        let found: Vec<_> = findings.unverified().collect();
        assert_eq!(
            found,
            [
                ("steps", "gap", Findings::UNKNOWN),
                ("summary.json", "t", Findings::UNKNOWN),
                ("timings", "solve_us", "it contains measured times"),
            ]
        );
        let text = findings.to_string();
        assert!(text.contains("steps: gap (no check covers it)"), "{text}");
    }
}
