//! The value of a field, in a form shared by all formats.

use std::fmt;
use std::sync::Arc;

use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};

use gleaner_domain::Stamp;
use gleaner_io::fault::show;
use gleaner_solvers::range::short;

/// A value in a document or in a cell of a table.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Node {
    /// The value is missing.
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    Time(Stamp),
    /// A list that contains only numbers or is empty. Several tasks may share the list.
    Numbers(Arc<[f64]>),
    /// A list that contains other values.
    List(Vec<Node>),
    /// The entries of a table, in file order. A key may occur twice.
    Table(Vec<(String, Node)>),
    /// The description, for messages, of a value whose type no field accepts.
    Other(String),
}

/// The `toml` crate represents a date or time as a table with this single key.
const TOML_DATETIME: &str = "$__toml_private_datetime";

impl Node {
    /// Parses a cell with a list of numbers separated by `;` or spaces. If the cell is not such a
    /// list, it is returned as text.
    pub fn parse_list(text: &str) -> Self {
        let parts = text.split(|c: char| c == ';' || c.is_whitespace());
        let numbers: Result<Vec<f64>, _> = parts
            .filter(|part| !part.is_empty())
            .map(str::parse)
            .collect();
        match numbers {
            Ok(numbers) if !numbers.is_empty() => Node::Numbers(numbers.into()),
            _ => Node::Text(text.to_owned()),
        }
    }

    /// Parses a cell with names and numbers, such as `v100=1;a100=2.4`. Pairs are separated by `;` or spaces. If the
    /// cell has another form, it is returned as text.
    pub fn parse_table(text: &str) -> Self {
        let parts = text.split(|c: char| c == ';' || c.is_whitespace());
        let pairs = parts.filter(|part| !part.is_empty()).map(|part| {
            let (name, number) = part.rsplit_once('=')?;
            Some((name.to_owned(), Node::Number(number.parse().ok()?)))
        });
        match pairs.collect::<Option<Vec<_>>>() {
            Some(pairs) if !pairs.is_empty() => Node::Table(pairs),
            _ => Node::Text(text.to_owned()),
        }
    }
}

impl Node {
    /// The value as JSON, for types that serde deserialises.
    pub fn into_json(self) -> serde_json::Value {
        use serde_json::Value;
        match self {
            Node::Null => Value::Null,
            Node::Bool(value) => value.into(),
            Node::Number(value) => whole_or_float(value),
            Node::Text(text) => text.into(),
            Node::Numbers(values) => values.iter().copied().map(whole_or_float).collect(),
            Node::List(values) => values.into_iter().map(Node::into_json).collect(),
            Node::Table(values) => {
                let values = values.into_iter();
                Value::Object(
                    values
                        .map(|(key, value)| (key, value.into_json()))
                        .collect(),
                )
            }
            Node::Time(_) | Node::Other(_) => self.to_string().into(),
        }
    }
}

fn whole_or_float(value: f64) -> serde_json::Value {
    if value.fract() == 0.0 && value.abs() < 1e15 {
        (value as i64).into()
    } else {
        value.into()
    }
}

/// Builds a list. The list is stored as plain numbers until the first other value is added.
#[derive(Debug, Default)]
pub(super) struct ListBuilder {
    numbers: Vec<f64>,
    values: Vec<Node>,
}

impl ListBuilder {
    pub fn push(&mut self, value: Node) {
        match value {
            Node::Number(number) if self.values.is_empty() => self.numbers.push(number),
            value => {
                self.values.extend(self.numbers.drain(..).map(Node::Number));
                self.values.push(value);
            }
        }
    }

    /// Returns the list, and leaves the builder empty.
    pub fn finish(&mut self) -> Node {
        if self.values.is_empty() {
            Node::Numbers(std::mem::take(&mut self.numbers).into())
        } else {
            Node::List(std::mem::take(&mut self.values))
        }
    }
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Node::Null => f.write_str("nothing"),
            Node::Bool(value) => value.fmt(f),
            Node::Number(value) => f.write_str(&short(*value)),
            Node::Text(text) => f.write_str(&show(text.as_bytes())),
            Node::Time(time) => time.fmt(f),
            Node::Numbers(values) => write!(f, "a list of {} values", values.len()),
            Node::List(values) => write!(f, "a list of {} values", values.len()),
            Node::Table(_) => f.write_str("a table"),
            Node::Other(what) => f.write_str(what),
        }
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: Error>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Node, E> {
        Ok(Node::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Node, E> {
        Ok(Node::Number(value as f64))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Node, E> {
        Ok(Node::Number(value as f64))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Node, E> {
        Ok(Node::Number(value))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Node, E> {
        Ok(Node::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Node, A::Error> {
        let mut list = ListBuilder::default();
        while let Some(value) = seq.next_element()? {
            list.push(value);
        }
        Ok(list.finish())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
        let mut fields: Vec<(String, Node)> = Vec::new();
        while let Some((key, value)) = map.next_entry::<String, Node>()? {
            if key == TOML_DATETIME {
                return Ok(value);
            }
            fields.push((key, value));
        }
        Ok(Node::Table(fields))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_domain::Local;

    #[test]
    fn documents_of_both_kinds_give_the_same_nodes() {
        let toml: Node =
            toml::from_str("a = 1\nb = [1.5, nan]\nc = 2021-02-10 20:21:15\n[d]\ne = true")
                .unwrap();
        let Node::Table(fields) = toml else { panic!() };
        assert_eq!(fields[0], ("a".into(), Node::Number(1.0)));
        let Node::Numbers(b) = &fields[1].1 else {
            panic!()
        };
        assert!(matches!(b[..], [1.5, x] if x.is_nan()));
        assert!(
            matches!(&fields[2].1, Node::Text(t) if t.parse() == Ok(Local::from_seconds(1_612_988_475)))
        );
        let json: Node = serde_json::from_str(r#"{"e": true}"#).unwrap();
        assert_eq!(fields[3].1, json);
    }

    #[test]
    fn lists_in_cells_are_separated_by_semicolons_or_spaces() {
        let three = Node::Numbers([0.0, 1.0, 2.5].into());
        assert_eq!(Node::parse_list("0;1; 2.5"), three);
        assert_eq!(Node::parse_list("0 1  2.5"), three);
        assert_eq!(Node::parse_list("0;x"), Node::Text("0;x".into()));
        assert_eq!(Node::parse_list(";"), Node::Text(";".into()));
    }

    #[test]
    fn factors_in_cells_are_separated_by_semicolons_or_spaces() {
        let pair = |name: &str, number| (name.to_owned(), Node::Number(number));
        let two = Node::Table(vec![pair("v100", 1.0), pair("a100", 2.4)]);
        assert_eq!(Node::parse_table("v100=1;a100=2.4"), two);
        assert_eq!(Node::parse_table(" v100=1 ; a100=2.4;"), two);
        for text in ["v100", "v100=", "v100=x", "v100 = 1", ";"] {
            assert_eq!(Node::parse_table(text), Node::Text(text.into()));
        }
    }

    #[test]
    fn a_list_of_mixed_values_keeps_them_all_in_order() {
        let mut list = ListBuilder::default();
        list.push(Node::Number(1.0));
        list.push(Node::Null);
        list.push(Node::Number(2.0));
        let expected = [Node::Number(1.0), Node::Null, Node::Number(2.0)];
        assert_eq!(list.finish(), Node::List(expected.to_vec()));
        assert_eq!(list.finish(), Node::Numbers([].into()));
    }
}
