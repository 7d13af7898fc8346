//! The lexical layer of protobuf's text format: where fields and their values begin and end.
//!
//! It knows no message, so it skips whatever a field holds, in time and memory bounded by the text.

use crate::read::TextFault;
use crate::read::error::Found;

/// How many brackets may be open at once. TensorFlow's own GraphDefs stay below 20.
pub(super) const DEPTH: usize = 100;

/// A fault and the byte at which it is.
pub(super) type Fault = (usize, TextFault);

/// A place in a text, which moves on.
#[derive(Clone)]
pub(super) struct Scanner<'t> {
    text: &'t [u8],
    at: usize,
    /// Where it ends: that of the text, or of the message that is looked at.
    end: usize,
}

impl<'t> Scanner<'t> {
    /// At the beginning of a text.
    pub(super) fn new(text: &'t [u8]) -> Self {
        Self {
            text,
            at: 0,
            end: text.len(),
        }
    }

    /// The bytes before this place.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// The text between two places.
    pub(super) fn text(&self, from: usize, to: usize) -> &'t [u8] {
        &self.text[from..to]
    }

    /// The next byte that is neither blank nor in a comment, after going there.
    pub(super) fn peek(&mut self) -> Option<u8> {
        loop {
            match *self.rest().first()? {
                b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c => self.at += 1,
                b'#' => self.line(),
                byte => return Some(byte),
            }
        }
    }

    /// What is yet to come.
    fn rest(&self) -> &'t [u8] {
        &self.text[self.at..self.end]
    }

    /// What is here, be it beyond the message, for faults.
    fn found(&self) -> Found {
        Found(self.text.get(self.at).copied())
    }

    /// Goes to the end of the line.
    fn line(&mut self) {
        let rest = self.rest();
        self.at += rest
            .iter()
            .position(|byte| *byte == b'\n')
            .unwrap_or(rest.len());
    }

    /// Goes past a byte where it is next.
    pub(super) fn take(&mut self, byte: u8) -> bool {
        let there = self.peek() == Some(byte);
        self.at += usize::from(there);
        there
    }

    /// Goes past what may stand between fields.
    pub(super) fn separator(&mut self) {
        if !self.take(b',') {
            self.take(b';');
        }
    }

    /// The name of the field that is next; of an extension or Any, its brackets too.
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

    /// Goes past the colon after a name, which only messages do without.
    pub(super) fn colon(&mut self) -> Result<(), Fault> {
        match self.peek() {
            Some(b':') => self.at += 1,
            Some(b'{' | b'<') => {}
            _ => return Err((self.at, TextFault::Colon(self.found()))),
        }
        Ok(())
    }

    /// Goes past a value: a message, a list, strings in a row, a number or a word.
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

    /// Goes past a number or a word, with its sign.
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

    /// Goes past a string, from its first quote on.
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

    /// Goes past a bracket and all up to its counterpart.
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

    /// Whether the closing bracket that is next is the counterpart of the last one that was opened.
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

    /// Goes past the values of a field whose values are messages, one or a list of them, and gives
    /// each value's inside; nothing where they are no messages.
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
