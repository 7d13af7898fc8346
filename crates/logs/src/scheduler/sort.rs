//! Sorts more values than fit in memory, with an external merge sort (Knuth, The Art of Computer Programming, volume 3,
//! section 5.4).
//!
//! Values are collected in a segment in memory. Whenever the segment is full, it is sorted and
//! written to a temporary file, called a run. At the end, the runs are merged with a heap that holds
//! the next value of each run. Memory is therefore needed only for one segment, and later for one value and one read
//! buffer for each run. For example, 10 million edges in segments of 4 million make three runs.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};

use rayon::slice::ParallelSliceMut;

use crate::occupancy::{CountedJob, Edge};
use gleaner_domain::error::{Error, Result};

/// A value of fixed length that can be written to disk.
pub trait Packed: Ord + Copy + Send {
    /// The bytes of a value on disk.
    type Bytes: AsRef<[u8]> + AsMut<[u8]> + Default;

    fn to_bytes(self) -> Self::Bytes;

    fn from_bytes(bytes: Self::Bytes) -> Self;
}

/// Collects values in any order. Whenever a segment is full, it is sorted and written to a
/// temporary file, called a run.
pub struct Sorter<T> {
    /// The current segment.
    values: Vec<T>,
    /// Number of values in a full segment.
    segment: usize,
    runs: Vec<BufReader<File>>,
}

impl<T: Packed> Sorter<T> {
    /// Creates a sorter that keeps at most `segment` values in memory.
    pub fn new(segment: usize) -> Self {
        Sorter {
            values: Vec::new(),
            segment: segment.max(1),
            runs: Vec::new(),
        }
    }

    /// Adds a value. If the segment is full, it is written to disk first.
    pub fn push(&mut self, value: T) -> Result<()> {
        if self.values.len() == self.segment {
            self.spill().map_err(spill_error)?;
        }
        self.values.push(value);
        Ok(())
    }

    /// Returns the values in order: from memory if they fit, otherwise merged from the runs.
    pub fn finish(mut self) -> Result<Sorted<T>> {
        if self.runs.is_empty() {
            self.values.par_sort_unstable();
            return Ok(Sorted::InMemory(self.values.into_iter()));
        }
        self.spill().map_err(spill_error)?;
        Merge::new(self.runs)
            .map(Sorted::OnDisk)
            .map_err(spill_error)
    }

    /// Sorts the segment, and writes it to a temporary file.
    fn spill(&mut self) -> io::Result<()> {
        self.values.par_sort_unstable();
        self.runs.push(spool(self.values.drain(..).map(Ok))?);
        Ok(())
    }
}

/// Writes values to a temporary file, and returns a reader from its start. The file is deleted when
/// the reader is dropped.
pub(super) fn spool<T: Packed>(
    values: impl Iterator<Item = io::Result<T>>,
) -> io::Result<BufReader<File>> {
    let mut out = BufWriter::with_capacity(1 << 16, tempfile::tempfile()?);
    for value in values {
        out.write_all(value?.to_bytes().as_ref())?;
    }
    let mut file = out.into_inner()?;
    file.rewind()?;
    Ok(BufReader::with_capacity(1 << 16, file))
}

/// Reads the next value; returns `None` at the end.
pub(super) fn read<T: Packed>(file: &mut impl Read) -> io::Result<Option<T>> {
    let mut bytes = T::Bytes::default();
    match file.read_exact(bytes.as_mut()) {
        Ok(()) => Ok(Some(T::from_bytes(bytes))),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(error),
    }
}

/// Sorted values that can be read several times, or only once if they are not stored.
pub(super) enum Stored<T> {
    /// The values; `None` once they have been read.
    Once(Option<Sorted<T>>),
    InMemory(Vec<T>),
    OnDisk(File),
}

impl<T: Packed> Stored<T> {
    /// Stores sorted values. Values on disk are merged into one file.
    pub fn new(values: Sorted<T>) -> Result<Self> {
        match values {
            Sorted::InMemory(values) => Ok(Stored::InMemory(values.collect())),
            Sorted::OnDisk(_) => {
                let file = spool(values).map_err(spill_error)?;
                Ok(Stored::OnDisk(file.into_inner()))
            }
        }
    }

    /// Values that can be read once, without the cost of storing them.
    pub fn once(values: Sorted<T>) -> Self {
        Stored::Once(Some(values))
    }

