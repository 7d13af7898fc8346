//! Reads whole streams into memory, within limits.

use std::io::{self, Read};

/// Maximum size of an input that is held in memory as a whole: 1 GiB. It applies to the inflated size of a compressed
/// input, and to an input from a pipe.
pub const WHOLE_LIMIT: u64 = 1 << 30;

/// The corresponding limit for text formats that are parsed into many small values, such as JSON: 64 MiB.
pub const TEXT_LIMIT: u64 = 64 << 20;

/// The corresponding limit for TOML, which is written by hand: 16 MiB.
pub const TOML_LIMIT: u64 = 16 << 20;

/// Number of bytes that are read at a time.
const STEP: usize = 1 << 18;

/// Reads a stream to its end. Returns `None` if it has more than `limit` bytes.
///
/// # Errors
/// The stream fails, or memory runs out ([`io::ErrorKind::OutOfMemory`]).
pub(super) fn read(stream: impl Read, limit: u64) -> io::Result<Option<Vec<u8>>> {
    let mut stream = stream.take(limit.saturating_add(1));
    let mut bytes = Vec::new();
    loop {
        reserve(&mut bytes)?;
        let read = stream.by_ref().take(STEP as u64).read_to_end(&mut bytes)?;
        if read == 0 {
            return Ok((bytes.len() as u64 <= limit).then_some(bytes));
        }
    }
}

/// Reserves memory for another step. Doubles the capacity if there is enough memory; otherwise adds just enough.
fn reserve(bytes: &mut Vec<u8>) -> io::Result<()> {
    // `read_to_end` needs slightly more capacity than the number of bytes that it reads.
    let more = STEP + 64;
    let reserved = bytes
        .try_reserve(more)
        .or_else(|_| bytes.try_reserve_exact(more));
    reserved.map_err(|_| io::ErrorKind::OutOfMemory.into())
}

/// Formats a limit, such as `64 MiB`.
pub(super) fn size(limit: u64) -> String {
    match limit {
        ..1_073_741_824 => format!("{} MiB", limit >> 20),
        _ => format!("{} GiB", limit >> 30),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_read_up_to_the_limit() {
        let bytes = vec![3; 2 * STEP + 5];
        let length = bytes.len() as u64;
        for limit in [length, length + 1, u64::MAX] {
            assert!(read(&bytes[..], limit).unwrap().unwrap() == bytes);
        }
        assert_eq!(read(&bytes[..], length - 1).unwrap(), None);
        assert_eq!(read(&b""[..], 0).unwrap(), Some(Vec::new()));
        assert_eq!(read(io::repeat(0), 1 << 20).unwrap(), None);
    }
}
