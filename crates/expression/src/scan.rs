//! Checks the characters of an expression before it is parsed. This catches faults that the parser would not notice or
//! would describe badly. For example, the parser would treat `//` as the start of a comment.

use crate::{Fault, MAX_DEPTH, MAX_LENGTH};

/// Checks length, characters and brackets.
pub fn check(text: &str) -> Result<(), Fault> {
    let mut open: Vec<(usize, char)> = Vec::new();
    let mut before = ' ';
    for (column, character) in (1..).zip(text.chars()) {
        if column > MAX_LENGTH {
            let expected = format!("at most {MAX_LENGTH} characters");
            return Err(fault(column, "more text", expected));
        }
        match character {
            '(' | '{' if open.len() == MAX_DEPTH => {
                let expected = format!("at most {MAX_DEPTH} nested brackets");
                return Err(fault(column, "another bracket", expected));
            }
            '(' | '{' => open.push((column, character)),
            ')' | '}' => close(&mut open, column, character)?,
            '/' | '*' if before == '/' => {
                let found = format!("`/{character}`");
                return Err(fault(column - 1, found, "a single operator such as `/`"));
            }
            '^' => return Err(fault(column, "`^`", "pow(a, b) for a power")),
            '=' if !matches!(before, '<' | '>' | '=' | '!') && !is_double(text, column) => {
                return Err(fault(column, "`=`", "`==` to compare"));
            }
            _ if is_known(character) => {}
            _ => {
                let found = format!("the character {character:?}");
                let expected = "letters, digits, and + - * / % < > = ! & | ( ) { } , . _";
                return Err(fault(column, found, expected));
            }
        }
        before = character;
    }
    match open.pop() {
        None => Ok(()),
        Some((column, bracket)) => Err(fault(
            column,
            format!("`{bracket}`, which is never closed"),
            format!("a `{}` after it", closing(bracket)),
        )),
    }
}

fn close(open: &mut Vec<(usize, char)>, column: usize, character: char) -> Result<(), Fault> {
    match open.pop() {
        Some((_, bracket)) if closing(bracket) == character => Ok(()),
        Some((_, bracket)) => {
            let expected = format!("`{}`", closing(bracket));
            Err(fault(column, format!("`{character}`"), expected))
        }
        None => Err(fault(
            column,
            format!("`{character}`"),
            "no closing bracket, because no bracket is open",
        )),
    }
}

fn closing(bracket: char) -> char {
    if bracket == '(' { ')' } else { '}' }
}

/// Whether the `=` at this column is followed by another `=`.
fn is_double(text: &str, column: usize) -> bool {
    text.chars().nth(column) == Some('=')
}

fn is_known(character: char) -> bool {
    character.is_ascii_alphanumeric() || " \t\r\n+-*/%<>=!&|,._".contains(character)
}

fn fault(column: usize, found: impl Into<String>, expected: impl Into<String>) -> Fault {
    Fault {
        column,
        found: found.into(),
        expected: expected.into(),
    }
}
