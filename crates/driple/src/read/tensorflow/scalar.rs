//! Parses strings, integers and booleans of protobuf's text format, according to its specification
//! (`protobuf.dev/reference/protobuf/textformat-spec`).

use super::fields::ParseError;
use super::scan::Scanner;

/// One or more consecutive strings, which are concatenated.
pub(super) fn string(text: &mut Scanner<'_>) -> Result<String, ParseError> {
    let mut bytes = Vec::new();
    let mut found = false;
    while let Some(quote @ (b'"' | b'\'')) = text.peek() {
        found = true;
        let from = text.at();
        text.string(quote)?;
        let inside = text.text(from + 1, text.at() - 1);
        unescape(inside, &mut bytes).map_err(ParseError::Field)?;
    }
    if !found {
        return Err(other(text, "a string")?);
    }
    String::from_utf8(bytes).map_err(|_| ParseError::Field("a string is not UTF-8".to_owned()))
}

/// A whole number: decimal, octal or hexadecimal.
pub(super) fn integer(text: &mut Scanner<'_>) -> Result<i64, ParseError> {
    const EXPECTED: &str = "a 64-bit integer";
    let start = text.clone();
    let negative = text.take(b'-');
    let size = word(text)?.and_then(magnitude).map(i128::from);
    let number = size.map(|size| if negative { -size } else { size });
    match number.and_then(|number| i64::try_from(number).ok()) {
        Some(number) => Ok(number),
        None => {
            *text = start;
            Err(other(text, EXPECTED)?)
        }
    }
}

/// A boolean: a word such as `true` or `f`, or 0 or 1.
pub(super) fn boolean(text: &mut Scanner<'_>) -> Result<bool, ParseError> {
    let start = text.clone();
    match word(text)? {
        Some(b"true" | b"True" | b"t") => Ok(true),
        Some(b"false" | b"False" | b"f") => Ok(false),
        found => match found.and_then(magnitude) {
            Some(0) => Ok(false),
            Some(1) => Ok(true),
            _ => {
                *text = start;
                Err(other(text, "true or false")?)
            }
        },
    }
}

/// The next word; `None` if something else comes next.
fn word<'t>(text: &mut Scanner<'t>) -> Result<Option<&'t [u8]>, ParseError> {
    let next = text.peek();
    if !next.is_some_and(|byte| byte.is_ascii_alphanumeric()) {
        return Ok(None);
    }
    let from = text.at();
    text.value()?;
    Ok(Some(text.text(from, text.at())))
}

fn magnitude(word: &[u8]) -> Option<u64> {
    let (digits, radix) = match word {
        [b'0', b'x' | b'X', digits @ ..] => (digits, 16),
        [b'0', digits @ ..] if !digits.is_empty() => (digits, 8),
        digits => (digits, 10),
    };
    // The standard library would also accept a sign.
    let digits = Some(digits).filter(|digits| digits.iter().all(u8::is_ascii_alphanumeric));
    u64::from_str_radix(std::str::from_utf8(digits?).ok()?, radix).ok()
}

/// Skips an unexpected value, and returns an error that describes the value.
fn other(text: &mut Scanner<'_>, expected: &str) -> Result<ParseError, ParseError> {
    const SHOWN: usize = 40;
    text.peek();
    let from = text.at();
    text.value()?;
    let found = text.text(from, text.at());
    let found = String::from_utf8_lossy(&found[..found.len().min(SHOWN)]);
    Ok(ParseError::Field(format!(
        "expected {expected}, but found '{found}'"
    )))
}

/// Appends the bytes of a string to `bytes`. `inside` is the text between its quotes.
fn unescape(mut inside: &[u8], bytes: &mut Vec<u8>) -> Result<(), String> {
    while let Some(at) = inside.iter().position(|byte| *byte == b'\\') {
        bytes.extend_from_slice(&inside[..at]);
        inside = escape(&inside[at + 1..], bytes)?;
    }
    bytes.extend_from_slice(inside);
    Ok(())
}

