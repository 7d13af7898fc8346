//! Reads JSON documents piece by piece, so that a document need not fit in memory.

use std::cell::Cell;
use std::fmt;
use std::io::{self, BufRead, Read};
use std::path::Path;

use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use crate::fault::of_json;
use crate::input::Input;
use gleaner_domain::error::{Error, Fault, Result};

/// Maximum size of a piece: 8 MiB. The parsed values of a piece take about thirty times as much
/// memory.
pub const PIECE_LIMIT: usize = 8 << 20;

/// A part of a document: an element of an array, or an entry of an object.
pub struct Piece<'p> {
    /// The member of the document that contains the piece; empty if the document itself is divided into pieces.
    pub member: &'p str,
    /// The key of the piece if it is an entry of an object; otherwise empty.
    pub name: &'p str,
    /// The number of the piece within the member, from 1.
    pub number: u64,
    /// The parsed JSON.
    pub value: Value,
}

/// Calls `each` with every piece of a document, in order. If `wanted` is empty, the pieces are the elements of the
/// document if it is an array, or its entries if it is an object. Otherwise the document must be an object: the pieces
/// come from the members listed in `wanted`, and all other members are skipped.
///
/// # Errors
/// The file cannot be read, is not JSON, or contains a piece of more than [`PIECE_LIMIT`] bytes.
/// The message for a file that is not JSON contains `expected`. Errors from `each` are returned unchanged.
pub fn pieces(
    input: &mut Input<'_>,
    wanted: &[&str],
    expected: &str,
    mut each: impl FnMut(&Path, Piece<'_>) -> Result<()>,
) -> Result<()> {
    let path = input.path().to_owned();
    let left = Cell::new(PIECE_LIMIT);
    let mut walk = Walk {
        wanted,
        left: &left,
        each: &mut |piece| each(&path, piece),
        stopped: None,
    };
    let read = walk.document(input.stream());
    match (walk.stopped, read) {
        (Some(error), _) => Err(error),
        (None, Ok(())) => Ok(()),
        (None, Err(error)) if error.is_io() && left.get() > 0 => {
            Err(input.read_error(error.into()))
        }
        (None, Err(error)) => Err(fault(&path, &error, expected).into()),
    }
}

/// The fault for a document that is not valid JSON, with the line and column.
fn fault(path: &Path, error: &serde_json::Error, expected: &str) -> Fault {
    let text = error.to_string();
    let found = text
        .rsplit_once(" at line ")
        .map_or(&*text, |(found, _)| found);
    let fault = Fault::of(
        path,
        format!("JSON that cannot be read beyond this point: {found}"),
        expected,
    );
    let remedy = if error.is_eof() {
        "the file is truncated: copy it again"
    } else {
        ""
    };
    fault.at(of_json(error)).remedy(remedy)
}

/// A walk over the pieces of a document.
struct Walk<'w> {
    wanted: &'w [&'w str],
    /// Number of bytes by which the current piece may still grow.
    left: &'w Cell<usize>,
    each: &'w mut dyn FnMut(Piece<'_>) -> Result<()>,
    /// The error returned by `each`, if that error ended the walk.
    stopped: Option<Error>,
}

impl Walk<'_> {
    fn document(&mut self, stream: &mut dyn BufRead) -> Result<(), serde_json::Error> {
        const MARK: &[u8] = b"\xef\xbb\xbf";
        if stream
            .fill_buf()
            .map_err(serde_json::Error::io)?
            .starts_with(MARK)
        {
            stream.consume(MARK.len());
        }
        let left = self.left;
        let mut json = serde_json::Deserializer::from_reader(Metered { stream, left });
        match self.wanted {
            [] => json.deserialize_any(Member::of(self, ""))?,
            _ => json.deserialize_any(Members(self))?,
        }
        json.end()
    }

    fn piece<E: de::Error>(&mut self, piece: Piece<'_>) -> Result<(), E> {
        self.left.set(PIECE_LIMIT);
        (self.each)(piece).map_err(|error| {
            self.stopped = Some(error);
            E::custom("stopped")
        })
    }
}

/// Visits an object: walks the wanted members and skips all other members.
struct Members<'m, 'w>(&'m mut Walk<'w>);

