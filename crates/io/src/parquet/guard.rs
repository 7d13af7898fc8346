//! Checks the lengths and counts in a Parquet file before memory is allocated for them.
//!
//! The `parquet` crate trusts several counts in a file. A few changed bytes could make it request
//! more memory than is available, which would abort the program.

use ::parquet::file::metadata::ColumnChunkMetaData;

use super::thrift::Thrift;

/// Maximum size of a page, both compressed and uncompressed: 256 MiB. Writers usually produce pages of about 1 MiB.
const MAX_PAGE: i64 = 256 << 20;
/// Maximum size of a dictionary: 64 MiB.
const MAX_DICTIONARY: i64 = 64 << 20;
/// Maximum number of bytes to which one compressed byte may expand. Zstandard reaches this ratio
/// with blocks that repeat a single byte.
const MAX_INFLATION: i64 = 1 << 15;
/// Maximum depth of a schema.
const MAX_SCHEMA_DEPTH: usize = 16;

/// The first and the last bytes of every file.
pub(super) const MAGIC: &[u8] = b"PAR1";
/// Number of bytes at the end of a file that hold the footer's length and the signature.
pub(super) const TAIL: usize = 8;

/// Maximum number of rows that a file of this many bytes may declare.
///
/// The rows of a log have different times, so a writer needs far more than 1/1024 byte per row. The densest known
/// tables hold the states of a simulation in which nothing changes for a long time. They take about 1/256 byte per row.
pub(super) fn max_rows(file: usize) -> usize {
    (1usize << 16)
        .saturating_add(file.saturating_mul(1024))
        .min(1 << 29)
}

/// Maximum number of cells that a file of this many bytes may declare. The limit is high, because
/// columns that never change take few bytes.
pub(super) fn max_cells(file: usize) -> usize {
    (1usize << 24).saturating_add(file.saturating_mul(1 << 14))
}

/// Maximum number of elements in all lists of a column, in a file of this many bytes.
pub(super) fn max_elements(file: usize) -> usize {
    (1usize << 16).saturating_add(file.saturating_mul(64))
}

/// Reads the length of the footer from `tail`, the last 8 bytes of a file of this many bytes. The length does not
/// include the tail. The error describes the fault.
pub(super) fn footer_length(file: u64, tail: [u8; TAIL]) -> Result<usize, &'static str> {
    let (length, magic) = tail.split_at(4);
    if magic != MAGIC || file < 2 * TAIL as u64 {
        return Err("a truncated file: no PAR1 signature at its end");
    }
    let length = length
        .iter()
        .rev()
        .fold(0, |sum, byte| sum << 8 | usize::from(*byte));
    if length as u64 > file - TAIL as u64 {
        return Err("a footer longer than the file");
    }
    Ok(length)
}

/// Checks the start, the end and the schema of a file, given all its bytes. The error describes the fault.
pub(super) fn check_file(file: &[u8]) -> Result<(), &'static str> {
    let (_, tail) = file
        .split_last_chunk()
        .ok_or("a truncated file: no PAR1 signature at its end")?;
    let length = footer_length(file.len() as u64, *tail)?;
    let end = file.len() - TAIL;
    check_footer(file, &file[end - length..end])
}

/// Checks the first bytes of a file, and the schema in its footer. The error describes the fault.
pub(super) fn check_footer(head: &[u8], footer: &[u8]) -> Result<(), &'static str> {
    if !head.starts_with(MAGIC) {
        return Err("no PAR1 signature at its start");
    }
    let (footer, _) = Thrift::read_struct(footer).ok_or("a damaged footer")?;
    let schema = footer.list(2).ok_or("a footer without a schema")?;
    check_schema(schema).ok_or("a damaged schema")
}

/// Checks that the schema's elements, ordered with parents before children, form a single tree that
/// is not too deep.
fn check_schema(elements: &[Thrift]) -> Option<()> {
    // For every element on the path from the root: the number of its children that have not been
    // visited yet.
    let mut open: Vec<i64> = vec![1];
    for element in elements {
        while open.last() == Some(&0) {
            open.pop();
        }
        *open.last_mut()? -= 1;
        match element.int(5) {
            None => {}
            Some(children) if (0..=elements.len() as i64).contains(&children) => {
                open.push(children);
            }
            Some(_) => return None,
        }
        if open.len() > MAX_SCHEMA_DEPTH {
            return None;
        }
    }
    open.iter().all(|left| *left == 0).then_some(())
}

