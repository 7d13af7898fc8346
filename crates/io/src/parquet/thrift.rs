//! A bounded reader of Thrift's compact protocol, which Parquet uses for its metadata.
//!
//! It is used only to check lengths and counts before the `parquet` crate trusts them. Source: the
//! compact protocol's specification in Apache Thrift, `doc/specs/thrift-compact-protocol.md`.

/// Maximum nesting depth. Parquet's metadata has fewer than ten levels.
const MAX_DEPTH: usize = 24;

/// A decoded value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Thrift {
    /// A boolean or an integer of any width.
    Int(i64),
    /// A float, bytes or text. The value itself is skipped, because no check needs it.
    Other,
    /// The elements of a list or set, or the alternating keys and values of a map.
    List(Vec<Thrift>),
    /// Fields with their ids.
    Struct(Vec<(i64, Thrift)>),
}

impl Thrift {
    /// Reads the struct at the start of `bytes`. Returns the struct and its length in bytes.
    ///
    /// Returns `None` if the struct is malformed or declares more elements than the remaining bytes
    /// can hold.
    pub fn read_struct(bytes: &[u8]) -> Option<(Thrift, usize)> {
        let mut reader = Reader { rest: bytes };
        let value = reader.fields(0)?;
        Some((value, bytes.len() - reader.rest.len()))
    }

    /// The field of a struct with this id.
    pub fn field(&self, id: i64) -> Option<&Thrift> {
        match self {
            Thrift::Struct(fields) => fields.iter().find(|(at, _)| *at == id).map(|(_, v)| v),
            _ => None,
        }
    }

    /// An integer field of a struct.
    pub fn int(&self, id: i64) -> Option<i64> {
        match self.field(id)? {
            Thrift::Int(value) => Some(*value),
            _ => None,
        }
    }

    /// A list field of a struct.
    pub fn list(&self, id: i64) -> Option<&[Thrift]> {
        match self.field(id)? {
            Thrift::List(values) => Some(values),
            _ => None,
        }
    }
}

struct Reader<'a> {
    rest: &'a [u8],
}

// Every method returns `None` if the bytes end too early or are malformed.
impl Reader<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    fn skip(&mut self, count: u64) -> Option<()> {
        self.rest = self.rest.get(usize::try_from(count).ok()?..)?;
        Some(())
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    fn zigzag(&mut self) -> Option<i64> {
        let value = self.varint()?;
        Some((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
    }

    fn fields(&mut self, depth: usize) -> Option<Thrift> {
        let mut fields = Vec::new();
        let mut id = 0i64;
        loop {
            let header = self.byte()?;
            if header == 0 {
                return Some(Thrift::Struct(fields));
            }
            id = match header >> 4 {
                0 => self.zigzag()?,
                step => id.checked_add(i64::from(step))?,
            };
            let value = match header & 0x0f {
                kind @ (1 | 2) => Thrift::Int(i64::from(kind == 1)),
                kind => self.value(kind, depth)?,
            };
            fields.push((id, value));
        }
    }

    fn value(&mut self, kind: u8, depth: usize) -> Option<Thrift> {
        if depth > MAX_DEPTH {
            return None;
        }
        match kind {
            1..=3 => Some(Thrift::Int(i64::from(self.byte()?))),
            4..=6 => Some(Thrift::Int(self.zigzag()?)),
            7 => self.skip(8).map(|()| Thrift::Other),
            8 => {
                let length = self.varint()?;
                self.skip(length).map(|()| Thrift::Other)
            }
            9 | 10 => self.elements(depth),
            11 => self.entries(depth),
            12 => self.fields(depth + 1),
            13 => self.skip(16).map(|()| Thrift::Other),
            _ => None,
        }
    }

    fn elements(&mut self, depth: usize) -> Option<Thrift> {
        let header = self.byte()?;
        let count = match header >> 4 {
            15 => self.varint()?,
            count => u64::from(count),
        };
        self.values(count, &[header & 0x0f], depth)
    }

    fn entries(&mut self, depth: usize) -> Option<Thrift> {
        let count = self.varint()?;
        if count == 0 {
            return Some(Thrift::List(Vec::new()));
        }
        let kinds = self.byte()?;
        self.values(count, &[kinds >> 4, kinds & 0x0f], depth)
    }

    fn values(&mut self, count: u64, kinds: &[u8], depth: usize) -> Option<Thrift> {
        let mut values = Vec::new();
        // Every value takes at least one byte, so the loop ends when the bytes run out.
        for _ in 0..count {
            for kind in kinds {
                values.push(self.value(*kind, depth + 1)?);
            }
        }
        Some(Thrift::List(values))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    // The encoded struct is {1: 300, 2: [1, 2], 4: {}, 20: "ab"}. The last byte is not part of it.
    #[test]
    fn a_struct_is_read_to_its_end() {
        let bytes = [
            0x15, 0xd8, 0x04, 0x19, 0x23, 1, 2, 0x2c, 0, 0x08, 40, 2, b'a', b'b', 0, 99,
        ];
        let (value, length) = Thrift::read_struct(&bytes).unwrap();
        assert_eq!(length, bytes.len() - 1);
        assert_eq!(value.int(1), Some(300));
        assert_eq!(value.list(2), Some(&[Thrift::Int(1), Thrift::Int(2)][..]));
        assert_eq!(value.field(4), Some(&Thrift::Struct(vec![])));
        assert_eq!(value.field(20), Some(&Thrift::Other));
        assert_eq!(value.int(3), None);
    }

    #[test]
    fn endless_nesting_is_refused() {
        assert_eq!(Thrift::read_struct(&[0x1c; 10_000]), None);
        assert_eq!(Thrift::read_struct(&[0x19; 10_000]), None);
    }

    proptest! {
        #![proptest_config(gleaner_testing::cases(256))]

        #[test]
        fn any_bytes_are_read_or_refused(bytes: Vec<u8>) {
            let _ = Thrift::read_struct(&bytes);
        }
    }
}
