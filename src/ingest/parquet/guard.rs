//! Looks over a Parquet file's lengths and counts before anything is allocated for them.
//!
//! The `parquet` crate takes several counts of a file at their word; a few changed
//! bytes could then ask for more memory than there is, which ends the program.

use ::parquet::file::metadata::ColumnChunkMetaData;

use super::thrift::Thrift;

/// Most bytes a page may take uncompressed: 256 MiB; writers aim at 1 MiB.
const MAX_PAGE: i64 = 256 << 20;
/// Most bytes a dictionary may take: 64 MiB.
const MAX_DICTIONARY: i64 = 64 << 20;
/// Most bytes that a compressed byte becomes; Zstandard's repeat blocks reach it.
const MAX_INFLATION: i64 = 1 << 15;
/// Deepest schema.
const MAX_SCHEMA_DEPTH: usize = 16;

const MAGIC: &[u8] = b"PAR1";

/// Most rows that a file of this many bytes may state.
///
/// A log's rows differ in time, which costs a writer far more than 1/1024 byte a row. Tables of
/// states of a simulation in which nothing changes for long come near 1/256.
pub(super) fn max_rows(file: usize) -> usize {
    (1usize << 16)
        .saturating_add(file.saturating_mul(1024))
        .min(1 << 29)
}

/// Most cells that a file of this many bytes may state: columns that never change are small.
pub(super) fn max_cells(file: usize) -> usize {
    (1usize << 24).saturating_add(file.saturating_mul(1 << 14))
}

/// Most elements that the lists of a column may have together in a file of this many bytes.
pub(super) fn max_elements(file: usize) -> usize {
    (1usize << 16).saturating_add(file.saturating_mul(64))
}

/// Checks the frame of a file and the shape of its schema; says what is wrong.
pub(super) fn check_footer(file: &[u8]) -> Result<(), &'static str> {
    if !file.starts_with(MAGIC) {
        return Err("no PAR1 signature at its start");
    }
    let tail = file.len().saturating_sub(8);
    let (length, magic) = file[tail..].split_first_chunk().ok_or("a file cut short")?;
    if magic != MAGIC || tail < 8 {
        return Err("a file cut short: no PAR1 signature at its end");
    }
    let length = u32::from_le_bytes(*length) as usize;
    let start = tail
        .checked_sub(length)
        .ok_or("a footer longer than the file")?;
    let (footer, _) = Thrift::read_struct(&file[start..tail]).ok_or("a damaged footer")?;
    let schema = footer.list(2).ok_or("a footer without a schema")?;
    check_schema(schema).ok_or("a damaged schema")
}

/// Checks that the elements, parents before children, make one tree that is not too deep.
fn check_schema(elements: &[Thrift]) -> Option<()> {
    // Children still to come, for every element from the root down.
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

/// Checks every page header of a column chunk; says what is wrong.
pub(super) fn check_pages(file: &[u8], chunk: &ColumnChunkMetaData) -> Result<(), String> {
    let (start, length) = chunk.byte_range();
    let end = start
        .checked_add(length)
        .and_then(|end| usize::try_from(end).ok());
    let mut rest = end
        .and_then(|end| file.get(start as usize..end))
        .ok_or("a column that lies outside the file")?;
    let mut values = 0i64;
    // A reader stops at the stated number of values; some writers pad behind them.
    while values < chunk.num_values() && !rest.is_empty() {
        let (header, length) = Thrift::read_struct(rest).ok_or("a damaged page header")?;
        let page = Page::of(&header).ok_or("a damaged page header")?;
        page.check()?;
        values = values.saturating_add(page.data_values());
        let next = length.saturating_add(page.compressed as usize);
        rest = rest
            .get(next..)
            .ok_or("a page that ends beyond its column")?;
    }
    if values == chunk.num_values() {
        Ok(())
    } else {
        Err(format!(
            "{values} values in a column that states {}",
            chunk.num_values()
        ))
    }
}

/// The parts of a page header that decide on memory.
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
    /// Index pages are skipped.
    Index,
}

impl Page {
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
        let most = self.compressed.saturating_mul(MAX_INFLATION).min(MAX_PAGE);
        if !(0..=most).contains(&self.uncompressed) {
            let (compressed, size) = (self.compressed, self.uncompressed);
            return Err(format!(
                "a page of {compressed} bytes that states {size} uncompressed"
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
    // Plain, dictionary (two numbers), run length, bit-packed, delta, byte stream split. The two
    // delta encodings of texts state lengths within the compressed data, out of sight here.
    if matches!(encoding, 0 | 2 | 3 | 4 | 5 | 8 | 9) {
        Ok(())
    } else {
        Err(format!(
            "texts in delta encoding ({encoding}) where only plain and dictionary are read"
        ))
    }
}

fn check_dictionary(values: i64, size: i64) -> Result<(), String> {
    // A value of a dictionary takes four bytes at least.
    let most = size.min(MAX_DICTIONARY) / 4;
    if (0..=most).contains(&values) {
        Ok(())
    } else {
        Err(format!(
            "a dictionary of {size} bytes that states {values} values"
        ))
    }
}