/// Checks every page header of a column chunk, in a file of this many bytes. `header` takes the offset at which a
/// header starts and an upper bound on the offset at which it ends. It returns the header and its length. The error
/// describes the fault.
pub(super) fn check_pages(
    file: u64,
    chunk: &ColumnChunkMetaData,
    mut header: impl FnMut(u64, u64) -> Option<(Thrift, usize)>,
) -> Result<(), String> {
    let (mut next, length) = chunk.byte_range();
    let end = next.checked_add(length).filter(|end| *end <= file);
    let end = end.ok_or("a column that lies outside the file")?;
    let mut values = 0i64;
    // A reader stops after the declared number of values. Some writers pad the chunk after these
    // values.
    while values < chunk.num_values() && next < end {
        let (header, length) = header(next, end).ok_or("a damaged page header")?;
        let page = Page::of(&header).ok_or("a damaged page header")?;
        page.check()?;
        values = values.saturating_add(page.data_values());
        next = next.saturating_add((length as u64).saturating_add(page.compressed as u64));
        if next > end {
            return Err("a page that ends beyond its column".to_owned());
        }
    }
    if values == chunk.num_values() {
        Ok(())
    } else {
        Err(format!(
            "{values} values in a column that declares {}",
            chunk.num_values()
        ))
    }
}

/// The fields of a page header that determine how much memory is allocated.
struct Page {
    uncompressed: i64,
    compressed: i64,
    content: Content,
}

enum Content {
    Data {
        values: i64,
        encoding: i64,
    },
    Dictionary {
        values: i64,
    },
    /// An index page, which is skipped.
    Index,
}

impl Page {
    /// Extracts the fields of a page header. The numbers in this function are field ids in
    /// Parquet's metadata.
    fn of(header: &Thrift) -> Option<Page> {
        let content = match header.int(1)? {
            0 => data_content(header.field(5)?, 2)?,
            1 => Content::Index,
            2 => Content::Dictionary {
                values: header.field(7)?.int(1)?,
            },
            3 => data_content(header.field(8)?, 4)?,
            _ => return None,
        };
        Some(Page {
            uncompressed: header.int(2)?,
            compressed: header.int(3).filter(|size| *size >= 0)?,
            content,
        })
    }

    fn data_values(&self) -> i64 {
        match self.content {
            Content::Data { values, .. } => values,
            Content::Dictionary { .. } | Content::Index => 0,
        }
    }

    fn check(&self) -> Result<(), String> {
        if self.compressed > MAX_PAGE {
            return Err(format!("a page of {} compressed bytes", self.compressed));
        }
        let most = self.compressed.saturating_mul(MAX_INFLATION).min(MAX_PAGE);
        if !(0..=most).contains(&self.uncompressed) {
            let (compressed, size) = (self.compressed, self.uncompressed);
            return Err(format!(
                "a page of {compressed} bytes that declares {size} uncompressed bytes"
            ));
        }
        match self.content {
            Content::Data { values, encoding } => check_data(values, encoding),
            Content::Dictionary { values } => check_dictionary(values, self.uncompressed),
            Content::Index => Ok(()),
        }
    }
}

fn data_content(header: &Thrift, encoding: i64) -> Option<Content> {
    Some(Content::Data {
        values: header.int(1)?,
        encoding: header.int(encoding)?,
    })
}

fn check_data(values: i64, encoding: i64) -> Result<(), String> {
    if values < 0 {
        return Err(format!("a page of {values} values"));
    }
    // The allowed encodings: plain, dictionary (two numbers), run length, bit-packed, delta, byte
    // stream split. The two delta encodings of strings are refused, because they store lengths within
    // the compressed data, which cannot be checked here.
    if matches!(encoding, 0 | 2 | 3 | 4 | 5 | 8 | 9) {
        Ok(())
    } else {
        Err(format!(
            "strings in a delta encoding ({encoding}), but only plain and dictionary encodings are supported"
        ))
    }
}

fn check_dictionary(values: i64, size: i64) -> Result<(), String> {
    // A value in a dictionary takes at least four bytes.
    let most = size.min(MAX_DICTIONARY) / 4;
    if (0..=most).contains(&values) {
        Ok(())
    } else {
        Err(format!(
            "a dictionary of {size} bytes that declares {values} values"
        ))
    }
}
