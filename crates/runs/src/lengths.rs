//! Histograms of durations, which are called lengths here. Each class stores the number and the sum of its lengths.

use gleaner_document::numbers::{count, hours, part};
use gleaner_document::{Grid, Head};

/// A class of lengths.
#[derive(Debug, Clone, PartialEq)]
pub struct Class {
    /// Lower bound in seconds, inclusive.
    pub from: f64,
    /// Upper bound in seconds, exclusive; `None` for the last class.
    pub to: Option<f64>,
    /// Number of lengths in the class.
    pub count: u64,
    /// Sum of the lengths in the class, in seconds.
    pub seconds: f64,
}

/// The classes of a histogram, and the names of the quantities that it shows.
#[derive(Debug, Clone)]
pub struct Lengths {
    /// The classes, ordered by length.
    pub classes: Vec<Class>,
    /// Name of the counted items, such as `Fragments`.
    pub counted: &'static str,
    /// Name of the sum of the lengths, such as `Idle node-time`.
    pub summed: &'static str,
    /// Unit of the displayed sums, such as `node-hours`. A displayed sum is [`Class::seconds`]
    /// divided by 3,600.
    pub unit: &'static str,
}

impl Class {
    /// The bounds of the class as text, such as `10–60 min`.
    fn name(&self) -> String {
        const UNITS: [(f64, f64, &str); 4] = [
            (1.0, 60.0, "s"),
            (60.0, 60.0, "min"),
            (3_600.0, 24.0, "h"),
            (86_400.0, f64::INFINITY, "d"),
        ];
        let unit = |seconds: f64| {
            let fits = UNITS.iter().rfind(|unit| seconds >= unit.0);
            *fits.unwrap_or(&UNITS[0])
        };
        let (size, most, name) = unit(self.from);
        match self.to {
            None => format!("≥ {} {name}", self.from / size),
            Some(to) if self.from <= 0.0 => format!("< {} {}", to / unit(to).0, unit(to).2),
            Some(to) if to <= size * most => {
                format!("{}–{} {name}", self.from / size, to / size)
            }
            Some(to) => {
                let (larger, _, other) = unit(to);
                format!("{} {name}–{} {other}", self.from / size, to / larger)
            }
        }
    }
}

impl Lengths {
    /// Number of lengths in all classes.
    pub fn count(&self) -> u64 {
        self.classes.iter().map(|class| class.count).sum()
    }

    /// Sum of all lengths in seconds.
    pub fn seconds(&self) -> f64 {
        self.classes.iter().map(|class| class.seconds).sum()
    }

    /// The number and the sum of the lengths shorter than `seconds`, which must be a bound between classes.
    pub fn under(&self, seconds: f64) -> (u64, f64) {
        let shorter = |class: &&Class| class.to.is_some_and(|to| to <= seconds);
        let shorter = self.classes.iter().filter(shorter);
        shorter.fold((0, 0.0), |sum, class| {
            (sum.0 + class.count, sum.1 + class.seconds)
        })
    }

    /// The names of the classes.
    pub fn names(&self) -> Vec<String> {
        self.classes.iter().map(Class::name).collect()
    }

    /// The histogram of the idle fragments of a log.
    pub fn of_fragments(classes: Vec<Class>) -> Self {
        Lengths {
            classes,
            counted: "Fragments",
            summed: "Idle node-time",
            unit: "node-hours",
        }
    }

    /// The histogram as a table.
    pub fn grid(&self, title: impl Into<String>) -> Grid {
        let (counted, summed) = (self.counted.to_lowercase(), self.summed.to_lowercase());
        let heads = [
            Head::text("length"),
            Head::number(&counted),
            Head::number(format!("of all {counted}")),
            Head::number(self.unit),
            Head::number(format!("of all {summed}")),
        ];
        let (all, seconds) = (self.count() as f64, self.seconds());
        Grid::of(title, heads, &self.classes, |class| {
            [
                class.name(),
                count(class.count),
                part(class.count as f64, all),
                hours(class.seconds),
                part(class.seconds, seconds),
            ]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_named_by_their_bounds() {
        let class = |from, to| Class {
            from,
            to,
            count: 1,
            seconds: from,
        };
        for (from, to, name) in [
            (0.0, Some(60.0), "< 1 min"),
            (0.0, Some(1.0), "< 1 s"),
            (10.0, Some(60.0), "10–60 s"),
            (600.0, Some(3_600.0), "10–60 min"),
            (21_600.0, Some(86_400.0), "6–24 h"),
            (600.0, Some(7_200.0), "10 min–2 h"),
            (86_400.0, None, "≥ 1 d"),
        ] {
            assert_eq!(class(from, to).name(), name);
        }
    }

    #[test]
    fn rows_have_shares_of_all() {
        let class = |from, to, count, seconds| Class {
            from,
            to,
            count,
            seconds,
        };
        let lengths = Lengths {
            classes: vec![
                class(0.0, Some(60.0), 3, 90.0),
                class(60.0, None, 1, 3_510.0),
            ],
            counted: "Times",
            summed: "Node-time",
            unit: "node-hours",
        };
        assert_eq!((lengths.count(), lengths.under(60.0)), (4, (3, 90.0)));
        let rows = lengths.grid("Times").rows;
        assert_eq!(rows[1], ["≥ 1 min", "1", "25.0 %", "0.975", "97.5 %"]);
    }
}