    /// A pass over all values, starting with the first. A second pass over values that can be read only once yields
    /// nothing.
    pub fn pass(&mut self) -> Result<Pass<'_, T>> {
        match self {
            Stored::Once(values) => Ok(match values.take() {
                Some(values) => Pass::Once(Box::new(values)),
                None => Pass::InMemory([].iter()),
            }),
            Stored::InMemory(values) => Ok(Pass::InMemory(values.iter())),
            Stored::OnDisk(file) => {
                file.rewind().map_err(spill_error)?;
                Ok(Pass::OnDisk(BufReader::with_capacity(1 << 16, &*file)))
            }
        }
    }
}

/// An iterator over stored values.
pub(super) enum Pass<'s, T> {
    Once(Box<Sorted<T>>),
    InMemory(std::slice::Iter<'s, T>),
    OnDisk(BufReader<&'s File>),
}

impl<T: Packed> Iterator for Pass<'_, T> {
    type Item = io::Result<T>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Pass::Once(values) => values.next(),
            Pass::InMemory(values) => values.next().map(|value| Ok(*value)),
            Pass::OnDisk(file) => read(file).transpose(),
        }
    }
}

/// An iterator over all values in order.
pub enum Sorted<T> {
    InMemory(std::vec::IntoIter<T>),
    OnDisk(Merge<T>),
}

impl<T: Packed> Iterator for Sorted<T> {
    type Item = io::Result<T>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Sorted::InMemory(values) => values.next().map(Ok),
            Sorted::OnDisk(merge) => merge.next().transpose(),
        }
    }
}

/// Merges sorted runs. The heap holds the next value of each run, so the least value is on top.
pub struct Merge<T> {
    runs: Vec<BufReader<File>>,
    heads: BinaryHeap<Reverse<(T, usize)>>,
}

impl<T: Packed> Merge<T> {
    fn new(mut runs: Vec<BufReader<File>>) -> io::Result<Self> {
        let mut heads = BinaryHeap::with_capacity(runs.len());
        for (index, run) in runs.iter_mut().enumerate() {
            heads.extend(read(run)?.map(|value| Reverse((value, index))));
        }
        Ok(Merge { runs, heads })
    }

    fn next(&mut self) -> io::Result<Option<T>> {
        let Some(mut head) = self.heads.peek_mut() else {
            return Ok(None);
        };
        // The next value of the same run takes the place of the least value. The heap moves the new
        // value down when `head` is dropped.
        let Reverse((least, run)) = *head;
        match read(&mut self.runs[run])? {
            Some(value) => *head = Reverse((value, run)),
            None => drop(PeekMut::pop(head)),
        }
        Ok(Some(least))
    }
}

/// Converts an error from reading or writing a temporary file.
pub fn spill_error(error: io::Error) -> Error {
    Error::io("sort in temporary files in", std::env::temp_dir(), error)
}

impl Packed for Edge {
    type Bytes = [u8; 16];

    fn to_bytes(self) -> Self::Bytes {
        Edge::to_bytes(self)
    }

    fn from_bytes(bytes: Self::Bytes) -> Self {
        Edge::from_bytes(bytes)
    }
}

impl Packed for CountedJob {
    type Bytes = [u8; 32];

    fn to_bytes(self) -> Self::Bytes {
        CountedJob::to_bytes(self)
    }

    fn from_bytes(bytes: Self::Bytes) -> Self {
        CountedJob::from_bytes(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(gleaner_testing::cases(256))]

        #[test]
        fn sorting_in_segments_equals_sorting_in_memory(
            jobs in prop::collection::vec((any::<i64>(), any::<u64>(), any::<i64>(), any::<u32>(), any::<u32>()), 0..200),
            segment in 1usize..40,
        ) {
            let mut jobs: Vec<_> = jobs
                .into_iter()
                .map(|(start, serial, end, nodes, cores)| CountedJob { start, serial, end, nodes, cores })
                .collect();
            let mut sorter = Sorter::new(segment);
            jobs.iter().for_each(|job| sorter.push(*job).unwrap());
            let sorted: Vec<_> = sorter.finish().unwrap().map(Result::unwrap).collect();
            jobs.sort_unstable();
            prop_assert_eq!(sorted, jobs);
        }
    }
}