/// Appends the bytes that an escape represents. `text` begins after the backslash. Returns the text
/// after the escape.
fn escape<'t>(text: &'t [u8], bytes: &mut Vec<u8>) -> Result<&'t [u8], String> {
    let unknown = || {
        let start = String::from_utf8_lossy(&text[..text.len().min(9)]);
        format!("`\\{start}` begins with an unknown escape")
    };
    let (first, rest) = text.split_first().ok_or_else(unknown)?;
    let byte = match first {
        b'a' => 0x07,
        b'b' => 0x08,
        b'f' => 0x0c,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'v' => 0x0b,
        b'?' | b'\\' | b'\'' | b'"' => *first,
        b'0'..=b'7' => {
            let (code, rest) = digits(text, 8, 3);
            bytes.push(u8::try_from(code).map_err(|_| unknown())?);
            return Ok(rest);
        }
        b'x' | b'X' => {
            let (code, after) = digits(rest, 16, 2);
            if after.len() == rest.len() {
                return Err(unknown());
            }
            bytes.push(code as u8);
            return Ok(after);
        }
        b'u' | b'U' => {
            let length = if *first == b'u' { 4 } else { 8 };
            let (code, after) = digits(rest, 16, length);
            let whole = rest.len() - after.len() == length;
            let code = char::from_u32(code).filter(|_| whole).ok_or_else(unknown)?;
            bytes.extend_from_slice(code.encode_utf8(&mut [0; 4]).as_bytes());
            return Ok(after);
        }
        _ => return Err(unknown()),
    };
    bytes.push(byte);
    Ok(rest)
}

/// Parses the next digits, at most `most` of them. Returns the number that they form, and the text
/// that follows.
fn digits(text: &[u8], radix: u32, most: usize) -> (u32, &[u8]) {
    let digit = |byte: &u8| char::from(*byte).to_digit(radix);
    let digits = text.iter().take(most).map_while(digit);
    let (length, number) = digits.fold((0, 0), |(length, number), digit| {
        (length + 1, number * radix + digit)
    });
    (number, &text[length..])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The value that `read` parses from `text`; `None` if `read` rejects the text or does not
    /// consume all of it.
    fn all<T>(text: &str, read: fn(&mut Scanner<'_>) -> Result<T, ParseError>) -> Option<T> {
        let mut scanner = Scanner::new(text.as_bytes());
        let value = read(&mut scanner).ok()?;
        scanner.peek().is_none().then_some(value)
    }

    // Golden values: google.protobuf.text_format of protobuf 7.36.2 for Python.
    #[test]
    fn strings_are_joined_and_unescaped() {
        for (text, expected) in [
            (r#""a" 'b' "c""#, Some("abc")),
            ("\"a\" # c\n \"b\"", Some("ab")),
            ("''", Some("")),
            (r#""it's" '"'"#, Some("it's\"")),
            (
                r#""\a\b\f\n\r\t\v\\\'\"\?""#,
                Some("\x07\x08\x0c\n\r\t\x0b\\'\"?"),
            ),
            (r#""\101\x41\x4g\7x\18""#, Some("AA\x04g\x07x\x018")),
            (r#""\303\251\u00e9\U0001F600""#, Some("éé😀")),
            (r#""\xff""#, None),
            (r#""\x""#, None),
            (r#""\400""#, None),
            (r#""\ud800""#, None),
            (r#""\u12""#, None),
            ("5", None),
            ("{}", None),
            // The specification does not allow this escape; Python's parser keeps the backslash.
            (r#""\q""#, None),
        ] {
            assert_eq!(all(text, string).as_deref(), expected, "{text}");
        }
    }

    // Golden values: google.protobuf.text_format, as for strings.
    #[test]
    fn integers_have_three_bases() {
        for (text, expected) in [
            ("0", Some(0)),
            ("-7", Some(-7)),
            ("017", Some(15)),
            ("0x1F", Some(31)),
            ("-0X1f", Some(-31)),
            ("9223372036854775807", Some(i64::MAX)),
            ("-9223372036854775808", Some(i64::MIN)),
            ("9223372036854775808", None),
            ("5.0", None),
            ("08", None),
            ("5f", None),
            ("\"5\"", None),
            ("x", None),
            ("-", None),
            ("0x", None),
            // The specification defines these results; Python's parser returns different results.
            ("- 7", Some(-7)),
            ("+5", None),
            ("1_0", None),
        ] {
            assert_eq!(all(text, integer), expected, "{text}");
        }
    }

    // Golden values: google.protobuf.text_format, as for strings.
    #[test]
    fn booleans_are_words_or_digits() {
        for (texts, expected) in [
            (["true", "True", "t", "1"], Some(true)),
            (["false", "False", "f", "0"], Some(false)),
            (["2", "yes", "TRUE", "-0"], None),
        ] {
            for text in texts {
                assert_eq!(all(text, boolean), expected, "{text}");
            }
        }
    }
}
