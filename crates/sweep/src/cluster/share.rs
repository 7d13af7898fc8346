//! One of N parts of a sweep, which `--part I/N` selects.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

/// Maximum number of parts of a sweep.
const MOST: usize = 1_000_000;

/// A part of a sweep, written as `I/N`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    /// Number of the part, from 1.
    pub part: usize,
    /// Number of parts.
    pub parts: usize,
}

impl FromStr for Share {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong =
            || format!("expected I/N with I from 1 to N, and N at most {MOST}, such as 3/10");
        let (part, parts) = text.split_once('/').ok_or_else(wrong)?;
        let number = |text: &str| text.parse().ok().filter(|n| (1..=MOST).contains(n));
        let (part, parts) = (
            number(part).ok_or_else(wrong)?,
            number(parts).ok_or_else(wrong)?,
        );
        if part <= parts {
            Ok(Share { part, parts })
        } else {
            Err(wrong())
        }
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.part, self.parts)
    }
}

impl Serialize for Share {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_numbered_from_one() {
        assert_eq!("3/10".parse(), Ok(Share { part: 3, parts: 10 }));
        for wrong in [
            "",
            "3",
            "0/3",
            "4/3",
            "1/0",
            "-1/3",
            "1/1000001",
            "a/b",
            "1/2/3",
        ] {
            assert!(wrong.parse::<Share>().is_err(), "{wrong:?}");
        }
    }
}
