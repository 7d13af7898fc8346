//! Verifies the results that a run wrote: what can be computed from other tables or from the inputs is
//! computed again and compared.
//!
//! Nothing here is shared with the engines but the domain types, so that an engine's mistake does not
//! confirm itself. A table that somebody changed is found, too.

use std::fmt::Display;

pub mod replay;
pub mod simulate;

/// What does not agree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Findings {
    /// The first ones, a sentence each; at most [`Findings::SHOWN`].
    pub sentences: Vec<String>,
    /// How many there are.
    pub count: usize,
    /// How many values were compared.
    pub compared: u64,
    /// Why not everything could be verified.
    pub remark: Option<String>,
}

impl Findings {
    /// Sentences that are kept.
    pub const SHOWN: usize = 20;

    /// Adds those of another part.
    pub fn merge(&mut self, other: Findings) {
        self.count += other.count;
        self.compared += other.compared;
        let room = Self::SHOWN - self.sentences.len();
        self.sentences
            .extend(other.sentences.into_iter().take(room));
        self.remark = self.remark.take().or(other.remark);
    }

    /// Adds a sentence.
    fn add(&mut self, sentence: impl FnOnce() -> String) {
        self.count += 1;
        if self.sentences.len() < Self::SHOWN {
            self.sentences.push(sentence());
        }
    }

    /// Compares a number as written with the one expected, to a relative 1e-7.
    fn number(&mut self, place: impl Display, written: f64, expected: f64) {
        self.compared += 1;
        let scale = written.abs().max(expected.abs()).max(1.0);
        let is_close = (written - expected).abs() <= 1e-7 * scale;
        if !is_close {
            self.add(|| format!("{place} is {written}, but the other results give {expected}"));
        }
    }

    /// Compares a value as written with the one expected.
    fn equal<T: PartialEq + Display>(&mut self, place: impl Display, written: T, expected: T) {
        self.compared += 1;
        if written != expected {
            self.add(|| format!("{place} is {written}, but the other results give {expected}"));
        }
    }

    /// Compares values that may be missing.
    fn option(&mut self, place: impl Display, written: Option<f64>, expected: Option<f64>) {
        match (written, expected) {
            (Some(written), Some(expected)) => self.number(place, written, expected),
            (None, None) => self.compared += 1,
            (written, expected) => {
                let text =
                    |value: Option<f64>| value.map_or("missing".to_owned(), |v| v.to_string());
                self.equal(place, text(written), text(expected));
            }
        }
    }

    /// Checks a condition.
    fn holds(&mut self, is_so: bool, sentence: impl FnOnce() -> String) {
        self.compared += 1;
        if !is_so {
            self.add(sentence);
        }
    }
}
