//! Writes a column that consists of runs of equal values to a Parquet file. The column is stored as a dictionary of the
//! values and, for each run, the run's length and the index of its value.
//!
//! The `parquet` crate's writer looks up the value of every row, whereas the time that this module
//! needs depends only on the number of runs. For example, let the value be 5 in the first 400,000
//! rows, then 7 in 10 rows, and then 5 again. The column is stored as the dictionary (5, 7) and
//! three runs with the indices 0, 1 and 0.

use std::io::Write;

use bytes::Bytes;
use parquet::basic::{Compression, Encoding};
use parquet::column::page::{CompressedPage, Page, PageWriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::writer::{SerializedPageWriter, SerializedRowGroupWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;

use gleaner_domain::results::RunLengths;

/// The encodings that the metadata lists for the dictionary, the levels (although the column has
/// none) and the indices.
const ENCODINGS: [Encoding; 3] = [Encoding::PLAIN, Encoding::RLE, Encoding::RLE_DICTIONARY];

/// A column's distinct values, and its runs as indices into these values.
pub(super) struct Dictionary {
    /// The values in Parquet's plain encoding.
    plain: Vec<u8>,
    /// Number of values.
    values: u32,
    runs: Vec<(u32, u32)>,
    rows: usize,
}

impl Dictionary {
    /// The dictionary of a numeric column. `bytes` returns the eight bytes of a number.
    pub fn of_numbers<T>(runs: &RunLengths<T>, bytes: impl Fn(&T) -> u64) -> Self {
        let mut sorted: Vec<(u64, u32)> = runs.iter().map(|(v, _)| bytes(v)).zip(0..).collect();
        sorted.sort_unstable();
        let mut indices: Vec<(u32, u32)> = runs.iter().map(|(_, count)| (0, count)).collect();
        let (mut plain, mut values) = (Vec::new(), 0);
        for equal in sorted.chunk_by(|a, b| a.0 == b.0) {
            plain.extend(equal[0].0.to_le_bytes());
            for &(_, run) in equal {
                indices[run as usize].0 = values;
            }
            values += 1;
        }
        Dictionary {
            plain,
            values,
            runs: indices,
            rows: runs.rows(),
        }
    }

    /// The dictionary of a text column. `runs` holds indices into `names`.
    pub fn of_names(names: &[&str], runs: &RunLengths<u32>) -> Self {
        let texts = names.iter().map(|name| name.as_bytes());
        let plain = texts.flat_map(|text| [&(text.len() as u32).to_le_bytes(), text].concat());
        Dictionary {
            plain: plain.collect(),
            values: names.len() as u32,
            runs: runs.iter().map(|(&index, count)| (index, count)).collect(),
            rows: runs.rows(),
        }
    }

    /// Appends the column to a row group. `descr` describes the group's next column.
    pub fn append<W: Write + Send>(
        self,
        group: &mut SerializedRowGroupWriter<'_, W>,
        descr: ColumnDescPtr,
    ) -> Result<(), ParquetError> {
        // The format's counts are 32-bit and signed.
        let rows = i32::try_from(self.rows).map_err(|_| too_long())?;
        let mut chunk = TrackedWrite::new(Vec::new());
        let mut pages = SerializedPageWriter::new(&mut chunk);
        let index = self.index_page(rows as u32);
        let dictionary = pages.write_page(self.dictionary_page())?;
        let data = pages.write_page(index)?;
        let length = dictionary.bytes_written + data.bytes_written;
        let metadata = ColumnChunkMetaData::builder(descr)
            .set_compression(Compression::UNCOMPRESSED)
            .set_encodings(ENCODINGS.to_vec())
            .set_num_values(rows.into())
            .set_total_compressed_size(length as i64)
            .set_total_uncompressed_size(length as i64)
            .set_dictionary_page_offset(Some(dictionary.offset as i64))
            .set_data_page_offset(data.offset as i64)
            .build()?;
        group.append_column(&Bytes::from(chunk.into_inner()?), closed(metadata))
    }

    fn dictionary_page(self) -> CompressedPage {
        let length = self.plain.len();
        let page = Page::DictionaryPage {
            buf: self.plain.into(),
            num_values: self.values,
            encoding: Encoding::PLAIN,
            is_sorted: false,
        };
        CompressedPage::new(page, length)
    }

    fn index_page(&self, rows: u32) -> CompressedPage {
        let indices = self.encoded_indices();
        let length = indices.len();
        let page = Page::DataPage {
            buf: indices.into(),
            num_values: rows,
            encoding: Encoding::RLE_DICTIONARY,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        };
        CompressedPage::new(page, length)
    }

    /// The indices in Parquet's run-length encoding. The encoding starts with the width of an index
    /// in bits. The runs follow. Each run consists of its length multiplied by 2, as a
    /// variable-length number, and its index in whole bytes.
    fn encoded_indices(&self) -> Vec<u8> {
        let largest = self.values.saturating_sub(1).max(1);
        let bits = u32::BITS - largest.leading_zeros();
        let width = bits.div_ceil(8) as usize;
        let mut out = vec![bits as u8];
        for &(index, count) in &self.runs {
            let mut header = u64::from(count) << 1;
            while header >= 0x80 {
                out.push(header as u8 | 0x80);
                header >>= 7;
            }
            out.push(header as u8);
            out.extend(&index.to_le_bytes()[..width]);
        }
        out
    }
}

fn closed(metadata: ColumnChunkMetaData) -> ColumnCloseResult {
    ColumnCloseResult {
        bytes_written: metadata.compressed_size() as u64,
        rows_written: metadata.num_values() as u64,
        metadata,
        bloom_filter: None,
        column_index: None,
        offset_index: None,
    }
}

fn too_long() -> ParquetError {
    ParquetError::General("more rows than fit in a page".to_owned())
}