impl<'de> Visitor<'de> for Members<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object with {}", self.0.wanted.join(", "))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key::<String>()? {
            if self.0.wanted.contains(&name.as_str()) {
                map.next_value_seed(Member::of(self.0, &name))?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

/// Visits a member. The pieces are the elements of an array, the entries of an object, or a single
/// value.
struct Member<'m, 'w> {
    walk: &'m mut Walk<'w>,
    name: &'m str,
}

impl<'m, 'w> Member<'m, 'w> {
    fn of(walk: &'m mut Walk<'w>, name: &'m str) -> Self {
        Member { walk, name }
    }

    fn only<E: de::Error>(self, value: Value) -> Result<(), E> {
        self.walk.piece(Piece {
            member: self.name,
            name: "",
            number: 1,
            value,
        })
    }
}

impl<'de> DeserializeSeed<'de> for Member<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Member<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        let mut number = 0;
        while let Some(value) = elements.next_element()? {
            number += 1;
            self.walk.piece(Piece {
                member: self.name,
                name: "",
                number,
                value,
            })?;
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        let mut number = 0;
        while let Some((name, value)) = entries.next_entry::<String, Value>()? {
            number += 1;
            self.walk.piece(Piece {
                member: self.name,
                name: &name,
                number,
                value,
            })?;
        }
        Ok(())
    }

    fn visit_unit<E: de::Error>(self) -> Result<(), E> {
        self.only(Value::Null)
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<(), E> {
        self.only(value.into())
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<(), E> {
        self.only(value.into())
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<(), E> {
        self.only(value.into())
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<(), E> {
        self.only(value.into())
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<(), E> {
        self.only(value.into())
    }
}

/// A stream that fails if a piece is too long.
struct Metered<'r> {
    stream: &'r mut dyn BufRead,
    left: &'r Cell<usize>,
}

impl Read for Metered<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.stream.read(buffer)?;
        let Some(left) = self.left.get().checked_sub(read).filter(|left| *left > 0) else {
            self.left.set(0);
            let found = format!("a part of more than {} MiB", PIECE_LIMIT >> 20);
            return Err(io::Error::other(found));
        };
        self.left.set(left);
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walked(text: &str, wanted: &[&str]) -> Result<Vec<String>> {
        let mut input = Input::new(Path::new("doc"), text.as_bytes())?;
        let mut found = Vec::new();
        pieces(&mut input, wanted, "a workload", |_, piece| {
            let Piece {
                member,
                name,
                number,
                value,
            } = piece;
            found.push(format!("{member}/{name}/{number} {value}"));
            Ok(())
        })?;
        Ok(found)
    }

    #[test]
    fn arrays_and_wanted_members_are_read_in_pieces() {
        let found = walked("\u{feff}[{\"a\":1}, null,\n[2]]\n", &[]).unwrap();
        assert_eq!(found, ["//1 {\"a\":1}", "//2 null", "//3 [2]"]);
        let text = "{\"x\":{\"jobs\":[1]},\"jobs\":[1,\"b\"],\"n\":-2.5,\"p\":{\"q\":{},\"r\":3}}";
        let found = walked(text, &["jobs", "n", "p"]).unwrap();
        assert_eq!(
            found,
            [
                "jobs//1 1",
                "jobs//2 \"b\"",
                "n//1 -2.5",
                "p/q/1 {}",
                "p/r/2 3"
            ]
        );
    }

    #[test]
    fn invalid_json_is_reported_with_its_place() {
        for (text, wanted, part) in [
            (
                "",
                &[][..],
                "doc, line 1, column 0: found JSON that cannot be read beyond this point: EOF",
            ),
            (
                "[1,\n2",
                &[],
                "doc, line 2, column 1: found JSON that cannot be read beyond this point: EOF",
            ),
            ("[1,\n2", &[], "the file is truncated: copy it again"),
            ("[1] x", &[], "trailing characters, expected a workload"),
            (
                "[1]",
                &["jobs"],
                "invalid type: sequence, expected an object with jobs",
            ),
            ("[NaN]", &[], "expected value"),
        ] {
            let error = walked(text, wanted).unwrap_err();
            assert_eq!(error.exit_code(), 3);
            assert!(error.to_string().contains(part), "{error}");
        }
    }

    #[test]
    fn only_oversized_pieces_are_refused() {
        let part = format!("[\"{}\"],", "x".repeat(PIECE_LIMIT / 3));
        let many = format!("[{}1]", part.repeat(6));
        assert_eq!(walked(&many, &[]).unwrap().len(), 7);
        let endless = format!("[\"{}\"]", "x".repeat(PIECE_LIMIT));
        let error = walked(&endless, &[]).unwrap_err();
        assert_eq!(error.exit_code(), 3);
        assert!(
            error.to_string().contains("a part of more than 8 MiB"),
            "{error}"
        );
    }

    #[test]
    fn an_error_of_the_piece_reader_is_returned() {
        let mut input = Input::new(Path::new("doc"), "[1, 2]".as_bytes()).unwrap();
        let error = pieces(&mut input, &[], "", |_, piece| match piece.number {
            2 => Err(Error::Run("enough".to_owned())),
            _ => Ok(()),
        });
        assert_eq!(error.unwrap_err().to_string(), "enough");
    }
}
