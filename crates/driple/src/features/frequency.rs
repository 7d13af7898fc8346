//! The frequencies of operation types.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::graph::Graph;
use crate::group::Devices;
use crate::lines::line;

/// The share of each operation type in all operations of the training graphs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "BTreeMap<String, f64>", into = "BTreeMap<String, f64>")]
pub struct Frequencies {
    shares: BTreeMap<String, f64>,
}

/// The reason why a file cannot be read as a table of frequencies.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FrequencyError {
    /// A row does not consist of an operation type and its share, or it repeats a type.
    #[error(
        "line {line}: {fault}; each row must be an operation type, a comma and the type's share of \
         all operations, such as Conv2D,0.031, without a header"
    )]
    Row {
        /// The line number, from 1.
        line: u64,
        /// A description of the fault.
        fault: String,
    },
    /// There are no rows.
    #[error("there are no rows: expected one for each type of operation, such as Conv2D,0.031")]
    Empty,
}

impl TryFrom<BTreeMap<String, f64>> for Frequencies {
    type Error = String;

    fn try_from(shares: BTreeMap<String, f64>) -> Result<Self, String> {
        match shares
            .iter()
            .find(|(_, share)| !(0.0..=1.0).contains(*share))
        {
            Some((op, share)) => Err(format!(
                "the frequency of {op} is {share}, expected a number from 0 to 1"
            )),
            None => Ok(Frequencies { shares }),
        }
    }
}

impl From<Frequencies> for BTreeMap<String, f64> {
    fn from(frequencies: Frequencies) -> Self {
        frequencies.shares
    }
}

impl Frequencies {
    /// Reads rows of the form `type,share`, without a header. The text must be UTF-8; a byte-order mark is ignored.
    ///
    /// # Errors
    /// The text is not UTF-8, or there are no rows. A row does not have two fields. A type is empty
    /// or occurs twice. A share is not a number from 0 to 1.
    pub fn from_csv(bytes: &[u8]) -> Result<Self, FrequencyError> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .trim(csv::Trim::All)
            .from_reader(bytes);
        let mut shares = BTreeMap::new();
        let mut record = csv::StringRecord::new();
        loop {
            let line = line(bytes, reader.position());
            let wrong = |fault: String| FrequencyError::Row { line, fault };
            let read = reader.read_record(&mut record);
            if !read.map_err(|_| wrong("the text is not UTF-8".to_owned()))? {
                break;
            }
            let (op, share) = row(&record).map_err(wrong)?;
            if shares.insert(op.to_owned(), share).is_some() {
                return Err(wrong(format!("duplicate row for {op}")));
            }
        }
        if shares.is_empty() {
            return Err(FrequencyError::Empty);
        }
        Ok(Frequencies { shares })
    }

    /// Each type's share of the operations that `devices` selects from `graphs`. The table is empty
    /// if no operation is selected.
    pub fn of_graphs<'a>(graphs: impl IntoIterator<Item = &'a Graph>, devices: Devices) -> Self {
        let nodes = graphs.into_iter().flat_map(|graph| devices.nodes(graph));
        Self::of_counts(nodes.map(|(_, node)| (node.op.as_str(), 1)))
    }

    /// Each type's share of all operations. `counted` yields pairs of a type and its number of
    /// operations. If a type occurs several times, its counts are added.
    pub fn of_counts<'a>(counted: impl IntoIterator<Item = (&'a str, u64)>) -> Self {
        let mut counts = BTreeMap::<&str, u64>::new();
        for (op, count) in counted {
            *counts.entry(op).or_default() += count;
        }
        let all: u64 = counts.values().sum();
        let share = |(op, count): (&str, u64)| (op.to_owned(), count as f64 / all as f64);
        Frequencies {
            shares: counts.into_iter().map(share).collect(),
        }
    }

    /// The share of an operation type, from 0 to 1; `None` if the type is not in the table.
    #[must_use]
    pub fn get(&self, op: &str) -> Option<f64> {
        self.shares.get(op).copied()
    }

    /// The types and their shares, sorted by type.
    pub fn iter(&self) -> impl Iterator<Item = (&str, f64)> {
        self.shares.iter().map(|(op, &share)| (op.as_str(), share))
    }

    /// The number of types.
    #[must_use]
    pub fn len(&self) -> usize {
        self.shares.len()
    }

    /// Whether there are no types.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.shares.is_empty()
    }
}

fn row(record: &csv::StringRecord) -> Result<(&str, f64), String> {
    let (Some(op), Some(share), 2) = (record.get(0), record.get(1), record.len()) else {
        return Err(format!("expected 2 fields, found {}", record.len()));
    };
    if op.is_empty() {
        return Err("the operation type is empty".to_owned());
    }
    match share.parse() {
        Ok(number) if (0.0..=1.0).contains(&number) => Ok((op, number)),
        _ => Err(format!("{share:?} is not a number from 0 to 1")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Node, Shape};

    fn node(op: &str, device: &str) -> Node {
        Node {
            name: op.to_owned(),
            op: op.to_owned(),
            device: device.to_owned(),
            inputs: Vec::new(),
            shape: Shape::None,
        }
    }

    #[test]
    fn a_byte_order_mark_is_not_part_of_the_first_type() {
        let table = Frequencies::from_csv(b"\xef\xbb\xbfAdd,0.25\nArgMax,4.4E-05\r\n").unwrap();
        let rows: Vec<_> = table.iter().collect();
        assert_eq!(rows, [("Add", 0.25), ("ArgMax", 4.4e-5)]);
        assert_eq!(table.get("add"), None);
    }

    #[test]
    fn faults_name_the_line() {
        let fault = |text: &str| {
            let error = Frequencies::from_csv(text.as_bytes()).unwrap_err();
            error.to_string()
        };
        assert!(fault("Add,0.5\nMul\n").starts_with("line 2: expected 2 fields, found 1"));
        assert!(fault("Add,0.5\n\nMul,x\n").starts_with("line 3: \"x\" is not a number"));
        assert!(fault("Add,0.5\nAdd,0.5").starts_with("line 2: duplicate row for Add"));
        assert!(fault("Add,NaN").starts_with("line 1: \"NaN\" is not"));
        assert!(fault("").starts_with("there are no rows"));
        let error = Frequencies::from_csv(b"Add,.5\n\xff,.5").unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("line 2: the text is not UTF-8")
        );
    }

    // Of the four operations on GPUs, two are `Mul`, so the share of `Mul` is 0.5.
    #[test]
    fn shares_count_only_operations_on_gpus() {
        let first = Graph {
            nodes: vec![
                node("Mul", "/GPU:0"),
                node("Mul", "/CPU:0"),
                node("Add", "/GPU:1"),
            ],
        };
        let second = Graph {
            nodes: vec![node("Mul", "/GPU:0"), node("Sub", "/GPU:0")],
        };
        let table = Frequencies::of_graphs([&first, &second], Devices::Gpu);
        let rows: Vec<_> = table.iter().collect();
        assert_eq!(rows, [("Add", 0.25), ("Mul", 0.5), ("Sub", 0.25)]);
        assert!(Frequencies::of_graphs([], Devices::Gpu).is_empty());
    }
}
