//! The lexical layer of protobuf's text format, which finds the boundaries of fields and values.
//!
//! This layer does not depend on specific messages, so it can skip any field. Its time and memory
//! are bounded by the length of the text.

use crate::read::TextFault;
use crate::read::error::Found;

/// The maximum nesting depth of brackets. In TensorFlow's own GraphDefs, the depth is below 20.
pub(super) const DEPTH: usize = 100;

/// The position of a fault, in bytes, and the fault.
pub(super) type Fault = (usize, TextFault);

/// A position in the text, which only moves forward.
#[derive(Clone)]
pub(super) struct Scanner<'t> {
    text: &'t [u8],
    at: usize,
    /// The position at which scanning ends: the end of the text, or of a message in it.
    end: usize,
}

impl<'t> Scanner<'t> {
    /// A scanner at the beginning of a text.
    pub(super) fn new(text: &'t [u8]) -> Self {
        Self {
            text,
            at: 0,
            end: text.len(),
        }
    }

    /// The current position: the number of bytes before it.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// The text between two positions.
    pub(super) fn text(&self, from: usize, to: usize) -> &'t [u8] {
        &self.text[from..to]
    }

    /// Moves to the next byte that is neither white space nor part of a comment, and returns it.
    pub(super) fn peek(&mut self) -> Option<u8> {
        loop {
            match *self.rest().first()? {
                b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c => self.at += 1,
                b'#' => self.line(),
                byte => return Some(byte),
            }
        }
    }

    /// The text from the current position to the end.
    fn rest(&self) -> &'t [u8] {
        &self.text[self.at..self.end]
    }

    /// The byte at the current position, for error messages. The position may be beyond the end of
    /// the message.
    fn found(&self) -> Found {
        Found(self.text.get(self.at).copied())
    }

    /// Moves to the end of the line.
    fn line(&mut self) {
        let rest = self.rest();
        self.at += rest
            .iter()
            .position(|byte| *byte == b'\n')
            .unwrap_or(rest.len());
    }

    /// Skips `byte` if it comes next. Returns whether it was skipped.
    pub(super) fn take(&mut self, byte: u8) -> bool {
        let there = self.peek() == Some(byte);
        self.at += usize::from(there);
        there
    }

    /// Skips a comma or semicolon between fields.
    pub(super) fn separator(&mut self) {
        if !self.take(b',') {
            self.take(b';');
        }
    }

    /// The name of the next field. For an extension or `Any`, it includes the brackets.
    pub(super) fn name(&mut self) -> Result<&'t [u8], Fault> {
        let next = self.peek();
        let from = self.at;
        match next {
            Some(b'[') => self.brackets()?,
            Some(byte) if byte.is_ascii_alphabetic() || byte == b'_' => {
                let rest = self.rest();
                let end = |byte: &u8| !byte.is_ascii_alphanumeric() && *byte != b'_';
                self.at += rest.iter().position(end).unwrap_or(rest.len());
            }
            _ => return Err((from, TextFault::Name(self.found()))),
        }
        Ok(&self.text[from..self.at])
    }

    /// Skips the colon after a name. The colon is optional only before messages.
    pub(super) fn colon(&mut self) -> Result<(), Fault> {
        match self.peek() {
            Some(b':') => self.at += 1,
            Some(b'{' | b'<') => {}
            _ => return Err((self.at, TextFault::Colon(self.found()))),
        }
        Ok(())
    }

    /// Skips a value: a message, a list, consecutive strings, a number or a word.
    pub(super) fn value(&mut self) -> Result<(), Fault> {
        match self.peek() {
            Some(b'{' | b'<' | b'[') => self.brackets(),
            Some(b'"' | b'\'') => {
                while let Some(quote @ (b'"' | b'\'')) = self.peek() {
                    self.string(quote)?;
                }
                Ok(())
            }
            _ => self.word(),
        }
    }

    /// Skips a number or a word, with its sign.
    fn word(&mut self) -> Result<(), Fault> {
        self.take(b'-');
        self.peek();
        let word = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.+-".contains(byte);
        let rest = self.rest();
        let length = rest
            .iter()
            .position(|byte| !word(byte))
            .unwrap_or(rest.len());
        if length == 0 {
            return Err((self.at, TextFault::Value(self.found())));
        }
        self.at += length;
        Ok(())
    }

    /// Skips a string. The current position must be at the opening quote.
    pub(super) fn string(&mut self, quote: u8) -> Result<(), Fault> {
        let from = self.at;
        self.at += 1;
        loop {
            let rest = self.rest();
            let stop = |byte: &u8| *byte == quote || *byte == b'\\' || *byte == b'\n';
            let Some(length) = rest.iter().position(stop) else {
                return Err((from, TextFault::String));
            };
            self.at += length;
            match self.text[self.at] {
                b'\n' => return Err((from, TextFault::String)),
                b'\\' => self.at = (self.at + 2).min(self.end),
                _ => break,
            }
        }
        self.at += 1;
        Ok(())
    }

    /// Skips an opening bracket and everything up to the matching closing bracket.
    pub(super) fn brackets(&mut self) -> Result<(), Fault> {
        let mut open: Vec<(usize, u8)> = Vec::new();
        while let Some(byte) = self.peek() {
            match byte {
                b'"' | b'\'' => {
                    self.string(byte)?;
                    continue;
                }
                b'{' | b'<' | b'[' if open.len() == DEPTH => {
                    return Err((self.at, TextFault::Depth(DEPTH)));
                }
                b'{' | b'<' | b'[' => open.push((self.at, byte)),
                b'}' | b'>' | b']' => self.close(open.pop(), byte)?,
                _ => {}
            }
            self.at += 1;
            if open.is_empty() {
                return Ok(());
            }
        }
        let (at, bracket) = open.pop().unwrap_or((self.at, b'{'));
        Err((at, TextFault::Open(char::from(bracket))))
    }

    /// Checks that the next closing bracket matches the innermost open bracket.
    fn close(&self, open: Option<(usize, u8)>, found: u8) -> Result<(), Fault> {
        let expected = match open {
            Some((_, b'{')) => "`}`",
            Some((_, b'<')) => "`>`",
            Some(_) => "`]`",
            None => "a field's name",
        };
        let found = char::from(found);
        if expected.contains(found) {
            return Ok(());
        }
        Err((self.at, TextFault::Close { found, expected }))
    }

    /// Skips the value of a message field: one message or a list of messages. Returns a scanner for
    /// the contents of each message; `None` if the value does not consist of messages.
    pub(super) fn messages(&mut self) -> Result<Option<Vec<Scanner<'t>>>, Fault> {
        let start = self.clone();
        let list = self.take(b'[');
        let mut inside = Vec::new();
        while matches!(self.peek(), Some(b'{' | b'<')) {
            let from = self.at + 1;
            self.brackets()?;
            inside.push(Scanner {
                text: self.text,
                at: from,
                end: self.at - 1,
            });
            if !list || !self.take(b',') {
                break;
            }
        }
        let whole = if list {
            self.take(b']')
        } else {
            !inside.is_empty()
        };
        if !whole {
            *self = start;
            self.value()?;
        }
        Ok(whole.then_some(inside))
    }
}
