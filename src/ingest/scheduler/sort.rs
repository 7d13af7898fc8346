//! Sorting what does not fit in memory: sorted runs in temporary files, merged.

use std::cmp::Ordering;
use std::io::{self, Read, Write};

use extsort::{ExternalSorter, PushExternalSorter, Sortable, SortedIterator};

use crate::error::{Error, Result};
use crate::occupancy::{CountedJob, Edge};

type Compare<T> = fn(&T, &T) -> Ordering;

/// Values in order, from memory or from temporary files, which go with it.
pub(super) type Sorted<T> = SortedIterator<T, Compare<T>>;

/// Takes values in any order.
pub(super) struct Sorter<T: Sortable + Ord> {
    inner: PushExternalSorter<T, Compare<T>>,
}

impl<T: Sortable + Ord> Sorter<T> {
    /// A sorter that keeps this many values in memory, and the others on disk.
    pub fn new(segment: usize) -> Self {
        let sorter = ExternalSorter::new().with_segment_size(segment);
        Sorter {
            inner: sorter.with_parallel_sort().pushed_by(T::cmp),
        }
    }

    /// Adds a value.
    pub fn push(&mut self, value: T) -> Result<()> {
        self.inner.push(value).map_err(spill_error)
    }

    /// The values in order.
    pub fn finish(self) -> Result<Sorted<T>> {
        self.inner.done().map_err(spill_error)
    }
}

/// An error of a temporary file.
pub(super) fn spill_error(error: io::Error) -> Error {
    Error::io("sort in temporary files in", std::env::temp_dir(), error)
}

impl Sortable for Edge {
    fn encode<W: Write>(&self, writer: &mut W) -> io::Result<()> {
        writer.write_all(&self.to_bytes())
    }

    fn decode<R: Read>(reader: &mut R) -> io::Result<Self> {
        let mut bytes = [0; 16];
        reader.read_exact(&mut bytes)?;
        Ok(Edge::from_bytes(bytes))
    }
}

impl Sortable for CountedJob {
    fn encode<W: Write>(&self, writer: &mut W) -> io::Result<()> {
        writer.write_all(&self.start.to_le_bytes())?;
        writer.write_all(&self.serial.to_le_bytes())?;
        writer.write_all(&self.end.to_le_bytes())?;
        writer.write_all(&self.nodes.to_le_bytes())
    }

    fn decode<R: Read>(reader: &mut R) -> io::Result<Self> {
        Ok(CountedJob {
            start: i64::from_le_bytes(take(reader)?),
            serial: u64::from_le_bytes(take(reader)?),
            end: i64::from_le_bytes(take(reader)?),
            nodes: u32::from_le_bytes(take(reader)?),
        })
    }
}

fn take<const N: usize>(reader: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    reader.read_exact(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn few_in_memory_sort_as_all(
            jobs in prop::collection::vec((any::<i64>(), any::<u64>(), any::<i64>(), any::<u32>()), 0..200),
            segment in 1usize..40,
        ) {
            let mut jobs: Vec<_> = jobs
                .into_iter()
                .map(|(start, serial, end, nodes)| CountedJob { start, serial, end, nodes })
                .collect();
            let mut sorter = Sorter::new(segment);
            jobs.iter().for_each(|job| sorter.push(*job).unwrap());
            let sorted: Vec<_> = sorter.finish().unwrap().map(Result::unwrap).collect();
            jobs.sort_unstable();
            prop_assert_eq!(sorted, jobs);
        }
    }
}
