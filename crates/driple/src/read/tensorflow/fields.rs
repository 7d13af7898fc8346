//! Parses messages in protobuf's text format.
//!
//! Fields that are not declared in a message are skipped. Such fields make up most of a GraphDef,
//! for example the values of constants. They also include fields that newer versions of TensorFlow
//! have added.

use super::scalar;
use super::scan::{Fault, Scanner};

/// The reason why a message cannot be parsed.
#[derive(Debug, PartialEq)]
pub(super) enum ParseError {
    /// The text is not in protobuf's text format.
    Text(Fault),
    /// The content of a field is invalid. Holds a description of the fault.
    Field(String),
}

impl From<Fault> for ParseError {
    fn from(fault: Fault) -> Self {
        ParseError::Text(fault)
    }
}

/// The number of times that a field is allowed to occur.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Times {
    Once,
    Any,
}

/// A message with named fields.
pub(super) trait Fields: Default {
    /// Parses the value of the field `name`. If the message has no such field, the value is
    /// skipped.
    fn read(&mut self, name: &[u8], text: &mut Scanner<'_>) -> Result<Times, ParseError>;
}

impl<M: Fields> Fields for Box<M> {
    fn read(&mut self, name: &[u8], text: &mut Scanner<'_>) -> Result<Times, ParseError> {
        M::read(self, name, text)
    }
}

/// Parses a message whose fields make up the rest of the text.
///
/// The parser recurses only into declared message fields, so the schema limits the depth of the
/// recursion.
pub(super) fn message<M: Fields>(mut text: Scanner<'_>) -> Result<M, ParseError> {
    let mut message = M::default();
    let mut seen: Vec<&[u8]> = Vec::new();
    while text.peek().is_some() {
        let name = text.name()?;
        text.colon()?;
        if message.read(name, &mut text)? == Times::Once {
            if seen.contains(&name) {
                let name = String::from_utf8_lossy(name);
                return Err(ParseError::Field(format!(
                    "field `{name}` occurs twice; expected it at most once"
                )));
            }
            seen.push(name);
        }
        text.separator();
    }
    Ok(message)
}

/// The value of a field.
pub(super) trait Value {
    /// Parses the value that follows the field's name.
    fn read(&mut self, text: &mut Scanner<'_>) -> Result<Times, ParseError>;
}

impl Value for String {
    fn read(&mut self, text: &mut Scanner<'_>) -> Result<Times, ParseError> {
        *self = scalar::string(text)?;
        Ok(Times::Once)
    }
}

impl Value for i64 {
    fn read(&mut self, text: &mut Scanner<'_>) -> Result<Times, ParseError> {
        *self = scalar::integer(text)?;
        Ok(Times::Once)
    }
}

impl Value for bool {
    fn read(&mut self, text: &mut Scanner<'_>) -> Result<Times, ParseError> {
        *self = scalar::boolean(text)?;
        Ok(Times::Once)
    }
}

impl Value for Vec<String> {
    fn read(&mut self, text: &mut Scanner<'_>) -> Result<Times, ParseError> {
        let list = text.take(b'[');
        if list && text.take(b']') {
            return Ok(Times::Any);
        }
        loop {
            self.push(scalar::string(text)?);
            if !list || !text.take(b',') {
                break;
            }
        }
        if list && !text.take(b']') {
            return Err(ParseError::Field(
                "expected a list of strings, separated by commas".to_owned(),
            ));
        }
        Ok(Times::Any)
    }
}

impl<M: Fields> Value for Vec<M> {
    fn read(&mut self, text: &mut Scanner<'_>) -> Result<Times, ParseError> {
        for inside in messages(text)? {
            self.push(message(inside)?);
        }
        Ok(Times::Any)
    }
}

impl<M: Fields> Value for Option<M> {
    fn read(&mut self, text: &mut Scanner<'_>) -> Result<Times, ParseError> {
        *self = Some(only(text)?);
        Ok(Times::Once)
    }
}

fn messages<'t>(text: &mut Scanner<'t>) -> Result<Vec<Scanner<'t>>, ParseError> {
    let inside = text.messages()?;
    inside.ok_or_else(|| ParseError::Field("expected a message in brackets".to_owned()))
}

fn only<M: Fields>(text: &mut Scanner<'_>) -> Result<M, ParseError> {
    if text.peek() == Some(b'[') {
        text.value()?;
        return Err(ParseError::Field(
            "expected one message, but found a list".to_owned(),
        ));
    }
    let mut inside = messages(text)?;
    match inside.pop() {
        Some(inside) => message(inside),
        None => Ok(M::default()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::message::NodeDef;
    use super::*;

    fn node(text: &str) -> Result<NodeDef, ParseError> {
        message(Scanner::new(text.as_bytes()))
    }

    // Golden values: google.protobuf.text_format of protobuf 7.36.2 for Python.
    #[test]
    fn repeated_fields_may_be_lists() {
        let found = node("input: 'a' input: ['b' 'c', \"d\"], input: [];").unwrap();
        assert_eq!(found.input, ["a", "bc", "d"]);
        let found = node("attr: [{key: 'a'}, <key: 'b'>] attr: [] attr {}").unwrap();
        let keys: Vec<_> = found.attr.iter().map(|attr| attr.key.as_str()).collect();
        assert_eq!(keys, ["a", "b", ""]);
        let found = node("x: [1, {}] [a.b/c] { y: 'z' } name: 'n' Name: 5").unwrap();
        assert_eq!(found.name, "n");
    }

    // Golden values: google.protobuf.text_format, as above.
    #[test]
    fn values_of_the_wrong_type_or_number_are_refused() {
        for (text, part) in [
            ("name: 'a' name: ''", "field `name` occurs twice"),
            ("name: {}", "expected a string, but found '{}'"),
            ("name: ['a']", "expected a string, but found '['a']'"),
            ("input: ['a',]", ""),
            ("input: ['a'", ""),
            ("attr: 5", "expected a message in brackets"),
            (
                "attr { value: [{}] }",
                "expected one message, but found a list",
            ),
            ("attr { value {} value {} }", "field `value` occurs twice"),
            (
                "attr { value { shape { unknown_rank: 2 } } }",
                "expected true or false, but found '2'",
            ),
            (
                "attr { value { shape { dim { size: 1e3 } } } }",
                "expected a 64-bit integer, but found '1e3'",
            ),
        ] {
            match node(text).unwrap_err() {
                ParseError::Field(found) => assert!(found.contains(part), "{text}: {found}"),
                ParseError::Text(_) => assert!(part.is_empty(), "{text}"),
            }
        }
    }
}
