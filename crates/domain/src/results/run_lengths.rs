//! Columns of values that repeat over many successive rows.

/// The values of a column, each with the number of successive rows that hold the value. Consecutive
/// values differ.
#[derive(Debug, Clone, PartialEq)]
pub struct RunLengths<T> {
    runs: Vec<(T, u32)>,
    rows: usize,
}

impl<T: PartialEq> RunLengths<T> {
    /// Adds a value for the next `count` rows.
    #[inline]
    pub fn push(&mut self, value: T, count: u32) {
        self.rows += count as usize;
        if let Some((last, rows)) = self.runs.last_mut()
            && *last == value
            && let Some(sum) = rows.checked_add(count)
        {
            *rows = sum;
        } else if count > 0 {
            self.runs.push((value, count));
        }
    }
}

impl<T> RunLengths<T> {
    /// The value of every row.
    pub fn values(&self) -> impl Iterator<Item = &T> {
        let runs = self.iter();
        runs.flat_map(|(value, count)| std::iter::repeat_n(value, count as usize))
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The values in order, each with its number of rows.
    #[inline]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&T, u32)> {
        self.runs.iter().map(|(value, count)| (value, *count))
    }

    /// The value at a row. `cursor` must be at the row's run or before it.
    #[inline]
    pub fn at(&self, row: usize, cursor: &mut Cursor) -> &T {
        cursor.seek(row, |run| self.runs[run].1 as usize);
        &self.runs[cursor.run].0
    }
}

/// A position in a column: a run of equal or evenly spaced values, and the run's first row.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cursor {
    run: usize,
    start: usize,
}

impl Cursor {
    /// Moves forward to the run that contains a row, and returns the row's position in the run.
    /// `length` returns the length of a run.
    #[inline]
    pub fn seek(&mut self, row: usize, length: impl Fn(usize) -> usize) -> usize {
        while row >= self.start + length(self.run) {
            self.start += length(self.run);
            self.run += 1;
        }
        row - self.start
    }

    /// Index of the current run.
    pub fn run(&self) -> usize {
        self.run
    }
}

impl<T: PartialEq> FromIterator<(T, u32)> for RunLengths<T> {
    fn from_iter<I: IntoIterator<Item = (T, u32)>>(values: I) -> Self {
        let mut runs = RunLengths {
            runs: Vec::new(),
            rows: 0,
        };
        for (value, count) in values {
            runs.push(value, count);
        }
        runs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_neighbours_are_one_run() {
        let runs: RunLengths<u64> = [(5, 2), (5, 1), (7, 0), (5, 1), (6, 3)]
            .into_iter()
            .collect();
        assert_eq!(runs.iter().collect::<Vec<_>>(), [(&5, 4), (&6, 3)]);
        let mut cursor = Cursor::default();
        let rows: Vec<u64> = (0..runs.rows()).map(|r| *runs.at(r, &mut cursor)).collect();
        assert_eq!(rows, [5, 5, 5, 5, 6, 6, 6]);
        assert!(runs.values().eq(&rows));
    }
}
